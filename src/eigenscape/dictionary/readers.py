"""Sequential access to rows in blocks: an array in memory or on disk, or chunks of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from eigenscape._threads import parallel_map
from eigenscape.dictionary.source import PointArray
from eigenscape.kernels.base import n_points

Result = TypeVar("Result")
#: Row indices (b,) and the rows themselves.
Block = tuple[np.ndarray, PointArray]


class RowCursor(Protocol):
    """A position in a sequence of rows."""

    def read(self, size: int) -> Block | None:
        """Return the next block of at most ``size`` rows; None at the end."""
        ...


class RowReader(Protocol):
    """Rows that can be read several times, in order."""

    @property
    def n_rows(self) -> int: ...

    def cursor(self, mask: np.ndarray | None = None) -> RowCursor:
        """Return a cursor over the rows where ``mask`` (n_rows,) is True; None for all rows."""
        ...

    def positions(self, indices: np.ndarray) -> np.ndarray:
        """Return the positions, within this reader, of the rows with these indices."""
        ...


@dataclass(frozen=True, eq=False)
class ArrayReader:
    """The rows of an array; ``first`` is the index of its first row."""

    X: PointArray
    first: int = 0

    @property
    def n_rows(self) -> int:
        return n_points(self.X)

    def cursor(self, mask: np.ndarray | None = None) -> _ArrayCursor:
        return _ArrayCursor(self.X, self.first, None if mask is None else np.flatnonzero(mask))

    def positions(self, indices: np.ndarray) -> np.ndarray:
        return indices - self.first


class _ArrayCursor:
    def __init__(self, X: PointArray, first: int, selected: np.ndarray | None) -> None:
        self.X, self.first, self.selected, self.start = X, first, selected, 0
        self.total = n_points(X) if selected is None else len(selected)

    def read(self, size: int) -> Block | None:
        if self.start >= self.total:
            return None
        rows = slice(self.start, min(self.start + size, self.total))
        self.start = rows.stop
        if self.selected is None:
            return np.arange(rows.start, rows.stop) + self.first, self.X[rows]
        positions = self.selected[rows]
        return positions + self.first, self.X[positions]


@dataclass(frozen=True, eq=False)
class SubsetReader:
    """Some of the rows, with their indices in the whole data, ascending."""

    X: PointArray
    indices: np.ndarray  # (n,)

    @property
    def n_rows(self) -> int:
        return len(self.indices)

    def cursor(self, mask: np.ndarray | None = None) -> _SubsetCursor:
        return _SubsetCursor(ArrayReader(self.X).cursor(mask), self.indices)

    def positions(self, indices: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.indices, indices)


class _SubsetCursor:
    def __init__(self, cursor: _ArrayCursor, indices: np.ndarray) -> None:
        self.cursor, self.indices = cursor, indices

    def read(self, size: int) -> Block | None:
        block = self.cursor.read(size)
        return None if block is None else (self.indices[block[0]], block[1])


@dataclass(frozen=True, eq=False)
class ChunkReader:
    """The rows of an iterable of chunks that can be iterated over repeatedly."""

    chunks: Iterable[PointArray]

    @property
    def n_rows(self) -> int:
        return sum(n_points(chunk) for chunk in self.chunks)

    def cursor(self, mask: np.ndarray | None = None) -> _ChunkCursor:
        return _ChunkCursor(self.chunks, mask)

    def positions(self, indices: np.ndarray) -> np.ndarray:
        return indices


class _ChunkCursor:
    """Blocks do not extend over the end of a chunk."""

    def __init__(self, chunks: Iterable[PointArray], mask: np.ndarray | None) -> None:
        self.cursors = self._chunk_cursors(chunks, mask)
        self.current: _ArrayCursor | None = None

    @staticmethod
    def _chunk_cursors(chunks: Iterable[PointArray], mask: np.ndarray | None) -> Iterator[_ArrayCursor]:
        first = 0
        for chunk in chunks:
            stop = first + n_points(chunk)
            yield ArrayReader(chunk, first).cursor(None if mask is None else mask[first:stop])
            first = stop

    def read(self, size: int) -> Block | None:
        while True:
            block = None if self.current is None else self.current.read(size)
            if block is not None:
                return block
            self.current = next(self.cursors, None)
            if self.current is None:
                return None


def read_blocks(reader: RowReader, size: int, mask: np.ndarray | None = None) -> Iterator[Block]:
    """Yield (indices, rows) in blocks of at most ``size`` rows."""
    return iter(partial(reader.cursor(mask).read, size), None)


def map_blocks(
    function: Callable[[np.ndarray, PointArray], Result], reader: RowReader, size: int, n_jobs: int | None
) -> Iterator[Result]:
    """Yield ``function(indices, rows)`` of each block, in order.

    Blocks are distributed over ``n_jobs`` threads with one BLAS thread each.
    """
    return parallel_map(lambda block: function(*block), read_blocks(reader, size), n_jobs)
