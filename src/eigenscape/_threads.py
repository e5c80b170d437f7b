"""The thread policy: how many threads run, and where.

1. Loops over points run on :func:`n_threads` threads, by :func:`parallel_map`. ``n_jobs=None`` stands for all
   cores that the process may use (its affinity and the quota of its container), but no more than a limit in
   force: one thread within a joblib worker or another parallel loop, and as many as BLAS has if these were
   limited by ``threadpool_limits`` or an environment variable such as ``OMP_NUM_THREADS``.
2. BLAS and LAPACK run on one thread (:func:`single_blas_thread`) while an estimator computes. Products are
   divided into blocks instead, whose size does not depend on the number of threads: results are then the same
   for any number, and threads do not wait for one another at barriers, which is slow on a busy machine.
3. Nothing global remains changed after a call. Calls from several threads may overlap: the limit of BLAS is
   lifted when the last of them ends.
4. In a forked process OpenMP runs on one thread too, since its other threads were not copied.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import islice
from numbers import Integral
from typing import Any, TypeVar

import joblib
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Modules that load a BLAS library of their own.
_LOADERS = ("numpy", "scipy.linalg", "sklearn.utils")


class _Nested(threading.local):
    """Whether this thread runs within a parallel loop."""

    active = False


_nested = _Nested()


class _Kept(threading.local):
    """The threads that :func:`kept_threads` keeps for loops of this thread, by their number."""

    pools: dict[int, ThreadPoolExecutor] | None = None
    n_jobs: int | None = None


_kept = _Kept()


class _BlasLimit:
    """The limit of one thread for BLAS, a context shared by all calls that overlap."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_active = 0
        self._previous: list[tuple[Any, int]] = []  # libraries and their numbers of threads
        self.outer = sys.maxsize  # number of threads of BLAS before it was limited, within the context
        self._loaded: tuple[bool, ...] | None = None  # _LOADERS imported when they were found
        self._libraries: list[Any] = []  # of BLAS, as threadpoolctl found them
        self._forked = False  # in a forked process OpenMP is limited too

    def __enter__(self) -> None:
        with self._lock:
            self._n_active += 1
            if self._n_active > 1:
                return
            loaded = tuple(name in sys.modules for name in _LOADERS)
            if self._loaded != loaded:  # finding the libraries takes milliseconds
                interfaces = ["blas", "openmp"] if self._forked else ["blas"]
                self._libraries = ThreadpoolController().select(user_api=interfaces).lib_controllers
                self._loaded = loaded
            threads = [(library, library.num_threads) for library in self._libraries]
            self.outer = min((count for _, count in threads), default=sys.maxsize)
            self._previous = [(library, count) for library, count in threads if count != 1]
            if self._previous:
                _set_threads((library, 1) for library, _ in self._previous)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_active = max(self._n_active - 1, 0)
            if self._n_active == 0 and self._previous:
                _set_threads(self._previous)

    def after_fork(self) -> None:
        """Start anew in a forked process, where only the thread that forked goes on.

        The threads of GNU OpenMP do not exist there, and a loop that waits for them (k-means of
        scikit-learn) would never end: OpenMP is limited to one thread as well from now on.
        """
        if self._n_active:
            _set_threads(self._previous)
        self._lock, self._n_active, self._loaded, self._forked = threading.Lock(), 0, None, True


def _set_threads(counts: Iterable[tuple[Any, int]]) -> None:
    """Set the numbers of threads of libraries.

    Since threadpoolctl 3.7 the thread that sets it remains the only one that may, which is released here: the
    number may be restored by another thread. If a user's own limit is in force in another thread, it wins.
    """
    for library, count in counts:
        library.set_num_threads(count)
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()


_blas = _BlasLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blas.after_fork)


def single_blas_thread() -> _BlasLimit:
    """Return a context in which BLAS and LAPACK run on one thread."""
    return _blas


def run_nested(function: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
    """Call a function on one thread, as one of several calls that run in parallel (a task of dask)."""
    before, _nested.active = _nested.active, True
    try:
        with _blas:
            return function(*arguments, **named)
    finally:
        _nested.active = before


@cache
def _cores() -> int:
    """Return the number of cores that the process may use."""
    return joblib.cpu_count()


def n_threads(n_jobs: int | None = None) -> int:
    """Return the number of threads for a loop.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads, at most the number of cores; -1 for all cores. None for the number that
        :func:`kept_threads` was given, or for all cores, or fewer if a limit is in force.
    """
    n_jobs = _kept.n_jobs if n_jobs is None else n_jobs
    if n_jobs == 1 or _nested.active:
        return 1
    # Within a task of joblib that shares its process; worker processes have limits of BLAS.
    if (get_active_backend()[0].nesting_level or 0) > 0 and multiprocessing.parent_process() is None:
        return 1
    if n_jobs is None:
        with _blas:
            return max(1, min(_cores(), _blas.outer))
    return max(1, min(n_jobs if n_jobs > 0 else _cores() + 1 + n_jobs, _cores()))


def parallel_map(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """Yield ``function(item)`` of each item, in order, computed on :func:`n_threads` threads.

    Items are drawn only a few ahead of the results, so that a long stream is not read into memory. If the
    function fails or the generator is closed, waiting items are cancelled.
    """
    queue = iter(items)
    first = list(islice(queue, 2))
    count = n_threads(n_jobs) if len(first) == 2 else 1
    if count == 1:
        with _blas:
            for item in first:
                yield function(item)
            for item in queue:
                yield function(item)
        return
    with _blas, _pool(count) as pool:
        pending: list[Future[Result]] = []
        try:
            pending.extend(pool.submit(function, item) for item in first)
            for item in queue:
                pending.append(pool.submit(function, item))
                if len(pending) > 2 * count:
                    yield pending.pop(0).result()
            while pending:
                yield pending.pop(0).result()
        finally:
            for future in pending:
                future.cancel()
            wait(pending)


def run_parallel(
    function: Callable[[Item], object], items: Iterable[Item], n_jobs: int | None = None
) -> None:
    """Call ``function(item)`` for each item, on :func:`n_threads` threads."""
    for _ in parallel_map(function, items, n_jobs):
        pass


#: Calls a function of each item, in parallel, and returns the results in order; see :func:`thread_team`.
Team = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]


def one_thread(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Call a function of each item: a team of one thread."""
    return [function(item) for item in items]


@contextmanager
def thread_team(n_jobs: int | None = None) -> Iterator[Team]:
    """Keep :func:`n_threads` threads within a block, for many short loops: starting threads takes longer."""
    count = n_threads(n_jobs)
    with _blas:
        if count == 1:
            yield one_thread
            return
        with _pool(count) as pool:
            yield lambda function, items: list(pool.map(function, items))


@contextmanager
def kept_threads(n_jobs: Any = None) -> Iterator[None]:
    """Limit BLAS to one thread, and keep the threads of loops until the end of a block.

    Starting threads takes longer than a short loop. ``n_jobs`` is the number of threads of loops within the
    block that ask for None.
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} must be a nonzero integer or None")
    before = _kept.pools, _kept.n_jobs
    pools = {} if before[0] is None else before[0]
    _kept.pools, _kept.n_jobs = pools, before[1] if n_jobs is None else int(n_jobs)
    try:
        with _blas:
            yield
    finally:
        _kept.pools, _kept.n_jobs = before
        if before[0] is None:
            for pool in pools.values():
                pool.shutdown()


@contextmanager
def _pool(count: int) -> Iterator[ThreadPoolExecutor]:
    """Yield ``count`` threads: those that are kept, or new ones for this block."""
    if _kept.pools is None:
        with ThreadPoolExecutor(count, "eigenscape", _mark_nested) as pool:
            yield pool
        return
    if count not in _kept.pools:
        _kept.pools[count] = ThreadPoolExecutor(count, "eigenscape", _mark_nested)
    yield _kept.pools[count]


def _mark_nested() -> None:
    _nested.active = True
