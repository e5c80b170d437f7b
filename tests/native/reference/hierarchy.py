"""Multilevel hierarchy of a sparse matrix: order, groups, products of matrices, and smoothing steps.

Blocks of vectors have a multiple of four columns, which are read and summed at once.
"""

from __future__ import annotations

import numpy as np


def reorder_rows(indptr, indices, data, order, rank, first, last, out_indptr, out_indices, out_data):
    """Write the rows ``first`` to ``last`` of ``A[order][:, order]``; ``rank`` is the inverse order."""
    for r in range(first, last):
        at = out_indptr[r]
        for e in range(indptr[order[r]], indptr[order[r] + 1]):
            out_indices[at] = rank[indices[e]]
            out_data[at] = data[e]
            at += 1


def group_vertices(indptr, indices, data, strength, group):
    """Partition the vertices into a root and its neighbours each; return the number of groups.

    Roots are chosen in the order of the vertices, none a neighbour of another; the others join the root to
    which they have the strongest edge. Edges weaker than ``strength`` times the strongest of a vertex are
    left out.
    """
    n, count = len(indptr) - 1, 0
    limit = np.empty(n, dtype=data.dtype)
    group[:] = -1
    for i in range(n):
        limit[i] = 0
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] != i:
                limit[i] = max(limit[i], abs(data[e]))
        limit[i] *= strength
        is_root = True
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] != i and abs(data[e]) >= limit[i] and group[indices[e]] >= 0:
                is_root = False
                break
        if is_root:
            group[i] = count
            count += 1
    joined = group.copy()
    for i in range(n):
        strongest = 0.0
        if group[i] < 0:
            for e in range(indptr[i], indptr[i + 1]):
                if group[indices[e]] >= 0 and abs(data[e]) > strongest:
                    strongest = abs(data[e])
                    joined[i] = group[indices[e]]
    group[:] = joined
    return count


def product_size(a_indptr, a_indices, b_indptr, first, last):
    """Return the number of products of entries in the rows ``first`` to ``last`` of ``A B``."""
    size = 0
    for e in range(a_indptr[first], a_indptr[last]):
        size += b_indptr[a_indices[e] + 1] - b_indptr[a_indices[e]]
    return size


def multiply_sparse(
    a_indptr, a_indices, a_data, b_indptr, b_indices, b_data, n_columns, first, last, count, indices, data
):
    """Write the rows ``first`` to ``last`` of ``A B``: numbers of entries, columns and values."""
    place = np.full(n_columns, -1, dtype=np.int64)  # of the entry of each column in the current row
    used = 0
    for i in range(first, last):
        start = used
        for e in range(a_indptr[i], a_indptr[i + 1]):
            j, value = a_indices[e], a_data[e]
            for f in range(b_indptr[j], b_indptr[j + 1]):
                c = b_indices[f]
                if place[c] < start:
                    place[c] = used
                    indices[used] = c
                    data[used] = value * b_data[f]
                    used += 1
                else:
                    data[place[c]] += value * b_data[f]
        count[i - first] = used - start
    return used


def smooth_rows(indptr, indices, data, group, values, step):
    """Replace ``B = A P0`` by ``P0 - diag(step) B``; ``P0`` has ``values[i]`` in column ``group[i]``."""
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            data[e] *= -step[i]
            if indices[e] == group[i]:
                data[e] += values[i]


def first_residual(indptr, indices, data, step, B, first, last, out):
    """Compute ``out = B - A diag(step) B`` for the rows ``first`` to ``last``: after one step from zero."""
    for q in range(0, B.shape[1], 4):
        for r in range(first, last):
            a, b, c, d = B[r, q], B[r, q + 1], B[r, q + 2], B[r, q + 3]
            for e in range(indptr[r], indptr[r + 1]):
                j = indices[e]
                w = data[e] * step[j]
                a -= w * B[j, q]
                b -= w * B[j, q + 1]
                c -= w * B[j, q + 2]
                d -= w * B[j, q + 3]
            out[r, q] = a
            out[r, q + 1] = b
            out[r, q + 2] = c
            out[r, q + 3] = d


def correct_rows(indptr, indices, data, step, B, Y, first, last, out):
    """Compute ``out = diag(step) B + P Y`` for the rows ``first`` to ``last``."""
    for q in range(0, B.shape[1], 4):
        for r in range(first, last):
            s = step[r]
            a, b, c, d = s * B[r, q], s * B[r, q + 1], s * B[r, q + 2], s * B[r, q + 3]
            for e in range(indptr[r], indptr[r + 1]):
                w, j = data[e], indices[e]
                a += w * Y[j, q]
                b += w * Y[j, q + 1]
                c += w * Y[j, q + 2]
                d += w * Y[j, q + 3]
            out[r, q] = a
            out[r, q + 1] = b
            out[r, q + 2] = c
            out[r, q + 3] = d


def relax_rows(indptr, indices, data, step, B, X, first, last, out):
    """Compute ``out = X + diag(step) (B - A X)`` for the rows ``first`` to ``last``."""
    for q in range(0, B.shape[1], 4):
        for r in range(first, last):
            a, b, c, d = B[r, q], B[r, q + 1], B[r, q + 2], B[r, q + 3]
            for e in range(indptr[r], indptr[r + 1]):
                w, j = data[e], indices[e]
                a -= w * X[j, q]
                b -= w * X[j, q + 1]
                c -= w * X[j, q + 2]
                d -= w * X[j, q + 3]
            s = step[r]
            out[r, q] = X[r, q] + s * a
            out[r, q + 1] = X[r, q + 1] + s * b
            out[r, q + 2] = X[r, q + 2] + s * c
            out[r, q + 3] = X[r, q + 3] + s * d
