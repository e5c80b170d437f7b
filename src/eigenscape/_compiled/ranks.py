"""Ranks of some values in a row, without sorting the row."""

from __future__ import annotations

import numpy as np

from eigenscape._compiled.jit import njit


@njit(nogil=True)
def count_below(rows, values):
    """Count the entries of each row of ``rows`` (b, n) that are smaller than its ``values`` (b, k).

    One pass per value: a loop of comparisons is vectorised, and faster than a search with branches for any
    useful ``k``.
    """
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
