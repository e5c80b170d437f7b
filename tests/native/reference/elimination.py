"""Elimination of the vertices of a graph one by one, with lengths of paths in place of numbers.

The vertices are numbered in the order of elimination. When ``v`` is eliminated, its remaining neighbours
``up(v)`` are joined with each other by edges of length ``w(v, a) + w(v, b)``, so that distances between the
remaining vertices do not change. A shortest path from any source then ascends in this order and descends
again: two sweeps over the edges ``(v, up(v))`` find all distances, without a queue, for several sources at
once.
"""

from __future__ import annotations

import numpy as np

from native.reference.paths import LANES

_ONE = np.uint64(1)


def _count_bits(x):
    return np.uint64(int(x).bit_count())


def _bits(words, out):
    """Write the positions of the bits that are set to ``out``, and return their number."""
    count = 0
    for i in range(len(words)):
        word = words[i]
        while word:
            lowest = word & (~word + _ONE)
            out[count] = 64 * i + np.int64(_count_bits(lowest - _ONE))
            count += 1
            word ^= lowest
    return count


def _unlink(v, degree, head, after, before):
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[degree] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


def _link(v, degree, head, after, before):
    first = head[degree]
    head[degree], after[v], before[v] = v, first, -1
    if first >= 0:
        before[first] = v


def minimum_degree(indptr, indices, max_cost):
    """Compute an order of elimination with little fill: always a vertex with the fewest neighbours.

    Returns the order (m,), ``len(up(v))`` (m,) for the vertices in this order, the neighbours ``up(v)`` by
    their old numbers, one after another, and the number of vertices for which these are listed. When most of
    the remaining vertices are joined with each other, their order does not matter, and all are taken to be;
    so too if ``sum_v len(up(v)) (m - v)`` is likely to exceed ``max_cost``. Neighbours are kept as sets of
    bits, m^2 / 8 bytes.
    """
    m = len(indptr) - 1
    words = (m + 63) >> 6
    near = np.zeros((m, words), dtype=np.uint64)
    for v in range(m):
        for e in range(indptr[v], indptr[v + 1]):
            near[v, indices[e] >> 6] |= _ONE << np.uint64(indices[e] & 63)
        near[v, v >> 6] &= ~(_ONE << np.uint64(v & 63))
    head, after, before = np.full(m + 1, -1), np.full(m, -1), np.full(m, -1)
    degree, left = np.zeros(m, dtype=np.int64), np.ones(m, dtype=np.bool_)
    for v in range(m - 1, -1, -1):
        for i in range(words):
            degree[v] += np.int64(_count_bits(near[v, i]))
        _link(v, degree[v], head, after, before)
    order, count = np.empty(m, dtype=np.int32), np.empty(m, dtype=np.int64)
    up, size = np.empty(max(4 * len(indices), 16), dtype=np.int32), 0
    some = np.empty(m, dtype=np.int64)
    least, done, cost = 0, 0, 0.0
    while done < m:
        while head[least] < 0:
            least += 1
        left_over = m - done
        if 4 * least >= 3 * (left_over - 1) or cost + 0.5 * least * left_over * left_over > max_cost:
            break
        cost += least * left_over
        v = head[least]
        _unlink(v, least, head, after, before)
        n_near = _bits(near[v], some)
        order[done], count[done], left[v] = v, n_near, False
        done += 1
        while size + n_near > len(up):
            longer = np.empty(2 * len(up), dtype=np.int32)
            longer[:size] = up[:size]
            up = longer
        for i in range(n_near):
            u = some[i]
            up[size] = u
            size += 1
            near[v, u >> 6] ^= _ONE << np.uint64(u & 63)
            now = np.uint64(0)
            for k in range(words):
                near[u, k] |= near[v, k]
                now += _count_bits(near[u, k])
            near[v, u >> 6] ^= _ONE << np.uint64(u & 63)
            near[u, v >> 6] ^= _ONE << np.uint64(v & 63)
            _unlink(u, degree[u], head, after, before)
            degree[u] = np.int64(now) - 1
            _link(u, degree[u], head, after, before)
            least = min(least, degree[u])
    n_listed = done
    for v in range(m):
        if left[v]:
            order[done], count[done] = v, m - done - 1
            done += 1
    return order, count, up[:size], n_listed


def depth_first(order, start, up, n_sparse):
    """Renumber the first ``n_sparse`` vertices so that those eliminated into each other are consecutive.

    The parent of ``v`` is the first of ``up(v)`` to be eliminated; any order with children before their
    parents has the same fill. Rows ``start``, ``up`` (old numbers) are rearranged, sorted and renumbered.
    """
    m = len(order)
    rank = np.empty(m, dtype=np.int32)
    for v in range(m):
        rank[order[v]] = v
    child, sibling = np.full(n_sparse + 1, -1, dtype=np.int32), np.full(n_sparse, -1, dtype=np.int32)
    for v in range(n_sparse - 1, -1, -1):
        parent = np.int32(n_sparse)  # a root
        for e in range(start[v], start[v + 1]):
            parent = min(parent, rank[up[e]])
        sibling[v] = child[parent]
        child[parent] = v
    place = np.empty(n_sparse, dtype=np.int32)  # new number of each
    stack, size, number = np.empty(n_sparse + 1, dtype=np.int32), 0, n_sparse
    v = child[n_sparse]
    while v >= 0 or size > 0:  # numbers are given from the last: parents before their children
        if v < 0:
            size -= 1
            v = stack[size]
        number -= 1
        place[v] = number
        if sibling[v] >= 0:
            stack[size] = sibling[v]
            size += 1
        v = child[v]
    new_order, new_start, new_up = order.copy(), start.copy(), np.empty(start[n_sparse], dtype=np.int32)
    for v in range(n_sparse):
        new_order[place[v]] = order[v]
        new_start[place[v] + 1] = start[v + 1] - start[v]
    for v in range(n_sparse):
        new_start[v + 1] += new_start[v]
    for v in range(m):
        rank[new_order[v]] = v
    for v in range(n_sparse):
        first = new_start[place[v]]
        length = start[v + 1] - start[v]
        for e in range(length):
            new_up[first + e] = rank[up[start[v] + e]]
        new_up[first : first + length].sort()
    return new_order, rank, new_start, new_up


def eliminate(indptr, indices, lengths, order, rank, start, up, weight, core):
    """Compute the lengths ``weight`` of the edges ``(v, up(v))``, and those that remain in ``core`` (l, l).

    ``w(a, b) = min(w(a, b), w(v, a) + w(v, b))`` for all ``a, b`` in ``up(v)``. The upper triangle of
    ``core`` holds the edges between the vertices that are not eliminated, infinite where there is none.
    """
    m, n_sparse = len(order), len(start) - 1
    head, after = np.full(n_sparse, -1, dtype=np.int32), np.full(n_sparse, -1, dtype=np.int32)
    cursor = start[:-1].copy()  # rows wait in the list of their next vertex
    row = np.full(m, np.inf)
    for v in range(n_sparse):
        for e in range(start[v], start[v + 1]):
            row[up[e]] = np.inf
        for e in range(indptr[order[v]], indptr[order[v] + 1]):
            u = rank[indices[e]]
            if u > v:
                row[u] = min(row[u], lengths[e])
        c = head[v]
        while c >= 0:
            following, w = after[c], weight[cursor[c]]
            for e in range(cursor[c] + 1, start[c + 1]):
                row[up[e]] = min(row[up[e]], w + weight[e])
            cursor[c] += 1
            if cursor[c] < start[c + 1] and up[cursor[c]] < n_sparse:
                after[c], head[up[cursor[c]]] = head[up[cursor[c]]], c
            c = following
        for e in range(start[v], start[v + 1]):
            weight[e] = row[up[e]]
        if start[v] < start[v + 1] and up[start[v]] < n_sparse:
            after[v], head[up[start[v]]] = head[up[start[v]]], v
    for v in range(n_sparse, m):
        for e in range(indptr[order[v]], indptr[order[v] + 1]):
            u = rank[indices[e]]
            if u > v:
                core[v - n_sparse, u - n_sparse] = min(core[v - n_sparse, u - n_sparse], lengths[e])
    for v in range(n_sparse):
        for i in range(start[v], start[v + 1]):
            if up[i] >= n_sparse:
                target = core[up[i] - n_sparse]
                for j in range(i + 1, start[v + 1]):
                    x = up[j] - n_sparse
                    target[x] = min(target[x], weight[i] + weight[j])


def sweep(start, up, weight, core, seed_start, seed_vertex, seed_length, distance):
    """Compute distances (m, LANES) from ``LANES`` sources.

    Source ``b`` has edges of ``seed_length`` to the vertices ``seed_vertex``. ``core`` (l, l) are the
    distances between the last vertices, which are not eliminated.
    """
    m, n_sparse, n_core = len(distance), len(start) - 1, len(core)
    distance[:] = np.inf
    reached = np.zeros(m, dtype=np.bool_)
    first = m
    for b in range(len(seed_start) - 1):
        for e in range(seed_start[b], seed_start[b + 1]):
            v = seed_vertex[e]
            distance[v, b] = min(distance[v, b], seed_length[e])
            reached[v] = True
            first = min(first, v)
    for v in range(first, n_sparse):
        if reached[v]:
            near = distance[v]
            for e in range(start[v], start[v + 1]):
                far, w = distance[up[e]], weight[e]
                reached[up[e]] = True
                for b in range(LANES):
                    d = near[b] + w
                    far[b] = d if d < far[b] else far[b]
    if n_core > 0:
        _through_core(core, reached[n_sparse:], distance[n_sparse:], len(seed_start) - 1)
    for v in range(n_sparse - 1, -1, -1):
        _descend(distance, v, up, weight, start[v], start[v + 1])


def _descend(distance, v, up, weight, begin, end):
    """Compute ``d(v) = min_u w(v, u) + d(u)`` over ``u`` in ``up(v)``, four of them at a time."""
    near = distance[v]
    for e in range(begin, end, 4):
        i, j, k = min(e + 1, end - 1), min(e + 2, end - 1), min(e + 3, end - 1)  # the last again, if fewer
        f0, f1, f2, f3 = distance[up[e]], distance[up[i]], distance[up[j]], distance[up[k]]
        w0, w1, w2, w3 = weight[e], weight[i], weight[j], weight[k]
        for b in range(LANES):
            d = min(near[b], f0[b] + w0)
            d = min(d, f1[b] + w1)
            d = min(d, f2[b] + w2)
            near[b] = min(d, f3[b] + w3)


def _through_core(core, reached, distance, n_sources):
    """Compute ``d(x) = min_t d(t) + core(t, x)`` over the vertices ``t`` that each source has reached."""
    n_core = len(core)
    where = np.flatnonzero(reached)
    rows = np.empty((n_sources, n_core))
    via, length = np.empty(len(where), dtype=np.int64), np.empty(len(where))
    for b in range(n_sources):
        count = 0
        for t in where:
            if distance[t, b] < np.inf:
                via[count], length[count] = t, distance[t, b]
                count += 1
        rows[b] = np.inf
        shortest_of_rows(core, via[:count], length[:count], rows[b], 0, n_core)
    for x in range(n_core):
        for b in range(n_sources):
            distance[x, b] = rows[b, x]


def shortest_of_rows(rows, via, length, out, left, right):
    """Update ``out[x] = min(out[x], min_i length[i] + rows[via[i], x])`` for ``left <= x < right``.

    Four rows at a time: to read and write ``out`` for each of them would take most of the time.
    """
    best = out[left:right]
    for i in range(0, len(via), 4):
        j, k, m = min(i + 1, len(via) - 1), min(i + 2, len(via) - 1), min(i + 3, len(via) - 1)
        r0, r1 = rows[via[i]][left:right], rows[via[j]][left:right]
        r2, r3 = rows[via[k]][left:right], rows[via[m]][left:right]
        w0, w1, w2, w3 = length[i], length[j], length[k], length[m]
        for x in range(len(best)):
            d = min(best[x], r0[x] + w0)
            d = min(d, r1[x] + w1)
            d = min(d, r2[x] + w2)
            best[x] = min(d, r3[x] + w3)
