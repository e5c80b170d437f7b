"""Union of a sparse matrix with its transpose."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def unite_with_transpose(indptr, indices, data):
    """Return ``max(A, A')`` of a square matrix in CSR format with sorted indices and positive values."""
    n = len(indptr) - 1
    start = np.zeros(n + 1, dtype=np.int64)  # of the rows of A'
    for j in indices:
        start[j + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    place = start[:-1].copy()
    column, value = np.empty_like(indices), np.empty_like(data)
    for i in range(n):
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            column[place[j]], value[place[j]] = i, data[t]
            place[j] += 1
    out_start = np.zeros(n + 1, dtype=indptr.dtype)
    out_column, out_value = np.empty(2 * len(indices), dtype=indices.dtype), np.empty(2 * len(data))
    used = 0
    for i in range(n):
        a, b = indptr[i], start[i]
        while a < indptr[i + 1] or b < start[i + 1]:  # merge two sorted rows
            if b == start[i + 1] or (a < indptr[i + 1] and indices[a] < column[b]):
                out_column[used], out_value[used] = indices[a], data[a]
                a += 1
            elif a == indptr[i + 1] or column[b] < indices[a]:
                out_column[used], out_value[used] = column[b], value[b]
                b += 1
            else:
                out_column[used], out_value[used] = indices[a], max(data[a], value[b])
                a += 1
                b += 1
            used += 1
        out_start[i + 1] = used
    return out_start, out_column[:used].copy(), out_value[:used].copy()
