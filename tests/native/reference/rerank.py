"""Exact distances of the candidates of an approximate search."""

from __future__ import annotations

import numpy as np

from native.reference.select import _insert_ordered, _squared_distance


def rerank(
    Y, X, which, candidates, near, count, rest_of_query, rest_of_point, doubt_of_query, doubt_of_point, reach,
    rank, length, number, found, row, column, within,
):  # fmt: skip
    """Find the nearest rows of ``X`` among the ``candidates`` (b, w) of the rows ``which`` (b,) of ``Y``.

    Candidates are row numbers, -1 for none. ``near`` are their squared distances in some orthonormal
    directions; with the norms of the remainders, known up to a ``doubt``, they bound the squared distances
    from below. A distance is computed if the bound is below the k-th distance so far, for the first ``count``
    candidates, or below the squared length ``reach`` of the candidate. Distances and row numbers of the
    nearest are written to the rows ``which`` of ``length`` and ``number`` (n, k), by distance and then by
    ``rank`` (n,), the numbers of candidates to ``found``.

    Rows of ``Y``, rows of ``X`` and squared distances of the pairs not farther than ``reach`` of the row of
    ``X`` are written to ``row``, ``column`` and ``within``; returns their number. None if ``reach`` is empty.
    """
    k, most = length.shape[1], candidates.shape[1]
    used = 0
    for b in range(len(which)):
        i, filled, found[which[b]] = which[b], 0, 0
        for t in range(most):
            c = candidates[b, t]
            if c < 0:
                break
            found[i] += t < count
            gap = abs(rest_of_query[i] - rest_of_point[c]) - doubt_of_query[i] - doubt_of_point[c]
            bound = near[b, t] * (1 - 1e-4) + max(float(gap), 0.0) ** 2
            limit = reach[c] if len(reach) else -1.0
            is_far = t >= count or (filled == k and bound > length[i, k - 1])
            if is_far and bound > limit:
                continue
            square = _squared_distance(Y[i], X[c])
            if t < count:
                filled = _insert_ordered(length[i], number[i], filled, square, c, rank)
            if square <= limit:
                row[used], column[used], within[used] = i, c, square
                used += 1
        for t in range(filled):
            length[i, t] = np.sqrt(length[i, t])
    return used
