"""Progress of long work, in stages, without passing a bar through every function.

An estimator opens :func:`reporting`, whoever wants times opens :func:`recording`; whatever runs inside
announces its :func:`stage`. Nobody listening costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple


class Stage(NamedTuple):
    """A stage of work and the seconds it took, without those of stages within it."""

    name: str
    seconds: float


@dataclass(eq=False)
class _Open:
    """A stage that runs, and the seconds spent in stages within it."""

    name: str
    total: float | None
    within: float = 0.0


@dataclass(eq=False)
class _Listener:
    """Who wants to hear of stages: a visible bar, a list of times, or both."""

    bar: Any = None
    stages: list[Stage] | None = None
    running: list[_Open] = field(default_factory=list)
    tasks: dict[str, Any] = field(default_factory=dict)  # the bar's line for each name

    def show(self, name: str, total: float | None) -> Callable[[float], None]:
        """A line for the stage, the one it had before if it comes again.

        Stages within stages have none; but one that knows its total lends it to a stage around it that does
        not."""
        if self.bar is None:
            return _silent
        outermost = self.running[0]
        if len(self.running) > 1:
            if total is None or outermost.total is not None or len(self.running) > 2:
                return _silent
            name = outermost.name
        if name not in self.tasks:
            self.tasks[name] = self.bar.add_task(name, total=total)
        else:
            self.bar.update(
                self.tasks[name], total=None if total is None else self._line(name).completed + total
            )
        return lambda steps: self.bar.update(self.tasks[name], advance=steps)

    def complete(self, name: str) -> None:
        if self.bar is not None and len(self.running) == 1:
            whole = self._line(name).total or self._line(name).completed or 1
            self.bar.update(self.tasks[name], total=whole, completed=whole)

    def _line(self, name: str) -> Any:
        return next(task for task in self.bar.tasks if task.id == self.tasks[name])

    def note(self, name: str, seconds: float) -> None:
        """Add to the times; a stage that comes again adds to its own."""
        if self.stages is None:
            return
        place = next((i for i, stage in enumerate(self.stages) if stage.name == name), None)
        if place is None:
            self.stages.append(Stage(name, seconds))
        else:
            self.stages[place] = Stage(name, self.stages[place].seconds + seconds)


_listener: ContextVar[_Listener | None] = ContextVar("eigenscape_progress", default=None)


def _silent(steps: float) -> None:
    """Advance nothing."""


@contextmanager
def _listening(listener: _Listener) -> Iterator[None]:
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def reporting(verbose: bool) -> Iterator[None]:
    """Show the stages announced inside the block when ``verbose`` is true, on standard error; in a notebook,
    below the cell.

    Inside another block that shows them already, nothing is added.
    """
    outer = _listener.get()
    if not verbose or (outer is not None and outer.bar is not None):
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<28}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        listener = _Listener(bar) if outer is None else _Listener(bar, outer.stages, outer.running)
        with _listening(listener):
            yield


@contextmanager
def recording() -> Iterator[list[Stage]]:
    """The stages announced inside the block, with the seconds each took: a list that fills while the block
    runs.

    Works with or without a visible bar, and inside another recording, which hears of the same stages.

    Examples
    --------
    >>> from eigenscape import PCA
    >>> from eigenscape._progress import recording
    >>> with recording() as stages:
    ...     model = PCA(1).fit([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    >>> all(seconds >= 0 for name, seconds in stages)
    True
    """
    outer = _listener.get()
    listener = _Listener(stages=[]) if outer is None else _Listener(outer.bar, [], tasks=outer.tasks)
    assert listener.stages is not None
    try:
        with _listening(listener):
            yield listener.stages
    finally:
        if outer is not None:
            for name, seconds in listener.stages:
                outer.note(name, seconds)


@contextmanager
def stage(name: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Announce one stage of work; the block receives a function that advances it."""
    listener = _listener.get()
    if listener is None:
        yield _silent
        return
    opened = _Open(name, total)
    listener.running.append(opened)
    start = perf_counter()
    try:
        yield listener.show(name, total)
        listener.complete(name)
    finally:
        seconds = perf_counter() - start
        listener.running.remove(opened)  # by identity: a generator may end its stage late
        listener.note(name, seconds - opened.within)
        if listener.running:
            listener.running[-1].within += seconds
