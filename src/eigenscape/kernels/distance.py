"""Distances as kernels: ``-d^2 / 2``, which centring turns into scalar products (Bengio eq. 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape.graph.blocks import metric_distances, settled_params
from eigenscape.graph.geodesics import geodesics, geodesics_by_vertex
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.base import n_points, product, product_by_rows
from eigenscape.kernels.pairwise import PairwiseKernel, evaluate_pairs, squared_euclidean

#: New points are placed together in so many (130 000) that their distances to a few dozen vertices make a block.
_NEW_POINT_BYTES = 512


@dataclass(frozen=True)
class HalfSquaredDistance(PairwiseKernel):
    """``-d(x, y)^2 / 2`` for any scikit-learn metric, a function of two points, or ``"precomputed"`` distances."""

    metric: str | Callable[[Any, Any], float] = "euclidean"
    metric_params: Mapping[str, Any] = field(default_factory=dict)

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        if self.metric == "precomputed":
            return -0.5 * np.square(Y)
        if self.metric in ("euclidean", "l2") and not self.metric_params:
            return -0.5 * squared_euclidean(Y, X)
        if callable(self.metric):
            return -0.5 * evaluate_pairs(lambda y, x: self.metric(y, x, **self.metric_params), Y, X) ** 2  # type: ignore[operator]
        return -0.5 * metric_distances(Y, X, self.metric, self.metric_params) ** 2

    def settle(self, X: Any) -> HalfSquaredDistance:
        return self if self.metric == "precomputed" else replace(self, metric_params=settled_params(self.metric, self.metric_params, X))


@dataclass(frozen=True, eq=False)
class GeodesicKernel:
    """``-d^2 / 2`` with geodesic distances through the training graph (Bengio sec. 2.5)."""

    graph: NeighborGraph
    n_jobs: int | None = None
    dtype: type = np.float64  # of the values; their square array is the largest thing that Isomap makes

    @property
    def X(self) -> Any:
        return self.graph.vertices.X

    def __call__(self, Y: Any) -> np.ndarray:
        return _half_squares(geodesics(self.graph, Y, self.n_jobs, self.dtype))


def _half_squares(lengths: np.ndarray) -> np.ndarray:
    """``-d^2 / 2``, in place."""
    np.square(lengths, out=lengths)
    lengths *= -0.5
    return lengths


@product.register
def _(kernel: GeodesicKernel, Y: Any, V: np.ndarray) -> np.ndarray:
    """With more new points than vertices the paths are searched from the vertices, once for all new points."""
    if n_points(Y) <= kernel.graph.n_vertices:
        return product_by_rows(kernel, Y, V)
    parts = []
    for rows in row_blocks(n_points(Y), _NEW_POINT_BYTES):
        blocks = geodesics_by_vertex(kernel.graph, Y[rows], kernel.n_jobs, kernel.dtype)
        parts.append(sum(_half_squares(lengths) @ V[vertices] for vertices, lengths in blocks))
    return np.concatenate(parts)
