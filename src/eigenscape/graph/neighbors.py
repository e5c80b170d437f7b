"""Neighbour search: one interface, four engines, the same for training points and new ones.

* :class:`TreeIndex`: scipy's k-d tree, exact, for dense rows of at most 16 features and Minkowski metrics.
* :class:`BlockIndex`: blocks of the distance matrix, exact, for everything else. Euclidean blocks come from a matrix product
  in single precision and are measured exactly where it matters, so that the answer does not depend on how the work was cut.
* :class:`~eigenscape.graph.approximate.ApproximateIndex`: instead of blocks, for more than 30 000 dense rows under a Euclidean or
  cosine metric, unless ``neighbors="exact"`` is asked for. Its recall is measured and reported.
* :class:`TableIndex`: distances the user computed, dense or sparse.

Ties are broken by row number. A search never looks at the other queries, so neither does its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import joblib
import numpy as np
from scipy import sparse
from scipy.spatial import KDTree, minkowski_distance
from sklearn.metrics import pairwise_distances
from threadpoolctl import threadpool_limits

from eigenscape._memory import row_blocks
from eigenscape.graph.rows import SHORTEST, RowIndex, TableRows, with_self, without_self, zeros_kept

#: Above this many features a k-d tree visits most of its leaves, and blocks are faster.
TREE_FEATURES = 16
#: Above this many points ``"auto"`` searches high-dimensional rows approximately: blocks take time n^2.
EXACT_POINTS = 30_000
APPROXIMATE_METRICS = ("euclidean", "l2", "cosine")

_MINKOWSKI = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "l1": 1.0, "cityblock": 1.0, "chebyshev": np.inf}


class NeighborIndex(Protocol):
    """Searches ``n_points`` indexed points, of whose true neighbours it finds the share ``recall``."""

    n_points: int
    recall: float
    trusted: bool  # whether its distances are known to be symmetric

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances and numbers of the ``k`` nearest indexed points, nearest first: two arrays (n_new, k)."""
        ...

    def chosen(self, Y: Any, k: int) -> sparse.csr_array:
        """The same as a sparse matrix (n_new, n_points); a sparse table of distances may hold fewer than ``k``."""
        ...

    def chosen_by_all(self, k: int) -> sparse.csr_array:
        """The ``k`` nearest *others* of every indexed point, as a sparse matrix."""
        ...

    def within(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        """Distances (n_new, n_points) where they do not exceed the indexed point's own radius."""
        ...

    def reach(self, radii: np.ndarray) -> Callable[[Any], sparse.csr_array]:
        """``within`` for these radii, prepared to be called often."""
        ...

    def vertices(self) -> RowIndex | TableRows:
        """Recognises the indexed points among queries."""
        ...

    def points(self, which: np.ndarray) -> Any:
        """The indexed points ``which`` in the form that queries have."""
        ...

    def subset(self, which: np.ndarray) -> NeighborIndex:
        """An index of the points ``which`` alone."""
        ...

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        """Queries for this index rewritten for ``subset(which)``."""
        ...


def neighbor_index(
    X: Any,
    metric: str | Callable = "euclidean",
    metric_params: dict | None = None,
    n_jobs: int | None = None,
    neighbors: str = "auto",
) -> NeighborIndex:
    """The engine that suits the data (see the module's head for the rule)."""
    if metric == "precomputed":
        return TableIndex(X)
    params = settled_params(metric, metric_params, X)
    power = None if params else _MINKOWSKI.get(str(metric))
    if metric == "minkowski" and set(params) <= {"p"}:
        power = float(params.get("p", 2.0))
    few_features = power is not None and power >= 1 and not sparse.issparse(X) and X.shape[1] <= TREE_FEATURES
    able = metric in APPROXIMATE_METRICS and not params and not sparse.issparse(X)
    if neighbors == "approximate" and not able:
        raise ValueError(
            f"neighbors='approximate' knows dense rows and the metrics {', '.join(APPROXIMATE_METRICS)}, got metric={metric!r}"
        )
    if neighbors == "approximate" or (neighbors == "auto" and able and not few_features and X.shape[0] > EXACT_POINTS):
        from eigenscape.graph.approximate import ApproximateIndex

        return ApproximateIndex(X, str(metric), n_jobs)
    return TreeIndex(X, power, n_jobs) if few_features and power is not None else BlockIndex(X, metric, params, n_jobs)


def settled_params(metric: str | Callable, metric_params: Mapping[str, Any] | None, X: Any) -> dict[str, Any]:
    """The metric's arguments, those that describe the data taken from ``X`` where they are left open."""
    params = dict(metric_params or {})
    if metric == "seuclidean" and "V" not in params:
        params["V"] = np.var(X, axis=0, ddof=1)
    if metric == "mahalanobis" and not {"V", "VI"} & set(params):
        params["VI"] = np.linalg.pinv(np.atleast_2d(np.cov(X, rowvar=False)))
    return params


def metric_distances(Y: Any, X: Any, metric: str | Callable, params: Mapping[str, Any]) -> np.ndarray:
    """scikit-learn's distances, with an error that names the argument."""
    try:
        return np.asarray(pairwise_distances(Y, X, metric=metric, **params), dtype=np.float64)
    except TypeError as error:
        if sparse.issparse(X):
            raise TypeError(f"metric={metric!r} does not take sparse rows ({error}); pass them dense or use another metric") from error
        raise


class TreeIndex:
    """k-d tree over dense rows."""

    recall = 1.0
    trusted = True

    def __init__(self, X: np.ndarray, power: float, n_jobs: int | None) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.power, self.n_jobs = power, n_jobs
        self.n_points = len(self.X)
        self._tree = KDTree(self.X)

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        Y = np.asarray(Y, dtype=np.float64)
        workers = joblib.effective_n_jobs(self.n_jobs)
        more = min(k + 1, self.n_points)  # one more, to see whether the last one ties with the next
        length, number = self._tree.query(Y, k=[*range(1, more + 1)], p=self.power, workers=workers)
        if np.any(length[:, 1:] == length[:, :-1]):
            order = np.lexsort((number, length), axis=1)
            length, number = np.take_along_axis(length, order, axis=1), np.take_along_axis(number, order, axis=1)
            tied = np.flatnonzero(length[:, -1] == length[:, k - 1]) if more > k else np.empty(0, dtype=np.intp)
            for row, near in zip(tied, self._tree.query_ball_point(Y[tied], length[tied, k - 1] * (1 + 1e-12), p=self.power), strict=True):
                near = np.sort(near)
                far = minkowski_distance(self.X[near], Y[row], self.power)
                best = np.argsort(far, kind="stable")[:k]
                length[row, :k], number[row, :k] = far[best], near[best]
        return length[:, :k], number[:, :k]

    def chosen(self, Y: Any, k: int) -> sparse.csr_array:
        return neighbor_table(*self.nearest(Y, k), self.n_points)

    def chosen_by_all(self, k: int) -> sparse.csr_array:
        return others_table(*self.nearest(self.X, k + 1))

    def within(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        return self.reach(radii)(Y)

    def reach(self, radii: np.ndarray) -> TreeReach:
        return TreeReach(self.X, radii, self.power)

    def vertices(self) -> RowIndex:
        return RowIndex(self.X)

    def points(self, which: np.ndarray) -> np.ndarray:
        return self.X[which]

    def subset(self, which: np.ndarray) -> TreeIndex:
        return TreeIndex(self.X[which], self.power, self.n_jobs)

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        return Y


class TreeReach:
    """Which indexed points have a query within their own radius.

    Points of like radius share a tree, so that one far outlier does not widen everybody's search.
    """

    def __init__(self, X: np.ndarray, radii: np.ndarray, power: float) -> None:
        self.X, self.radii, self.power = X, radii, power

    @cached_property
    def _levels(self) -> list[tuple[np.ndarray, KDTree]]:
        """Points whose radii lie within a factor of two, and their tree; made when the first new point comes."""
        smallest = self.radii[self.radii > 0].min(initial=np.inf)
        size = np.maximum(self.radii, smallest) / smallest if np.isfinite(smallest) else np.ones(len(self.radii))
        level = np.floor(np.log2(size))
        members = [np.flatnonzero(level == one) for one in np.unique(level)]
        return [(some, KDTree(self.X[some])) for some in members]

    def __call__(self, Y: Any) -> sparse.csr_array:
        queries = KDTree(np.asarray(Y, dtype=np.float64))
        parts = []
        for members, tree in self._levels:
            radii = self.radii[members]
            pair = queries.sparse_distance_matrix(tree, radii.max() * (1 + 1e-12), p=self.power, output_type="ndarray")
            keep = pair["v"] <= radii[pair["j"]]
            parts.append((pair["i"][keep], members[pair["j"][keep]], pair["v"][keep]))
        row, column, length = (np.concatenate(part) for part in zip(*parts, strict=True))
        return distance_table(row, column, length, (len(Y), len(self.radii)))


@dataclass(frozen=True, eq=False)
class PlainReach:
    """The same by a search of the index."""

    index: BlockIndex | TableIndex
    radii: np.ndarray

    def __call__(self, Y: Any) -> sparse.csr_array:
        return self.index.within(Y, self.radii)


class BlockIndex:
    """Blocks of the distance matrix, any metric, dense or sparse rows."""

    recall = 1.0

    def __init__(self, X: Any, metric: str | Callable, params: dict, n_jobs: int | None) -> None:
        self.metric, self.params, self.n_jobs = metric, params, n_jobs
        self.trusted = isinstance(metric, str)
        self.X = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
        self.n_points = self.X.shape[0]
        self._euclidean = metric in ("euclidean", "l2") and not params
        # A product of far-away vectors loses the digits of their difference: work around the mean.
        self._origin = 0.0 if sparse.issparse(X) else self.X.mean(axis=0)
        centred = self.X if sparse.issparse(X) else self.X - self._origin
        self._norms = _squared_norms(centred)
        # Single precision is enough to say who may be near, and twice as fast; not for numbers beyond its range.
        self._precision = np.float64 if sparse.issparse(X) or not 1e-30 < self._norms.max() < 1e30 else np.float32
        self._centred = centred.astype(self._precision)

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        length, number = np.empty((Y.shape[0], k)), np.empty((Y.shape[0], k), dtype=np.intp)
        search = self._search_sparse if self._euclidean and sparse.issparse(self.X) else self._search_dense

        def one(block: slice) -> None:
            search(Y[block], k, length[block], number[block])

        self._map(one, Y)
        return length, number

    def _search_dense(self, Y: Any, k: int, length: np.ndarray, number: np.ndarray) -> None:
        from eigenscape._compiled.select import nearest_exact, nearest_given

        rough, slack = self._rough(Y)
        if self._euclidean:
            nearest_exact(np.ascontiguousarray(Y, dtype=np.float64), self.X, rough, slack, k, length, number)
        else:
            nearest_given(rough, k, length, number)

    def _search_sparse(self, Y: Any, k: int, length: np.ndarray, number: np.ndarray) -> None:
        rough, slack = self._rough(Y)
        kth = np.partition(rough, k - 1, axis=1)[:, k - 1]
        row, column = np.nonzero(rough <= (kth + 2 * slack)[:, None])
        exact = self._exact(Y, rough, row, column)
        order = np.lexsort((column, exact, row))
        pick = order[np.searchsorted(row[order], np.arange(rough.shape[0]))[:, None] + np.arange(k)]
        length[:], number[:] = exact[pick], column[pick]

    def chosen(self, Y: Any, k: int) -> sparse.csr_array:
        return neighbor_table(*self.nearest(Y, k), self.n_points)

    def chosen_by_all(self, k: int) -> sparse.csr_array:
        return others_table(*self.nearest(self.X, k + 1))

    def within(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        reach = radii**2 if self._euclidean else radii

        def search(block: slice) -> sparse.csr_array:
            rough, slack = self._rough(Y[block])
            row, column = np.nonzero(rough <= reach + slack[:, None])
            length = self._exact(Y[block], rough, row, column)
            keep = length <= radii[column]
            return distance_table(row[keep], column[keep], length[keep], rough.shape)

        return sparse.csr_array(sparse.vstack(self._map(search, Y), format="csr"))

    def reach(self, radii: np.ndarray) -> PlainReach:
        return PlainReach(self, radii)

    def _map(self, search: Callable, Y: Any) -> list:
        blocks = [*row_blocks(Y.shape[0], 24 * self.n_points)]
        if joblib.effective_n_jobs(self.n_jobs) == 1 or len(blocks) == 1:
            return [search(block) for block in blocks]
        with threadpool_limits(1, user_api="blas"):  # one product a thread, not several that wait for each other
            return joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")(joblib.delayed(search)(b) for b in blocks)

    def _rough(self, Y: Any) -> tuple[np.ndarray, np.ndarray]:
        """A block of distances (squared if Euclidean) and, for each row, how far they may be off."""
        if not self._euclidean:
            exact = metric_distances(Y, self.X, self.metric, self.params)
            if not np.isfinite(exact).all():
                raise ValueError(f"metric={self.metric!r} gives distances that are not finite numbers; check the metric and the data")
            return np.maximum(exact, 0.0), np.zeros(exact.shape[0])
        Y = Y if sparse.issparse(Y) else np.asarray(Y, dtype=np.float64) - self._origin
        norms = _squared_norms(Y)
        product = Y.astype(self._precision) @ self._centred.T
        rough = np.asarray(product.todense()) if sparse.issparse(product) else product
        rough *= -2
        rough += norms[:, None].astype(self._precision)
        rough += self._norms.astype(self._precision)
        slack = 8 * np.finfo(self._precision).eps * self.X.shape[1] ** 0.5 * (norms + self._norms.max())
        return rough, slack

    def _exact(self, Y: Any, rough: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        if not self._euclidean:
            return rough[row, column]
        squared = np.empty(len(row))
        for block in row_blocks(len(row), 16 * self.X.shape[1]):
            squared[block] = _squared_norms(_float64(Y[row[block]]) - self.X[column[block]])
        return np.sqrt(squared)

    def vertices(self) -> RowIndex:
        return RowIndex(self.X)

    def points(self, which: np.ndarray) -> Any:
        return self.X[which]

    def subset(self, which: np.ndarray) -> BlockIndex:
        return BlockIndex(self.X[which], self.metric, self.params, self.n_jobs)

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        return Y


class TableIndex:
    """Distances given by the user; a query is its row of distances to the indexed points."""

    recall = 1.0
    trusted = False

    def __init__(self, table: Any) -> None:
        self.table = with_self(table) if sparse.issparse(table) else np.asarray(table, dtype=np.float64)
        self.n_points = self.table.shape[0]

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        if not sparse.issparse(Y):
            number = np.argsort(Y, axis=1, kind="stable")[:, :k]
            return np.take_along_axis(Y, number, axis=1), number
        Y = zeros_kept(Y)
        counts = np.diff(Y.indptr)
        if counts.min() < k:
            poorest = int(np.argmin(counts))
            raise ValueError(
                f"the precomputed graph holds {counts[poorest]} neighbours in row {poorest}, but {k} are needed; lower n_neighbors"
                " or store more distances a row"
            )
        row = np.repeat(np.arange(Y.shape[0]), counts)
        order = np.lexsort((Y.indices, Y.data, row))
        pick = Y.indptr[:-1, None] + np.arange(k)
        return Y.data[order][pick], Y.indices[order][pick].astype(np.intp)

    def chosen(self, Y: Any, k: int) -> sparse.csr_array:
        if not sparse.issparse(Y):
            return neighbor_table(*self.nearest(Y, k), self.n_points)
        Y = zeros_kept(Y)
        row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        order = np.lexsort((Y.indices, Y.data, row))
        first = order[np.arange(len(order)) - Y.indptr[row] < k]  # row by row, nearest first
        return distance_table(row[first], Y.indices[first], Y.data[first], Y.shape)

    def chosen_by_all(self, k: int) -> sparse.csr_array:
        if sparse.issparse(self.table):  # every point lists itself, and may list fewer others than k
            return without_self(self.chosen(self.table, k + 1))
        return others_table(*self.nearest(self.table, k + 1))

    def within(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        if sparse.issparse(Y):
            Y = sparse.coo_array(zeros_kept(Y))
            row, column, length = Y.row, Y.col, Y.data
        else:
            row, column = np.nonzero(radii >= Y)
            length = Y[row, column]
        keep = length <= radii[column]
        return distance_table(row[keep], column[keep], length[keep], Y.shape)

    def reach(self, radii: np.ndarray) -> PlainReach:
        return PlainReach(self, radii)

    def vertices(self) -> RowIndex | TableRows:
        return TableRows(self.table) if sparse.issparse(self.table) else RowIndex(self.table)

    def points(self, which: np.ndarray) -> Any:
        return self.table[which]

    def subset(self, which: np.ndarray) -> TableIndex:
        return TableIndex(self.table[which][:, which])

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        return Y[:, which]


def neighbor_table(length: np.ndarray, column: np.ndarray, n_points: int) -> sparse.csr_array:
    """Lists of neighbours (n, k) as a sparse matrix (n, n_points)."""
    n, k = length.shape
    order = np.argsort(column, axis=1)
    length, column = np.take_along_axis(length, order, axis=1), np.take_along_axis(column, order, axis=1)
    numbers = column.astype(np.int32 if n * k < 2**31 else np.int64).ravel()
    return sparse.csr_array((np.maximum(length.ravel(), SHORTEST), numbers, np.arange(0, n * k + 1, k)), shape=(n, n_points))


def others_table(length: np.ndarray, column: np.ndarray) -> sparse.csr_array:
    """Lists (n, k + 1) in which every point looked for its neighbours, as a table of the ``k`` others.

    A point need not come first in its own list where distances tie; if it is not there at all, the farthest is dropped.
    """
    n, k = length.shape[0], length.shape[1] - 1
    other = column != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False
    return neighbor_table(length[other].reshape(n, k), column[other].reshape(n, k), n)


def distance_table(row: np.ndarray, column: np.ndarray, length: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """A sparse matrix of distances in which a distance of 0 is still an entry."""
    table = sparse.csr_array((np.maximum(length.astype(np.float64), SHORTEST), (row, column)), shape=shape)
    table.sort_indices()
    return table


def _float64(rows: Any) -> Any:
    return rows.astype(np.float64) if rows.dtype != np.float64 else rows


def _squared_norms(X: Any) -> np.ndarray:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)
