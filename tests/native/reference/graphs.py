"""Neighbour lists to the compressed rows of a graph: sorting, transposition, union, breadth-first search."""

from __future__ import annotations


def sorted_lists(length, number, shortest, first, last, indices, data):
    """Write the lists (n, k) of the rows ``first`` to ``last`` in the order of their numbers.

    ``data[i k + t] = max(length[i, s], shortest)`` and ``indices[i k + t] = number[i, s]``, where ``s`` is
    the place of the t-th smallest number of row i.
    """
    k = length.shape[1]
    for i in range(first, last):
        start = i * k
        for s in range(k):
            value, j = length[i, s], number[i, s]
            t = start + s
            while t > start and indices[t - 1] > j:
                indices[t] = indices[t - 1]
                data[t] = data[t - 1]
                t -= 1
            indices[t] = j
            data[t] = max(value, shortest)


def transpose_columns(indptr, indices, data, first, last, place, out_indices, out_data):
    """Write the columns ``first`` to ``last`` of a matrix as rows, from ``place[j]`` on, sorted by row.

    ``place`` is advanced to the end of each.
    """
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if first <= j < last:
                at = place[j]
                out_indices[at] = i
                out_data[at] = data[e]
                place[j] = at + 1


def count_union(indptr, indices, other_indptr, other_indices, first, last, count):
    """Write to ``count[i]`` the number of columns that either of two matrices stores in row i."""
    for i in range(first, last):
        a, a_end = indptr[i], indptr[i + 1]
        b, b_end = other_indptr[i], other_indptr[i + 1]
        both = 0
        while a < a_end and b < b_end:
            if indices[a] == other_indices[b]:
                both += 1
                a += 1
                b += 1
            elif indices[a] < other_indices[b]:
                a += 1
            else:
                b += 1
        count[i] = a_end - indptr[i] + b_end - other_indptr[i] - both


def merge_rows(
    indptr,
    indices,
    data,
    other_indptr,
    other_indices,
    other_data,
    first,
    last,
    out_indptr,
    out_indices,
    out_data,
):
    """Write the rows ``first`` to ``last`` of the union of two matrices with sorted rows.

    An entry that both store is the larger of the two.
    """
    for i in range(first, last):
        a, a_end = indptr[i], indptr[i + 1]
        b, b_end = other_indptr[i], other_indptr[i + 1]
        at = out_indptr[i]
        while a < a_end or b < b_end:
            if b == b_end or (a < a_end and indices[a] < other_indices[b]):
                out_indices[at], out_data[at] = indices[a], data[a]
                a += 1
            elif a == a_end or other_indices[b] < indices[a]:
                out_indices[at], out_data[at] = other_indices[b], other_data[b]
                b += 1
            else:
                out_indices[at], out_data[at] = indices[a], max(data[a], other_data[b])
                a += 1
                b += 1
            at += 1


def breadth_first(indptr, indices, start, order, depth):
    """Search from ``start``: write the vertices to ``order`` as they are found, and their ``depth``.

    ``depth`` is -1 for vertices not found. Returns the number of vertices found and the largest number at
    the same depth.
    """
    depth[start] = 0
    order[0] = start
    found, widest, level_start, level = 1, 1, 0, 0
    for place in range(len(order)):
        if place == found:
            break
        i = order[place]
        if depth[i] > level:
            level, level_start = depth[i], place
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if depth[j] < 0:
                depth[j] = level + 1
                order[found] = j
                found += 1
        # The level after this one is complete when the last vertex of this one has been visited.
        widest = max(widest, place + 1 - level_start)
    return found, widest
