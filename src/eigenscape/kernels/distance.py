"""Distances as kernels: ``-d^2 / 2``, which centring turns into scalar products (Bengio eq. 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from eigenscape._display import short_repr
from eigenscape._memory import row_blocks
from eigenscape.graph.blocks import metric_distances, resolve_metric_params
from eigenscape.graph.geodesics import extend_geodesics, geodesic_columns, geodesics
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.base import BoundKernel, as_float64, n_points, product, product_by_rows
from eigenscape.kernels.pairwise import BoundPairwise, PairwiseKernel, evaluate_pairs, squared_euclidean

#: New points are placed together in so many (130 000) that their distances to a few dozen vertices make a
#: block.
_NEW_POINT_BYTES = 512


@dataclass(frozen=True)
class HalfSquaredDistance(PairwiseKernel):
    """``-d(x, y)^2 / 2`` for any scikit-learn metric, a function of two points, or ``"precomputed"``
    distances."""

    metric: str | Callable[[Any, Any], float] = "euclidean"
    metric_params: Mapping[str, Any] = field(default_factory=dict)

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        if self.metric == "precomputed":
            return -0.5 * np.square(Y)
        if self.metric in ("euclidean", "l2") and not self.metric_params:
            return -0.5 * squared_euclidean(Y, X)
        if callable(self.metric):
            lengths = evaluate_pairs(lambda y, x: self.metric(y, x, **self.metric_params), Y, X)  # type: ignore[operator]
            if not (lengths >= 0).all():
                worst = float(np.min(lengths)) if np.isfinite(lengths).all() else float("nan")
                raise ValueError(
                    f"the metric is no distance: it gave {worst:g}, and must give finite numbers that are not negative"
                )
            return -0.5 * np.square(lengths)
        return -0.5 * metric_distances(Y, X, self.metric, self.metric_params) ** 2

    def resolve(self, X: Any) -> HalfSquaredDistance:
        return (
            self
            if self.metric == "precomputed"
            else replace(self, metric_params=resolve_metric_params(self.metric, self.metric_params, X))
        )


@dataclass(frozen=True, eq=False)
class Dissimilarity:
    """Distances (n_new, m) to some training points, each pair by itself where rounding could break ties
    between them."""

    kernel: HalfSquaredDistance
    points: Any  # (m, n_features), or objects
    columns: np.ndarray | None  # of a table, the training points that are meant

    @staticmethod
    def bind(
        metric: Any, metric_params: Mapping[str, Any] | None, X: Any, which: np.ndarray
    ) -> Dissimilarity:
        """Distances to the rows ``which`` of ``X``."""
        bound = HalfSquaredDistance(metric, dict(metric_params or {})).bind(X)
        assert isinstance(bound, BoundPairwise)
        assert isinstance(bound.kernel, HalfSquaredDistance)
        return Dissimilarity(bound.kernel, bound.X[which], which if metric == "precomputed" else None)

    def __call__(self, Y: Any) -> np.ndarray:
        Y = as_float64(Y)
        if self.columns is not None:
            return Y[:, self.columns]
        plain = self.kernel.metric in ("euclidean", "l2") and not self.kernel.metric_params
        if plain and not sparse.issparse(Y) and not sparse.issparse(self.points):
            return cdist(Y, self.points)
        return np.sqrt(np.maximum(-2.0 * self.kernel.evaluate(Y, self.points), 0.0))


def squared_distance_rows(distance: BoundKernel) -> Callable[[int], np.ndarray]:
    """The function that gives the squared distances (n,) of training point ``i`` to all, one row at a
    time."""
    X = distance.X
    kernel = distance.kernel if isinstance(distance, BoundPairwise) else None
    plain = (
        isinstance(kernel, HalfSquaredDistance)
        and kernel.metric in ("euclidean", "l2")
        and not kernel.metric_params
    )
    if not plain or sparse.issparse(X):
        return lambda i: -2.0 * distance(X[i : i + 1])[0]
    centred = X - X.mean(axis=0)  # once, not for every row
    squares = np.einsum("ij,ij->i", centred, centred)
    return lambda i: np.maximum(squares + squares[i] - 2.0 * (centred @ centred[i]), 0.0)


@dataclass(frozen=True, eq=False)
class GeodesicKernel:
    """``-d^2 / 2`` with geodesic distances through the training graph (Bengio sec. 2.5)."""

    graph: NeighborGraph
    n_jobs: int | None = None
    dtype: type = np.float64  # of the values; their square array is the largest thing that Isomap makes

    __repr__ = short_repr

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
    """With more new points than vertices the paths are searched from the vertices, once for all new
    points."""
    if n_points(Y) <= kernel.graph.n_vertices:
        return product_by_rows(kernel, Y, V)
    parts = []
    for rows in row_blocks(n_points(Y), _NEW_POINT_BYTES):
        blocks = geodesic_columns(kernel.graph, Y[rows], kernel.n_jobs, kernel.dtype)
        parts.append(sum(_half_squares(lengths) @ V[vertices] for vertices, lengths in blocks))
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class LandmarkGeodesics:
    """``-d^2 / 2`` with the geodesic distances to some vertices, the landmarks (Bengio sec. 3.1).

    A vertex's distances are kept, and a new point's are found through its neighbours: no path is searched
    again."""

    graph: NeighborGraph
    landmarks: np.ndarray  # (q,) vertices
    lengths: np.ndarray  # (m, q) distances of all vertices to them

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.graph.vertices.X[self.landmarks]

    def __call__(self, Y: Any) -> np.ndarray:
        vertex = self.graph.vertices.find(Y)
        new = np.flatnonzero(vertex < 0)
        values = self.lengths[vertex]  # (n_new, q), a copy
        if len(new):
            values[new] = extend_geodesics(self.graph.edges_of(Y[new]), self.lengths)
        return _half_squares(values)

    def find(self, Y: Any) -> np.ndarray:
        """For each point the landmark that it is, or -1."""
        number = np.full(
            self.graph.n_vertices + 1, -1, dtype=np.intp
        )  # the last for points that are no vertex
        number[self.landmarks] = np.arange(len(self.landmarks))
        return number[self.graph.vertices.find(Y)]


def to_landmarks(distance: BoundPairwise, which: np.ndarray) -> BoundKernel:
    """The distances to the training points ``which`` alone."""
    precomputed = isinstance(distance.kernel, HalfSquaredDistance) and distance.kernel.metric == "precomputed"
    if precomputed and distance.X.shape[0] == distance.X.shape[1]:
        return PrecomputedLandmarks(distance.X[which], which)
    return BoundPairwise(distance.kernel, distance.X[which])


@dataclass(frozen=True, eq=False)
class PrecomputedLandmarks:
    """``-d^2 / 2`` from a table of distances to all points, of which ``landmarks`` alone are looked at."""

    X: np.ndarray  # (q, n) the landmarks' rows of the table
    landmarks: np.ndarray  # (q,)

    __repr__ = short_repr

    def __call__(self, Y: Any) -> np.ndarray:
        return -0.5 * np.square(np.asarray(Y[:, self.landmarks], dtype=np.float64))
