"""Exact neighbour search by a k-d tree."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree

from eigenscape._memory import row_blocks
from eigenscape._threads import n_threads
from eigenscape._typing import Rows
from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.search import RowSearch
from eigenscape.graph.sparse_distances import distance_table
from eigenscape.graph.tuning import TUNING


class RadiusLevel(NamedTuple):
    """Points whose radii lie within a factor of two, so that one large radius does not widen every search."""

    members: np.ndarray  # (n,) numbers of the points
    radii: np.ndarray  # (n,)
    tree: KDTree


class TreeIndex(RowSearch):
    """k-d tree over dense rows, for the Minkowski metric of exponent ``power``."""

    X: np.ndarray

    def __init__(self, X: np.ndarray, power: float, n_jobs: int | None) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.power, self.n_jobs = power, n_jobs
        self.n_points = len(self.X)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_tree", "_few")}

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self.X)  # fast to build, and identical in a loaded model

    @cached_property
    def _few(self) -> BlockIndex | None:
        """Blocks of the same points if these are few: one query takes less time than in a tree."""
        return self._as_blocks() if self.power == 2 and self.n_points <= TUNING.few_points else None

    def _as_blocks(self) -> BlockIndex:
        return BlockIndex(self.X, "euclidean", {}, self.n_jobs)

    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        Y = np.asarray(Y, dtype=np.float64)
        more = min(k + 1, self.n_points)  # one more, to detect a tie of the last neighbour with the next
        length, index = self._search(Y, more)
        tied = np.flatnonzero((length[:, 1:] == length[:, :-1]).any(axis=1))
        if len(tied):
            length[tied], index[tied] = self._sorted(length[tied], index[tied])
            last = tied[length[tied, -1] == length[tied, k - 1]] if more > k else tied[:0]
            length[last, :k], index[last, :k] = self._with_all_tied(Y[last], k)
        return length[:, :k], index[:, :k]

    def closest_pairs(self, Y: Rows) -> tuple[np.ndarray, np.ndarray, float]:
        """Search only within the distance of a pair that is close already.

        The pair is found by replacing its ends in turn by the point nearest to the other end. Without a bound
        a query far away from all points visits most leaves of the tree.
        """
        Y = np.asarray(Y, dtype=np.float64)
        bound, row = np.inf, 0
        while True:
            found, index = self._tree.query(Y[row], p=self.power)
            if found >= bound:
                break
            bound = float(found)
            row = int(np.argmin(np.linalg.norm(Y - self.X[index], ord=self.power, axis=1)))
        above = bound * (1 + 1e-12) + np.finfo(float).tiny  # the tree compares powers of distances
        length, _ = self._tree.query(
            Y, p=self.power, distance_upper_bound=above, workers=n_threads(self.n_jobs)
        )
        close = np.flatnonzero(length <= above)
        winners, index, shortest = super().closest_pairs(Y[close])
        return close[winners], index, shortest

    def _search(self, Y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices (n_new, k) of the nearest points; ties are in any order.

        Queries are searched in the order of the leaves of a tree: one after the other visits the same
        leaves, which are then in the processor's cache.
        """
        ranks, workers = [*range(1, k + 1)], n_threads(self.n_jobs)
        order = _leaf_order(Y) if len(Y) >= TUNING.unordered_queries else np.arange(len(Y))
        length, index = np.empty((len(Y), k)), np.empty((len(Y), k), dtype=np.intp)
        for rows in row_blocks(len(Y), 1, TUNING.tree_queries):
            some = order[rows]
            length[some], index[some] = self._tree.query(Y[some], k=ranks, p=self.power, workers=workers)
        return length, index

    def _with_all_tied(self, Y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ``k`` nearest points of queries whose k-th distance ties with the next, lowest ranks.

        The lists are lengthened until they contain all points at the k-th distance.
        """
        length, index = np.empty((len(Y), k)), np.empty((len(Y), k), dtype=np.intp)
        pending, size = np.arange(len(Y)), k + 1
        while len(pending):
            size = min(2 * size, self.n_points)
            complete = np.zeros(len(pending), dtype=bool)
            for rows in row_blocks(len(pending), 64 * size):
                far, near = self._search(Y[pending[rows]], size)
                enough = (far[:, -1] > far[:, k - 1] * (1 + 1e-12)) | (size == self.n_points)
                done = pending[rows][enough]
                far, near = self._sorted(far[enough], near[enough])
                length[done], index[done] = far[:, :k], near[:, :k]
                complete[rows] = enough
            pending = pending[~complete]
        return length, index

    def _sorted(self, length: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sort lists by distance and then by the ranks of the rows."""
        order = np.lexsort((self.ranks[index], length), axis=1)
        return np.take_along_axis(length, order, axis=1), np.take_along_axis(index, order, axis=1)

    def prepare(self, radii: np.ndarray) -> list[RadiusLevel]:
        positive = radii[radii > 0]
        smallest = positive.min() if len(positive) else 1.0
        level = np.floor(np.log2(np.maximum(radii, smallest) / smallest))
        members = [np.flatnonzero(level == one) for one in np.unique(level)]
        return [RadiusLevel(some, radii[some], KDTree(self.X[some])) for some in members]

    def search_radius(self, Y: Rows, reach: list[RadiusLevel]) -> sparse.csr_array:
        queries = KDTree(np.asarray(Y, dtype=np.float64))
        parts = []
        for members, radii, tree in reach:
            pair = queries.sparse_distance_matrix(
                tree, radii.max() * (1 + 1e-12), p=self.power, output_type="ndarray"
            )
            keep = pair["v"] <= radii[pair["j"]]
            parts.append((pair["i"][keep], members[pair["j"][keep]], pair["v"][keep]))
        row, column, length = (np.concatenate(part) for part in zip(*parts, strict=True))
        return distance_table(row, column, length, (Y.shape[0], self.n_points))

    def search_edges(self, Y: Rows, k: int, reach: list[RadiusLevel]) -> sparse.csr_array:
        if self._few is None:
            return super().search_edges(Y, k, reach)
        radii = np.empty(self.n_points)
        for members, lengths, _ in reach:
            radii[members] = lengths
        return self._few.search_edges(Y, k, radii)

    def in_blocks(self) -> TreeIndex | BlockIndex:
        """Return an index of the same points whose search for pairs of groups far apart is the fastest.

        A query far away visits the more leaves, the more features there are.
        """
        visited = TUNING.far_distances * 2.0 ** self.X.shape[1]
        if self.power == 2 and self.n_points < visited:
            return self._as_blocks()
        return self

    def subset(self, which: np.ndarray) -> TreeIndex:
        return self.over(self.X[which])

    def over(self, Z: Rows) -> TreeIndex:
        return TreeIndex(np.asarray(Z), self.power, self.n_jobs)


def visited_leaves(X: np.ndarray) -> float:
    """Estimate how many leaves of a k-d tree a search for a few neighbours visits.

    The number is counted in two samples of the rows and extrapolated as a power of their size. It grows
    slowly where the rows fill few dimensions, however many features they have, and in proportion to the size
    where every search visits the whole tree, or the whole cluster.
    """
    size = TUNING.sampled_rows
    few, many = (
        _leaves_within(np.asarray(X[np.linspace(0, len(X) - 1, rows).astype(np.intp)], dtype=np.float64))
        for rows in (size // 4, size)
    )
    growth = np.clip(np.log(many / few) / np.log(4), 0, 1)
    return many * (len(X) / size) ** growth


def _leaves_within(X: np.ndarray) -> float:
    """Return the mean number of leaves, of 16 rows each, within the distance of the twelfth neighbour."""
    X = X[_leaf_order(X)]
    starts = np.arange(0, len(X), 16)
    low, high = np.minimum.reduceat(X, starts), np.maximum.reduceat(X, starts)
    queries = X[:: len(X) // 32]
    radius = KDTree(X).query(queries, k=[12])[0]
    outside = np.maximum(low - queries[:, None], 0) + np.maximum(queries[:, None] - high, 0)
    return float((np.linalg.norm(outside, axis=2) <= radius).sum(axis=1).mean())


def _leaf_order(Y: np.ndarray) -> np.ndarray:
    """Return an order of the rows in which neighbours are close to each other."""
    return KDTree(Y, balanced_tree=False, compact_nodes=False).indices
