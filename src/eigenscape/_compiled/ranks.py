"""Ranks of some values in a row of many, without sorting the row."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def count_below(rows, values):
    """How many entries of each row of ``rows`` (b, n) are smaller than each of its ``values`` (b, k): (b, k)
    integers.

    One pass for each value: a loop of comparisons alone runs on vectors, and beats a search with branches for
    any useful ``k``."""
    b, n = rows.shape
    counts = np.zeros((b, values.shape[1]), dtype=np.int64)
    for i in range(b):
        row = rows[i]
        for t in range(values.shape[1]):
            value = values[i, t]
            below = 0
            for j in range(n):
                below += row[j] < value
            counts[i, t] = below
    return counts
