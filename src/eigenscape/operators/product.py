"""Products of large symmetric matrices, sparse or dense, with blocks of vectors, on several threads."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigenscape._loading import avoids_compiled_code
from eigenscape._threads import n_threads, run_parallel


def sparse_product(A: sparse.csr_array, V: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Compute ``A @ V`` for ``V`` (m, c)."""
    # SciPy's own product is as fast for few multiplications.
    if A.nnz * V.shape[1] < 2_000_000 or A.dtype != V.dtype or avoids_compiled_code():
        return A @ V
    from eigenscape._compiled.products import multiply_rows

    V = np.ascontiguousarray(V)
    out = np.empty((A.shape[0], V.shape[1]), dtype=V.dtype)
    threads = n_threads(n_jobs)
    cuts = np.searchsorted(A.indptr, np.linspace(0, A.nnz, threads + 1)[1:-1])  # equal work per thread
    ends = [0, *map(int, cuts), A.shape[0]]

    def work(part: int) -> None:
        multiply_rows(A.indptr, A.indices, A.data, V, ends[part], ends[part + 1], out)

    run_parallel(work, range(threads), n_jobs)
    return out


def dense_product(K: np.ndarray, V: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Compute ``K @ V`` for a symmetric matrix and ``V`` (m, c), in blocks of rows of ``K``.

    By BLAS for one vector and for many, with ``K' = K`` since it multiplies few rows by a matrix faster than
    a matrix by few columns. For a few vectors, and for a matrix in single precision, which BLAS would convert
    as a whole, see :func:`~eigenscape._compiled.products.multiply_four`.
    """
    (m, columns), rows = V.shape, 512  # rows of a block of the matrix
    K = K if K.flags.c_contiguous else np.ascontiguousarray(K.T)  # without a copy if columns are contiguous
    K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
    few = m > 1 and (1 < columns < 13 or K.dtype == np.float32) and not avoids_compiled_code()
    out = np.empty((-(-columns // 4) * 4 if few else columns, m))
    transposed = np.zeros_like(out)
    transposed[:columns] = V.T
    if few:
        from eigenscape._compiled.products import multiply_four

    def multiply(start: int) -> None:
        end = min(start + rows, m)
        if few:
            multiply_four(K, transposed, start, end, out)
        elif columns == 1:
            np.dot(K[start:end], transposed[0], out=out[0, start:end])
        else:
            np.matmul(transposed, K[:, start:end], out=out[:, start:end])

    if m * m * columns < 8_000_000:  # less time than handing it to another thread takes
        for start in range(0, m, rows):
            multiply(start)
    else:
        run_parallel(multiply, range(0, m, rows), n_jobs)
    return out[:columns].T
