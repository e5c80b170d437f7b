"""Displays of progress: bars on a terminal and in notebooks, lines of text elsewhere."""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from html import escape
from time import perf_counter
from typing import Any, Protocol

#: Seconds between two lines about the same stage that are not on a terminal.
LINE_SECONDS = 15.0
#: Seconds of a command after which lines are printed that nobody asked for.
QUIET_SECONDS = 2.0
#: The remaining time is estimated after this many seconds and this share of the work.
_MIN_SECONDS, _MIN_SHARE = 2.0, 0.01


class ProgressDisplay(Protocol):
    """Interface of a progress display with one line per stage."""

    def add(self, name: str, total: float | None, bound: bool = False) -> None:
        """Add a line; with ``bound``, fewer steps than the total may suffice."""

    def restart(self, name: str, total: float | None, bound: bool = False) -> None:
        """Add the steps of a further stage to a line, or of a stage within the one that has the line.

        A display that joined later may not know the line.
        """

    def advance(self, name: str, steps: float) -> None:
        """Advance a line; called from several threads."""

    def finish(self, name: str) -> None:
        """Set a line to its total: its stage has ended."""

    def close(self) -> None:
        """Finish the display."""


def format_duration(seconds: float) -> str:
    """Return a duration with the precision of an estimate: 5 s, 40 s, 3 min, 2.5 h."""
    if seconds < 10:
        return f"{max(1, round(seconds))} s"
    if seconds < 55:
        return f"{10 * round(seconds / 10)} s"
    return f"{max(1, round(seconds / 60))} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@dataclass
class Line:
    """State of a line: a stage, and the steps of earlier stages of the same name."""

    total: float | None
    bound: bool
    completed: float = 0.0
    earlier: float = 0.0  # steps of earlier stages
    began: float = field(default_factory=perf_counter)
    stage_began: float = field(default_factory=perf_counter)
    updated: float = field(default_factory=perf_counter)
    printed: float | None = None  # when a line about it was printed last
    running: bool = True

    def remaining_seconds(self, now: float) -> float | None:
        """Return the remaining seconds, assuming that steps take equally long; None if unknown."""
        elapsed, done = now - self.stage_began, self.completed - self.earlier
        total = 0.0 if self.total is None else self.total - self.earlier
        known = total > 0 and elapsed >= _MIN_SECONDS and _MIN_SHARE * total <= done < total
        return elapsed * (total - done) / done if known else None

    def remaining(self, now: float) -> str:
        """Return the remaining time of the stage: "about 3 min left"; "" if unknown."""
        seconds = self.remaining_seconds(now)
        if seconds is None:
            return ""
        return f"{'at most' if self.bound else 'about'} {format_duration(seconds)} left"

    def describe(self, name: str, now: float) -> str:
        """Return a sentence about the stage: what is done, how long it has taken and will take."""
        if not self.running:
            return f"{name}: done in {self.updated - self.began:.1f} s"
        share = f"{100 * self.completed / self.total:.0f} %" if self.total else ""
        parts = [share, f"{format_duration(now - self.began)} so far", self.remaining(now)]
        return f"{name}: {', '.join(part for part in parts if part)}"


class LineDisplay(ABC):
    """Base of displays that keep the state of each line, for stages that advance on several threads."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}
        self._lock = threading.Lock()

    @abstractmethod
    def _show(self, name: str, begins: bool) -> None:
        """Show a line that has changed, or that begins."""

    @abstractmethod
    def close(self) -> None:
        """Finish the display."""

    def line(self, name: str) -> Line:
        return self._lines[name]

    def add(self, name: str, total: float | None, bound: bool = False) -> None:
        with self._lock:
            self._lines[name] = Line(total, bound)
            self._show(name, True)

    def restart(self, name: str, total: float | None, bound: bool = False) -> None:
        with self._lock:
            line = self._lines[name]
            line.earlier, line.bound, line.running = line.completed, bound, True
            line.total, line.stage_began = None if total is None else line.completed + total, perf_counter()
            self._show(name, True)

    def advance(self, name: str, steps: float) -> None:
        with self._lock:
            line = self._lines[name]
            line.completed, line.updated = line.completed + steps, perf_counter()
            self._show(name, False)

    def finish(self, name: str) -> None:
        with self._lock:
            line = self._lines[name]
            line.completed = line.total = line.total or line.completed or 1.0
            line.updated, line.running = perf_counter(), False
            self._show(name, False)


class RichDisplay(LineDisplay):
    """Progress bars by rich, on standard error."""

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        super().__init__()
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

    def _show(self, name: str, begins: bool) -> None:
        line = self._lines[name]
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=line.total, left="")
        left = line.remaining(perf_counter()) if line.running and not begins else ""
        self._progress.update(self._tasks[name], completed=line.completed, total=line.total, left=left)

    def close(self) -> None:
        self._progress.stop()


class TextDisplay(LineDisplay):
    """Lines of text on standard error: one when a stage begins, then one every 15 s, and a last one.

    A thread prints the lines, so that they also come from stages that report no steps.

    Parameters
    ----------
    delay : float
        Seconds before the first line. If everything ends before, nothing is printed.
    """

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__()
        self._closed, self._first = threading.Event(), perf_counter() + delay
        self._thread = threading.Thread(target=self._watch, name="eigenscape progress", daemon=True)
        self._thread.start()

    def _show(self, name: str, begins: bool) -> None:
        if begins and self._lines[name].printed is None:
            self._print_due(perf_counter())

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
        for name, line in self._lines.items() if now >= self._first else ():
            if line.running and (line.printed is None or now - line.printed >= LINE_SECONDS):
                self._print(f"{name} ..." if line.printed is None else line.describe(name, now))
                line.printed = now

    def _print(self, text: str) -> None:
        if sys.stderr is not None:
            print(text, file=sys.stderr, flush=True)


class NotebookDisplay(LineDisplay):
    """A bar for each stage below the cell, without ipywidgets: one output, replaced under its display id.

    The last state remains in the notebook, also as text.
    """

    #: Seconds between two updates of the output.
    update_seconds = 0.2

    def __init__(self) -> None:
        super().__init__()
        self._handle: Any = None
        self._updated = 0.0

    def _show(self, name: str, begins: bool) -> None:
        """Replace the output, or leave it for a later update if the last one is recent."""
        new = begins and self._lines[name].earlier == 0
        if new or perf_counter() - self._updated >= self.update_seconds:
            self._update()

    def close(self) -> None:
        with self._lock:
            if self._lines:
                self._update()

    def _update(self) -> None:
        self._updated = now = perf_counter()
        texts = {name: line.describe(name, now) for name, line in self._lines.items()}
        rows = []
        for name, line in self._lines.items():
            share = f' value="{min(1.0, line.completed / line.total):.4f}"' if line.total else ""
            rows.append(
                f'<div style="display:flex;gap:0.8em;align-items:center"><progress max="1"{share}'
                f' aria-label="{escape(name)}"></progress><span>{escape(texts[name])}</span></div>'
            )
        html = f'<div style="font-size:0.9em">{"".join(rows)}</div>'
        bundle = {"text/html": html, "text/plain": "\n".join(texts.values())}
        if self._handle is not None:
            self._handle.update(bundle, raw=True)
            return
        from IPython.display import display

        self._handle = display(bundle, raw=True, display_id=True)


def in_notebook() -> bool:
    """Return whether the code runs in the kernel of a notebook."""
    module = sys.modules.get("IPython")  # a kernel has imported it
    shell = None if module is None else module.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def open_display(delay: float = 0.0) -> ProgressDisplay:
    """Return bars in a notebook, or by rich on a terminal; lines of text elsewhere, or without rich.

    ``delay`` is the number of seconds before the first line of text.
    """
    if in_notebook():
        return NotebookDisplay()
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        return TextDisplay(delay)
    console = Console(stderr=True)
    animated = console.is_terminal and not console.is_dumb_terminal
    return RichDisplay(console) if animated else TextDisplay(delay)
