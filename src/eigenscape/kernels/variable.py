"""A Gaussian kernel with a bandwidth for each point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eigenscape._display import short_repr
from eigenscape._typing import Rows
from eigenscape.graph.near_rows import NearRowIndex
from eigenscape.graph.neighbors import NeighborIndex, neighbor_index
from eigenscape.graph.row_index import distinct_rows
from eigenscape.kernels.base import BoundKernel, Columns, PointIndex, as_float64, training_index
from eigenscape.kernels.pairwise import squared_euclidean


@dataclass(frozen=True)
class VariableGaussian:
    """``exp(-gamma |x - y|^2 / (rho(x) rho(y)))`` with a bandwidth ``rho`` for each point.

    ``rho(x)`` is the distance to the ``n_neighbors``-th nearest training point, so the kernel is narrow where
    points are dense (Zelnik-Manor and Perona 2004; Berry and Harlim 2016). Equal rows count once and a point
    does not count itself, so that ``rho`` is positive. The same rule gives the bandwidth of a new point.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.kernels import VariableGaussian
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> VariableGaussian(n_neighbors=5).bind(X)(X[:3]).shape
    (3, 30)
    """

    n_neighbors: int = 10
    gamma: float = 1.0
    n_jobs: int | None = None

    def bind(self, X: Rows) -> BoundKernel:
        X = as_float64(X)
        first, group = distinct_rows(X)
        k = min(self.n_neighbors, len(first) - 1)
        if k < 1:
            raise ValueError(
                "all rows are equal, so no bandwidth can be estimated; there is nothing to embed"
            )
        index = neighbor_index(X[first], n_jobs=self.n_jobs)
        widths = np.maximum.reduceat(index.nearest_others_graph(k).data, np.arange(0, len(first) * k, k))
        return BoundVariableGaussian(self, X, NearRowIndex(X), index, k, widths[group])


@dataclass(frozen=True, eq=False)
class BoundVariableGaussian:
    """The kernel on its training points, with their bandwidths."""

    _shapes: ClassVar = {"rows.X": "n *", "X": "n *", "widths": "n"}
    kernel: VariableGaussian
    X: Any
    rows: NearRowIndex
    index: NeighborIndex  # of the distinct rows
    k: int
    widths: np.ndarray  # (m,)

    __repr__ = short_repr

    def __call__(self, Y: Rows) -> np.ndarray:
        return self._values(Y, self.X, self.widths)

    def to(self, Z: Rows) -> Columns:
        Z = as_float64(Z)
        widths = self.widths_of(Z)
        return lambda Y, table=None: self._values(Y, Z, widths)  # noqa: ARG005

    def _values(self, Y: Rows, Z: Rows, widths: np.ndarray) -> np.ndarray:
        """Compute the values (n_Y, n_Z) for points ``Z`` of the given bandwidths."""
        Y = as_float64(Y)
        values = squared_euclidean(Y, Z, -self.kernel.gamma)
        values /= self.widths_of(Y)[:, None] * widths
        return np.exp(values, out=values)

    def widths_of(self, Y: Rows) -> np.ndarray:
        """Compute ``rho`` (n_new,) of any points; a training point has its own."""
        known = self.rows.find(Y)
        widths = self.widths[known]
        new = np.flatnonzero(known < 0)
        if len(new):
            widths[new] = self.index.nearest(Y[new], self.k)[0][:, -1]
        return widths


@training_index.register
def _(kernel: BoundVariableGaussian) -> PointIndex:
    return kernel.rows
