"""What is replaced in scikit-learn, from which numbers of points on, and the record of accelerated calls.

The record tells which steps ran in eigenscape, which in scikit-learn, and why.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal, NamedTuple

#: Kinds of steps, the fields of :class:`Limits`.
Step = Literal["dense", "iterative", "compiled"]


class Limits(NamedTuple):
    """Numbers of points up to which steps are left to SciPy and scikit-learn, which are as fast there.

    Below the last limit a call saves less than the time in which compiled code is loaded, once in a process.
    """

    dense: int  # steps without compiled code, instead of dense decompositions, sorting or loops in Python
    iterative: int  # those without compiled code, instead of ARPACK
    compiled: int  # steps that need compiled code


class Replaced(NamedTuple):
    """A class or function of scikit-learn that has a replacement. Old versions have no ClassicalMDS."""

    package: str  # of scikit-learn
    name: str
    module: str  # of the replacement
    limits: Limits


REPLACED = (
    Replaced("sklearn.manifold", "Isomap", "_isomap", Limits(800, 2500, 2500)),  # compiled: shortest paths
    Replaced("sklearn.manifold", "LocallyLinearEmbedding", "_locally_linear", Limits(600, 600, 4000)),
    Replaced("sklearn.manifold", "locally_linear_embedding", "_locally_linear", Limits(600, 600, 4000)),
    Replaced("sklearn.manifold", "SpectralEmbedding", "_spectral_embedding", Limits(1000, 6000, 6000)),
    Replaced("sklearn.manifold", "spectral_embedding", "_spectral_embedding", Limits(1000, 6000, 6000)),
    Replaced("sklearn.manifold", "ClassicalMDS", "_classical_mds", Limits(500, 500, 3500)),
    Replaced("sklearn.manifold", "trustworthiness", "_trustworthiness", Limits(300, 300, 4000)),
    Replaced("sklearn.decomposition", "KernelPCA", "_kernel_pca", Limits(800, 2500, 3500)),
    Replaced("sklearn.cluster", "SpectralClustering", "_spectral_clustering", Limits(1000, 6000, 6000)),
    Replaced("sklearn.cluster", "spectral_clustering", "_spectral_clustering", Limits(1000, 6000, 6000)),
)
LIMITS = {each.name: each.limits for each in REPLACED}
#: For calls of other names: the largest of each.
_OTHERS = Limits(*map(max, *LIMITS.values()))
#: The reason that is recorded.
FEW = "few points"

#: Number of points up to which calls avoid compiled code; None for the limit of each.
few_points: int | None = None


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


def is_few(n_points: int, step: Step) -> bool:
    """Return whether a step of the present call is left to SciPy and scikit-learn for its few points."""
    limit: int = getattr(LIMITS.get(_current.name.partition(".")[0], _OTHERS), step)
    if few_points is not None:
        limit = few_points if step == "compiled" else min(limit, few_points)
    return n_points <= limit


def require_many(n_points: int, step: Step) -> None:
    """Raise UnsupportedProblemError if a step has few points."""
    if is_few(n_points, step):
        raise UnsupportedProblemError(FEW)


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
