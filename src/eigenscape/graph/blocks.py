"""Exact neighbour search by blocks of the distance matrix, for any metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import joblib
import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances
from threadpoolctl import threadpool_limits

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._typing import Rows, is_sparse
from eigenscape.graph.search import RadiusQuery, RowSearch
from eigenscape.graph.sparse_distances import distance_table

T = TypeVar("T")
#: The name of a metric of scikit-learn, or a function of two rows.
Metric = str | Callable[..., float]


def resolve_metric_params(metric: Metric, metric_params: Mapping[str, Any] | None, X: Rows) -> dict[str, Any]:
    """Return the arguments of the metric; missing ones that describe the data are estimated from ``X``."""
    params = dict(metric_params or {})
    rows: Any = X
    if metric == "seuclidean" and "V" not in params:
        params["V"] = np.var(rows, axis=0, ddof=1)
    if metric == "mahalanobis" and not {"V", "VI"} & set(params):
        params["VI"] = np.linalg.pinv(np.atleast_2d(np.cov(rows, rowvar=False)))
    return params


def metric_distances(Y: Rows, X: Rows, metric: Metric, params: Mapping[str, Any]) -> np.ndarray:
    """Compute scikit-learn's pairwise distances; the error for sparse input names the metric."""
    try:
        return np.asarray(pairwise_distances(Y, X, metric=metric, **params), dtype=np.float64)
    except TypeError as error:
        if is_sparse(X):
            raise TypeError(
                f"metric={metric!r} does not support sparse input ({error}); pass dense data or use another"
                " metric"
            ) from error
        raise


class BlockIndex(RowSearch):
    """Blocks of the distance matrix, for any metric and dense or sparse rows."""

    def __init__(self, X: Rows, metric: Metric, params: dict[str, Any], n_jobs: int | None) -> None:
        self.metric, self.params, self.n_jobs = metric, params, n_jobs
        self.known_symmetric = isinstance(metric, str)
        self.X = _float64(sparse.csr_array(X)) if is_sparse(X) else np.ascontiguousarray(X, dtype=np.float64)
        self.n_points = self.X.shape[0]
        self._euclidean = metric in ("euclidean", "l2") and not params
        # Subtract the mean to avoid cancellation: products of vectors far from the origin lose precision.
        self._origin = 0.0 if is_sparse(self.X) else self.X.mean(axis=0)
        centred = self.X if is_sparse(self.X) else self.X - self._origin
        self._norms = _squared_norms(centred)
        # Single precision suffices to select candidates, at twice the speed, unless it would overflow.
        in_range = 1e-30 < self._norms.max() < 1e30
        self._precision = np.float32 if in_range and not is_sparse(self.X) else np.float64
        self._centred = centred.astype(self._precision)

    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        length, index = np.empty((Y.shape[0], k)), np.empty((Y.shape[0], k), dtype=np.intp)
        search = self._search_sparse if self._euclidean and is_sparse(self.X) else self._search_dense

        def one(block: slice) -> None:
            search(Y[block], k, length[block], index[block])

        self._map(one, Y)
        return length, index

    def _search_dense(self, Y: Rows, k: int, length: np.ndarray, index: np.ndarray) -> None:
        """Fill ``length`` and ``index`` (b, k) by compiled selection from dense distances."""
        from eigenscape._compiled.select import nearest_exact, smallest_values_in_rows

        rough, slack = self._approximate_block(Y)
        if self._euclidean:
            nearest_exact(np.ascontiguousarray(Y, dtype=np.float64), self.X, rough, slack, k, length, index)
        else:
            smallest_values_in_rows(rough, k, length, index)

    def _search_sparse(self, Y: Rows, k: int, length: np.ndarray, index: np.ndarray) -> None:
        """Fill ``length`` and ``index`` (b, k) for sparse rows."""
        rough, slack = self._approximate_block(Y)
        kth = np.partition(rough, k - 1, axis=1)[:, k - 1]
        row, column = np.nonzero(rough <= (kth + 2 * slack)[:, None])
        exact = self._exact(Y, rough, row, column)
        order = np.lexsort((column, exact, row))
        pick = order[np.searchsorted(row[order], np.arange(rough.shape[0]))[:, None] + np.arange(k)]
        length[:], index[:] = exact[pick], column[pick]

    def search_radius(self, Y: Rows, radii: np.ndarray) -> sparse.csr_array:
        limit = radii**2 if self._euclidean else radii

        def search(block: slice) -> sparse.csr_array:
            rough, slack = self._approximate_block(Y[block])
            row, column = np.nonzero(rough <= limit + slack[:, None])
            length = self._exact(Y[block], rough, row, column)
            keep = length <= radii[column]
            return distance_table(row[keep], column[keep], length[keep], rough.shape)

        return sparse.csr_array(sparse.vstack(self._map(search, Y), format="csr"))

    def radius_query(self, radii: np.ndarray) -> RadiusQuery:
        return RadiusQuery(self, radii)

    def _map(self, search: Callable[[slice], T], Y: Rows) -> list[T]:
        """Call ``search`` for blocks of the rows of ``Y``, on several threads."""
        blocks = [*row_blocks(Y.shape[0], 24 * self.n_points)]
        with stage("neighbours", total=Y.shape[0]) as advance:

            def one(block: slice) -> T:
                result = search(block)
                advance(block.stop - block.start)
                return result

            if joblib.effective_n_jobs(self.n_jobs) == 1 or len(blocks) == 1:
                return [one(block) for block in blocks]
            with threadpool_limits(1, user_api="blas"):  # one product per thread, without oversubscription
                return joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")(
                    joblib.delayed(one)(b) for b in blocks
                )

    def _approximate_block(self, Y: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Compute a block of distances (squared if Euclidean), and a bound of the error in each row."""
        if not self._euclidean:
            exact = metric_distances(Y, self.X, self.metric, self.params)
            if not np.isfinite(exact).all():
                raise ValueError(
                    f"metric={self.metric!r} returns distances that are not finite; check the metric and the"
                    " data"
                )
            return np.maximum(exact, 0.0), np.zeros(exact.shape[0])
        Y = Y if is_sparse(Y) else np.asarray(Y, dtype=np.float64) - self._origin
        norms = _squared_norms(Y)
        transposed: Any = self._centred.T
        product = Y.astype(self._precision) @ transposed
        rough = product.toarray() if is_sparse(product) else product
        rough *= -2
        rough += norms[:, None].astype(self._precision)
        rough += self._norms.astype(self._precision)
        slack = 8 * np.finfo(self._precision).eps * self.X.shape[1] ** 0.5 * (norms + self._norms.max())
        return rough, slack

    def _exact(self, Y: Rows, rough: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Compute the distances of some pairs in double precision."""
        if not self._euclidean:
            return rough[row, column]
        squared = np.empty(len(row))
        for block in row_blocks(len(row), 16 * self.X.shape[1]):
            squared[block] = _squared_norms(_float64(Y[row[block]]) - self.X[column[block]])
        return np.sqrt(squared)

    def subset(self, which: np.ndarray) -> BlockIndex:
        return BlockIndex(self.X[which], self.metric, self.params, self.n_jobs)


def _float64(rows: Rows) -> Rows:
    return rows.astype(np.float64) if rows.dtype != np.float64 else rows


def _squared_norms(X: Rows) -> np.ndarray:
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)
