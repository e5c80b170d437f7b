"""Displays of progress: bars by rich on a terminal and in notebooks, lines of text elsewhere."""

from __future__ import annotations

import sys
import threading
from importlib.util import find_spec
from time import perf_counter
from typing import Any

from eigenscape._progress import Line, ProgressDisplay, format_duration

#: Seconds between two lines about the same stage.
LINE_SECONDS = 15.0
#: Seconds of a command after which lines are printed that nobody asked for.
QUIET_SECONDS = 2.0


class BarDisplay:
    """Progress bars by rich."""

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description:<28}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self.progress = Progress(*columns, console=console)
        self._tasks: dict[str, Any] = {}
        self.progress.start()

    def show(self, line: Line) -> None:
        if line.name not in self._tasks:
            self._tasks[line.name] = self.progress.add_task(line.name, left="")
        self.progress.update(
            self._tasks[line.name],
            completed=line.completed,
            total=line.total,
            left=line.remaining(perf_counter()),
        )

    def close(self) -> None:
        if self.progress.console.is_jupyter:  # where rich does not show the last state itself
            self.progress.refresh()
        self.progress.stop()


class TextDisplay:
    """Lines of text on standard error: one when a stage begins, then one every 15 s, and a last one.

    A thread prints the lines, so that they also come from stages that report no steps, and from work outside
    of all stages: after two seconds, then every 15 s.

    Parameters
    ----------
    delay : float
        Seconds before the first line. If everything ends before, nothing is printed.
    """

    def __init__(self, delay: float = 0.0) -> None:
        self._lines: dict[str, Line] = {}
        self._printed: dict[str, float] = {}  # when a line about a stage was printed last
        self._began = perf_counter()
        self._closed, self._first = threading.Event(), self._began + delay
        self._idle_due = max(self._first, self._began + QUIET_SECONDS)  # of a line if no stage is running
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="eigenscape progress", daemon=True)
        self._thread.start()

    def show(self, line: Line) -> None:
        self._lines[line.name] = line
        if line.name not in self._printed:
            self._print_due()

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
        if self._lines and perf_counter() >= self._first:
            times = (f"{name} {line.updated - line.began:.1f} s" for name, line in self._lines.items())
            self._print(f"done: {', '.join(times)}")

    def _watch(self) -> None:
        """Print lines when they are due, until the display is closed."""
        while not self._closed.wait(min(1.0, LINE_SECONDS / 4)):
            self._print_due()

    def _print_due(self) -> None:
        """Print a line about each running stage that has had none for a while."""
        now = perf_counter()
        with self._lock:
            if any(line.running for line in list(self._lines.values())):
                self._idle_due = now + QUIET_SECONDS
            elif now >= self._idle_due:
                self._print(f"working: {format_duration(now - self._began)} so far")
                self._idle_due = now + LINE_SECONDS
            for name, line in list(self._lines.items()) if now >= self._first else ():
                last = self._printed.get(name)
                if line.running and (last is None or now - last >= LINE_SECONDS):
                    self._print(f"{name} ..." if last is None else describe(line, now))
                    self._printed[name] = now

    def _print(self, text: str) -> None:
        if sys.stderr is not None:
            print(text, file=sys.stderr, flush=True)


def describe(line: Line, now: float) -> str:
    """Return a sentence about a running stage: what is done, how long it has taken and will take."""
    share = f"{100 * line.completed / line.total:.0f} %" if line.total else ""
    parts = [share, f"{format_duration(now - line.began)} so far", line.remaining(now)]
    return f"{line.name}: {', '.join(part for part in parts if part)}"


def open_display(delay: float = 0.0) -> ProgressDisplay:
    """Return bars on a terminal, or in a notebook with ipywidgets; lines of text elsewhere, or without rich.

    ``delay`` is the number of seconds before the first line of text.
    """
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        return TextDisplay(delay)
    console = Console(stderr=True)
    has_widgets = console.is_jupyter and find_spec("ipywidgets") is not None
    animated = has_widgets or (console.is_terminal and not console.is_dumb_terminal)
    return BarDisplay(console) if animated else TextDisplay(delay)
