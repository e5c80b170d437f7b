"""Neighbour lists as sparse matrices, and the union of a matrix and its transpose, by compiled loops.

Every row of a result is written by one thread, so that results are the same for any number of threads.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._threads import n_threads, run_parallel

#: Number of rows of a block.
_ROWS = 2**15


def lists_to_rows(
    length: np.ndarray, column: np.ndarray, n_columns: int, shortest: float, n_jobs: int | None = None
) -> sparse.csr_array:
    """Convert neighbour lists, distances and indices of shape (n, k), to a sparse matrix with sorted rows.

    Distances below ``shortest`` are raised to it.
    """
    from eigenscape._compiled.graphs import sorted_lists

    n, k = length.shape
    indices = np.empty(n * k, dtype=_index_type(n * k))
    data = np.empty(n * k)

    def fill(rows: slice) -> None:
        sorted_lists(length, column, shortest, rows.start, rows.stop, indices, data)

    run_parallel(fill, row_blocks(n, 1, _ROWS), n_jobs)
    indptr = np.arange(0, n * k + 1, k, dtype=indices.dtype)
    return _sorted_csr(data, indices, indptr, (n, n_columns))


def transpose(matrix: sparse.csr_array, n_jobs: int | None = None) -> sparse.csr_array:
    """Return the transpose, with sorted rows."""
    from eigenscape._compiled.graphs import count_columns, transpose_columns

    n = matrix.shape[1]
    threads = n_threads(n_jobs) if n > _ROWS else 1
    ends = np.linspace(0, n, threads + 1).astype(np.intp)
    count = np.zeros(n + 1, dtype=matrix.indptr.dtype)

    def tally(part: int) -> None:
        count_columns(matrix.indices, ends[part], ends[part + 1], count[1:])

    run_parallel(tally, range(threads), n_jobs)
    indptr = np.cumsum(count, dtype=matrix.indptr.dtype)
    place, indices, data = indptr[:-1].copy(), np.empty_like(matrix.indices), np.empty_like(matrix.data)

    def write(part: int) -> None:
        transpose_columns(
            matrix.indptr, matrix.indices, matrix.data, ends[part], ends[part + 1], place, indices, data
        )

    run_parallel(write, range(threads), n_jobs)
    return _sorted_csr(data, indices, indptr, (n, matrix.shape[0]))


def union_with_transpose(matrix: sparse.csr_array, n_jobs: int | None = None) -> sparse.csr_array:
    """Return the larger of each entry of a square matrix and that of its transpose."""
    return union(matrix, transpose(matrix, n_jobs), n_jobs)


def union(matrix: sparse.csr_array, other: sparse.csr_array, n_jobs: int | None = None) -> sparse.csr_array:
    """Return the larger of each entry of two matrices without negative entries, such as distances."""
    from eigenscape._compiled.graphs import count_union, merge_rows

    n, index_type = matrix.shape[0], _index_type(matrix.nnz + other.nnz)
    (starts, columns, values), (other_starts, other_columns, other_values) = (
        _sorted_arrays(table, index_type) for table in (matrix, other)
    )
    count: np.ndarray = np.zeros(n + 1, dtype=index_type)
    blocks = list(row_blocks(n, 1, _ROWS))

    def tally(rows: slice) -> None:
        count_union(starts, columns, other_starts, other_columns, rows.start, rows.stop, count[1:])

    run_parallel(tally, blocks, n_jobs)
    indptr = np.cumsum(count, dtype=count.dtype)
    indices, data = np.empty(int(indptr[-1]), dtype=count.dtype), np.empty(int(indptr[-1]))

    def write(rows: slice) -> None:
        merge_rows(
            starts,
            columns,
            values,
            other_starts,
            other_columns,
            other_values,
            rows.start,
            rows.stop,
            indptr,
            indices,
            data,
        )

    run_parallel(write, blocks, n_jobs)
    return _sorted_csr(data, indices, indptr, matrix.shape)


def _sorted_arrays(matrix: sparse.csr_array, index_type: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row starts, columns and values of a matrix, with sorted rows."""
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    return (
        matrix.indptr.astype(index_type, copy=False),
        matrix.indices.astype(index_type, copy=False),
        matrix.data,
    )


def _index_type(size: int) -> type:
    return np.int32 if size < 2**31 else np.int64


def _sorted_csr(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return a matrix whose rows are known to be sorted and without duplicates."""
    matrix = sparse.csr_array((data, indices, indptr), shape=shape)
    matrix.has_canonical_format = True
    return matrix
