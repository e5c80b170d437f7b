"""Ranks of some values in a row of many, without sorting the row."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def count_below(rows, values):
    """How many entries of each row of ``rows`` (b, n) are smaller than each of its ``values`` (b, k): (b, k) integers."""
    b, n = rows.shape
    k = values.shape[1]
    counts = np.zeros((b, k), dtype=np.int64)
    for i in range(b):
        order = np.argsort(values[i])
        ascending = values[i][order]
        steps = np.zeros(k + 1, dtype=np.int64)
        last = ascending[k - 1]
        for j in range(n):
            if rows[i, j] < last:
                steps[np.searchsorted(ascending, rows[i, j], side="right")] += 1  # below all values from there on
        below = 0
        for t in range(k):
            below += steps[t]
            counts[i, order[t]] = below
    return counts
