"""A Gaussian whose width is each point's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape._display import short_repr
from eigenscape.graph.neighbors import NeighborIndex, neighbor_index
from eigenscape.graph.row_index import RowIndex, distinct_rows
from eigenscape.kernels.base import BoundKernel, as_float64
from eigenscape.kernels.pairwise import squared_euclidean


@dataclass(frozen=True)
class VariableGaussian:
    """``exp(-gamma |x - y|^2 / (rho(x) rho(y)))`` with ``rho`` the distance to the ``n_neighbors``-th nearest
    training point.

    Narrow where points are dense and wide where they are not (Zelnik-Manor and Perona 2004; Berry and Harlim
    2016). Equal rows count once and a point does not count itself, so that ``rho`` is positive; a new point's
    is found by the same rule."""

    n_neighbors: int = 10
    gamma: float = 1.0
    n_jobs: int | None = None

    def bind(self, X: Any) -> BoundKernel:
        X = as_float64(X)
        first, group = distinct_rows(X)
        k = min(self.n_neighbors, len(first) - 1)
        if k < 1:
            raise ValueError(
                "all rows are equal, so no width can be taken from them; there is nothing to embed"
            )
        index = neighbor_index(X[first], n_jobs=self.n_jobs)
        widths = np.maximum.reduceat(index.nearest_others_graph(k).data, np.arange(0, len(first) * k, k))
        return BoundVariableGaussian(self, X, RowIndex(X), index, k, widths[group])


@dataclass(frozen=True, eq=False)
class BoundVariableGaussian:
    """The kernel on its training points, whose widths are kept."""

    kernel: VariableGaussian
    X: Any
    rows: RowIndex
    index: NeighborIndex  # of the distinct rows
    k: int
    widths: np.ndarray  # (m,)

    __repr__ = short_repr

    def __call__(self, Y: Any) -> np.ndarray:
        Y = as_float64(Y)
        values = squared_euclidean(Y, self.X, -self.kernel.gamma)
        values /= self.widths_of(Y)[:, None] * self.widths
        return np.exp(values, out=values)

    def widths_of(self, Y: Any) -> np.ndarray:
        """``rho`` of any points, (n_new,); a row equal to a training point is that point."""
        known = self.rows.find(Y)
        widths = self.widths[known]
        new = np.flatnonzero(known < 0)
        if len(new):
            widths[new] = self.index.nearest(Y[new], self.k)[0][:, -1]
        return widths
