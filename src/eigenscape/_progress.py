"""Progress of long computations, reported in stages without passing a progress bar to every function.

An estimator opens :func:`reporting` to show progress, and :func:`recording` collects times; functions
announce their work by :func:`stage`, which has no effect if nothing is reported or recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from eigenscape._progress_displays import ProgressDisplay


class Stage(NamedTuple):
    """Name of a stage and its duration in seconds, without the time of stages nested in it."""

    name: str
    seconds: float


@dataclass(eq=False)
class _OpenStage:
    """A running stage, and the seconds spent in stages nested in it."""

    name: str
    total: float | None
    nested: float = 0.0


@dataclass(eq=False)
class _Listener:
    """Receiver of stages: displays, a list of times, or both."""

    displays: tuple[ProgressDisplay, ...] = ()
    stages: list[Stage] | None = None
    running: list[_OpenStage] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)  # stages that have a line

    def show(self, name: str, total: float | None, bound: bool) -> Callable[[float], None]:
        """Add a line for the stage, or continue the line of an earlier stage of the same name.

        Nested stages have no line, but the first one with a total advances the line of an enclosing stage
        without one.
        """
        if not self.displays:
            return _silent
        outermost = self.running[0]
        if len(self.running) > 1:
            if total is None or outermost.total is not None or len(self.running) > 2:
                return _silent
            name = outermost.name
        for display in self.displays:
            (display.restart if name in self.shown else display.add)(name, total, bound)
        self.shown.add(name)

        def advance(steps: float) -> None:
            for display in self.displays:
                display.advance(name, steps)

        return advance

    def record(self, name: str, seconds: float) -> None:
        """Add the time of a stage; stages of the same name are summed."""
        if self.stages is None:
            return
        place = next((i for i, stage in enumerate(self.stages) if stage.name == name), None)
        if place is None:
            self.stages.append(Stage(name, seconds))
        else:
            self.stages[place] = Stage(name, self.stages[place].seconds + seconds)


_listener: ContextVar[_Listener | None] = ContextVar("eigenscape_progress", default=None)


def _silent(steps: float) -> None:
    """Do nothing."""


@contextmanager
def _listening(listener: _Listener) -> Iterator[None]:
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def reporting(verbose: bool, delay: float = 0.0, also: ProgressDisplay | None = None) -> Iterator[None]:
    """Show the stages announced inside the block on standard error if ``verbose`` is true.

    On a terminal or in a notebook these are bars with the remaining time, elsewhere lines of text, the first
    one after ``delay`` seconds. A block inside another one that shows progress already has no effect.
    ``also`` is a further display, which is closed at the end.
    """
    outer = _listener.get() or _Listener()
    own = [] if also is None else [also]
    if verbose and not outer.displays:
        from eigenscape._progress_displays import open_display

        own.append(open_display(delay))
    if not own:
        yield
        return
    try:
        with _listening(_Listener((*outer.displays, *own), outer.stages, outer.running, outer.shown)):
            yield
    finally:
        for one in own:
            one.close()


@contextmanager
def recording() -> Iterator[list[Stage]]:
    """Record the stages announced inside the block, with their durations, in a list that grows meanwhile.

    It works with or without a visible display, and inside another recording, which records them as well.

    Examples
    --------
    >>> from eigenscape import PCA
    >>> from eigenscape._progress import recording
    >>> with recording() as stages:
    ...     model = PCA(1).fit([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    >>> all(seconds >= 0 for name, seconds in stages)
    True
    """
    outer = _listener.get() or _Listener()
    stages: list[Stage] = []
    try:
        with _listening(_Listener(outer.displays, stages, shown=outer.shown)):
            yield stages
    finally:
        for name, seconds in stages:
            outer.record(name, seconds)


@contextmanager
def stage(name: str, total: float | None = None, *, bound: bool = False) -> Iterator[Callable[[float], None]]:
    """Announce a stage of work; the block receives a function that advances it by a number of steps.

    Parameters
    ----------
    name : str
        Name of the stage.
    total : float, optional
        Number of steps, from which the remaining time is estimated.
    bound : bool, default=False
        Whether fewer steps may suffice, as for an iteration that converges.
    """
    listener = _listener.get()
    if listener is None:
        yield _silent
        return
    opened = _OpenStage(name, total)
    listener.running.append(opened)
    start = perf_counter()
    try:
        yield listener.show(name, total, bound)
        for display in listener.displays if len(listener.running) == 1 else ():  # an outermost stage
            display.finish(name)
    finally:
        seconds = perf_counter() - start
        listener.running.remove(opened)  # by identity, as a generator may end its stage late
        listener.record(name, seconds - opened.nested)
        if listener.running:
            listener.running[-1].nested += seconds
