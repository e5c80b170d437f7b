"""Which rows are the same point: exact, vectorised, for dense and sparse data.

Graph methods embed distinct rows once, and a new point that equals a training point *is* that vertex.
"""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._omitted import OmittedArray
from eigenscape.graph.sparse_distances import with_explicit_zeros, without_self

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
    if X.ndim == 1:
        return np.array([_object_hash(x) for x in X], dtype=np.uint64)
    n_rows, n_columns = X.shape
    with np.errstate(over="ignore"):
        multipliers = _scramble(np.arange(1, n_columns + 1, dtype=np.uint64)) | np.uint64(1)
        hashes = np.zeros(n_rows, dtype=np.uint64)
        if sparse.issparse(X):
            X = canonical_csr(X)
            terms = _scramble(_scramble(_bits(X.data)) * multipliers[X.indices])
            row = np.repeat(np.arange(n_rows), np.diff(X.indptr))
            np.add.at(hashes, row, terms)
        else:
            for block in row_blocks(n_rows, 24 * n_columns):
                hashes[block] = _scramble(_scramble(_bits(X[block])) * multipliers).sum(
                    axis=1, dtype=np.uint64
                )
    return hashes


def _object_hash(x: Any) -> int:
    """The same number in every process, which ``hash`` does not promise."""
    return int.from_bytes(hashlib.blake2b(pickle.dumps(x), digest_size=8).digest())


def canonical_csr(X: Any) -> sparse.csr_array:
    """The matrix as CSR with sorted, single entries; a copy if the given one is not so."""
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _rows_equal(A: Any, X: Any, which: np.ndarray) -> np.ndarray:
    """Whether each row of ``A`` equals its row ``which`` of ``X``. Where those are gone their hashes, which
    agree, must do."""
    if isinstance(X, OmittedArray):
        return np.ones(len(which), dtype=bool)
    B = X[which]
    if sparse.issparse(A) or sparse.issparse(B):
        return np.asarray(abs(sparse.csr_array(A) - sparse.csr_array(B)).max(axis=1).todense()).ravel() == 0
    if A.ndim == 1:
        return np.array([bool(a == b) for a, b in zip(A, B, strict=True)], dtype=bool)
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
        found = np.full(len(hashes), -1, dtype=np.intp)
        place = np.searchsorted(self._sorted, hashes)
        seek = np.arange(len(hashes))
        while len(seek):  # hashes rarely collide; where they do, the next row with the same one is tried
            seek = seek[place[seek] < len(self._sorted)]
            seek = seek[self._sorted[place[seek]] == hashes[seek]]
            candidate = self._order[place[seek]]
            same = _rows_equal(Y[seek], self.X, candidate) if len(seek) else np.empty(0, dtype=bool)
            found[seek[same]] = candidate[same]
            seek = seek[~same]
            place[seek] += 1
        return found


class DistanceRowIndex:
    """Finds rows of a sparse table of distances in which every point lists itself (see :func:`with_self`).

    Different points may have the same neighbours at the same distances; the entry of a point to itself tells
    them apart. A query without such an entry is recognised by the rest of its row."""

    def __init__(self, X: sparse.csr_array) -> None:
        self.X = X
        self._whole = RowIndex(X)
        self._others = RowIndex(without_self(X))

    def find(self, Y: Any) -> np.ndarray:
        found = self._whole.find(with_explicit_zeros(Y))
        rest = np.flatnonzero(found < 0)
        if len(rest):
            found[rest] = self._others.find(Y[rest])
        return found


def distinct_rows(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the first of each group of equal rows, and for every row its group."""
    return np.unique(RowIndex(X).find(X), return_inverse=True)
