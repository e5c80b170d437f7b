"""Sparse matrices of distances: stored zeros, the diagonal, and lists of neighbours as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

#: A distance of 0 would vanish from a sparse matrix; this is as near to 0 as matters.
SHORTEST = 1e-150


def with_explicit_zeros(table: Any) -> sparse.csr_array:
    """A sparse table of distances in which stored zeros are numbers of their own."""
    table = sparse.csr_array(table, dtype=np.float64, copy=True)
    table.data = np.maximum(table.data, SHORTEST)
    return table


def with_self(table: Any) -> sparse.csr_array:
    """A square sparse table in which every point lists itself at distance 0, whether the given one did or
    not."""
    table = sparse.coo_array(without_self(table))
    own = np.arange(table.shape[0])
    rows, columns = np.concatenate([table.row, own]), np.concatenate([table.col, own])
    values = np.concatenate([table.data, np.zeros(len(own))])
    return with_explicit_zeros(sparse.csr_array((values, (rows, columns)), shape=table.shape))


def without_self(table: Any) -> sparse.csr_array:
    """A square sparse table without its diagonal."""
    table = sparse.coo_array(with_explicit_zeros(table))
    other = table.row != table.col
    return sparse.csr_array((table.data[other], (table.row[other], table.col[other])), shape=table.shape)


def neighbor_table(length: np.ndarray, column: np.ndarray, n_points: int) -> sparse.csr_array:
    """Lists of neighbours (n, k) as a sparse matrix (n, n_points)."""
    n, k = length.shape
    order = np.argsort(column, axis=1)
    length, column = np.take_along_axis(length, order, axis=1), np.take_along_axis(column, order, axis=1)
    numbers = column.astype(np.int32 if n * k < 2**31 else np.int64).ravel()
    return sparse.csr_array(
        (np.maximum(length.ravel(), SHORTEST), numbers, np.arange(0, n * k + 1, k)), shape=(n, n_points)
    )


def other_neighbors_table(length: np.ndarray, column: np.ndarray) -> sparse.csr_array:
    """Lists (n, k + 1) in which every point looked for its neighbours, as a table of the ``k`` others.

    A point need not come first in its own list where distances tie; if it is not there at all, the farthest
    is dropped."""
    n, k = length.shape[0], length.shape[1] - 1
    if (column[:, 0] == np.arange(n)).all():  # the usual case
        return neighbor_table(length[:, 1:], column[:, 1:], n)
    other = column != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False
    return neighbor_table(length[other].reshape(n, k), column[other].reshape(n, k), n)


def distance_table(
    row: np.ndarray, column: np.ndarray, length: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """A sparse matrix of distances in which a distance of 0 is still an entry."""
    table = sparse.csr_array((np.maximum(length.astype(np.float64), SHORTEST), (row, column)), shape=shape)
    table.sort_indices()
    return table


def reassemble(parts: Sequence[tuple[np.ndarray, Any]]) -> sparse.csr_array:
    """One sparse matrix from blocks of rows, each with the places its rows belong to."""
    place = np.argsort(np.concatenate([rows for rows, _ in parts]), kind="stable")
    return sparse.csr_array(sparse.vstack([block for _, block in parts], format="csr")[place])


def scatter_rows(rows: sparse.csr_array, places: np.ndarray, n: int) -> sparse.csr_array:
    """Rows at their ``places`` among ``n``, the others empty."""
    counts = np.zeros(n, dtype=rows.indptr.dtype)
    counts[places] = np.diff(rows.indptr)
    return sparse.csr_array(
        (rows.data, rows.indices, np.concatenate([[0], np.cumsum(counts)])), shape=(n, rows.shape[1])
    )
