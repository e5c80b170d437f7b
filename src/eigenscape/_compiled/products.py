"""A matrix, sparse or dense, times a block of vectors."""

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


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def multiply_four(K, V, first, last, out):
    """Compute ``out[c, i] = sum_j K[i, j] V[c, j]`` for the rows ``first`` to ``last``, two or more of them.

    ``V`` has a multiple of four rows. Sums for two rows and four vectors stay in registers, and a row of the
    matrix is read once: BLAS copies it first, which takes longer than a product with few vectors.
    """
    for start in range(first, last, 2):
        i = min(start, last - 2)
        a, b = K[i], K[i + 1]
        for c in range(0, V.shape[0], 4):
            v0, v1, v2, v3 = V[c], V[c + 1], V[c + 2], V[c + 3]
            s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = 0.0
            for j in range(K.shape[1]):
                x, y = a[j], b[j]
                s0 += x * v0[j]
                t0 += y * v0[j]
                s1 += x * v1[j]
                t1 += y * v1[j]
                s2 += x * v2[j]
                t2 += y * v2[j]
                s3 += x * v3[j]
                t3 += y * v3[j]
            out[c, i], out[c + 1, i], out[c + 2, i], out[c + 3, i] = s0, s1, s2, s3
            out[c, i + 1], out[c + 1, i + 1], out[c + 2, i + 1], out[c + 3, i + 1] = t0, t1, t2, t3
