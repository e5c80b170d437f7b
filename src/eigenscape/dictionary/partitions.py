"""Greedy selection from rows that are stored in partitions (Ouimet sec. 3).

The members are the same, row for row, as those selected from all rows on one machine. A point within the
tolerance of a span is within the tolerance of every larger span, and most points are. So each partition is
screened in place against the current dictionary, and only rows beyond the tolerance are collected, in order,
as candidates for algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import sparse

from eigenscape._typing import is_sparse
from eigenscape.dictionary.readers import RowReader, read_blocks
from eigenscape.dictionary.selection import Dictionary, extend_from_rows
from eigenscape.dictionary.source import PointArray, stack_rows
from eigenscape.dictionary.span import Span
from eigenscape.kernels.base import n_points

#: Bytes of rows that are collected at once, and the minimum number of rows.
_POOL_BYTES, _MIN_ROWS = 2**22, 256
#: The first rows, one in _HEAD_FRACTION but at least _MIN_HEAD, are searched locally before any partition is.
_HEAD_FRACTION, _MIN_HEAD = 64, 8192


@dataclass(frozen=True, eq=False)
class PoolRequest:
    """Selection of the rows that every partition returns as candidates."""

    tol: float  # the first rows with an error above tol, at most max_rows,
    min_error: float  # and those with the largest errors above min_error,
    max_rows: int  # up to this total,
    max_extra: int  # and up to this number of the latter per partition
    members: np.ndarray  # indices of the members of the dictionary: their error is 0 despite rounding
    first: int = 0  # rows before this one have been searched with tolerance tol


@dataclass(frozen=True, eq=False)
class CandidatePool:
    """All rows before row ``end`` with an error larger than ``floor``."""

    points: PointArray  # (p, n_features)
    indices: np.ndarray  # (p,), ascending
    bounds: np.ndarray  # (p,), upper bounds of the projection errors, exact above the tolerance
    floor: float
    end: float = np.inf

    def merge(self, later: CandidatePool) -> CandidatePool:
        """Merge with the pool of later rows, keeping rows above the larger of the two floors."""
        floor = max(self.floor, later.floor)
        bounds = np.concatenate([self.bounds, later.bounds])
        kept = bounds > floor
        return CandidatePool(
            stack_rows(self.points, later.points)[kept],
            np.concatenate([self.indices, later.indices])[kept],
            bounds[kept],
            floor,
            min(self.end, later.end),
        )

    def truncate(self, request: PoolRequest) -> CandidatePool:
        """Keep at most ``max_rows`` rows.

        If more are beyond the tolerance, the first of them are kept; otherwise all of them and those with the
        largest errors below it.
        """
        which, floor, end = _requested(self.indices, self.bounds, request, request.max_rows, self.end)
        return CandidatePool(
            self.points[which], self.indices[which], self.bounds[which], max(self.floor, floor), end
        )


def _requested(
    indices: np.ndarray, bounds: np.ndarray, request: PoolRequest, max_extra: int, end: float
) -> tuple[np.ndarray, float, float]:
    """Select the requested rows; return their positions, and ``floor`` and ``end`` of the pool.

    ``bounds`` are the error bounds of the rows with these ``indices``. At most ``max_extra`` of the selected
    rows have an error within the tolerance.
    """
    beyond = np.flatnonzero((bounds > request.tol) & (indices < end))
    if len(beyond) > request.max_rows:
        beyond, end = beyond[: request.max_rows], float(indices[beyond[request.max_rows]])
    if end < np.inf:
        return beyond, request.tol, end
    n_dropped = len(bounds) - max(len(beyond), min(len(beyond) + max_extra, request.max_rows))
    floor = request.min_error
    if n_dropped > 0:  # the largest error of a dropped row
        floor = max(float(np.partition(bounds, n_dropped - 1)[n_dropped - 1]), floor)
    return np.flatnonzero(bounds > floor), floor, end


@dataclass(frozen=True, eq=False)
class ScreenedPartition:
    """The requested rows of a partition, and upper bounds (n,) of the errors of all its rows."""

    pool: CandidatePool
    bounds: np.ndarray


def screen_partition(
    previous: ScreenedPartition | None, Y: PointArray, first: int, span: Span, request: PoolRequest
) -> ScreenedPartition:
    """Find the requested rows of a partition.

    Parameters
    ----------
    previous : ScreenedPartition or None
        The last result, for a dictionary that the present one extends. Rows that were within the requested
        error are not projected again.
    Y : array of shape (n, n_features)
        The rows of the partition.
    first : int
        Index of its first row.
    span : Span
        Span of the present dictionary.
    request : PoolRequest
        Which rows to return.

    Returns
    -------
    ScreenedPartition
    """
    indices = np.arange(first, first + n_points(Y))
    bounds = np.full(n_points(Y), np.inf) if previous is None else previous.bounds.copy()
    is_here = (request.members >= first) & (request.members <= indices[-1])
    bounds[request.members[is_here] - first] = 0.0
    for positions, block in read_blocks(RowReader([Y]), 8192, bounds > request.min_error):
        errors = span.error_bounds(block, positions, request.min_error)
        bounds[positions] = errors if np.isfinite(errors).all() else span.project(block, positions).error
    searched = indices < request.first  # rows still beyond tol were rejected because of rounding
    bounds[searched] = np.minimum(bounds[searched], request.tol)
    which, floor, end = _requested(indices, bounds, request, request.max_extra, np.inf)
    return ScreenedPartition(CandidatePool(Y[which], indices[which], bounds[which], floor, end), bounds)


class Partitions(Protocol):
    """Rows stored in partitions, with the error bounds of their rows."""

    ends: np.ndarray  # row indices at which the partitions end

    def screen(self, dictionary: Dictionary, request: PoolRequest, start: int, stop: int) -> CandidatePool:
        """Screen the partitions ``start`` to ``stop`` (exclusive) and return the merged pool."""

    def commit(self) -> None:
        """Keep the error bounds computed since the last commit: the dictionary was accepted."""

    def rollback(self) -> None:
        """Restore the error bounds of the last commit."""


class PartitionScan:
    """Candidates in partitions, screened in place.

    Algorithm 1 is applied to the first rows, locally. Then all partitions are screened for rows beyond the
    tolerance, and it continues with these. If there are too many at once, the first of them give a better
    dictionary, with which the remaining partitions, few at first, are screened again. A pool serves later
    runs too, as long as their tolerance is not below its floor.
    """

    def __init__(self, partitions: Partitions, head: RowReader, max_rows: int) -> None:
        self.partitions, self.max_rows = partitions, max_rows
        self.head, self.head_bounds = head, np.full(head.n_rows, np.inf)
        self.pool: CandidatePool | None = None

    def extend(
        self, dictionary: Dictionary, tol: float, max_size: float, next_tol: float = 0.0, stop: bool = False
    ) -> Dictionary | None:
        """See :meth:`eigenscape.dictionary.selection.CandidateScan.extend`."""
        head_bounds = self.head_bounds
        extended: tuple[Dictionary, CandidatePool | None] | None
        if self.pool is not None and self.pool.floor <= tol:
            extended = _extend_from_pool(dictionary, self.pool, tol, max_size, stop)
        else:
            from_head = extend_from_rows(dictionary, self.head, head_bounds, tol, max_size, stop)
            if from_head is None:
                return None
            dictionary, head_bounds = from_head
            if stop and dictionary.size >= max_size:
                extended = dictionary, None
            else:
                extended = self._extend_from_partitions(dictionary, tol, max_size, next_tol, stop)
        if extended is None:
            self.partitions.rollback()
            return None
        self.partitions.commit()
        self.head_bounds, (dictionary, self.pool) = head_bounds, extended
        return dictionary

    def _extend_from_partitions(
        self, dictionary: Dictionary, tol: float, max_size: float, next_tol: float, stop: bool
    ) -> tuple[Dictionary, CandidatePool | None] | None:
        """Screen groups of partitions until none has a row beyond the tolerance."""
        ends = self.partitions.ends
        start, width, first = 0, len(ends), 0
        # Rows within the tolerance are collected too: later runs of algorithm 2, which bisects it, need them.
        min_error = max(min(next_tol, tol), 0.5 * tol)
        while start < len(ends):
            end = min(start + width, len(ends))
            if start > 0 and ends[end - 1] == ends[start - 1]:  # empty partitions
                start, width = end, 2 * width
                continue
            max_extra = max(_MIN_ROWS, 4 * self.max_rows // (end - start))
            request = PoolRequest(tol, min_error, self.max_rows, max_extra, dictionary.indices, first)
            pool = self.partitions.screen(dictionary, request, start, end)
            extended = _extend_from_pool(dictionary, pool, tol, max_size, stop)
            if extended is None:
                return None
            dictionary = extended[0]
            if stop and dictionary.size >= max_size:
                return dictionary, None
            if pool.end < np.inf:
                first = int(pool.end)
                reached = int(np.searchsorted(ends, first, side="right"))
                start, width = reached, max(1, 2 * (reached - start))
            elif start == 0 and end == len(ends):
                return extended
            else:
                start, width = end, 2 * width
        return dictionary, None


def _extend_from_pool(
    dictionary: Dictionary, pool: CandidatePool, tol: float, max_size: float, stop: bool
) -> tuple[Dictionary, CandidatePool] | None:
    reader = RowReader([pool.points], indices=pool.indices)
    extended = extend_from_rows(dictionary, reader, pool.bounds, tol, max_size, stop)
    return None if extended is None else (extended[0], replace(pool, bounds=extended[1]))


def pool_size(sample: np.ndarray | sparse.csr_array) -> int:
    """Return how many rows of the size of ``sample``, with indices and bounds, are collected at once."""
    nbytes = sample.data.nbytes + sample.indices.nbytes if is_sparse(sample) else sample.nbytes
    return max(_MIN_ROWS, int(_POOL_BYTES / (16 + nbytes / n_points(sample))))


def head_size(n_rows: int, max_rows: int) -> int:
    """Return how many of the first rows are searched locally: all, if at most ``max_rows``."""
    return min(max_rows, n_rows if n_rows <= max_rows else max(_MIN_HEAD, n_rows // _HEAD_FRACTION))
