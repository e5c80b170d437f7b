"""Signs of coordinates by their largest entry over all rows.

The convention is defined by :func:`eigenscape.solvers.pairs.canonical_signs`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.reduce import reduce_blocks

#: Entries within this relative difference of the largest are ties; the first of them determines the sign.
_TIE = 1e-6
#: Bytes of coordinates examined at once; most such blocks contain no largest entry.
_BLOCK_BYTES = 2**17


class LargestEntries(NamedTuple):
    """For each coordinate the entry largest in magnitude, and the first that ties with it, each (q,)."""

    largest: np.ndarray
    first: np.ndarray

    def merge(self, later: LargestEntries) -> LargestEntries:
        """Return the largest entries of these rows and of the later ones."""
        magnitude = np.maximum(np.abs(self.largest), np.abs(later.largest))
        largest = np.where(np.abs(self.largest) >= np.abs(later.largest), self.largest, later.largest)
        first = largest
        for candidate in (later.largest, later.first, self.largest, self.first):  # earliest tie last
            first = np.where(np.abs(candidate) >= (1 - _TIE) * magnitude, candidate, first)
        return LargestEntries(largest, first)

    @property
    def signs(self) -> np.ndarray:
        return np.where(self.first < 0, -1.0, 1.0)


def largest_entries(coordinates: np.ndarray) -> LargestEntries | None:
    """Return the largest entries of the coordinates (n, q) of a block; None if it has no rows."""
    entries: LargestEntries | None = None
    for rows in row_blocks(len(coordinates), 8 * coordinates.shape[1], _BLOCK_BYTES):
        columns = np.ascontiguousarray(coordinates[rows].T)
        if entries is None or (np.abs(columns).max(axis=1) >= (1 - _TIE) * np.abs(entries.largest)).any():
            part = _largest_by_row(columns)
            entries = part if entries is None else entries.merge(part)
    return entries


def _largest_by_row(columns: np.ndarray) -> LargestEntries:
    size = np.abs(columns)
    first = np.argmax(size >= (1 - _TIE) * size.max(axis=1, keepdims=True), axis=1)
    numbers = np.arange(len(columns))
    return LargestEntries(columns[numbers, np.argmax(size, axis=1)], columns[numbers, first])


def projection_signs(blocks: Blocks, mean: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the signs (q,) that make the largest entry of each coordinate over all rows positive.

    The coordinates of a block are ``(X - mean) @ directions``.
    """
    return reduce_blocks(_largest_projected, blocks, mean, directions).signs


def _largest_projected(X: np.ndarray, mean: np.ndarray, directions: np.ndarray) -> LargestEntries | None:
    return largest_entries((X - mean) @ directions)
