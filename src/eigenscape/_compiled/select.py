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
                filled = _insert(length[i], number[i], filled, _squared_distance(Y[i], X[j]), j)
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


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _squared_distance(y, x):
    """Return ``|y - x|^2`` in double precision."""
    total = 0.0
    for f in range(len(y)):
        offset = np.float64(y[f]) - np.float64(x[f])
        total += offset * offset
    return total


@njit(nogil=True, cache=True)
def _insert_ordered(length, number, filled, value, j):
    """Insert ``value`` into a list sorted by value and then by number, of at most ``len(length)``."""
    k = len(length)
    if filled < k:
        t = filled
        filled += 1
    elif value < length[k - 1] or (value == length[k - 1] and j < number[k - 1]):
        t = k - 1
    else:
        return filled
    while t > 0 and (length[t - 1] > value or (length[t - 1] == value and number[t - 1] > j)):
        length[t] = length[t - 1]
        number[t] = number[t - 1]
        t -= 1
    length[t] = value
    number[t] = j
    return filled


@njit(nogil=True, cache=True)
def nearest_and_within(Y, X, rough, slack, k, radii, length, number):
    """Find the ``k`` nearest rows of ``X`` as :func:`nearest_exact`, and all rows within ``radii`` (n,).

    Returns rows of ``Y``, rows of ``X`` and distances of the pairs whose distance is at most the radius of
    the row of ``X``.
    """
    b, n = rough.shape
    best = np.empty(k, dtype=rough.dtype)
    row, column = np.empty(8 * b * k, dtype=np.int64), np.empty(8 * b * k, dtype=np.int64)
    near = np.empty(8 * b * k)
    used = 0
    for i in range(b):
        limit = _kth_smallest(rough[i], best) + 2 * slack[i]
        filled = 0
        for j in range(n):
            if rough[i, j] <= limit or rough[i, j] <= radii[j] * radii[j] + slack[i]:
                exact = _squared_distance(Y[i], X[j])
                filled = _insert(length[i], number[i], filled, exact, j)
                if np.sqrt(exact) <= radii[j]:
                    if used == len(row):
                        row = np.concatenate((row, np.empty_like(row)))
                        column = np.concatenate((column, np.empty_like(column)))
                        near = np.concatenate((near, np.empty_like(near)))
                    row[used], column[used], near[used] = i, j, np.sqrt(exact)
                    used += 1
        for t in range(k):
            length[i, t] = np.sqrt(length[i, t])
    return row[:used], column[:used], near[:used]


@njit(nogil=True, cache=True)
def closest_between_groups(values, rows, row_group, group, length, near, far):
    """Update the smallest value between each pair of groups, the row's group being the larger number.

    ``values`` (b, n) are those of the rows ``rows`` (b,) of groups ``row_group`` (b,); ``group`` (n,) are the
    groups of the columns. ``length``, ``near`` and ``far`` (groups, groups) hold the smallest value of each
    pair, its row and its column.
    """
    for i in range(values.shape[0]):
        mine = row_group[i]
        for j in range(values.shape[1]):
            other = group[j]
            if other < mine and values[i, j] < length[mine, other]:
                length[mine, other] = values[i, j]
                near[mine, other] = rows[i]
                far[mine, other] = j
