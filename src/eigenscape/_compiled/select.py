"""Selection of nearest neighbours from blocks of exact or approximate distances."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def nearest_exact(Y, X, rough, slack, k, length, number):
    """Find the ``k`` nearest rows of ``X`` to each row of ``Y``, by ``|y - x|`` and then by row number.

    ``rough`` (b, n) holds squared distances with errors of at most ``slack`` (b,). Exact distances are
    computed for all rows that may be among the ``k`` nearest. They are written to ``length``, their row
    numbers to ``number``, both (b, k).
    """
    b, n = rough.shape
    best = np.empty(k, dtype=rough.dtype)
    for i in range(b):
        limit = _kth_smallest(rough[i], best) + 2 * slack[i]
        filled = 0
        for j in range(n):
            if rough[i, j] <= limit:
                exact = 0.0
                for f in range(X.shape[1]):
                    exact += (Y[i, f] - X[j, f]) ** 2
                filled = _insert(length[i], number[i], filled, exact, j)
        for t in range(k):
            length[i, t] = np.sqrt(length[i, t])


@njit(nogil=True, cache=True)
def smallest_values_in_rows(values, k, length, number):
    """Find the ``k`` smallest values of each row, by value and then by column number.

    Values are written to ``length`` and column numbers to ``number``, both (b, k).
    """
    for i in range(values.shape[0]):
        filled = 0
        for j in range(values.shape[1]):
            if filled < k or values[i, j] < length[i, k - 1]:
                filled = _insert(length[i], number[i], filled, values[i, j], j)


@njit(nogil=True, cache=True)
def _kth_smallest(values, best):
    """Return the ``len(best)``-th smallest value; ``best`` is a buffer, kept sorted."""
    k = len(best)
    filled = 0
    for value in values:
        if filled < k:
            t = filled
            filled += 1
        elif value < best[k - 1]:
            t = k - 1
        else:
            continue
        while t > 0 and best[t - 1] > value:
            best[t] = best[t - 1]
            t -= 1
        best[t] = value
    return best[k - 1]


@njit(nogil=True, cache=True)
def _insert(length, number, filled, value, j):
    """Insert ``value`` into a sorted list of at most ``len(length)``, after equal values."""
    k = len(length)
    if filled < k:
        t = filled
        filled += 1
    elif value < length[k - 1]:
        t = k - 1
    else:
        return filled
    while t > 0 and length[t - 1] > value:
        length[t] = length[t - 1]
        number[t] = number[t - 1]
        t -= 1
    length[t] = value
    number[t] = j
    return filled


@njit(nogil=True, cache=True)
def rerank(Y, X, candidates, length, number):
    """Find the nearest rows of ``X`` among the ``candidates`` of each row of ``Y``.

    Candidates are ascending row numbers, -1 for none. Distances and row numbers are written to ``length`` and
    ``number`` (b, k); the number of rows found (b,) is returned.
    """
    found = np.zeros(len(Y), dtype=np.int64)
    for i in range(len(Y)):
        filled = 0
        for c in candidates[i]:
            if c < 0:
                continue
            exact = 0.0
            for f in range(X.shape[1]):
                exact += (Y[i, f] - X[c, f]) ** 2
            filled = _insert(length[i], number[i], filled, exact, c)
        found[i] = filled
        for t in range(filled):
            length[i, t] = np.sqrt(length[i, t])
    return found
