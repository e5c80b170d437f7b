"""Signs of coordinates by their largest entry over all rows, as
:func:`eigenscape.solvers.pairs.canonical_signs` has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.reduce import reduce_blocks

#: Entries that are largest up to this share count as equally large, and the first one decides.
_TIE = 1e-6
#: Rows that are looked at together have so many bytes: most have no entry that leads.
_BYTES = 2**17


class Leaders(NamedTuple):
    """Of each coordinate the largest entry and the first one that is as large up to rounding, each (q,)."""

    largest: np.ndarray
    first: np.ndarray

    def joined(self, later: Leaders) -> Leaders:
        """The leaders of rows and of those that come after them."""
        size = np.maximum(np.abs(self.largest), np.abs(later.largest))
        largest = np.where(np.abs(self.largest) >= np.abs(later.largest), self.largest, later.largest)
        first = largest
        for candidate in (later.largest, later.first, self.largest, self.first):
            first = np.where(np.abs(candidate) >= (1 - _TIE) * size, candidate, first)
        return Leaders(largest, first)

    @property
    def signs(self) -> np.ndarray:
        return np.where(self.first < 0, -1.0, 1.0)


def leaders(coordinates: np.ndarray) -> Leaders | None:
    """Of the rows of one block; None where there are no rows."""
    found: Leaders | None = None
    for rows in row_blocks(len(coordinates), 8 * coordinates.shape[1], _BYTES):
        columns = np.ascontiguousarray(coordinates[rows].T)
        if found is None or (np.abs(columns).max(axis=1) >= (1 - _TIE) * np.abs(found.largest)).any():
            more = _leaders(columns)
            found = more if found is None else found.joined(more)
    return found


def _leaders(columns: np.ndarray) -> Leaders:
    size = np.abs(columns)
    first = np.argmax(size >= (1 - _TIE) * size.max(axis=1, keepdims=True), axis=1)
    numbers = np.arange(len(columns))
    return Leaders(columns[numbers, np.argmax(size, axis=1)], columns[numbers, first])


def block_signs(
    coordinates: Callable[..., np.ndarray], blocks: Blocks, *shared: Any, beside: Any = ()
) -> np.ndarray:
    """Signs (q,) that make the largest entry of ``coordinates(block, *beside, *shared)`` over all rows
    positive."""
    return reduce_blocks(_Led(coordinates), blocks, Leaders.joined, *shared, beside=beside).signs


class _Led:
    def __init__(self, coordinates: Callable[..., np.ndarray]) -> None:
        self.coordinates = coordinates

    def __call__(self, *rows: Any) -> Leaders | None:
        return leaders(self.coordinates(*rows))
