"""Displays of progress: bars on a terminal, lines of text elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol

#: Seconds between two lines about the same stage that are not on a terminal.
LINE_SECONDS = 15.0
#: Seconds of a command after which lines are printed that nobody asked for.
QUIET_SECONDS = 2.0
#: The remaining time is estimated after this many seconds and this share of the work.
_MIN_SECONDS, _MIN_SHARE = 2.0, 0.01


class ProgressLine(Protocol):
    """State of one line of a progress display."""

    completed: float
    total: float | None


class ProgressDisplay(Protocol):
    """Interface of a progress display with one line per stage."""

    def add(self, name: str, total: float | None, bound: bool = False) -> None:
        """Add a line; with ``bound``, fewer steps than the total may suffice."""
        ...

    def line(self, name: str) -> ProgressLine:
        """Return the state of a line."""
        ...

    def restart(self, name: str, total: float | None, bound: bool = False) -> None:
        """Add the steps of a further stage to a line, or of a stage within the one that has the line."""
        ...

    def advance(self, name: str, steps: float) -> None:
        """Advance a line; called from several threads."""
        ...

    def finish(self, name: str) -> None:
        """Set a line to its total: its stage has ended."""
        ...

    def close(self) -> None:
        """Finish the display."""
        ...


def remaining_time(elapsed: float, completed: float, total: float | None, bound: bool = False) -> str:
    """Return the remaining time, assuming that steps take equally long: "about 3 min"; "" if unknown.

    Parameters
    ----------
    elapsed : float
        Seconds since the stage began.
    completed, total : float
        Number of steps done, and of all steps; None if it is not known.
    bound : bool
        Whether fewer steps may suffice.
    """
    seconds = remaining_seconds(elapsed, completed, total)
    return "" if seconds is None else f"{'at most' if bound else 'about'} {format_duration(seconds)} left"


def remaining_seconds(elapsed: float, completed: float, total: float | None) -> float | None:
    """Return the remaining seconds, assuming that steps take equally long; None if they are unknown yet."""
    if not total or elapsed < _MIN_SECONDS or not _MIN_SHARE * total <= completed < total:
        return None
    return elapsed * (total - completed) / completed


def format_duration(seconds: float) -> str:
    """Return a duration with the precision of an estimate: 5 s, 40 s, 3 min, 2.5 h."""
    if seconds < 10:
        return f"{max(1, round(seconds))} s"
    if seconds < 55:
        return f"{10 * round(seconds / 10)} s"
    return f"{max(1, round(seconds / 60))} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@dataclass
class Work:
    """Beginning of a stage: steps of earlier stages on the same line, and the time."""

    done: float = 0.0
    bound: bool = False
    began: float = field(default_factory=perf_counter)

    def remaining(self, now: float, completed: float, total: float | None) -> str:
        """Return the remaining time of the stage."""
        rest = None if total is None else total - self.done
        return remaining_time(now - self.began, completed - self.done, rest, self.bound)


class RichDisplay:
    """Progress bars by rich, on standard error."""

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description:<28}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._progress = Progress(*columns, console=console)
        self._tasks: dict[str, Any] = {}
        self._progress.start()

    def add(self, name: str, total: float | None, bound: bool = False) -> None:
        self._tasks[name] = self._progress.add_task(name, total=total, left="", work=Work(0.0, bound))

    def line(self, name: str) -> Any:
        return next(task for task in self._progress.tasks if task.id == self._tasks[name])

    def restart(self, name: str, total: float | None, bound: bool = False) -> None:
        done = self.line(name).completed
        whole = None if total is None else done + total
        work = Work(done, bound)
        self._progress.update(self._tasks[name], completed=done, total=whole, left="", work=work)

    def advance(self, name: str, steps: float) -> None:
        task = self.line(name)
        left = task.fields["work"].remaining(perf_counter(), task.completed + steps, task.total)
        self._progress.update(self._tasks[name], advance=steps, left=left)

    def finish(self, name: str) -> None:
        task = self.line(name)
        whole = task.total or task.completed or 1
        self._progress.update(self._tasks[name], completed=whole, total=whole, left="")

    def close(self) -> None:
        self._progress.stop()


@dataclass
class TextLine:
    """State of a stage, and the times at which it began and was last updated."""

    total: float | None
    work: Work
    completed: float = 0.0
    began: float = field(default_factory=perf_counter)
    updated: float = field(default_factory=perf_counter)
    printed: float | None = None  # when a line about it was printed last
    running: bool = True

    def restart(self, total: float | None, bound: bool) -> None:
        """Add the steps of a further stage."""
        self.work, self.running = Work(self.completed, bound), True
        self.total = None if total is None else self.completed + total

    def advance(self, steps: float) -> None:
        """Add steps that are done."""
        self.completed, self.updated = self.completed + steps, perf_counter()

    def finish(self) -> None:
        """Set the stage to its total."""
        whole = self.total or self.completed or 1
        self.completed, self.total, self.updated, self.running = whole, whole, perf_counter(), False

    def describe(self, name: str, now: float) -> str:
        """Return a line about the stage: what is done, how long it has taken, how long it will take."""
        elapsed = now - self.began
        share = f"{100 * self.completed / self.total:.0f} %" if self.total else ""
        left = self.work.remaining(now, self.completed, self.total)
        parts = [share, f"{format_duration(elapsed)} so far", left]
        return f"{name}: {', '.join(part for part in parts if part)}"


class TextDisplay:
    """Lines of text on standard error: one when a stage begins, then one every 15 s, and a last one.

    A thread prints the lines, so that they also come from stages that report no steps.

    Parameters
    ----------
    delay : float
        Seconds before the first line. If everything ends before, nothing is printed.
    """

    def __init__(self, delay: float = 0.0) -> None:
        self._lines: dict[str, TextLine] = {}
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._first = perf_counter() + delay
        self._thread = threading.Thread(target=self._watch, name="eigenscape progress", daemon=True)
        self._thread.start()

    def add(self, name: str, total: float | None, bound: bool = False) -> None:
        with self._lock:
            self._lines[name] = TextLine(total, Work(0.0, bound))
            self._print_due(perf_counter())

    def line(self, name: str) -> TextLine:
        return self._lines[name]

    def restart(self, name: str, total: float | None, bound: bool = False) -> None:
        with self._lock:
            self._lines[name].restart(total, bound)

    def advance(self, name: str, steps: float) -> None:
        with self._lock:
            self._lines[name].advance(steps)

    def finish(self, name: str) -> None:
        with self._lock:
            self._lines[name].finish()

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
        if self._lines and perf_counter() >= self._first:
            times = (f"{name} {line.updated - line.began:.1f} s" for name, line in self._lines.items())
            self._print(f"done: {', '.join(times)}")

    def _watch(self) -> None:
        """Print lines when they are due, until the display is closed."""
        while not self._closed.wait(min(1.0, LINE_SECONDS / 4)):
            with self._lock:
                self._print_due(perf_counter())

    def _print_due(self, now: float) -> None:
        """Print a line about each running stage that has had none for a while."""
        if now < self._first:
            return
        for name, line in self._lines.items():
            if line.running and line.printed is None:
                line.printed = now
                self._print(f"{name} ...")
            elif line.running and line.printed is not None and now - line.printed >= LINE_SECONDS:
                line.printed = now
                self._print(line.describe(name, now))

    def _print(self, text: str) -> None:
        if sys.stderr is not None:
            print(text, file=sys.stderr, flush=True)


class JoinedDisplays:
    """Several displays of the same stages. A display that joins later may not know a line that restarts."""

    def __init__(self, displays: Sequence[ProgressDisplay]) -> None:
        self._displays = tuple(displays)

    def add(self, name: str, total: float | None, bound: bool = False) -> None:
        for display in self._displays:
            display.add(name, total, bound)

    def line(self, name: str) -> ProgressLine:
        return self._displays[0].line(name)

    def restart(self, name: str, total: float | None, bound: bool = False) -> None:
        for display in self._displays:
            display.restart(name, total, bound)

    def advance(self, name: str, steps: float) -> None:
        for display in self._displays:
            display.advance(name, steps)

    def finish(self, name: str) -> None:
        for display in self._displays:
            display.finish(name)

    def close(self) -> None:
        for display in self._displays:
            display.close()


def open_display(delay: float = 0.0) -> ProgressDisplay:
    """Return bars in a notebook, or by rich on a terminal; lines of text elsewhere, or without rich.

    ``delay`` is the number of seconds before the first line of text.
    """
    from eigenscape._notebook_progress import NotebookDisplay, in_notebook

    if in_notebook():
        return NotebookDisplay()
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        return TextDisplay(delay)
    console = Console(stderr=True)
    animated = console.is_terminal and not console.is_dumb_terminal
    return RichDisplay(console) if animated else TextDisplay(delay)
