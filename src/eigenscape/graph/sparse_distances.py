"""Sparse matrices of distances: explicit zeros, the diagonal, neighbour lists as rows, transpose and union.

In compiled loops every row is written by one thread, so that results are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._native.loops import count_union, merge_rows, sorted_lists, transpose_columns
from eigenscape._threads import n_threads, run_parallel
from eigenscape._typing import Matrix
from eigenscape.graph.tuning import TUNING

#: Replaces a distance of 0, which sparse operations would drop.
SHORTEST = 1e-150


def with_explicit_zeros(table: Matrix) -> sparse.csr_array:
    """Return a copy of a sparse matrix of distances in which stored zeros are replaced by ``SHORTEST``."""
    table = sparse.csr_array(table, copy=True).astype(np.float64, copy=False)
    table.data = np.maximum(table.data, SHORTEST)
    return table


def with_self(table: Matrix) -> sparse.csr_array:
    """Return a square sparse matrix of distances whose diagonal is stored and zero."""
    others = sparse.coo_array(without_self(table))
    diagonal = np.arange(others.shape[0])
    rows, columns = np.concatenate([others.row, diagonal]), np.concatenate([others.col, diagonal])
    values = np.concatenate([others.data, np.zeros(len(diagonal))])
    return with_explicit_zeros(sparse.csr_array((values, (rows, columns)), shape=others.shape))


def without_self(table: Matrix) -> sparse.csr_array:
    """Return a square sparse matrix of distances without its diagonal."""
    entries = sparse.coo_array(with_explicit_zeros(table))
    other = entries.row != entries.col
    return sparse.csr_array(
        (entries.data[other], (entries.row[other], entries.col[other])), shape=entries.shape
    )


def neighbor_table(length: np.ndarray, column: np.ndarray, n_points: int) -> sparse.csr_array:
    """Convert neighbour lists, distances and indices of shape (n, k), to a sparse matrix (n, n_points)."""
    n, k = length.shape
    indices: np.ndarray = np.empty(n * k, dtype=np.int32 if n * k < 2**31 else np.int64)
    data = np.empty(n * k)

    def sort_rows(rows: slice) -> None:
        lengths = np.ascontiguousarray(length[rows], dtype=np.float64)
        numbers = np.ascontiguousarray(column[rows], dtype=indices.dtype)
        own = slice(rows.start * k, rows.stop * k)
        sorted_lists(lengths, numbers, SHORTEST, indices[own], data[own])

    run_parallel(sort_rows, row_blocks(n, 1, TUNING.sparse_rows))
    return _sorted_csr(data, indices, np.arange(0, n * k + 1, k, dtype=indices.dtype), (n, n_points))


def transpose(matrix: sparse.csr_array, n_jobs: int | None = None) -> sparse.csr_array:
    """Return the transpose, with sorted rows."""
    n = matrix.shape[1]
    threads = n_threads(n_jobs) if n > TUNING.sparse_rows else 1
    ends = np.linspace(0, n, threads + 1).astype(np.intp)
    indptr = np.zeros(n + 1, dtype=matrix.indptr.dtype)
    np.cumsum(np.bincount(matrix.indices, minlength=n), out=indptr[1:])
    place, indices, data = indptr[:-1].copy(), np.empty_like(matrix.indices), np.empty_like(matrix.data)
    entries = matrix.indptr, matrix.indices, matrix.data
    run_parallel(
        lambda part: transpose_columns(*entries, ends[part], ends[part + 1], place, indices, data),
        range(threads),
        n_jobs,
    )
    return _sorted_csr(data, indices, indptr, (n, matrix.shape[0]))


def union(matrix: sparse.csr_array, other: sparse.csr_array, n_jobs: int | None = None) -> sparse.csr_array:
    """Return the larger of each entry of two matrices without negative entries, such as distances."""
    n, index_type = matrix.shape[0], np.int32 if matrix.nnz + other.nnz < 2**31 else np.int64
    one, two = (
        (
            each.indptr.astype(index_type, copy=False),
            each.indices.astype(index_type, copy=False),
            np.ascontiguousarray(each.data, dtype=np.float64),
        )
        for each in (part if part.has_sorted_indices else part.sorted_indices() for part in (matrix, other))
    )
    indptr: np.ndarray = np.zeros(n + 1, dtype=index_type)
    blocks = list(row_blocks(n, 1, TUNING.sparse_rows))
    counts = indptr[1:]
    run_parallel(lambda rows: count_union(*one[:2], *two[:2], rows.start, rows.stop, counts), blocks, n_jobs)
    np.cumsum(indptr, out=indptr)
    data = np.empty(int(indptr[-1]))
    indices: np.ndarray = np.empty(len(data), dtype=index_type)
    run_parallel(
        lambda rows: merge_rows(*one, *two, rows.start, rows.stop, indptr, indices, data), blocks, n_jobs
    )
    return _sorted_csr(data, indices, indptr, matrix.shape)


def table_of_rows(
    counts: np.ndarray, column: np.ndarray, length: np.ndarray, n_points: int
) -> sparse.csr_array:
    """Return a sparse matrix (n, n_points) of distances, given row by row with ascending columns."""
    indptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    return sparse.csr_array((np.maximum(length, SHORTEST), column, indptr), shape=(len(counts), n_points))


def _sorted_csr(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return a matrix whose rows are known to be sorted and without duplicates."""
    matrix = sparse.csr_array((data, indices, indptr), shape=shape)
    matrix.has_canonical_format = True
    return matrix


def other_neighbors_table(length: np.ndarray, column: np.ndarray) -> sparse.csr_array:
    """Convert the neighbour lists (n, k + 1) of the indexed points to a matrix of their ``k`` others.

    A point need not be first in its own list if distances tie; if it is missing, the farthest neighbour is
    dropped.
    """
    n, k = length.shape[0], length.shape[1] - 1
    if (column[:, 0] == np.arange(n)).all():  # the usual case
        return neighbor_table(length[:, 1:], column[:, 1:], n)
    other = column != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False
    return neighbor_table(length[other].reshape(n, k), column[other].reshape(n, k), n)


def nearest_entries(table: sparse.csr_array, k: int) -> sparse.csr_array:
    """Return the ``k`` smallest entries of each row, which has at least as many; ties by column."""
    n_rows = table.shape[0]
    row = np.repeat(np.arange(n_rows), np.diff(table.indptr))
    order = np.lexsort((table.indices, table.data, row))
    pick = order[table.indptr[:-1, None] + np.arange(k)]
    return neighbor_table(table.data[pick], table.indices[pick], n_rows)


def distance_table(
    row: np.ndarray, column: np.ndarray, length: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return a sparse matrix of distances in which distances of 0 remain stored."""
    # SciPy takes longer to sort entries by row than a search from one point takes.
    place = (column, np.array([0, len(column)])) if shape[0] == 1 else ((row, column),)
    table = sparse.csr_array((np.maximum(length.astype(np.float64), SHORTEST), *place), shape=shape)
    table.sum_duplicates()  # sorts the rows, too
    return table


def reassemble(parts: Sequence[tuple[np.ndarray, sparse.csr_array]]) -> sparse.csr_array:
    """Concatenate blocks of rows, each given with the positions of its rows in the result."""
    place = np.argsort(np.concatenate([rows for rows, _ in parts]), kind="stable")
    return sparse.csr_array(sparse.vstack([block for _, block in parts], format="csr")[place])


def scatter_rows(rows: sparse.csr_array, places: np.ndarray, n: int) -> sparse.csr_array:
    """Return a matrix of ``n`` rows, with ``rows`` at ``places`` in ascending order and the others empty."""
    counts = np.zeros(n, dtype=rows.indptr.dtype)
    counts[places] = np.diff(rows.indptr)
    return sparse.csr_array(
        (rows.data, rows.indices, np.concatenate([[0], np.cumsum(counts)])), shape=(n, rows.shape[1])
    )


def assemble(
    blocks: Sequence[tuple[np.ndarray, np.ndarray, Matrix]], shape: tuple[int, int]
) -> sparse.csr_array:
    """Return a matrix that is zero except in blocks, each given with its rows and columns.

    Blocks do not overlap. Stored entries remain stored.
    """
    row, column, values = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for rows, columns, block in blocks:
        entries = sparse.coo_array(block)
        row.append(rows[entries.row])
        column.append(columns[entries.col])
        values.append(entries.data)
    table = sparse.csr_array(
        (np.concatenate(values), (np.concatenate(row), np.concatenate(column))), shape=shape
    )
    table.sort_indices()
    return table
