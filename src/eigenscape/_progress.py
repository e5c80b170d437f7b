"""Progress of long work, in stages, without passing a bar through every function.

An estimator opens :func:`reporting`; whatever runs inside announces its :func:`stage`. Nobody listening costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_bar: ContextVar[Any] = ContextVar("eigenscape_progress", default=None)


def _silent(steps: float) -> None:
    """Advance nothing."""


@contextmanager
def reporting(verbose: bool) -> Iterator[None]:
    """Show the stages announced inside the block when ``verbose`` is true."""
    if not verbose or _bar.get() is not None:
        yield
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<28}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns) as bar:
        token = _bar.set(bar)
        try:
            yield
        finally:
            _bar.reset(token)


@contextmanager
def stage(name: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Announce one stage of work; the block receives a function that advances it."""
    bar = _bar.get()
    if bar is None:
        yield _silent
        return
    task = bar.add_task(name, total=total)
    yield lambda steps: bar.update(task, advance=steps)
    bar.update(task, total=total or 1, completed=total or 1)
