"""Products of large sparse matrices with blocks of vectors, on several threads."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigenscape._threads import n_threads, run_parallel

#: Below this many multiplications SciPy's own product is as fast.
_LARGE = 2_000_000


def sparse_product(A: sparse.csr_array, V: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Compute ``A @ V`` for ``V`` (m, c)."""
    if A.nnz * V.shape[1] < _LARGE or A.dtype != V.dtype:
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
