"""Distances between all vertices of a graph with many edges, in a dense matrix, block by block.

The vertices are eliminated in the order of their numbers, which fills the upper triangle; then the distances
follow from the last to the first, ``d(v, x) = min_u w(v, u) + d(u, x)`` over the edges of ``v`` to later
vertices. Each distance is computed once, for the matrix is symmetric.
"""

from __future__ import annotations

import numpy as np

from native.reference.elimination import shortest_of_rows


def _finite(row, first, via, length):
    """Write the columns from ``first`` on with finite entries and these entries; return their number."""
    count = 0
    for u in range(first, len(row)):
        if row[u] < np.inf:
            via[count], length[count] = u, row[u]
            count += 1
    return count


def eliminate_within(w, begin, end):
    """Eliminate the vertices ``begin <= v < end``, but update only the edges of these."""
    via, length = np.empty(end - begin, dtype=np.int64), np.empty(end - begin)
    for u in range(begin + 1, end):
        count = 0
        for v in range(begin, u):
            if w[v, u] < np.inf:
                via[count], length[count] = v, w[v, u]
                count += 1
        shortest_of_rows(w, via[:count], length[:count], w[u], u + 1, len(w))


def eliminate_from(w, begin, end, first, last, tile):
    """Update the edges of the vertices ``first <= u < last`` after the elimination of an earlier block.

    ``w(u, x) = min(w(u, x), w(v, u) + w(v, x))`` for ``begin <= v < end`` and ``x > u``.
    """
    via, length = np.empty((last - first, end - begin), dtype=np.int64), np.empty((last - first, end - begin))
    count = np.zeros(last - first, dtype=np.int64)
    for v in range(begin, end):
        for u in range(first, last):
            if w[v, u] < np.inf:
                i = u - first
                via[i, count[i]], length[i, count[i]] = v, w[v, u]
                count[i] += 1
    for left in range(first, len(w), tile):
        right = min(left + tile, len(w))
        for u in range(first, min(last, right)):
            i, x = u - first, max(u + 1, left)
            shortest_of_rows(w, via[i, : count[i]], length[i, : count[i]], w[u], x, right)


def later_edges(w, begin, end):
    """Return the edges of the vertices ``begin <= v < end`` to later ones: bounds, vertices and lengths."""
    start = np.zeros(end - begin + 1, dtype=np.int64)
    via, length = np.empty((end - begin) * len(w), dtype=np.int64), np.empty((end - begin) * len(w))
    for v in range(begin, end):
        at = start[v - begin]
        start[v - begin + 1] = at + _finite(w[v], v + 1, via[at:], length[at:])
    return start, via[: start[-1]], length[: start[-1]]


def distances_to(d, begin, end, start, via, length, left, right, block):
    """Compute the distances of the vertices ``begin <= v < end`` to those ``left <= x < right``, all later.

    The rows of later vertices are read in blocks that stay in the cache. The transpose is filled as well.
    """
    cursor = start[:-1].copy()
    for first in range(end, len(d), block):
        last = min(first + block, len(d))
        for v in range(begin, end):
            i = v - begin
            e = cursor[i]
            while e < start[i + 1] and via[e] < first:
                e += 1
            f = e
            while f < start[i + 1] and via[f] < last:
                f += 1
            cursor[i] = f
            shortest_of_rows(d, via[e:f], length[e:f], d[v], left, right)
    for v in range(end - 1, begin - 1, -1):
        e = f = start[v - begin]
        while f < start[v - begin + 1] and via[f] < end:
            f += 1
        shortest_of_rows(d, via[e:f], length[e:f], d[v], left, right)
    for x in range(left, right):
        for v in range(begin, end):
            d[x, v] = d[v, x]


def distances_within(d, begin, end, start, via, length):
    """Compute the distances between the vertices ``begin <= v < end``, after those to all later ones."""
    for v in range(end - 1, begin - 1, -1):
        e, f = start[v - begin], start[v - begin + 1]
        shortest_of_rows(d, via[e:f], length[e:f], d[v], v + 1, end)
        d[v, v] = 0.0
        for x in range(v + 1, end):
            d[x, v] = d[v, x]
