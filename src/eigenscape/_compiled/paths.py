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


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def enter(indptr, indices, lengths, distance, out):
    """``out[x] = min_e lengths[e] + distance[indices[e]]`` over the entries ``e`` of each row ``x``, for all lanes at once."""
    least = np.empty(LANES)
    for x in range(len(indptr) - 1):
        least[:] = np.inf
        for e in range(indptr[x], indptr[x + 1]):
            far = distance[indices[e]]
            for b in range(LANES):
                d = far[b] + lengths[e]
                least[b] = d if d < least[b] else least[b]
        for b in range(out.shape[1]):
            out[x, b] = least[b]


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
