"""What is replaced in scikit-learn, and the record of accelerated calls.

The record tells which steps ran in eigenscape, which in scikit-learn, and why.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, NamedTuple


class Replaced(NamedTuple):
    """A class or function of scikit-learn that has a replacement. Old versions have no ClassicalMDS."""

    package: str  # of scikit-learn
    name: str
    module: str  # of the replacement


REPLACED = (
    Replaced("sklearn.manifold", "Isomap", "_isomap"),
    Replaced("sklearn.manifold", "LocallyLinearEmbedding", "_locally_linear"),
    Replaced("sklearn.manifold", "locally_linear_embedding", "_locally_linear"),
    Replaced("sklearn.manifold", "SpectralEmbedding", "_spectral_embedding"),
    Replaced("sklearn.manifold", "spectral_embedding", "_spectral_embedding"),
    Replaced("sklearn.manifold", "ClassicalMDS", "_classical_mds"),
    Replaced("sklearn.manifold", "trustworthiness", "_trustworthiness"),
    Replaced("sklearn.decomposition", "KernelPCA", "_kernel_pca"),
    Replaced("sklearn.cluster", "SpectralClustering", "_spectral_clustering"),
    Replaced("sklearn.cluster", "spectral_clustering", "_spectral_clustering"),
)


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
        ``name``, ``place`` ("eigenscape", "scikit-learn" or "both"), ``reason``, ``calls`` and ``seconds``.

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
    """Return where the call ran, and the reasons of the steps that were left to scikit-learn."""
    reason = "; ".join(dict.fromkeys(f"{step}: {reason}" for step, reason in _current.left))
    if not reason:
        return "eigenscape", ""
    return "both" if _current.ran_here else "scikit-learn", reason


class UnsupportedProblemError(Exception):
    """The problem is left to scikit-learn; the message is the reason."""


def replaces(step: str, original: Callable[..., Any], instead: bool = False) -> Callable[[Any], Any]:
    """Return a decorator of functions that compute a step of scikit-learn, as ``original`` does.

    The step runs in ``original``, with the same arguments, if they raise :class:`UnsupportedProblemError`.
    ``instead``: it does the steps within this one again, which have run in vain.
    """

    def decorate(ours: Any) -> Any:
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

        return call

    return decorate


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
