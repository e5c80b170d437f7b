"""Which points should be landmarks: farthest first, greedily, at random, or near the centres of k-means.

Every choice is nested where it can be: the first ``q`` of ``2 q`` landmarks are the landmarks of a smaller
set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.graph.geodesics import farthest_vertices, geodesics_from_vertex
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.base import n_points
from eigenscape.kernels.pairwise import squared_euclidean

NAMES = ("maxmin", "random", "kmeans", "greedy")

#: ``row(i)``: the squared distances (n,) of point ``i`` to all candidates.
SquaredRow = Callable[[int], np.ndarray]


def farthest_first(row: SquaredRow, n: int, count: int, first: int) -> np.ndarray:
    """Max-min: each landmark is the point farthest from those before it (de Silva and Tenenbaum).

    One row of distances a landmark, O(q n) time and O(n) memory. Of points equally far the first is taken.
    """
    chosen = np.empty(count, dtype=np.intp)
    nearest = np.full(n, np.inf)  # squared distance to the nearest landmark
    with stage("landmarks", total=count) as advance:
        for place in range(count):
            chosen[place] = first if place == 0 else int(np.argmax(nearest))
            np.minimum(nearest, row(chosen[place]), out=nearest)
            nearest[chosen[: place + 1]] = -np.inf
            advance(1)
    return chosen


def greedy_pivots(row: SquaredRow, n: int, count: int, first: int) -> np.ndarray:
    """Each landmark is the point that those before it explain least: pivots of a partial Cholesky
    factorisation.

    The kernel is ``-d^2 / 2`` with the first landmark for origin, ``k(x, y) = (d^2(x, o) + d^2(y, o) - d^2(x,
    y)) / 2`` (Burges sec. 2.2.1 with all weight on ``o``), and its residual at ``x`` is the squared distance
    of ``x`` to the affine span of the landmarks. Where nothing is left to explain, the rest is chosen
    farthest first. O(q^2 n) time, O(q n) memory."""
    chosen = [first]
    origin = np.array(row(first), dtype=np.float64)
    residual, nearest = origin.copy(), origin.copy()
    factor = np.empty((n, count - 1))  # k = factor factor' on the landmarks so far
    rank = 0
    with stage("landmarks", total=count) as advance:
        advance(1)
        while len(chosen) < count:
            residual[chosen] = nearest[chosen] = -np.inf
            explained = residual.max() <= 1e-10 * origin.max()
            pivot = int(np.argmax(nearest if explained else residual))
            squares = row(pivot)
            np.minimum(nearest, squares, out=nearest)
            if not explained:
                column = (origin + origin[pivot] - squares) / 2 - factor[:, :rank] @ factor[pivot, :rank]
                factor[:, rank] = column / np.sqrt(residual[pivot])
                residual -= np.square(factor[:, rank])
                rank += 1
            chosen.append(pivot)
            advance(1)
    return np.array(chosen, dtype=np.intp)


def at_random(n: int, count: int, seed: int) -> np.ndarray:
    """``count`` different points; a larger count has the smaller one's first."""
    return np.random.default_rng(seed).permutation(n)[:count]


def near_centres(X: Any, count: int, seed: int) -> np.ndarray:
    """The rows of ``X`` nearest to the centres of k-means, each row once. Not nested."""
    centres = KMeans(count, n_init=1, random_state=seed % 2**32).fit(X).cluster_centers_
    chosen = np.empty(count, dtype=np.intp)
    with stage("landmarks", total=count) as advance:
        for rows in row_blocks(count, 8 * X.shape[0]):
            distance = squared_euclidean(centres[rows], X)
            for place, own in enumerate(distance, start=rows.start):
                own[chosen[:place]] = np.inf
                chosen[place] = int(np.argmin(own))
            advance(len(distance))
    return chosen


def choose_points(X: Any, row: SquaredRow, how: str, count: int, seed: int) -> np.ndarray:
    """``count`` of the points ``X``, in ascending order, chosen as ``how`` (one of ``NAMES``) says."""
    n = n_points(X)
    if count >= n:
        return np.arange(n)
    first = int(np.random.default_rng(seed).integers(n))
    if how == "maxmin":
        return np.sort(farthest_first(row, n, count, first))
    if how == "greedy":
        return np.sort(greedy_pivots(row, n, count, first))
    return np.sort(at_random(n, count, seed) if how == "random" else near_centres(X, count, seed))


def choose_vertices(graph: NeighborGraph, how: str, count: int, seed: int) -> np.ndarray:
    """The same for the vertices of a graph, with geodesic distances."""
    if how == "maxmin" and count < graph.n_vertices:
        return np.sort(
            farthest_vertices(graph, count, int(np.random.default_rng(seed).integers(graph.n_vertices)))
        )
    return choose_points(
        graph.vertices.X, lambda vertex: np.square(geodesics_from_vertex(graph, vertex)), how, count, seed
    )
