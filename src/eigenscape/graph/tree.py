"""Exact neighbour search by a k-d tree."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree, minkowski_distance

from eigenscape._threads import n_threads
from eigenscape._typing import Rows
from eigenscape.graph.search import RowSearch
from eigenscape.graph.sparse_distances import distance_table


class TreeIndex(RowSearch):
    """k-d tree over dense rows, for the Minkowski metric of exponent ``power``."""

    X: np.ndarray

    def __init__(self, X: np.ndarray, power: float, n_jobs: int | None) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.power, self.n_jobs = power, n_jobs
        self.n_points = len(self.X)
        self._tree = KDTree(self.X)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_tree"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tree = KDTree(self.X)  # fast to build, and identical

    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        Y = np.asarray(Y, dtype=np.float64)
        workers = n_threads(self.n_jobs)
        more = min(k + 1, self.n_points)  # one more, to detect a tie of the last neighbour with the next
        found = self._tree.query(Y, k=[*range(1, more + 1)], p=self.power, workers=workers)
        length, index = np.asarray(found[0]), np.asarray(found[1])
        if np.any(length[:, 1:] == length[:, :-1]):
            order = np.lexsort((index, length), axis=1)
            length, index = (
                np.take_along_axis(length, order, axis=1),
                np.take_along_axis(index, order, axis=1),
            )
            if more > k:
                self._break_ties(Y, k, length, index)
        return length[:, :k], index[:, :k]

    def _break_ties(self, Y: np.ndarray, k: int, length: np.ndarray, index: np.ndarray) -> None:
        """Replace the lists whose last neighbour ties with the next, so that the lowest indices are kept."""
        tied = np.flatnonzero(length[:, -1] == length[:, k - 1])
        balls = self._tree.query_ball_point(Y[tied], length[tied, k - 1] * (1 + 1e-12), p=self.power)
        for row, ball in zip(tied, balls, strict=True):
            near = np.sort(ball)
            far = minkowski_distance(self.X[near], Y[row], self.power)
            best = np.argsort(far, kind="stable")[:k]
            length[row, :k], index[row, :k] = far[best], near[best]

    def radius_query(self, radii: np.ndarray) -> TreeRadiusQuery:
        return TreeRadiusQuery(self.X, radii, self.power)

    def subset(self, which: np.ndarray) -> TreeIndex:
        return self.over(self.X[which])

    def over(self, Z: Rows) -> TreeIndex:
        return TreeIndex(np.asarray(Z), self.power, self.n_jobs)


class TreeRadiusQuery:
    """Search for the indexed points that have a query within their own radius.

    Points of similar radius share a tree, so that one outlier of large radius does not widen every search.
    """

    def __init__(self, X: np.ndarray, radii: np.ndarray, power: float) -> None:
        self.X, self.radii, self.power = X, radii, power

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "radii": self.radii, "power": self.power}

    @cached_property
    def _levels(self) -> list[tuple[np.ndarray, KDTree]]:
        """Points whose radii lie within a factor of two, with their tree; built by the first query."""
        smallest = self.radii[self.radii > 0].min(initial=np.inf)
        size = np.ones(len(self.radii))
        if np.isfinite(smallest):
            size = np.maximum(self.radii, smallest) / smallest
        level = np.floor(np.log2(size))
        members = [np.flatnonzero(level == one) for one in np.unique(level)]
        return [(some, KDTree(self.X[some])) for some in members]

    def __call__(self, Y: Rows) -> sparse.csr_array:
        queries = KDTree(np.asarray(Y, dtype=np.float64))
        parts = []
        for members, tree in self._levels:
            radii = self.radii[members]
            pair = queries.sparse_distance_matrix(
                tree, radii.max() * (1 + 1e-12), p=self.power, output_type="ndarray"
            )
            keep = pair["v"] <= radii[pair["j"]]
            parts.append((pair["i"][keep], members[pair["j"][keep]], pair["v"][keep]))
        row, column, length = (np.concatenate(part) for part in zip(*parts, strict=True))
        return distance_table(row, column, length, (Y.shape[0], len(self.radii)))
