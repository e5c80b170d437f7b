"""Lookup of rows by value: exact and vectorised, for dense and sparse data.

Graph methods embed distinct rows once, and a new point that equals a training point is treated as that
vertex.

See docs/decisions/graph-distinct-rows.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property, singledispatch
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._native.loops import column_multipliers, hash_dense, hash_sparse
from eigenscape._typing import Matrix, Rows, is_sparse
from eigenscape.graph.sparse_distances import reassemble, with_explicit_zeros, without_self
from eigenscape.graph.tuning import TUNING


def row_hashes(X: Rows) -> np.ndarray:
    """Compute a 64-bit hash of each row; equal rows have equal hashes, independent of the other rows."""
    if X.ndim == 1:
        return np.array([_object_hash(x) for x in X], dtype=np.uint64)
    n_rows, n_columns = X.shape
    multipliers, hashes = np.empty(n_columns, dtype=np.uint64), np.empty(n_rows, dtype=np.uint64)
    column_multipliers(multipliers)
    if is_sparse(X):
        X = canonical_csr(X)
        values = X.data.astype(np.float64) + 0.0  # -0.0 becomes 0.0
        hash_sparse(X.indptr, X.indices, values.view(np.uint64), multipliers, hashes)
        return hashes
    for block in row_blocks(n_rows, 16 * n_columns, TUNING.hash_bytes):
        values = np.ascontiguousarray(X[block], dtype=np.float64) + 0.0
        hash_dense(values.view(np.uint64), multipliers, hashes[block])
    return hashes


def _object_hash(x: object) -> int:
    """Compute a hash that is the same in every process, unlike the result of ``hash``.

    It is 0 for objects that are not strings: no bytes represent all objects that are equal, such as sets in
    another order. These are compared one by one, which takes less time than their kernel.
    """
    if not isinstance(x, str):
        return 0
    return int.from_bytes(hashlib.blake2b(x.encode(errors="surrogatepass"), digest_size=8).digest())


def _objects_equal(a: Any, b: Any) -> bool:
    """Return ``a == b``; of arrays, which compare by element, whether all elements are equal."""
    try:
        return bool(a == b)
    except ValueError:
        return np.array_equal(a, b)


def canonical_csr(X: Matrix) -> sparse.csr_array:
    """Return the matrix as CSR with sorted indices and no duplicate entries, copied only if necessary."""
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


@singledispatch
def rows_equal(X: object, which: np.ndarray, A: Rows) -> np.ndarray:
    """Return whether each row of ``A`` equals the row ``which`` of ``X``, whose hash is the same.

    Containers that do not store their rows may register an implementation of their own.
    """
    rows: Any = X
    B = rows[which]
    if is_sparse(A) or is_sparse(B):
        return abs(sparse.csr_array(A) - sparse.csr_array(B)).max(axis=1).toarray().ravel() == 0
    if A.ndim == 1:
        return np.array([_objects_equal(a, b) for a, b in zip(A, B, strict=True)], dtype=bool)
    return np.all(A == B, axis=1)


class RowIndex:
    """Index that finds rows of ``X`` by value."""

    _shapes: ClassVar = {"X": "n ...", "ranked_hashes.0": "n < n", "ranked_hashes.1": "n"}

    def __init__(self, X: Rows) -> None:
        self.X: Any = X

    @cached_property
    def ranked_hashes(self) -> tuple[np.ndarray, np.ndarray]:
        """The order of the rows by their hashes, and the sorted hashes."""
        hashes = row_hashes(self.X)
        order = np.argsort(hashes, kind="stable")
        return order, hashes[order]

    @property
    def order(self) -> np.ndarray:
        """Order (n,) of distinct rows that depends on their values alone: the order of their hashes."""
        return self.ranked_hashes[0]

    @cached_property
    def ranks(self) -> np.ndarray:
        """Place of each row in that order, by which ties are broken."""
        ranks = np.empty(len(self.order), dtype=np.int64)
        ranks[self.order] = np.arange(len(ranks))
        return ranks

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of the first of each group of equal rows, and the group of every row."""
        order, ranked = self.ranked_hashes
        first = np.arange(len(ranked))
        again = ranked[1:] == ranked[:-1]
        if not again.any():
            return first, first
        shared = np.concatenate([again, [False]]) | np.concatenate([[False], again])
        some, hashes = order[shared], ranked[shared]
        first[some] = self.find(self.X[some], hashes)
        return np.unique(first, return_inverse=True)

    def find(self, Y: Rows, hashes: np.ndarray | None = None) -> np.ndarray:
        """Return for each row of ``Y`` the index of the first equal row of ``X``, or -1.

        ``hashes`` are the hashes of the rows of ``Y``, if they are known.
        """
        order, ranked = self.ranked_hashes
        hashes = row_hashes(Y) if hashes is None else hashes
        found = np.full(len(hashes), -1, dtype=np.intp)
        place, stop = np.searchsorted(ranked, hashes), np.searchsorted(ranked, hashes, side="right")
        while len(seek := np.flatnonzero(place < stop)):  # rows of the same hash, which may differ
            candidate = order[place[seek]]
            same = rows_equal(self.X, candidate, Y[seek])
            found[seek[same]] = candidate[same]
            place[seek] += 1
            stop[seek[same]] = 0
        return found


class DistanceRowIndex:
    """Index that finds rows of a sparse matrix of distances whose diagonal is stored (:func:`with_self`).

    Different points may have the same neighbours at the same distances; the diagonal entry distinguishes
    them. A query without a diagonal entry is recognised by its other entries.
    """

    def __init__(self, X: sparse.csr_array) -> None:
        self.X: Any = X
        self._whole = RowIndex(X)
        self._others = RowIndex(without_self(X))

    def find(self, Y: Matrix) -> np.ndarray:
        """Return for each row of ``Y`` the index of the equal row, or -1."""
        found = self._whole.find(with_explicit_zeros(Y))
        rest = np.flatnonzero(found < 0)
        if len(rest):
            found[rest] = self._others.find(Y[rest])
        return found


def rows_by_vertex(
    vertex: np.ndarray,
    known: Callable[[np.ndarray], sparse.csr_array],
    new: Callable[[np.ndarray], sparse.csr_array],
) -> sparse.csr_array:
    """Return a sparse row for each point: ``known(vertices)`` or, where ``vertex`` is -1, ``new(points)``.

    Both functions are given numbers, of vertices and of points.
    """
    others = np.flatnonzero(vertex < 0)
    if len(others) == len(vertex):
        return new(others)
    if len(others) == 0:
        return known(vertex)
    old = np.flatnonzero(vertex >= 0)
    return reassemble([(old, known(vertex[old])), (others, new(others))])


def distinct_rows(X: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the first of each group of equal rows, and the group of every row."""
    return RowIndex(X).distinct()


def equal_rows(Y: Rows, Z: Rows) -> sparse.csr_array:
    """Return a sparse matrix (n_Y, n_Z) of ones where a row of ``Y`` equals a row of ``Z``."""
    first, group = distinct_rows(Z)
    found = RowIndex(Z).find(Y)
    known = np.flatnonzero(found >= 0)
    shape = (len(found), len(first))
    which = sparse.csr_array((np.ones(len(known)), (known, group[found[known]])), shape=shape)
    members = sparse.csr_array(
        (np.ones(len(group)), (group, np.arange(len(group)))), shape=(len(first), len(group))
    )
    return sparse.csr_array(which @ members)
