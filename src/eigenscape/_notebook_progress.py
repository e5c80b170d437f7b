"""Progress bars in notebooks, without ipywidgets: one output that is replaced under its display id."""

from __future__ import annotations

import sys
import threading
from html import escape
from time import perf_counter
from typing import Any

from eigenscape._progress_displays import TextLine, Work

#: Seconds between two updates of the output.
_UPDATE_SECONDS = 0.2


def in_notebook() -> bool:
    """Return whether the code runs in the kernel of a notebook."""
    module = sys.modules.get("IPython")  # a kernel has imported it
    shell = None if module is None else module.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class NotebookDisplay:
    """A bar for each stage below the cell. The last state remains in the notebook, also as text."""

    def __init__(self) -> None:
        self._lines: dict[str, TextLine] = {}
        self._lock = threading.Lock()
        self._handle: Any = None
        self._updated = 0.0

    def add(self, name: str, total: float | None, bound: bool = False) -> None:
        with self._lock:
            self._lines[name] = TextLine(total, Work(0.0, bound))
            self._update(True)

    def line(self, name: str) -> TextLine:
        return self._lines[name]

    def restart(self, name: str, total: float | None, bound: bool = False) -> None:
        with self._lock:
            self._lines[name].restart(total, bound)
            self._update(False)

    def advance(self, name: str, steps: float) -> None:
        with self._lock:
            self._lines[name].advance(steps)
            self._update(False)

    def finish(self, name: str) -> None:
        with self._lock:
            self._lines[name].finish()
            self._update(False)

    def close(self) -> None:
        with self._lock:
            self._update(True)

    def _update(self, now: bool) -> None:
        """Replace the output, or leave it for a later update if the last one is recent."""
        time = perf_counter()
        if not self._lines or (not now and time - self._updated < _UPDATE_SECONDS):
            return
        self._updated = time
        bundle = {"text/html": self._html(time), "text/plain": self._text(time)}
        if self._handle is not None:
            self._handle.update(bundle, raw=True)
            return
        from IPython.display import display

        self._handle = display(bundle, raw=True, display_id=True)

    def _text(self, now: float) -> str:
        return "\n".join(_describe(name, line, now) for name, line in self._lines.items())

    def _html(self, now: float) -> str:
        rows = []
        for name, line in self._lines.items():
            share = f' value="{min(1.0, line.completed / line.total):.4f}"' if line.total else ""
            rows.append(
                f'<div style="display:flex;gap:0.8em;align-items:center"><progress max="1"{share}'
                f' aria-label="{escape(name)}"></progress>'
                f"<span>{escape(_describe(name, line, now))}</span></div>"
            )
        return f'<div style="font-size:0.9em">{"".join(rows)}</div>'


def _describe(name: str, line: TextLine, now: float) -> str:
    """Return a line about a stage."""
    return line.describe(name, now) if line.running else f"{name}: done in {line.updated - line.began:.1f} s"
