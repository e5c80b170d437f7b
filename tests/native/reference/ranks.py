"""Ranks of some values in a row, without sorting the row."""

from __future__ import annotations


def count_below(rows, values, counts):
    """Count the entries of each row of ``rows`` (b, n) that are smaller than its ``values`` (b, k).

    The numbers are written to ``counts`` (b, k).
    """
    b, n = rows.shape
    for i in range(b):
        row = rows[i]
        for t in range(values.shape[1]):
            value = values[i, t]
            below = 0
            for j in range(n):
                below += row[j] < value
            counts[i, t] = below
