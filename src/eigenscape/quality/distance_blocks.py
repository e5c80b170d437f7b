"""Distances from selected points to all points, in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._native.loops import smallest_values_in_rows
from eigenscape._numbers import checked_sparse
from eigenscape._typing import Matrix
from eigenscape.graph.blocks import Metric as Metric
from eigenscape.graph.blocks import metric_distances, resolve_metric_params


class Distances:
    """Distances from any of ``n_points`` points to all of them.

    Dense rows are read in blocks and never copied as a whole, so ``X`` may be a :class:`numpy.memmap`.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_points, n_features) or (n_points, n_points)
        Samples, or their distances if ``metric="precomputed"``.
    metric : str or callable, default="euclidean"
        Metric of :func:`sklearn.metrics.pairwise_distances`.
    """

    def __init__(self, X: ArrayLike | sparse.csr_array, metric: Metric = "euclidean") -> None:
        X = checked_sparse(X, "data")
        self.X: Matrix = sparse.csr_array(X) if sparse.issparse(X) else np.asanyarray(X)
        if self.X.ndim != 2:
            raise ValueError(
                f"data and embedding must have two dimensions (samples, features), got shape {self.X.shape}"
            )
        self.metric = metric
        self.n_points = self.X.shape[0]
        if metric == "precomputed":
            if self.X.shape[1] != self.n_points:
                raise ValueError(
                    f"metric='precomputed' needs a square matrix of distances, got shape {self.X.shape}"
                )
            if sparse.issparse(self.X):
                raise TypeError(
                    "metric='precomputed' needs the distances of all pairs, which a sparse matrix does not"
                    " store; pass a dense matrix"
                )
        self._params = {} if metric == "precomputed" else resolve_metric_params(metric, None, self.X)
        self._euclidean = metric in ("euclidean", "l2") and not sparse.issparse(self.X)
        if self._euclidean:
            self._origin = self._mean()
            if not np.isfinite(self._origin).all():
                raise ValueError(
                    "data and embedding must be finite, but some values are NaN or infinite;"
                    " remove these samples"
                )

    def _column_blocks(self) -> Iterator[slice]:
        return row_blocks(self.n_points, 8 * self.X.shape[1], budget=2**20)  # fits in the cache of a core

    def _mean(self) -> np.ndarray:
        sums = [np.asarray(self.X[rows], dtype=np.float64).sum(axis=0) for rows in self._column_blocks()]
        return sum(sums) / self.n_points

    def ranking(self, which: np.ndarray) -> np.ndarray:
        """Return values (len(which), n_points) in the order of the distances: Euclidean ones squared."""
        if self.metric == "precomputed":
            return np.array(self.X[which], dtype=np.float64, order="C")
        if not self._euclidean:
            return np.ascontiguousarray(metric_distances(self.X[which], self.X, self.metric, self._params))
        # |y|^2 - 2 <y, x> + |x|^2 as one product, around the mean, to avoid cancellation.
        Y = np.asarray(self.X[which], dtype=np.float64) - self._origin
        left = np.column_stack([-2 * Y, np.einsum("ij,ij->i", Y, Y), np.ones(len(Y))])
        out = np.empty((len(which), self.n_points))
        for columns in self._column_blocks():
            X = np.asarray(self.X[columns], dtype=np.float64) - self._origin
            right = np.column_stack([X, np.ones(len(X)), np.einsum("ij,ij->i", X, X)])
            out[:, columns] = np.maximum(left @ right.T, 0.0)
        return out

    def distances(self, which: np.ndarray) -> np.ndarray:
        """Return distances (len(which), n_points); exactly 0 from a point to itself."""
        values = self.ranking(which)
        values[np.arange(len(which)), which] = 0.0
        return np.sqrt(values, out=values) if self._euclidean else values

    def ranking_of_others(self, which: np.ndarray) -> np.ndarray:
        """Return :meth:`ranking` with infinity from a point to itself."""
        values = self.ranking(which)
        values[np.arange(len(which)), which] = np.inf
        return values

    def query_blocks(self, which: np.ndarray, arrays: int = 1) -> Iterator[np.ndarray]:
        """Split ``which`` so that ``arrays`` arrays of distances fit in the memory budget."""
        # Every block reads all rows once, so blocks are large.
        for rows in row_blocks(len(which), 8 * arrays * self.n_points, budget=2**29):
            yield which[rows]

    def nearest(self, which: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranking values and indices (len(which), k) of the nearest other points, exactly."""
        values, indices = np.empty((len(which), k)), np.empty((len(which), k), dtype=np.intp)
        done = 0
        for queries in self.query_blocks(which):
            rows = slice(done, done + len(queries))
            smallest_values_in_rows(self.ranking_of_others(queries), values[rows], indices[rows])
            done = rows.stop
        return values, indices


def paired_distances(
    X: ArrayLike | sparse.csr_array, embedding: ArrayLike, metric: Metric
) -> tuple[Distances, Distances]:
    """Return the distances of the data and of its embedding, after a check of their sizes."""
    data, embedded = Distances(X, metric), Distances(embedding)
    if data.n_points != embedded.n_points:
        raise ValueError(
            "data and embedding must have the same number of rows,"
            f" got {data.n_points} and {embedded.n_points}"
        )
    return data, embedded
