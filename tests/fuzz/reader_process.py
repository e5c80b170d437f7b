"""The child process of readers, kept for the next file, since starting one takes longer than reading."""

from __future__ import annotations

import io
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from eigenscape.app.io import child

#: Seconds in which a process that has sent its answer waits for the next file.
_PATIENCE = 1.0


class ReaderProcess:
    """A forked process that answers one request after the other, as ``child.serve`` does.

    A process that crashes, hangs or sends half an answer is not used again. It has the attributes of
    ``subprocess.Popen`` that the readers use.
    """

    def __init__(self) -> None:
        request, self._requests = os.pipe()
        answer, answers = os.pipe()
        self._idle, idle = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._requests)  # its end is the end of this process
            _serve(request, answers, idle)
        for descriptor in (request, answers, idle):
            os.close(descriptor)
        self.stdout: io.BufferedReader = os.fdopen(answer, "rb")
        self.is_alive = True

    def ask(self, module: str, argument: str) -> None:
        os.write(self._requests, f"{module}\0{argument}\n".encode())

    def kill(self) -> None:
        """End the process unless it waits for the next request and all of its answer was read."""
        if not self.is_alive:
            return
        waits = select.select([self._idle], [], [], _PATIENCE)[0] and os.read(self._idle, 1)
        os.set_blocking(self.stdout.fileno(), False)
        if waits and not self.stdout.peek(1):
            os.set_blocking(self.stdout.fileno(), True)
            return
        self.is_alive = False
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.stdout.close()
        for descriptor in (self._requests, self._idle):
            os.close(descriptor)


def _serve(requests: int, answers: int, idle: int) -> None:
    try:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 2)
        with os.fdopen(requests, "rb") as lines:
            for line in lines:
                module, _, argument = line.decode().rstrip("\n").partition("\0")
                os.dup2(answers, 1)
                child.serve(module, argument, str(2**31))
                os.write(idle, b"1")
    finally:
        os._exit(0)


_kept: list[ReaderProcess] = []


@contextmanager
def start(module: str, argument: str) -> Iterator[ReaderProcess]:
    """Give a file to the process that is kept, or to a new one; replaces ``child._start``."""
    if not (_kept and _kept[0].is_alive):
        import_module(module)  # before the fork: this takes most of the time
        _kept[:] = [ReaderProcess()]
    process = _kept[0]
    process.ask(module, argument)
    yield process
