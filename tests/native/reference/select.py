"""Selection of nearest neighbours from blocks of exact or approximate distances."""

from __future__ import annotations

import numpy as np


def smallest_values_in_rows(values, length, number):
    """Find the ``k`` smallest values of each row, by value and then by column number.

    Values are written to ``length`` and column numbers to ``number``, both (b, k).
    """
    k = length.shape[1]
    for i in range(values.shape[0]):
        filled = 0
        for j in range(values.shape[1]):
            if filled < k or values[i, j] < length[i, k - 1]:
                filled = _insert(length[i], number[i], filled, values[i, j], j)


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


def _squared_distance(y, x):
    """Return ``|y - x|^2`` in double precision."""
    total = 0.0
    for f in range(len(y)):
        offset = np.float64(y[f]) - np.float64(x[f])
        total += offset * offset
    return total


def _insert_ordered(length, number, filled, value, j, rank=None):
    """Insert ``value`` into a list sorted by value and then by ``rank`` of the number, or by the number.

    The list has at most ``len(length)`` values.
    """

    def is_before(i, j):
        return i < j if rank is None or i < 0 or j < 0 else rank[i] < rank[j]

    k = len(length)
    if filled < k:
        t = filled
        filled += 1
    elif value < length[k - 1] or (value == length[k - 1] and is_before(j, number[k - 1])):
        t = k - 1
    else:
        return filled
    while t > 0 and (length[t - 1] > value or (length[t - 1] == value and is_before(j, number[t - 1]))):
        length[t] = length[t - 1]
        number[t] = number[t - 1]
        t -= 1
    length[t] = value
    number[t] = j
    return filled


def update_smallest(values, first, filled, smallest, number):
    """Insert the values (b, n) of the columns from number ``first`` into lists of the smallest of each row.

    The lists ``smallest`` and ``number`` (b, k) hold ``filled`` values. Returns how many they hold then.
    """
    after = filled
    for i in range(values.shape[0]):
        after = filled
        for j in range(values.shape[1]):
            if after < smallest.shape[1] or values[i, j] < smallest[i, after - 1]:
                after = _insert_ordered(smallest[i], number[i], after, values[i, j], first + j)
    return after


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
