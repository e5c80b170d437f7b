"""A Python that has imported the package already, for tests of what a process does.

A process that imports SciPy, scikit-learn and pyarrow takes two seconds of processor time to start. Here one
server a session imports them, and forks a child for each process that a test starts. ``sys.executable`` is
replaced by a client, which sends its arguments, its working folder, its environment and its open standard
streams to the server, and ends as the child ends: with its exit code, or by its signal. A client that is
killed ends the child; an interrupt is passed on.

A second server has NumPy, SciPy and the base of scikit-learn alone, for tests of what the package imports.

Tests of start-up, and of limits and signals that a process inherits, need a Python of their own. So do
settings that Python or a library reads once, such as OMP_NUM_THREADS.
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
from typing import NamedTuple
from unittest import mock

#: What every fit imports of other packages.
_LIBRARIES = (
    "numpy",
    "scipy.linalg",
    "scipy.sparse.linalg",
    "sklearn.base",
    "sklearn.utils.validation",
)
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
streams = [n for n, file in enumerate([sys.stdin, sys.stdout, sys.stderr]) if file is not None]
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), streams]).encode()
socket.send_fds(server, [len(request).to_bytes(8, "little")], streams)
server.sendall(request)
for stream in streams:
    os.close(stream)
child = int.from_bytes(server.recv(8), "little")
signal.signal(signal.SIGINT, lambda *_: os.kill(child, signal.SIGINT))
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
answer = server.recv(8)
code = int.from_bytes(answer, "little", signed=True) if answer else -signal.SIGKILL
if code < 0:
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


class Clients(NamedTuple):
    """Paths of programs that take the arguments of Python."""

    package: str  #: its processes have imported the package
    libraries: str  #: its processes have imported what the package needs


@contextlib.contextmanager
def open_server() -> Iterator[Clients]:
    """Start the servers and yield their clients."""
    with tempfile.TemporaryDirectory(prefix="eigenscape-") as folder, contextlib.ExitStack() as listeners:
        numbers, clients = [], Clients(f"{folder}/package", f"{folder}/libraries")
        for client in clients:
            address = f"{client}.socket"
            Path(client).write_text(_CLIENT.format(python=sys.executable, address=address))
            Path(client).chmod(0o700)
            listener = listeners.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
            numbers.append(listener.fileno())
        # Python 3.12 warns of a fork beside threads; the only one here is of pyarrow's allocator.
        quiet = ["-W", "ignore:This process:DeprecationWarning"]
        command = [sys.executable, *quiet, __file__, *map(str, numbers)]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=numbers)
        listeners.close()
        with server:
            yield clients


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
        words, folder, environment, targets = json.loads(file.read(int.from_bytes(size, "little")))
    child = os.fork()
    if child == 0:
        _replace_streams(dict(zip(targets, streams, strict=True)))
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        return words
    for stream in [*streams, 0, 1, 2]:
        os.close(stream)
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(child.to_bytes(8, "little"))
    ended = os.pidfd_open(child)
    readable, _, _ = select.select([connection, ended], [], [])
    if ended not in readable:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(code.to_bytes(8, "little", signed=True))
    os._exit(0)


def _replace_streams(streams: dict[int, int]) -> None:
    """Set the standard streams; those without a stream are closed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if number in streams:
            os.dup2(streams[number], number)
            os.close(streams[number])
        else:
            os.close(number)
            setattr(sys, name, None)


def _execute(words: list[str]) -> None:
    """Do what Python does with these arguments."""
    isolated = False
    while (flag := words.pop(0)) not in ("-c", "-m") and not flag.endswith(".py"):
        if flag == "-W":
            warnings._processoptions([words.pop(0)])  # type: ignore[attr-defined]
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
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


def _main() -> None:
    package, libraries = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    del sys.path[0]  # the folder of this file
    _import(_LIBRARIES)
    listener, other = (package, libraries) if os.fork() else (libraries, package)
    other.close()
    if listener is package:
        _import(_MODULES)
    with listener:
        words = _next_request(listener)
    _end(_exit_code(words))


def _import(names: tuple[str, ...]) -> None:
    """Import modules, if they are installed."""
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # a collection in a child would copy all pages


if __name__ == "__main__":
    _main()
