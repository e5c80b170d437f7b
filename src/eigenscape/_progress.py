"""Progress of long computations, reported in stages without passing a progress bar to every function.

An estimator opens :func:`reporting` to show progress, and :func:`recording` collects times; functions
announce their work by :func:`stage`, which has no effect if nothing is reported or recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol

#: The remaining time is estimated after this many seconds and this share of the work.
_MIN_SECONDS, _MIN_SHARE = 2.0, 0.01


def format_duration(seconds: float) -> str:
    """Return a duration with the precision of an estimate: 5 s, 40 s, 3 min, 2.5 h."""
    if seconds < 10:
        return f"{max(1, round(seconds))} s"
    if seconds < 55:
        return f"{10 * round(seconds / 10)} s"
    return f"{max(1, round(seconds / 60))} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@dataclass(eq=False)
class Line:
    """Progress of the stages of one name: the running stage, and the steps of earlier ones."""

    name: str
    total: float | None = None
    bound: bool = False  # fewer steps than the total may suffice
    completed: float = 0.0
    earlier: float = 0.0  # steps of earlier stages
    began: float = field(default_factory=perf_counter)
    stage_began: float = field(default_factory=perf_counter)
    updated: float = field(default_factory=perf_counter)
    running: bool = True

    def restart(self, total: float | None, bound: bool) -> None:
        """Add the steps of a further stage, or of a stage within the one that has the line."""
        self.earlier, self.bound, self.running = self.completed, bound, True
        self.total = None if total is None else self.completed + total
        self.stage_began = perf_counter()

    def advance(self, steps: float) -> None:
        """Add completed steps."""
        self.completed, self.updated = self.completed + steps, perf_counter()

    def finish(self) -> None:
        """Set the steps to the total: the stage has ended."""
        self.completed = self.total = self.total or self.completed or 1.0
        self.updated, self.running = perf_counter(), False

    def remaining_seconds(self, now: float) -> float | None:
        """Return the remaining seconds, assuming that steps take equally long; None if unknown."""
        elapsed, done = now - self.stage_began, self.completed - self.earlier
        total = 0.0 if self.total is None else self.total - self.earlier
        known = total > 0 and elapsed >= _MIN_SECONDS and _MIN_SHARE * total <= done < total
        return elapsed * (total - done) / done if known else None

    def remaining(self, now: float) -> str:
        """Return the remaining time of the stage: "about 3 min left"; "" if unknown."""
        seconds = self.remaining_seconds(now) if self.running else None
        if seconds is None:
            return ""
        return f"{'at most' if self.bound else 'about'} {format_duration(seconds)} left"


class ProgressDisplay(Protocol):
    """Interface of a progress display."""

    def show(self, line: Line) -> None:
        """Show a line that has begun, advanced or ended; calls do not overlap."""

    def close(self) -> None:
        """Finish the display."""


@dataclass(eq=False)
class _OpenStage:
    """A running stage, and the seconds spent in stages nested in it."""

    name: str
    total: float | None
    nested: float = 0.0


@dataclass(eq=False)
class _Listener:
    """Receiver of stages: displays, times, or both."""

    displays: tuple[ProgressDisplay, ...] = ()
    stages: dict[str, float] | None = None  # seconds by name
    running: list[_OpenStage] = field(default_factory=list)
    lines: dict[str, Line] = field(default_factory=dict)

    def begin(self, name: str, total: float | None, bound: bool) -> Callable[[float], None]:
        """Begin the line of the stage, or continue the line of an earlier stage of the same name.

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
        if name in self.lines:
            self.change(name, Line.restart, total, bound)
        else:
            self.lines[name] = Line(name, total, bound)
            self.change(name)
        return lambda steps: self.change(name, Line.advance, steps)

    def change(self, name: str, how: Callable[..., None] | None = None, *arguments: Any) -> None:
        """Change a line and show it; called from several threads."""
        with _lock:
            line = self.lines[name]
            if how is not None:
                how(line, *arguments)
            for display in self.displays:
                display.show(line)

    def record(self, name: str, seconds: float) -> None:
        """Add the time of a stage; stages of the same name are summed."""
        if self.stages is not None:
            self.stages[name] = self.stages.get(name, 0.0) + seconds


_lock = threading.RLock()
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

    These are bars with the remaining time, or lines of text, the first one after ``delay`` seconds. A block
    inside another one that shows progress already has no effect.
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
        with _listening(_Listener((*outer.displays, *own), outer.stages, outer.running, outer.lines)):
            yield
    finally:
        for one in own:
            one.close()


@contextmanager
def recording() -> Iterator[dict[str, float]]:
    """Record the stages announced inside the block: their seconds by name, without stages nested in them.

    It works with or without a visible display, and inside another recording, which records them as well.

    Examples
    --------
    >>> from eigenscape import PCA
    >>> from eigenscape._progress import recording
    >>> with recording() as stages:
    ...     model = PCA(1).fit([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    >>> all(seconds >= 0 for seconds in stages.values())
    True
    """
    outer = _listener.get() or _Listener()
    stages: dict[str, float] = {}
    try:
        with _listening(_Listener(outer.displays, stages, lines=outer.lines)):
            yield stages
    finally:
        for name, seconds in stages.items():
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
        yield listener.begin(name, total, bound)
        if listener.displays and len(listener.running) == 1:  # an outermost stage
            listener.change(name, Line.finish)
    finally:
        seconds = perf_counter() - start
        listener.running.remove(opened)  # by identity, as a generator may end its stage late
        listener.record(name, seconds - opened.nested)
        if listener.running:
            listener.running[-1].nested += seconds
