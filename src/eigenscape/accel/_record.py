"""Record of accelerated calls: which steps ran in eigenscape, which in scikit-learn, and why."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar, cast

from eigenscape._loading import without_compiled_code
from eigenscape.accel import _settings
from eigenscape.accel._settings import FEW, LIMITS, OTHERS, Step


@dataclass
class Row:
    """Calls of the same name that ran in the same place for the same reason."""

    name: str
    place: str
    reason: str
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Report:
    """Accelerated calls of this process since the last :func:`reset`; ``str(report)`` is a table.

    Attributes
    ----------
    rows : list of Row
        ``name``, ``place`` ("eigenscape", "scikit-learn", "both" or "small"), ``reason``, ``calls`` and
        ``seconds``.

    Examples
    --------
    >>> from eigenscape import accel
    >>> accel.reset()
    >>> report = accel.report()
    >>> report.rows, report.share
    ([], 0.0)
    """

    rows: list[Row]

    @property
    def share(self) -> float:
        """Part of the calls in which eigenscape ran a step at least; 0 if there were none."""
        calls = sum(row.calls for row in self.rows)
        here = sum(row.calls for row in self.rows if row.place in ("eigenscape", "both"))
        return here / calls if calls else 0.0

    def __str__(self) -> str:
        if not self.rows:
            return "eigenscape.accel: no call was recorded"
        width = max(len(row.name) for row in self.rows)
        lines = [f"{'call':<{width}}  {'ran in':<12}  calls  seconds  left to scikit-learn"]
        lines += [
            f"{row.name:<{width}}  {row.place:<12}  {row.calls:5d}  {row.seconds:7.3f}  {row.reason}".rstrip()
            for row in self.rows
        ]
        return "\n".join(lines)

    __repr__ = __str__


class _Current(threading.local):
    """The call that this thread runs."""

    name = ""  # empty if there is none
    ran_here = False  # whether a step ran in eigenscape
    left: tuple[tuple[str, str], ...] = ()  # steps left to scikit-learn, with reasons


_current = _Current()
_lock = threading.Lock()
_rows: dict[tuple[str, str, str], Row] = {}


@contextmanager
def recorded(name: str) -> Iterator[None]:
    """Record a call: the block, or each call of the decorated function. A call that raises is not recorded.

    A call within another one, such as ``fit`` in ``fit_transform``, belongs to the outer.
    """
    if _current.name:
        yield
        return
    _current.name, _current.ran_here, _current.left = name, False, ()
    start = time.perf_counter()
    try:
        yield
    finally:
        _current.name = ""
    seconds = time.perf_counter() - start
    key = name, *_outcome()
    with _lock:
        row = _rows.setdefault(key, Row(*key))
        row.calls += 1
        row.seconds += seconds


def _outcome() -> tuple[str, str]:
    """Return where the call ran, and why: "small" is scikit-learn because there are few points."""
    reason = "; ".join(dict.fromkeys(f"{step}: {reason}" for step, reason in _current.left))
    if not reason or _current.ran_here:
        return "both" if reason else "eigenscape", reason
    return "small" if all(reason == FEW for _, reason in _current.left) else "scikit-learn", reason


class UnsupportedProblemError(Exception):
    """The problem is left to scikit-learn; the message is the reason."""


Function = TypeVar("Function", bound=Callable[..., Any])


def replaces(
    step: str, original: Callable[..., Any], instead: bool = False
) -> Callable[[Function], Function]:
    """Return a decorator of functions that compute a step of scikit-learn, as ``original`` does.

    The step runs in ``original``, with the same arguments, if they raise :class:`UnsupportedProblemError`.
    ``instead``: it does the steps within this one again, which have run in vain.
    """

    def decorate(ours: Function) -> Function:
        @wraps(ours)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                result = ours(*args, **kwargs)
            except UnsupportedProblemError as reason:
                _current.ran_here = _current.ran_here and not instead
                _current.left += ((step, str(reason)),)
                return original(*args, **kwargs)
            _current.ran_here = True
            return result

        return cast(Function, call)

    return decorate


def is_few(n_points: int, step: Step) -> bool:
    """Return whether a step of the present call is left to SciPy and scikit-learn for its few points."""
    limit: int = getattr(LIMITS.get(_current.name.partition(".")[0], OTHERS), step)
    chosen = _settings.few_points
    if chosen is not None:
        limit = chosen if step == "compiled" else min(limit, chosen)
    return n_points <= limit


def require_many(n_points: int, step: Step) -> None:
    """Raise UnsupportedProblemError if a step has few points."""
    if is_few(n_points, step):
        raise UnsupportedProblemError(FEW)


def suited_code(n_points: int) -> AbstractContextManager[None]:
    """Let a step of the present call run without compiled code if it has few points."""
    return without_compiled_code() if is_few(n_points, "compiled") else nullcontext()


def report() -> Report:
    """Return the accelerated calls of this process: where they ran, seconds, and why any were left.

    Calls in other processes, such as joblib's, are recorded there.

    Examples
    --------
    >>> from eigenscape import accel
    >>> accel.reset()
    >>> print(accel.report())
    eigenscape.accel: no call was recorded
    """
    with _lock:
        rows = [replace(row) for row in _rows.values()]
    return Report(sorted(rows, key=lambda row: (row.name, row.place, row.reason)))


def reset() -> None:
    """Forget all recorded calls.

    Examples
    --------
    >>> from eigenscape import accel
    >>> accel.reset()
    >>> len(accel.report().rows)
    0
    """
    with _lock:
        _rows.clear()
