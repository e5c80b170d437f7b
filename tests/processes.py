"""Tests that start a process must have a mark: ``make check`` leaves them out, so that it stays fast."""

from __future__ import annotations

import multiprocessing.process
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

#: Marks that ``make check`` leaves out.
MARKS = {"process", "dask", "browser", "packaging", "pages", "suite"}
#: Audit events of Python that start a process. The first argument of some is the program.
EVENTS = {
    "subprocess.Popen",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "os.exec",
}
#: Programs that libraries ask for the processor once: joblib, and the standard library.
ASKED_ONCE = ("lscpu", "uname")
#: Fixtures whose processes serve several tests, whichever of them is the first.
FIXTURES = {"python_clients", "forked_workers"}

_started: list[list[str]] = []


def _note(event: str, args: tuple[Any, ...]) -> None:
    if event in EVENTS and _started:
        program = str(args[0]) if args else event
        if program not in ASKED_ONCE:
            _started[-1].append(program)


def install() -> None:
    """Watch the starts of processes, until this process ends."""
    sys.addaudithook(_note)
    start = multiprocessing.process.BaseProcess.start

    def noted(self: Any) -> None:  # the methods spawn and forkserver raise no event
        _note("subprocess.Popen", (type(self).__name__,))
        start(self)

    multiprocessing.process.BaseProcess.start = noted  # type: ignore[method-assign]


@contextmanager
def watched() -> Iterator[list[str]]:
    """Collect the programs that are started within the block."""
    _started.append([])
    try:
        yield _started[-1]
    finally:
        _started.pop()


def refuse_unmarked(item: Any) -> Generator[None, Any, Any]:
    """Fail a phase of a test if it starts a process and the test has none of the marks. A hook around it."""
    with watched() as started:
        result = yield
    started += sorted(FIXTURES.intersection(item.fixturenames))
    if started and not MARKS & {mark.name for mark in item.iter_markers()}:
        pytest.fail(f"starts {started[0]}; mark the test with pytest.mark.process", pytrace=False)
    return result
