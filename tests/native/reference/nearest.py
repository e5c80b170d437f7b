"""Exact nearest rows from blocks of lower bounds of squared distances.

All functions take ``rough`` (b, n), which plus ``base`` (b,) is a lower bound of the squared distances
between rows ``Y`` (b, d) and ``X`` (n, d), up to an error of at most ``slack`` (b,). Distances are computed
for the pairs that may matter, in double precision, so the results do not depend on how the bounds were found.
"""

from __future__ import annotations

import numpy as np

from native.reference.select import _insert, _insert_ordered, _squared_distance

#: Number of columns whose smallest value is computed first: most groups are skipped by it.
_GROUP = 32


def group_minima(values, minima):
    """Write the smallest of every ``_GROUP`` consecutive values to ``minima``; the last may be of fewer."""
    n = len(values)
    for g in range(len(minima)):
        start = g * _GROUP
        smallest = values[start]
        if start + _GROUP <= n:
            for t in range(_GROUP):
                value = values[start + t]
                smallest = value if value < smallest else smallest
        else:
            for j in range(start, n):
                value = values[j]
                smallest = value if value < smallest else smallest
        minima[g] = smallest


def _start(y, X, values, minima, smallest, column, rank, length, number):
    """Write to ``length`` the distances to the rows of ``X`` with the smallest bounds.

    The k-th smallest of the ``minima`` is the largest of k bounds, so there are at least k bounds up to it.
    All rows with such a bound are compared. Returns that limit; the nearest rows beyond it are no farther
    than the last distance. ``smallest`` (k,) and ``column`` (n,) are buffers.
    """
    k = len(smallest)
    filled = 0
    for g in range(len(minima)):
        if filled < k or minima[g] < smallest[k - 1]:
            filled = _insert(smallest, column, filled, minima[g], g)
    limit = smallest[k - 1] if filled == k else minima.dtype.type(np.inf)
    used = 0
    for g in range(len(minima)):
        if minima[g] <= limit:
            for j in range(g * _GROUP, min((g + 1) * _GROUP, len(values))):
                column[used] = j
                used += values[j] <= limit
    filled = 0
    for t in range(used):
        filled = _insert_ordered(length, number, filled, _squared_distance(y, X[column[t]]), column[t], rank)
    length[filled:], number[filled:] = np.inf, -1
    return limit


def nearest_exact(Y, X, rough, base, slack, rank, length, number):
    """Find the ``k`` nearest rows of ``X`` to each row of ``Y``, by ``|y - x|`` and then by ``rank`` (n,).

    Distances are written to ``length``, row numbers to ``number``, both (b, k).
    """
    (b, n), k = rough.shape, length.shape[1]
    minima = np.empty(-(-n // _GROUP), dtype=rough.dtype)
    smallest, column = np.empty(k, dtype=rough.dtype), np.empty(n + 1, dtype=np.int64)
    for i in range(b):
        group_minima(rough[i], minima)
        seen = _start(Y[i], X, rough[i], minima, smallest, column, rank, length[i], number[i])
        limit = length[i, k - 1] - base[i] + slack[i]
        if limit > seen:
            for g in range(len(minima)):
                if minima[g] > limit:
                    continue
                for j in range(g * _GROUP, min((g + 1) * _GROUP, n)):
                    if seen < rough[i, j] <= limit:
                        _insert_ordered(length[i], number[i], k, _squared_distance(Y[i], X[j]), j, rank)
                        limit = length[i, k - 1] - base[i] + slack[i]
        for t in range(k):
            length[i, t] = np.sqrt(length[i, t])


def nearest_or_within(Y, X, rough, base, slack, rank, radii, k, first, indptr, column, near):
    """Find the rows of ``X`` that are among the ``k`` nearest or within their own ``radii`` (n,).

    Their numbers, ascending, and distances are written to ``column`` and ``near`` from ``indptr[i]`` to
    ``indptr[i + 1]``, for the rows of ``Y`` from ``first``. Returns the number of rows done: fewer than b if
    the pairs of the next do not fit.
    """
    b, n = rough.shape
    length, number = np.empty(k), np.empty(k, dtype=np.int64)
    minima = np.empty(-(-n // _GROUP), dtype=rough.dtype)
    smallest, columns = np.empty(k, dtype=rough.dtype), np.empty(n + 1, dtype=np.int64)
    for i in range(first, b):
        used = indptr[i]
        group_minima(rough[i], minima)
        seen = _start(Y[i], X, rough[i], minima, smallest, columns, rank, length, number)
        for j in range(n):
            bound = float(rough[i, j]) + base[i] - slack[i]
            if bound > length[k - 1] and bound > radii[j] * radii[j]:
                continue
            exact = _squared_distance(Y[i], X[j])
            if rough[i, j] > seen:
                _insert_ordered(length, number, k, exact, j, rank)
            if np.sqrt(exact) <= radii[j]:
                if used == len(near):
                    return i
                column[used], near[used] = j, np.sqrt(exact)
                used += 1
        for t in range(k):
            if number[t] >= 0 and not np.sqrt(length[t]) <= radii[number[t]]:
                if used == len(near):
                    return i
                place = indptr[i] + np.searchsorted(column[indptr[i] : used], number[t])
                for array, value in ((column, number[t]), (near, np.sqrt(length[t]))):
                    array[place + 1 : used + 1] = array[place:used].copy()
                    array[place] = value
                used += 1
        indptr[i + 1] = used
    return b


def closest_to_groups(Y, X, rough, base, slack, starts, length, near, far):
    """Find the closest pair between the rows of ``Y`` and each group of consecutive rows of ``X``.

    Group ``h`` begins at ``starts[h]``. Squared distances are written to ``length``, rows of ``Y`` to
    ``near`` and rows of ``X`` to ``far``, all (groups,).
    """
    minima = np.empty(-(-rough.shape[1] // _GROUP), dtype=rough.dtype)
    for h in range(len(starts)):
        length[h] = np.inf
    for i in range(rough.shape[0]):
        group_minima(rough[i], minima)
        for h in range(len(starts)):
            stop = starts[h + 1] if h + 1 < len(starts) else rough.shape[1]
            limit = length[h] - base[i] + slack[i]
            for g in range(starts[h] // _GROUP, -(-stop // _GROUP)):
                if minima[g] > limit:
                    continue
                for j in range(max(starts[h], g * _GROUP), min(stop, (g + 1) * _GROUP)):
                    if rough[i, j] <= limit:
                        exact = _squared_distance(Y[i], X[j])
                        if exact < length[h]:
                            length[h], near[h], far[h] = exact, i, j
                            limit = exact - base[i] + slack[i]
