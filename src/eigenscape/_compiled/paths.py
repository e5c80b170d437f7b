"""Shortest paths from several sources at once."""

from __future__ import annotations

import numpy as np
from numba import njit

#: Sources that travel together. Their fronts nearly coincide when they are near each other, and one visit serves all.
LANES = 16


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz", "contract"})
def shortest_paths(indptr, indices, lengths, seed_start, seed_vertex, seed_length, distance):
    """Distances (m, LANES) from ``LANES`` sources; source ``b`` enters at its seeds, ``seed_vertex`` after ``seed_length``.

    Label-correcting with a heap ordered by the least distance not yet passed on: ``d(v) = min_u d(u) + w(u, v)``. A vertex may
    be visited again when a farther source improves on it; the result is exact.
    """
    m = len(indptr) - 1
    distance[:] = np.inf
    key = np.full(m, np.inf)
    heap = np.empty(m, dtype=np.int32)
    place = np.full(m, -1, dtype=np.int32)
    size = 0
    for b in range(len(seed_start) - 1):
        for e in range(seed_start[b], seed_start[b + 1]):
            v, d = seed_vertex[e], seed_length[e]
            if d < distance[v, b]:
                distance[v, b] = d
                if d < key[v]:
                    size = _lower(heap, place, key, size, v, d)
    while size > 0:
        u = heap[0]
        size = _pop(heap, place, key, size)
        key[u] = np.inf
        near = distance[u]
        for e in range(indptr[u], indptr[u + 1]):
            v, w = indices[e], lengths[e]
            far = distance[v]
            least = np.inf
            for b in range(LANES):
                d = near[b] + w
                better = d < far[b]
                far[b] = d if better else far[b]
                offered = d if better else np.inf
                least = offered if offered < least else least
            if least < key[v]:
                size = _lower(heap, place, key, size, v, least)


@njit(nogil=True, cache=True)
def lower_to_source(indptr, indices, lengths, source, nearest):
    """Lower ``nearest`` (m,), the distances to the nearest of some sources, to those with ``source`` among them.

    ``d(v) = min(d(v), d(source, v))``: Dijkstra's search, which does not go on where an earlier source is as near.
    """
    m = len(indptr) - 1
    key = np.empty(m)
    heap = np.empty(m, dtype=np.int32)
    place = np.full(m, -1, dtype=np.int32)
    nearest[source] = 0.0
    size = _lower(heap, place, key, 0, source, 0.0)
    while size > 0:
        u = heap[0]
        size = _pop(heap, place, key, size)
        for e in range(indptr[u], indptr[u + 1]):
            v, d = indices[e], nearest[u] + lengths[e]
            if d < nearest[v]:
                nearest[v] = d
                size = _lower(heap, place, key, size, v, d)


@njit(nogil=True, cache=True)
def shortest_through(indptr, indices, lengths, onward, out):
    """``out[y, l] = min_v lengths[y, v] + onward[v, l]`` over the stored entries of row ``y``; infinite where it has none."""
    out[:] = np.inf
    for y in range(len(indptr) - 1):
        for e in range(indptr[y], indptr[y + 1]):
            row, w = onward[indices[e]], lengths[e]
            for k in range(out.shape[1]):
                d = w + row[k]
                if d < out[y, k]:
                    out[y, k] = d


@njit(nogil=True, cache=True, inline="always")
def _lower(heap, place, key, size, v, value):
    """Lower the key of ``v``, inserting it if need be; the heap has four children a node."""
    key[v] = value
    i = place[v]
    if i < 0:
        i = size
        size += 1
    while i > 0:
        parent = (i - 1) >> 2
        p = heap[parent]
        if key[p] <= value:
            break
        heap[i] = p
        place[p] = i
        i = parent
    heap[i] = v
    place[v] = i
    return size


@njit(nogil=True, cache=True, inline="always")
def _pop(heap, place, key, size):
    """Remove the vertex with the least key."""
    place[heap[0]] = -1
    size -= 1
    if size == 0:
        return size
    v = heap[size]
    value = key[v]
    i = 0
    while True:
        child = 4 * i + 1
        if child >= size:
            break
        best = child
        for other in range(child + 1, min(child + 4, size)):
            if key[heap[other]] < key[heap[best]]:
                best = other
        if key[heap[best]] >= value:
            break
        heap[i] = heap[best]
        place[heap[i]] = i
        i = best
    heap[i] = v
    place[v] = i
    return size
