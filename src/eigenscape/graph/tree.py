"""Exact search by a k-d tree."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from scipy.spatial import KDTree, minkowski_distance

from eigenscape.graph.row_index import RowIndex
from eigenscape.graph.sparse_distances import distance_table, neighbor_table, other_neighbors_table


class TreeIndex:
    """k-d tree over dense rows."""

    recall = 1.0
    known_symmetric = True

    def __init__(self, X: np.ndarray, power: float, n_jobs: int | None) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.power, self.n_jobs = power, n_jobs
        self.n_points = len(self.X)
        self._tree = KDTree(self.X)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_tree"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tree = KDTree(self.X)  # quickly made again, and the same

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        Y = np.asarray(Y, dtype=np.float64)
        workers = joblib.effective_n_jobs(self.n_jobs)
        more = min(k + 1, self.n_points)  # one more, to see whether the last one ties with the next
        length, number = self._tree.query(Y, k=[*range(1, more + 1)], p=self.power, workers=workers)
        if np.any(length[:, 1:] == length[:, :-1]):
            order = np.lexsort((number, length), axis=1)
            length, number = (
                np.take_along_axis(length, order, axis=1),
                np.take_along_axis(number, order, axis=1),
            )
            tied = (
                np.flatnonzero(length[:, -1] == length[:, k - 1]) if more > k else np.empty(0, dtype=np.intp)
            )
            for row, near in zip(
                tied,
                self._tree.query_ball_point(Y[tied], length[tied, k - 1] * (1 + 1e-12), p=self.power),
                strict=True,
            ):
                near = np.sort(near)
                far = minkowski_distance(self.X[near], Y[row], self.power)
                best = np.argsort(far, kind="stable")[:k]
                length[row, :k], number[row, :k] = far[best], near[best]
        return length[:, :k], number[:, :k]

    def nearest_graph(self, Y: Any, k: int) -> sparse.csr_array:
        return neighbor_table(*self.nearest(Y, k), self.n_points)

    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        return other_neighbors_table(*self.nearest(self.X, k + 1))

    def radius_graph(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        return self.radius_query(radii)(Y)

    def radius_query(self, radii: np.ndarray) -> TreeRadiusQuery:
        return TreeRadiusQuery(self.X, radii, self.power)

    def vertices(self) -> RowIndex:
        return RowIndex(self.X)

    def points(self, which: np.ndarray) -> np.ndarray:
        return self.X[which]

    def subset(self, which: np.ndarray) -> TreeIndex:
        return TreeIndex(self.X[which], self.power, self.n_jobs)

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        return Y


class TreeRadiusQuery:
    """Which indexed points have a query within their own radius.

    Points of like radius share a tree, so that one far outlier does not widen everybody's search.
    """

    def __init__(self, X: np.ndarray, radii: np.ndarray, power: float) -> None:
        self.X, self.radii, self.power = X, radii, power

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "radii": self.radii, "power": self.power}

    @cached_property
    def _levels(self) -> list[tuple[np.ndarray, KDTree]]:
        """Points whose radii lie within a factor of two, and their tree; made when the first new point
        comes."""
        smallest = self.radii[self.radii > 0].min(initial=np.inf)
        size = (
            np.maximum(self.radii, smallest) / smallest if np.isfinite(smallest) else np.ones(len(self.radii))
        )
        level = np.floor(np.log2(size))
        members = [np.flatnonzero(level == one) for one in np.unique(level)]
        return [(some, KDTree(self.X[some])) for some in members]

    def __call__(self, Y: Any) -> sparse.csr_array:
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
        return distance_table(row, column, length, (len(Y), len(self.radii)))
