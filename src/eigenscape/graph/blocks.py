"""Exact neighbour search by blocks of the distance matrix, for any metric."""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from eigenscape._memory import row_blocks
from eigenscape._native.loops import (
    closest_between_groups,
    closest_to_groups,
    nearest_exact,
    nearest_or_within,
    smallest_values_in_rows,
)
from eigenscape._progress import stage
from eigenscape._threads import parallel_map
from eigenscape._typing import Rows, is_sparse
from eigenscape.graph.bounds import DistanceBounds, squared_norms
from eigenscape.graph.search import RowSearch
from eigenscape.graph.sparse_distances import distance_table, table_of_rows

T = TypeVar("T")
#: Computes the bounds between a slice of the queries and all points.
Bound = Callable[[DistanceBounds, slice], tuple[np.ndarray, ...]]
#: The name of a metric of scikit-learn, or a function of two rows.
Metric = str | Callable[..., float]


def resolve_metric_params(metric: Metric, metric_params: Mapping[str, Any] | None, X: Rows) -> dict[str, Any]:
    """Return the arguments of the metric; missing ones that describe the data are estimated from ``X``."""
    params = dict(metric_params or {})
    rows: Any = X
    if is_sparse(X) and metric in ("seuclidean", "mahalanobis"):
        raise TypeError(
            f"metric={metric!r} does not support sparse input; pass dense data or use another metric"
        )
    if params:
        from eigenscape.options import check_metric_params  # the classes of options take 12 ms to import

        check_metric_params(metric, params, X.shape[1] if X.ndim == 2 else None)
    if metric == "seuclidean" and "V" not in params:
        params["V"] = np.var(rows, axis=0, ddof=1)
    if metric == "mahalanobis" and not {"V", "VI"} & set(params):
        params["VI"] = np.linalg.pinv(np.atleast_2d(np.cov(rows, rowvar=False)))
    return params


def metric_distances(Y: Rows, X: Rows | None, metric: Metric, params: Mapping[str, Any]) -> np.ndarray:
    """Compute scikit-learn's pairwise distances, among ``Y`` if ``X`` is None; errors name the metric."""
    from sklearn.metrics import pairwise_distances

    if metric == "cosine":
        Y, X = of_unit_magnitude(Y), None if X is None else of_unit_magnitude(X)
    try:
        distances = np.asarray(pairwise_distances(Y, X, metric=metric, **params), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if callable(metric):
            _check_function(metric, Y, params, error)
        if "The 'metric' parameter" in str(error):
            raise ValueError(
                f"metric={metric!r} is not known; use one of scikit-learn's pairwise_distances, such as"
                " 'euclidean', 'manhattan' or 'cosine', or a function of two rows"
            ) from None
        if params and isinstance(metric, str) and _has_metric(metric, Y):
            given, reason = reprlib.repr(dict(params)), str(error).partition("\n")[0]
            raise ValueError(
                f"metric_params={given} cannot be used with metric={metric!r} ({reason}); pass the arguments"
                " of this metric in scipy.spatial.distance"
            ) from error
        if is_sparse(Y) and isinstance(error, TypeError):
            raise TypeError(
                f"metric={metric!r} does not support sparse input ({error}); pass dense data or use another"
                " metric"
            ) from error
        raise
    if callable(metric) and (distances < 0).any():
        raise ValueError(f"metric={metric!r} returns negative distances; return non-negative finite numbers")
    return distances


def _check_function(
    metric: Callable[..., float], rows: Rows, params: Mapping[str, Any], error: Exception
) -> None:
    """Raise TypeError if a function of two rows does not return a number."""
    found: Any = metric(rows[0], rows[-1], **params)
    if not isinstance(found, numbers.Real):
        raise TypeError(
            f"metric={metric!r} must return a number for two rows, got {reprlib.repr(found)}"
        ) from error


def _has_metric(metric: str, rows: Rows) -> bool:
    """Return whether scikit-learn computes the metric for rows of this kind, without further arguments."""
    from sklearn.metrics import pairwise_distances

    try:
        pairwise_distances(rows[:3], rows[:3], metric=metric)
    except (TypeError, ValueError):
        return metric in ("seuclidean", "mahalanobis") and not is_sparse(rows)  # estimated from more rows
    return True


def of_unit_magnitude(rows: Any) -> Any:
    """Multiply each row by a power of two, so that its largest value is between 1/2 and 1.

    Directions stay exactly the same. scikit-learn would take a row shorter than 1e-15 for zero.
    """
    if is_sparse(rows):
        rows = sparse.csr_array(rows, copy=True)
        largest = abs(rows).max(axis=1).toarray().ravel()
        rows.data = np.ldexp(rows.data, np.repeat(-np.frexp(largest)[1], np.diff(rows.indptr)))
        return rows
    return np.ldexp(rows, -np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1])


class BlockIndex(RowSearch):
    """Blocks of the distance matrix, for any metric and dense or sparse rows."""

    def __init__(self, X: Rows, metric: Metric, params: dict[str, Any], n_jobs: int | None) -> None:
        self.metric, self.params, self.n_jobs = metric, params, n_jobs
        self.known_symmetric = isinstance(metric, str)
        self._euclidean = metric in ("euclidean", "l2") and not params
        # Rows in single precision are stored as they are if their distances are computed in double precision.
        precision = np.float32 if X.dtype == np.float32 and self._euclidean else np.float64
        self.X = (
            sparse.csr_array(X).astype(np.float64)
            if is_sparse(X)
            else np.ascontiguousarray(X, dtype=precision)
        )
        self.n_points = self.X.shape[0]

    @cached_property
    def _bounds(self) -> DistanceBounds | None:
        """Lower bounds of the Euclidean distances of dense rows, which a model file does not contain."""
        dense = self._euclidean and not is_sparse(self.X)
        return DistanceBounds(np.asarray(self.X), self.n_jobs) if dense else None

    @cached_property
    def _norms(self) -> np.ndarray | None:
        return _squared_norms(self.X) if self._euclidean and is_sparse(self.X) else None

    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        return self._nearest(Y, k, lambda bounds, block: bounds(np.asarray(Y[block])))

    def nearest_all(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        if self._bounds is None or not self._bounds.at_once:
            return self._nearest(self.X, k, DistanceBounds.between)
        whole = self._bounds.all_pairs(self.n_jobs)
        return self._nearest(self.X, k, lambda _, block: tuple(part[block] for part in whole))

    def _nearest(self, Y: Rows, k: int, bound: Bound) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices (n_new, k); ``bound`` computes the bounds of a slice of ``Y``."""
        length, index = np.empty((Y.shape[0], k)), np.empty((Y.shape[0], k), dtype=np.intp)
        bounds, ranks, order = self._bounds, self.ranks, self.rows.order

        def one(block: slice) -> None:
            if bounds is not None:
                rows = np.ascontiguousarray(Y[block], dtype=np.float64)
                rough, base, slack = bound(bounds, block)
                nearest_exact(rows, self.X, rough, base, slack, ranks, length[block], index[block])
            elif self._norms is not None:
                self._search_sparse(Y[block], k, length[block], index[block])
            else:
                values = self._metric_block(Y[block]).take(order, axis=1)
                smallest_values_in_rows(values, length[block], index[block])
                index[block] = order[index[block]]

        self._map(one, Y)
        return length, index

    def _search_sparse(self, Y: Rows, k: int, length: np.ndarray, index: np.ndarray) -> None:
        """Fill ``length`` and ``index`` (b, k) for sparse rows."""
        rough, slack = self._approximate_block(Y)
        kth = np.partition(rough, k - 1, axis=1)[:, k - 1]
        row, column = np.nonzero(rough <= (kth + 2 * slack)[:, None])
        exact = self._exact(Y, rough, row, column)
        order = np.lexsort((self.ranks[column], exact, row))
        pick = order[np.searchsorted(row[order], np.arange(rough.shape[0]))[:, None] + np.arange(k)]
        length[:], index[:] = exact[pick], column[pick]

    def search_radius(self, Y: Rows, reach: np.ndarray) -> sparse.csr_array:
        limit = reach**2 if self._euclidean else reach

        def search(block: slice) -> sparse.csr_array:
            rough, slack = self._approximate_block(Y[block])
            row, column = np.nonzero(rough <= limit + slack[:, None])
            length = self._exact(Y[block], rough, row, column)
            keep = length <= reach[column]
            return distance_table(row[keep], column[keep], length[keep], rough.shape)

        return sparse.csr_array(sparse.vstack(self._map(search, Y), format="csr"))

    def search_edges(self, Y: Rows, k: int, reach: np.ndarray) -> sparse.csr_array:
        bounds, ranks = self._bounds, self.ranks
        if bounds is None:
            return super().search_edges(Y, k, reach)

        def search(block: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            rows = np.ascontiguousarray(Y[block], dtype=np.float64)
            rough, indptr = bounds(rows), np.zeros(len(rows) + 1, dtype=np.int64)
            column, near, done = np.empty(8 * len(rows) * k, dtype=np.int64), np.empty(8 * len(rows) * k), 0
            while True:
                pairs = indptr, column, near
                done = nearest_or_within(rows, self.X, *rough, ranks, reach, k, done, *pairs)
                if done == len(rows):
                    return np.diff(indptr), column[: indptr[-1]].copy(), near[: indptr[-1]].copy()
                column, near = np.resize(column, 2 * len(column)), np.resize(near, 2 * len(near))

        parts = zip(*self._map(search, Y), strict=True)
        counts, column, near = (np.concatenate(part) for part in parts)
        return table_of_rows(counts, column, near, self.n_points)

    def prepare(self, radii: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(radii, dtype=np.float64)

    def closest_between(
        self, group: np.ndarray, rows: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find the closest points of each pair of groups.

        Parameters
        ----------
        group : ndarray of shape (n_points,)
            The group of each point, from 0.
        rows : ndarray, optional
            Each pair contains one of these points, in the group with the larger number. All, if None.

        Returns
        -------
        length, near, far : ndarray of shape (n_groups, n_groups)
            Distances and the two points of the closest pairs, below the diagonal; infinity where ``rows``
            has no point of the group.
        """
        count, group = int(group.max()) + 1, group.astype(np.int64)
        rows = np.flatnonzero(group > 0) if rows is None else rows
        length = np.full((count, count), np.inf)
        near, far = np.zeros((count, count), dtype=np.intp), np.zeros((count, count), dtype=np.intp)
        search = self._closest_by_metric if self._bounds is None else self._closest_by_bounds
        for mine, block in search(group, rows):
            better = block[0] < length[mine]
            for array, values in zip((length, near, far), block, strict=True):
                array[mine][better] = values[better]
        pair = np.nonzero(np.isfinite(length))
        length[pair] = self.distances_between(near[pair], far[pair])
        return length, near, far

    def shortest_bridges(self, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the edges of a minimum spanning tree of groups of points: rows, columns and lengths."""
        return spanning_pairs(*self.closest_between(group), self.ranks)

    def _closest_by_bounds(
        self, group: np.ndarray, rows: np.ndarray
    ) -> Iterator[tuple[slice | int, tuple[np.ndarray, ...]]]:
        """Yield numbers of groups, and the closest pairs of some of their rows and each group before them.

        The points are sorted by group, so that those before a group are a block of columns, and then by rank.
        """
        order = np.lexsort((self.ranks, group))
        starts = np.searchsorted(group[order], np.arange(int(group.max()) + 1))
        assert self._bounds is not None
        X, bounds = np.asarray(self.X)[order], self._bounds.subset(order)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        tasks = []
        for mine in range(1, len(starts)):
            members = np.sort(place[rows[group[rows] == mine]])
            tasks += [(mine, members[block]) for block in row_blocks(len(members), 1, bounds.block_rows)]

        def search(task: tuple[int, np.ndarray]) -> tuple[int, tuple[np.ndarray, ...]]:
            mine, members = task
            found = bounds.between(members, slice(0, starts[mine]))
            best = np.full(len(starts), np.inf)
            near, far = np.zeros(len(starts), dtype=np.intp), np.zeros(len(starts), dtype=np.intp)
            before = [array[:mine] for array in (starts, best, near, far)]
            closest_to_groups(X[members].astype(np.float64), X, *found, *before)
            return mine, (best, order[members[near]], order[far])

        yield from parallel_map(search, tasks, self.n_jobs)

    def _closest_by_metric(
        self, group: np.ndarray, rows: np.ndarray
    ) -> Iterator[tuple[slice | int, tuple[np.ndarray, ...]]]:
        """Yield all groups, and the closest pairs of some rows and each group before theirs."""
        count = int(group.max()) + 1

        def search(block: slice) -> tuple[slice, tuple[np.ndarray, ...]]:
            which = rows[block]
            best = np.full((count, count), np.inf)
            near, far = np.zeros((count, count), dtype=np.intp), np.zeros((count, count), dtype=np.intp)
            values, _ = self._approximate_block(self.X[which])
            closest_between_groups(values, which, group[which], group, best, near, far)
            return slice(None), (best, near, far)

        yield from parallel_map(search, row_blocks(len(rows), 24 * self.n_points), self.n_jobs)

    def distances_between(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Compute the distances of pairs of indexed points."""
        if self._euclidean:
            return np.sqrt(_squared_norms(_float64(self.X[first]) - self.X[second]))
        pairs = zip(first, second, strict=True)
        return np.array(
            [metric_distances(self.X[[i]], self.X[[j]], self.metric, self.params)[0, 0] for i, j in pairs]
        )

    def _map(self, search: Callable[[slice], T], Y: Rows) -> list[T]:
        """Call ``search`` for blocks of the rows of ``Y``, on several threads."""
        size = (24 * self.n_points,) if self._bounds is None else (1, self._bounds.block_rows)
        blocks, results = list(row_blocks(Y.shape[0], *size)), []
        with stage("neighbours", total=Y.shape[0]) as advance:
            for block, result in zip(blocks, parallel_map(search, blocks, self.n_jobs), strict=True):
                results.append(result)
                advance(block.stop - block.start)
        return results

    def _approximate_block(self, Y: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Compute a block of distances, and bounds of their errors; Euclidean ones are squared.

        Those of dense rows are lower bounds.
        """
        if self._bounds is not None:
            rough, base, slack = self._bounds(np.asarray(Y))
            return rough + base[:, None], slack
        if self._norms is None:
            exact = self._metric_block(Y)
            return exact, np.zeros(exact.shape[0])
        norms = _squared_norms(Y)
        others: Any = self.X
        rough = (Y @ others.T).toarray()
        rough *= -2
        rough += norms[:, None]
        rough += self._norms
        slack = 8 * np.finfo(np.float64).eps * self.X.shape[1] ** 0.5 * (norms + self._norms.max())
        return rough, slack

    def _metric_block(self, Y: Rows) -> np.ndarray:
        """Compute a block of distances by the metric."""
        exact = metric_distances(Y, self.X, self.metric, self.params)
        if not np.isfinite(exact).all():
            raise ValueError(
                f"metric={self.metric!r} returns distances that are not finite; check the metric and the data"
            )
        return np.ascontiguousarray(np.maximum(exact, 0.0))

    def _exact(self, Y: Rows, rough: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Compute the distances of some pairs in double precision."""
        if not self._euclidean:
            return rough[row, column]
        squared = np.empty(len(row))
        for block in row_blocks(len(row), 16 * self.X.shape[1]):
            squared[block] = _squared_norms(_float64(Y[row[block]]) - self.X[column[block]])
        return np.sqrt(squared)

    def subset(self, which: np.ndarray) -> BlockIndex:
        return self.over(self.X[which])

    def over(self, Z: Rows) -> BlockIndex:
        return BlockIndex(Z, self.metric, self.params, self.n_jobs)


def _float64(rows: Rows) -> Rows:
    return rows.astype(np.float64) if is_sparse(rows) else np.ascontiguousarray(rows, dtype=np.float64)


def spanning_pairs(
    length: np.ndarray, near: np.ndarray, far: np.ndarray, ranks: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of points of a minimum spanning tree of groups: rows, columns and lengths.

    The first arguments, (groups, groups), are the result of :meth:`BlockIndex.closest_between`. Ties are
    broken by the ranks of the points.
    """
    row, column, shape = *np.nonzero(np.isfinite(length)), length.shape
    near, far, length = near[row, column], far[row, column], length[row, column]
    order = edge_order(length, ranks[near], ranks[far])
    weights: np.ndarray = np.empty(len(order))
    weights[order] = np.arange(1, len(order) + 1)  # all different
    tree = minimum_spanning_tree(sparse.csr_array((weights, (row, column)), shape=shape))
    kept = order[tree.data.astype(np.intp) - 1]
    return near[kept], far[kept], length[kept]


def edge_order(length: np.ndarray, one: np.ndarray, other: np.ndarray, *groups: np.ndarray) -> np.ndarray:
    """Return the order of edges by group, by length and then by the ranks of their two ends."""
    return np.lexsort((np.maximum(one, other), np.minimum(one, other), length, *groups))


def _squared_norms(X: Rows) -> np.ndarray:
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if is_sparse(X) else squared_norms(X)
