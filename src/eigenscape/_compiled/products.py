"""Sparse matrix times a block of vectors."""

from __future__ import annotations

import numpy as np

from eigenscape._compiled.jit import njit


@njit(nogil=True, fastmath={"contract", "nsz"})
def multiply_rows(indptr, indices, data, V, first, last, out):
    """Compute ``out[r] = sum_e data[e] V[indices[e]]`` for the rows ``first`` to ``last``.

    All columns of a row of ``V`` are read at once; the sum for a single column stays in a register.
    """
    columns = V.shape[1]
    if columns == 1:
        for r in range(first, last):
            total = 0 * V[0, 0]
            for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
                total += data[e] * V[np.uint64(indices[e]), 0]
            out[r, 0] = total
        return
    for r in range(first, last):
        for c in range(columns):
            out[r, c] = 0
        for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
            weight = data[e]
            j = np.uint64(indices[e])
            for c in range(columns):
                out[r, c] += weight * V[j, c]
