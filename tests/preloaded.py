"""A Python that has imported the package already, for tests of what a process does.

A process that imports SciPy, scikit-learn and pyarrow takes two seconds of processor time to start. Here one
server a session imports them, and forks a child for each process that a test starts. ``sys.executable`` is
replaced by a client, which sends its arguments, its working folder, its environment and its standard streams
to the server, and ends as the child ends: with its exit code, or by its signal. A client that is killed ends
the child.

Tests of start-up, of what is imported, of limits and signals that a process inherits and of closed streams
need a Python of their own. So do settings that Python or a library reads once, such as OMP_NUM_THREADS.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

#: What the commands and the child processes of the package import.
_MODULES = (
    "eigenscape.app.cli.app",
    "eigenscape.estimators",
    "eigenscape.app.explore.tasks",
    "eigenscape.app.report",
    "sklearn.manifold",
    "sklearn.cluster",
    "pyarrow.csv",
    "pyarrow.parquet",
    "anndata",
)

_CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(request).to_bytes(8, "little")], [0, 1, 2])
server.sendall(request)
for stream in range(3):
    os.close(stream)
answer = server.recv(8)
code = int.from_bytes(answer, "little", signed=True) if answer else -signal.SIGKILL
if code < 0:
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@contextlib.contextmanager
def open_server() -> Iterator[str]:
    """Start a server; yield the path of the client, which takes the arguments of Python."""
    with tempfile.TemporaryDirectory(prefix="eigenscape-") as folder:
        address, client = f"{folder}/socket", Path(folder, "python")
        client.write_text(_CLIENT.format(python=sys.executable, address=address))
        client.chmod(0o700)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            number = listener.fileno()
            # Python 3.12 warns of a fork beside threads; the only one here is of pyarrow's allocator.
            quiet = ["-W", "ignore:This process:DeprecationWarning"]
            command = [sys.executable, *quiet, __file__, str(number)]
            server = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number])
        with server:
            yield str(client)


@contextlib.contextmanager
def replaced_python(client: str | None) -> Iterator[None]:
    """Let the processes that are started as ``sys.executable`` be forked from the server of a client."""
    with mock.patch.object(sys, "executable", client) if client else contextlib.nullcontext():
        yield


# --- the server ---------------------------------------------------------------------------------------------


def _next_request(listener: socket.socket) -> list[str]:
    """Answer connections until the standard input closes; return in a child, with its arguments."""
    while True:
        readable, _, _ = select.select([listener, 0], [], [])
        _reap()
        if 0 in readable:
            sys.exit()
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            with connection:
                words = _supervise(connection)
            return words
        connection.close()


def _reap() -> None:
    """Wait for the children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _supervise(connection: socket.socket) -> list[str]:
    """Fork a child, in which this returns its arguments; send its exit code, or end it with its client."""
    size, streams, _, _ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as file:
        words, folder, environment = json.loads(file.read(int.from_bytes(size, "little")))
    child = os.fork()
    if child == 0:
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        return words
    for stream in [*streams, 0, 1, 2]:
        os.close(stream)
    ended = os.pidfd_open(child)
    readable, _, _ = select.select([connection, ended], [], [])
    if ended not in readable:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(code.to_bytes(8, "little", signed=True))
    os._exit(0)


def _execute(words: list[str]) -> None:
    """Do what Python does with these arguments."""
    isolated = False
    while (flag := words.pop(0)) not in ("-c", "-m") and not flag.endswith(".py"):
        if flag == "-W" and words.pop(0) == "ignore":
            warnings.simplefilter("ignore")
        elif flag in ("-I", "-S"):
            isolated = True
        else:
            sys.exit(f"tests/preloaded.py: the argument {flag!r} of Python needs a process of its own")
    if flag.endswith(".py"):
        sys.path.insert(0, os.path.dirname(flag))
        sys.argv = [flag, *words]
        runpy.run_path(flag, run_name="__main__")
        return
    name = words.pop(0)
    if not isolated:
        sys.path.insert(0, "" if flag == "-c" else os.getcwd())
    sys.argv = [flag, *words]
    if flag == "-m":
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(name, "<string>", "exec"), vars(main))


def _exit_code(words: list[str]) -> int:
    """Execute the arguments, and return the exit code of Python."""
    try:
        _execute(words)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _end(code: int) -> None:
    """End as Python does, but leave the memory to the system: freeing the modules takes a second."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _main() -> None:
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        del sys.path[0]  # the folder of this file
        for name in _MODULES:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        gc.freeze()  # a collection in a child would copy all pages
        words = _next_request(listener)
    _end(_exit_code(words))


if __name__ == "__main__":
    _main()
