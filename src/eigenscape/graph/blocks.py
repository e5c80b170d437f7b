"""Exact search by blocks of the distance matrix, for any metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances
from threadpoolctl import threadpool_limits

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.graph.precomputed import RadiusQuery
from eigenscape.graph.row_index import RowIndex
from eigenscape.graph.sparse_distances import distance_table, neighbor_table, other_neighbors_table


def resolve_metric_params(
    metric: str | Callable, metric_params: Mapping[str, Any] | None, X: Any
) -> dict[str, Any]:
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
            raise TypeError(
                f"metric={metric!r} does not take sparse rows ({error}); pass them dense or use another metric"
            ) from error
        raise


class BlockIndex:
    """Blocks of the distance matrix, any metric, dense or sparse rows."""

    recall = 1.0

    def __init__(self, X: Any, metric: str | Callable, params: dict, n_jobs: int | None) -> None:
        self.metric, self.params, self.n_jobs = metric, params, n_jobs
        self.known_symmetric = isinstance(metric, str)
        self.X = (
            sparse.csr_array(X, dtype=np.float64)
            if sparse.issparse(X)
            else np.ascontiguousarray(X, dtype=np.float64)
        )
        self.n_points = self.X.shape[0]
        self._euclidean = metric in ("euclidean", "l2") and not params
        # A product of far-away vectors loses the digits of their difference: work around the mean.
        self._origin = 0.0 if sparse.issparse(X) else self.X.mean(axis=0)
        centred = self.X if sparse.issparse(X) else self.X - self._origin
        self._norms = _squared_norms(centred)
        # Single precision is enough to say who may be near, and twice as fast; not for numbers beyond its
        # range.
        self._precision = (
            np.float64 if sparse.issparse(X) or not 1e-30 < self._norms.max() < 1e30 else np.float32
        )
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

    def nearest_graph(self, Y: Any, k: int) -> sparse.csr_array:
        return neighbor_table(*self.nearest(Y, k), self.n_points)

    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        return other_neighbors_table(*self.nearest(self.X, k + 1))

    def radius_graph(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        reach = radii**2 if self._euclidean else radii

        def search(block: slice) -> sparse.csr_array:
            rough, slack = self._rough(Y[block])
            row, column = np.nonzero(rough <= reach + slack[:, None])
            length = self._exact(Y[block], rough, row, column)
            keep = length <= radii[column]
            return distance_table(row[keep], column[keep], length[keep], rough.shape)

        return sparse.csr_array(sparse.vstack(self._map(search, Y), format="csr"))

    def radius_query(self, radii: np.ndarray) -> RadiusQuery:
        return RadiusQuery(self, radii)

    def _map(self, search: Callable, Y: Any) -> list:
        blocks = [*row_blocks(Y.shape[0], 24 * self.n_points)]
        with stage("neighbours", total=Y.shape[0]) as advance:

            def one(block: slice) -> Any:
                found = search(block)
                advance(block.stop - block.start)
                return found

            if joblib.effective_n_jobs(self.n_jobs) == 1 or len(blocks) == 1:
                return [one(block) for block in blocks]
            with threadpool_limits(
                1, user_api="blas"
            ):  # one product a thread, not several that wait for each other
                return joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")(
                    joblib.delayed(one)(b) for b in blocks
                )

    def _rough(self, Y: Any) -> tuple[np.ndarray, np.ndarray]:
        """A block of distances (squared if Euclidean) and, for each row, how far they may be off."""
        if not self._euclidean:
            exact = metric_distances(Y, self.X, self.metric, self.params)
            if not np.isfinite(exact).all():
                raise ValueError(
                    f"metric={self.metric!r} gives distances that are not finite numbers; check the metric and the data"
                )
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


def _float64(rows: Any) -> Any:
    return rows.astype(np.float64) if rows.dtype != np.float64 else rows


def _squared_norms(X: Any) -> np.ndarray:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)
