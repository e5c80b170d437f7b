"""Shortest paths from several sources at once."""

from __future__ import annotations

import numpy as np

#: Number of sources searched together. If they are close to each other, their fronts nearly coincide, and one
#: visit of a vertex serves all.
LANES = 16


def shortest_paths(indptr, indices, lengths, seed_start, seed_vertex, seed_length, distance):
    """Compute distances (m, LANES) from ``LANES`` sources.

    Source ``b`` has edges of ``seed_length`` to the vertices ``seed_vertex``. Label-correcting, with a heap
    ordered by the smallest distance not yet propagated: ``d(v) = min_u d(u) + w(u, v)``. A vertex is visited
    again if another source improves its distance; the result is exact.
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
                    size = _decrease_key(heap, place, key, size, v, d)
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
                size = _decrease_key(heap, place, key, size, v, least)


def update_nearest_source(indptr, indices, lengths, source, step, nearest):
    """Update ``nearest`` (m,), the distances to the nearest of some sources, for an additional ``source``.

    ``d(v) = min(d(v), d(source, v))``. Label-correcting: vertices nearer than a bound propagate their
    distances, in order of arrival, until none of them changes; then the bound moves ``step`` beyond the
    nearest of the others. No heap is needed, and the result is exact for any ``step``; a few mean edge
    lengths are fast. The search stops at vertices to which an earlier source is as near.
    """
    m = len(indptr) - 1
    # A ring buffer and a list; each vertex is at most once in either.
    near, far = np.empty(m, dtype=np.int32), np.empty(m, dtype=np.int32)
    state = np.zeros(m, dtype=np.int8)  # 1 in the ring buffer, 2 in the list
    nearest[source], near[0], state[source] = 0.0, source, 1
    head, n_near, n_far, bound = 0, 1, 0, step
    while n_near > 0:
        while n_near > 0:
            u = near[head]
            head = head + 1 if head + 1 < m else 0
            n_near -= 1
            state[u] = 0
            for e in range(indptr[u], indptr[u + 1]):
                v, d = indices[e], nearest[u] + lengths[e]
                if d < nearest[v]:
                    nearest[v] = d
                    if d >= bound:
                        if state[v] == 0:
                            state[v] = 2
                            far[n_far] = v
                            n_far += 1
                    elif state[v] != 1:
                        state[v] = 1
                        tail = head + n_near
                        near[tail if tail < m else tail - m] = v
                        n_near += 1
        least = _smallest_distance(far, n_far, state, nearest)
        head, bound, kept = 0, least + step, 0
        for i in range(n_far):
            v = far[i]
            if state[v] == 2:  # not propagated since
                if nearest[v] < bound or nearest[v] == least:  # the step may be lost to rounding
                    state[v] = 1
                    near[n_near] = v
                    n_near += 1
                else:
                    far[kept] = v
                    kept += 1
        n_far = kept


def _smallest_distance(far, n_far, state, nearest):
    """Return the smallest distance among the vertices that wait in the list."""
    least = np.inf
    for i in range(n_far):
        if state[far[i]] == 2 and nearest[far[i]] < least:
            least = nearest[far[i]]
    return least


def shortest_through(indptr, indices, lengths, onward, out):
    """Compute ``out[y, l] = min_v lengths[y, v] + onward[v, l]`` over the stored entries of row ``y``.

    Infinite for rows without entries.
    """
    out[:] = np.inf
    for y in range(len(indptr) - 1):
        for e in range(indptr[y], indptr[y + 1]):
            row, w = onward[indices[e]], lengths[e]
            for k in range(out.shape[1]):
                d = w + row[k]
                if d < out[y, k]:
                    out[y, k] = d


def store_rows(distance, rank, rows, out):
    """Store lanes of ``distance`` (m, LANES) as rows, ``out[rows[b], i] = distance[rank[i], b]``."""
    for first in range(0, len(rank), 64):  # lines that stay in the cache for all rows
        last = min(first + 64, len(rank))
        for b in range(len(rows)):
            row = out[rows[b]]
            for i in range(first, last):
                row[i] = distance[rank[i], b]


def half_square_products(indptr, indices, lengths, distance, V, single, out):
    """Compute ``out[y, c] = sum_b k(y, b) V[b, c]`` with ``k = -d^2 / 2``, rounded to ``single`` precision.

    ``d(y, b) = min_v lengths[y, v] + distance[v, b]``; ``distance`` (m, LANES) are the distances to the
    vertices of the rows of ``V`` (LANES, c). Four edges at a time, the last again if fewer remain.
    """
    best = np.empty(LANES)
    for y in range(len(indptr) - 1):
        best[:] = np.inf
        end = indptr[y + 1]
        for e in range(indptr[y], end, 4):
            i, j, k = min(e + 1, end - 1), min(e + 2, end - 1), min(e + 3, end - 1)
            f0, f1 = distance[indices[e]], distance[indices[i]]
            f2, f3 = distance[indices[j]], distance[indices[k]]
            w0, w1, w2, w3 = lengths[e], lengths[i], lengths[j], lengths[k]
            for b in range(LANES):
                d = min(best[b], f0[b] + w0)
                d = min(d, f1[b] + w1)
                d = min(d, f2[b] + w2)
                best[b] = min(d, f3[b] + w3)
        for b in range(LANES):
            value = -0.5 * best[b] * best[b]
            best[b] = np.float64(np.float32(value)) if single else value
        for c in range(V.shape[1]):
            total = 0.0
            for b in range(LANES):
                total += best[b] * V[b, c]
            out[y, c] = total


def _decrease_key(heap, place, key, size, v, value):
    """Lower the key of ``v``, or insert it; a node of the heap has four children."""
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


def _pop(heap, place, key, size):
    """Remove the vertex with the smallest key."""
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
