"""Search in cells: points are stored cell by cell, and a query visits the cells of the nearest centres."""

from __future__ import annotations

import numpy as np

from native.reference.select import _insert_ordered, _squared_distance

_EPS = 2.0**-23  # of single precision


def find_candidates(queries, centers, start, points, sizes, offsets, visits, count, near, place):
    """Find the nearest points to each query in the ``visits`` cells with the nearest centres.

    The points of cell ``c`` are the rows ``start[c]`` to ``start[c + 1]`` of ``points`` (n, d), and ``sizes``
    (cells,) are the largest norms of the points of each cell. Squared distances are written to ``near`` and
    rows to ``place``, both (b, w): the ``count`` nearest points in ascending order, then those of the ``w -
    count`` points with the smallest ``|q - x|^2 + offset_x`` that are not among them. Rows that are missing
    are -1.

    Matrix products in single precision select cells and points. All that are in doubt by rounding are then
    compared by sums in double precision, so that the result does not depend on the other queries.
    """
    b, d = queries.shape
    others = near.shape[1] - count
    cells = _nearest_cells(queries, centers, visits)
    first = np.zeros((b + 1, visits), dtype=np.int64)  # where the values of the cells of a query begin
    total = 0
    for i in range(b):
        for t in range(visits):
            first[i, t] = total
            total += start[cells[i, t] + 1] - start[cells[i, t]]
    first[b, 0] = total
    most = (first[1:, 0] - first[:-1, 0]).max()
    kept, places = np.empty(most + 1, dtype=np.float32), np.empty(most + 1, dtype=np.int64)
    values = np.empty(total, dtype=np.float32)
    _multiply_by_cell(queries, cells, first, start, points, values)
    length, number = np.empty(others), np.empty(others, dtype=np.int64)
    for i in range(b):
        mine = values[first[i, 0] : first[i + 1, 0]]
        size = 0.0
        for t in range(visits):
            size = max(size, sizes[cells[i, t]])
        slack = (d + 8) * _EPS * size * (size + 2 * np.sqrt(_squared_norm(queries[i])))
        filled, query, nearest, at = 0, queries[i], near[i, :count], place[i, :count]
        for t in range(_few_smallest(mine, count, slack, cells[i], start, kept, places)):
            filled = _insert_ordered(
                nearest, at, filled, _squared_distance(query, points[places[t]]), places[t]
            )
        near[i, filled:], place[i, filled:] = np.inf, -1
        if others == 0 or filled < count:
            continue
        slack += _add_offsets(mine, cells[i], start, offsets)
        also = 0
        for t in range(_few_smallest(mine, others, slack, cells[i], start, kept, places)):
            value = _squared_distance(query, points[places[t]]) + offsets[places[t]]
            also = _insert_ordered(length, number, also, value, places[t])
        for t in range(also):
            value = _squared_distance(query, points[number[t]])
            if value > nearest[-1] or (value == nearest[-1] and number[t] > at[-1]):
                near[i, filled], place[i, filled] = value, number[t]
                filled += 1


def _few_smallest(values, count, slack, cells, start, kept, places):
    """Write to ``places`` the rows of all points whose values may be among the ``count`` smallest.

    ``values`` are those of the points of ``cells`` in order, with errors of at most ``slack``. ``kept`` is a
    buffer one longer than they are, like ``places``. Returns the number of places.
    """
    used, limit, v = 0, np.float32(np.inf), 0
    full = 3 * count + 32
    for t in range(len(cells)):
        for j in range(start[cells[t]], start[cells[t] + 1]):
            kept[used], places[used] = values[v], j
            used += values[v] <= limit
            v += 1
        if used > full:
            limit = np.float32(_smallest(kept[:used].copy(), count) + 2 * slack)
            used = _keep_below(kept, places, used, limit)
            full = max(full, 2 * used)  # many values tie
    if used > count:
        used = _keep_below(kept, places, used, _smallest(kept[:used].copy(), count) + 2 * slack)
    return used


def _keep_below(values, places, used, limit):
    """Move the values up to ``limit``, and their places, to the front; return their number."""
    kept = 0
    for t in range(used):
        if values[t] <= limit:
            values[kept], places[kept] = values[t], places[t]
            kept += 1
    return kept


def _smallest(values, count):
    """Return the ``count``-th smallest value by Hoare's selection; ``values`` are reordered."""
    low, high, target = 0, len(values) - 1, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break
    return values[target]


def _add_offsets(values, cells, start, offsets):
    """Add the offsets of the points of ``cells`` to their values; return a bound of the rounding errors."""
    v, largest = 0, 0.0
    for c in cells:
        for j in range(start[c], start[c + 1]):
            largest = max(largest, abs(offsets[j]))
            values[v] += offsets[j]
            v += 1
    return 4 * _EPS * largest


def _nearest_cells(queries, centers, visits):
    """Return the numbers (b, visits) of the nearest centres, ordered by distance and then by number."""
    b, d = queries.shape
    inner = np.dot(queries, centers.T)
    norms = np.array([_squared_norm(center) for center in centers])
    largest = np.sqrt(norms.max())
    cells = np.zeros((b, visits), dtype=np.int64)  # numbers in range also if no distance is a number
    length, rough = np.empty(visits), np.empty(len(centers))
    for i in range(b):
        for c in range(len(centers)):
            rough[c] = norms[c] - 2 * inner[i, c]
        slack = (d + 8) * _EPS * largest * (largest + 2 * np.sqrt(_squared_norm(queries[i])))
        limit = _smallest(rough.copy(), visits) + 2 * slack
        filled = 0
        for c in range(len(centers)):
            if rough[c] <= limit:
                filled = _insert_ordered(
                    length, cells[i], filled, _squared_distance(queries[i], centers[c]), c
                )
    return cells


def _multiply_by_cell(queries, cells, first, start, points, values):
    """Write ``|x|^2 - 2 q'x`` of the points in the cells of each query to ``values``.

    All queries that visit a cell are multiplied with its points at once.
    """
    b, visits = cells.shape
    count = len(start) - 1
    begin = np.zeros(count + 1, dtype=np.int64)
    for i in range(b):
        for t in range(visits):
            begin[cells[i, t] + 1] += 1
    for c in range(count):
        begin[c + 1] += begin[c]
    visitor, visit, fill = np.empty(b * visits, np.int64), np.empty(b * visits, np.int64), begin.copy()
    for i in range(b):
        for t in range(visits):
            visitor[fill[cells[i, t]]], visit[fill[cells[i, t]]] = i, t
            fill[cells[i, t]] += 1
    for c in range(count):
        members = points[start[c] : start[c + 1]]
        if begin[c + 1] == begin[c] or len(members) == 0:
            continue
        gathered = np.empty((begin[c + 1] - begin[c], queries.shape[1]), dtype=np.float32)
        for v in range(len(gathered)):
            gathered[v] = queries[visitor[begin[c] + v]]
        inner = np.dot(gathered, members.T)
        norms = np.empty(len(members), dtype=np.float32)
        for j in range(len(members)):
            norms[j] = _squared_norm(members[j])
        for v in range(len(gathered)):
            at = first[visitor[begin[c] + v], visit[begin[c] + v]]
            for j in range(len(members)):
                values[at + j] = norms[j] - 2 * inner[v, j]


def _squared_norm(x):
    """Return ``|x|^2`` in double precision."""
    total = 0.0
    for f in range(len(x)):
        total += np.float64(x[f]) * np.float64(x[f])
    return total
