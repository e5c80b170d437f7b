"""Selection of landmarks: max-min, greedy (pivoted Cholesky), random, or nearest to k-means centres.

Max-min, greedy and random selections are nested: the first ``q`` of ``2 q`` landmarks are those for ``q``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.dictionary.source import PointArray, stack_rows
from eigenscape.graph.geodesics import farthest_vertices, geodesics_from_vertex
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.row_index import distinct_rows
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import HalfSquaredDistance, squared_distance_rows
from eigenscape.kernels.pairwise import squared_euclidean

NAMES = ("maxmin", "random", "kmeans", "greedy")

#: ``row(i)`` returns the squared distances (n,) of point ``i`` to all candidates.
SquaredRow = Callable[[int], np.ndarray]


def farthest_first(row: SquaredRow, n: int, count: int, first: int) -> np.ndarray:
    """Select landmarks by max-min: each is the point farthest from the previous ones.

    See de Silva and Tenenbaum 2004. O(q n) time and O(n) memory. Ties are resolved by the lowest index.
    """
    chosen = np.empty(count, dtype=np.intp)
    nearest = np.full(n, np.inf)  # squared distance to the nearest landmark
    with stage("landmarks", total=count) as advance:
        for position in range(count):
            chosen[position] = first if position == 0 else int(np.argmax(nearest))
            np.minimum(nearest, row(chosen[position]), out=nearest)
            nearest[chosen[: position + 1]] = -np.inf
            advance(1)
    return chosen


def greedy_pivots(row: SquaredRow, n: int, count: int, first: int) -> np.ndarray:
    """Select landmarks greedily: the pivots of a partial Cholesky factorisation.

    The kernel is ``-d^2 / 2`` with the first landmark as origin, ``k(x, y) = (d^2(x, o) + d^2(y, o) - d^2(x,
    y)) / 2`` (Burges sec. 2.2.1 with all weight on ``o``); its residual at ``x`` is the squared distance of
    ``x`` from the affine hull of the landmarks, and the next landmark maximises it. Once all residuals are
    zero, the remaining landmarks are selected by max-min. O(q^2 n) time, O(q n) memory.
    """
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


def random_points(n: int, count: int, seed: int) -> np.ndarray:
    """Select ``count`` distinct points at random; nested in ``count``."""
    return np.random.default_rng(seed).permutation(n)[:count]


def nearest_to_centers(X: Any, count: int, seed: int) -> np.ndarray:
    """Select the rows of ``X`` nearest to the centres of k-means, each row at most once. Not nested."""
    from sklearn.cluster import KMeans

    centers = KMeans(count, n_init=1, random_state=seed % 2**32).fit(X).cluster_centers_
    chosen = np.empty(count, dtype=np.intp)
    with stage("landmarks", total=count) as advance:
        for rows in row_blocks(count, 8 * X.shape[0]):
            distance = squared_euclidean(centers[rows], X)
            for position, squares in enumerate(distance, start=rows.start):
                squares[chosen[:position]] = np.inf
                chosen[position] = int(np.argmin(squares))
            advance(len(distance))
    return chosen


def choose_points(X: Any, row: SquaredRow, method: str, count: int, seed: int) -> np.ndarray:
    """Select ``count`` of the points ``X`` by ``method`` (one of ``NAMES``); indices in ascending order."""
    n = n_points(X)
    if count >= n:
        return np.arange(n)
    first = int(np.random.default_rng(seed).integers(n))
    if method == "maxmin":
        return np.sort(farthest_first(row, n, count, first))
    if method == "greedy":
        return np.sort(greedy_pivots(row, n, count, first))
    return np.sort(
        random_points(n, count, seed) if method == "random" else nearest_to_centers(X, count, seed)
    )


def choose_vertices(graph: NeighborGraph, method: str, count: int, seed: int) -> np.ndarray:
    """Select ``count`` vertices of a graph by geodesic distances; see :func:`choose_points`."""
    if method == "maxmin" and count < graph.n_vertices:
        return np.sort(
            farthest_vertices(graph, count, int(np.random.default_rng(seed).integers(graph.n_vertices)))
        )
    return choose_points(
        graph.vertices.X, lambda vertex: np.square(geodesics_from_vertex(graph, vertex)), method, count, seed
    )


@dataclass(frozen=True, eq=False)
class Candidates:
    """Points selected from ``n_rows`` rows, with their row indices.

    Candidates are selected in each part of the rows and merged in the order of the parts, so that the result
    does not depend on the order in which the parts are processed.
    """

    points: PointArray  # (m, n_features)
    indices: np.ndarray  # (m,)
    n_rows: int

    @staticmethod
    def from_rows(Y: PointArray) -> Candidates:
        """Return every row of ``Y`` as a candidate."""
        return Candidates(Y, np.arange(n_points(Y)), n_points(Y))

    def take(self, which: np.ndarray) -> Candidates:
        """Return the candidates at the positions ``which``; ``n_rows`` is unchanged."""
        return Candidates(self.points[which], self.indices[which], self.n_rows)

    def merge(self, later: Candidates) -> Candidates:
        """Concatenate with the candidates of the rows that follow."""
        return Candidates(
            stack_rows(self.points, later.points),
            np.concatenate([self.indices, later.indices + self.n_rows]),
            self.n_rows + later.n_rows,
        )


def select_candidates(
    candidates: Candidates,
    size: int,
    distance: HalfSquaredDistance,
    method: Literal["maxmin", "greedy"] = "maxmin",
) -> Candidates:
    """Select at most ``size`` distinct candidates, beginning with the first one.

    ``method="maxmin"`` takes the candidate farthest from those already selected; ``"greedy"`` takes the one
    with the largest residual (:func:`eigenscape.dictionary.landmarks.greedy_pivots`).

    With "maxmin", every row of a part is within ``2 r`` of a selected one, where ``r`` is the smallest radius
    of ``size`` balls that cover all rows (Gonzalez 1985). Each further selection among selected rows adds
    ``2 r``: after ``h`` rounds every row is within ``2 h r``.
    """
    candidates = candidates.take(np.sort(distinct_rows(candidates.points)[0]))
    n = n_points(candidates.points)
    if n <= 1:
        return candidates
    bound = distance.bind(candidates.points)
    select = farthest_first if method == "maxmin" else greedy_pivots
    return candidates.take(select(squared_distance_rows(bound), n, min(size, n), 0))
