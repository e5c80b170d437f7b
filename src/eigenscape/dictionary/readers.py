"""Sequential access to rows in blocks: an array in memory or on disk, or chunks of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from eigenscape._threads import parallel_map
from eigenscape.dictionary.source import PointArray
from eigenscape.kernels.base import n_points

Result = TypeVar("Result")
#: Row indices (b,) and the rows themselves.
Block = tuple[np.ndarray, PointArray]


@dataclass(frozen=True, eq=False)
class RowReader:
    """Rows that can be read several times, in order.

    Parameters
    ----------
    chunks : iterable of arrays
        The rows: one array or several, which can be iterated over repeatedly.
    first : int
        Index of the first row.
    indices : ndarray of shape (n_rows,) or None
        Indices of the rows, ascending. If None, they are consecutive.
    """

    chunks: Iterable[PointArray]
    first: int = 0
    indices: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return sum(n_points(chunk) for chunk in self.chunks)

    def cursor(self, mask: np.ndarray | None = None) -> RowCursor:
        """Return a cursor over the rows where ``mask`` (n_rows,) is True; None for all rows."""
        return RowCursor(self, mask)

    def positions(self, indices: np.ndarray) -> np.ndarray:
        """Return the positions, within this reader, of the rows with these indices."""
        return indices - self.first if self.indices is None else np.searchsorted(self.indices, indices)


class RowCursor:
    """A position in the rows of a reader; blocks do not extend over the end of a chunk."""

    def __init__(self, reader: RowReader, mask: np.ndarray | None) -> None:
        self.reader, self.mask, self.chunks = reader, mask, iter(reader.chunks)
        self.chunk: PointArray | None = None
        self.passed = 0  # rows before the chunk
        self.rows: range | np.ndarray = range(0)  # rows of the chunk that have not been read

    def read(self, size: int) -> Block | None:
        """Return the next block of at most ``size`` rows; None at the end."""
        while len(self.rows) == 0:
            self.passed += 0 if self.chunk is None else n_points(self.chunk)
            self.chunk = next(self.chunks, None)
            if self.chunk is None:
                return None
            self.rows = range(n_points(self.chunk))  # an array would take memory for all rows
            if self.mask is not None:
                self.rows = np.flatnonzero(self.mask[self.passed : self.passed + len(self.rows)])
        assert self.chunk is not None
        rows, self.rows = self.rows[:size], self.rows[size:]
        positions, indices = self.passed + np.asarray(rows, dtype=np.intp), self.reader.indices
        return (
            self.reader.first + positions if indices is None else indices[positions],
            self.chunk[rows[0] : rows[-1] + 1] if self.mask is None else self.chunk[rows],
        )


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
