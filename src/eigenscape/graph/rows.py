"""Which rows are the same point: exact, vectorised, for dense and sparse data.

Graph methods embed distinct rows once, and a new point that equals a training point *is* that vertex.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def _scramble(bits: np.ndarray) -> np.ndarray:
    """Spread the bits of 64-bit integers; 0 stays 0, so that stored and absent zeros agree."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
    return bits ^ (bits >> np.uint64(31))


def _bits(values: np.ndarray) -> np.ndarray:
    exact = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # -0.0 and 0.0 are one number
    return exact.view(np.uint64)


def row_hashes(X: Any) -> np.ndarray:
    """A 64-bit number for each row, equal for equal rows, whatever rows stand beside them."""
    n_rows, n_columns = X.shape
    with np.errstate(over="ignore"):
        multipliers = _scramble(np.arange(1, n_columns + 1, dtype=np.uint64)) | np.uint64(1)
        hashes = np.zeros(n_rows, dtype=np.uint64)
        if sparse.issparse(X):
            X = sparse.csr_array(X)
            X.sum_duplicates()
            terms = _scramble(_bits(X.data) * multipliers[X.indices])
            row = np.repeat(np.arange(n_rows), np.diff(X.indptr))
            np.add.at(hashes, row, terms)
        else:
            for block in row_blocks(n_rows, 24 * n_columns):
                hashes[block] = _scramble(_bits(X[block]) * multipliers).sum(axis=1, dtype=np.uint64)
    return hashes


def _rows_equal(A: Any, B: Any) -> np.ndarray:
    if sparse.issparse(A) or sparse.issparse(B):
        return np.asarray(abs(sparse.csr_array(A) - sparse.csr_array(B)).max(axis=1).todense()).ravel() == 0
    return np.all(A == B, axis=1)


class RowIndex:
    """Finds rows of ``X`` by value."""

    def __init__(self, X: Any) -> None:
        self.X = X
        hashes = row_hashes(X)
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]

    def find(self, Y: Any) -> np.ndarray:
        """For each row of ``Y`` the first row of ``X`` equal to it, or -1."""
        hashes = row_hashes(Y)
        place = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
        found = np.where(self._sorted[place] == hashes, self._order[place], -1)
        hit = np.flatnonzero(found >= 0)
        if len(hit):
            same = _rows_equal(Y[hit], self.X[found[hit]])
            found[hit[~same]] = -1
        return found


def distinct_rows(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the first of each group of equal rows, and for every row its group."""
    first = RowIndex(X).find(X)
    first = np.where(first < 0, np.arange(len(first)), first)  # a hash collision keeps both rows
    return np.unique(first, return_inverse=True)
