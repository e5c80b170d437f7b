"""Distances as kernels: ``-d^2 / 2``, which centring converts to scalar products (Bengio eq. 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.distance import cdist

from eigenscape._display import short_repr
from eigenscape._memory import require
from eigenscape._typing import Rows, is_sparse
from eigenscape.graph.blocks import Metric, metric_distances, resolve_metric_params
from eigenscape.graph.geodesics import (
    extend_geodesics,
    geodesic_products,
    geodesics,
    geodesics_to,
    half_squares,
)
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.precomputed import require_table
from eigenscape.kernels.base import (
    BoundKernel,
    Columns,
    GraphKernel,
    PointIndex,
    as_float64,
    gram_matrix,
    product,
    training_index,
)
from eigenscape.kernels.pairwise import (
    BoundPairwise,
    PairwiseKernel,
    Tiles,
    distance_tiles,
    distance_values,
    evaluate_pairs,
    half_squared,
    squared_euclidean,
)


@dataclass(frozen=True)
class HalfSquaredDistance(PairwiseKernel):
    """``-d(x, y)^2 / 2`` for a metric of scikit-learn, a function of two points, or "precomputed"."""

    metric: str | Callable[[Any, Any], float] = "euclidean"
    metric_params: Mapping[str, Any] = field(default_factory=dict)

    def evaluate(self, Y: Rows, X: Rows) -> np.ndarray:
        if self.metric == "precomputed":
            return -0.5 * np.square(np.asarray(Y))
        if self.metric in ("euclidean", "l2") and not self.metric_params:
            if is_sparse(X) or is_sparse(Y):
                return -0.5 * squared_euclidean(Y, X)
            return distance_values(Y, X, half_squared)
        if callable(self.metric):
            metric = partial(self.metric, **self.metric_params) if self.metric_params else self.metric
            lengths = evaluate_pairs(metric, Y, X)
            if not (lengths >= 0).all():
                worst = float(np.min(lengths)) if np.isfinite(lengths).all() else float("nan")
                raise ValueError(f"metric must return non-negative finite values, got {worst:g}")
            return -0.5 * np.square(lengths)
        return -0.5 * metric_distances(Y, X, self.metric, self.metric_params) ** 2

    def tiles(self, X: Rows) -> Tiles | None:
        plain = self.metric in ("euclidean", "l2") and not self.metric_params
        return distance_tiles(X, half_squared) if plain and not is_sparse(X) else None

    def between(self, Y: Rows, Z: Rows, X: Rows, table: Any = None) -> np.ndarray:
        return self.evaluate(require_table(table) if self.metric == "precomputed" else Y, Z)

    def resolve(self, X: Rows) -> Self:
        if self.metric == "precomputed":
            return self
        return replace(self, metric_params=resolve_metric_params(self.metric, self.metric_params, X))


@dataclass(frozen=True, eq=False)
class Dissimilarity:
    """Distances (n_new, m) to some training points, computed pairwise if rounding could break ties."""

    kernel: HalfSquaredDistance
    points: Any  # (m, n_features), or objects
    columns: np.ndarray | None  # columns of a precomputed matrix that belong to the points

    @staticmethod
    def bind(
        metric: Metric, metric_params: Mapping[str, Any] | None, X: Rows, which: np.ndarray
    ) -> Dissimilarity:
        """Return the distances to the rows ``which`` of ``X``."""
        bound = HalfSquaredDistance(metric, dict(metric_params or {})).bind(X)
        assert isinstance(bound, BoundPairwise)
        assert isinstance(bound.kernel, HalfSquaredDistance)
        return Dissimilarity(bound.kernel, bound.X[which], which if metric == "precomputed" else None)

    def __call__(self, Y: Rows) -> np.ndarray:
        Y = as_float64(Y)
        if self.columns is not None:
            return np.asarray(Y[:, self.columns])
        plain = self.kernel.metric in ("euclidean", "l2") and not self.kernel.metric_params
        if plain and not is_sparse(Y) and not is_sparse(self.points):
            return cdist(Y, self.points)
        return np.sqrt(np.maximum(-2.0 * self.kernel.evaluate(Y, self.points), 0.0))


def squared_distance_rows(distance: BoundKernel) -> Callable[[int], np.ndarray]:
    """Return a function that computes the squared distances (n,) of training point ``i`` to all."""
    X = distance.X
    kernel: Any = distance.kernel if isinstance(distance, BoundPairwise) else None
    euclidean = isinstance(kernel, HalfSquaredDistance) and kernel.metric in ("euclidean", "l2")
    if not euclidean or kernel.metric_params:
        return lambda i: -2.0 * distance(X[i : i + 1])[0]
    if is_sparse(X):
        lengths = X.power(2).sum(axis=1)
        return lambda i: np.maximum(lengths + lengths[i] - 2.0 * (X @ X[i : i + 1].toarray()[0]), 0.0)
    centred = X - X.mean(axis=0)  # once for all rows
    squares = np.einsum("ij,ij->i", centred, centred)
    return lambda i: np.maximum(squares + squares[i] - 2.0 * (centred @ centred[i]), 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class GeodesicKernel(GraphKernel):
    """``-d^2 / 2`` with geodesic distances through the training graph (Bengio sec. 2.5)."""

    n_jobs: int | None = None
    dtype: type = np.float64  # of the values, whose Gram matrix is the largest array of Isomap

    def __call__(self, Y: Rows) -> np.ndarray:
        return geodesics(self.graph, Y, self.n_jobs, self.dtype, half_squared=True)

    def to(self, Z: Rows) -> Columns:
        lengths = geodesics_to(self.graph, Z, self.n_jobs)
        return lambda Y, table=None: half_squares(lengths(Y, table))


@product.register
def _(kernel: GeodesicKernel, Y: Rows, V: np.ndarray) -> np.ndarray:
    return geodesic_products(kernel.graph, Y, V, kernel.n_jobs, kernel.dtype)


@gram_matrix.register
def _(kernel: GeodesicKernel) -> np.ndarray:
    """Compute all rows together: recomputed by blocks for each product they would take hours."""
    m = kernel.graph.n_vertices
    size = np.dtype(kernel.dtype).itemsize
    require(1.05 * size * m * m, f"geodesic distances of {m} points", "fit a sample and transform the rest")
    return geodesics(kernel.graph, None, kernel.n_jobs, kernel.dtype, half_squared=True)


@dataclass(frozen=True, eq=False)
class LandmarkGeodesics:
    """``-d^2 / 2`` with the geodesic distances to some vertices, the landmarks (Bengio sec. 3.1).

    The distances of the vertices are stored, and the distances of a new point follow from its neighbours, so
    no path is searched again.
    """

    graph: NeighborGraph
    landmarks: np.ndarray  # (q,) vertices
    lengths: np.ndarray  # (m, q) distances of all vertices to them
    _shapes: ClassVar = {"graph.vertices.X": "n ...", "landmarks": "q < n", "lengths": "n q"}

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.graph.vertices.X[self.landmarks]

    def __call__(self, Y: Rows) -> np.ndarray:
        vertex, edges = self.graph.locate(Y)
        values = self.lengths[vertex]  # (n_new, q), a copy
        if edges.shape[0]:
            values[vertex < 0] = extend_geodesics(edges, self.lengths)
        return half_squares(values)

    def to(self, Z: Rows) -> Columns:
        """Return ``-d^2 / 2`` to the points ``Z``, for which paths are searched."""
        lengths = geodesics_to(self.graph, Z)
        return lambda Y, table=None: half_squares(lengths(Y, table))

    def find(self, Y: Rows) -> np.ndarray:
        """Return for each point the index of the landmark that it is, or -1."""
        number = np.full(self.graph.n_vertices + 1, -1, dtype=np.intp)  # the last for points that are new
        number[self.landmarks] = np.arange(len(self.landmarks))
        return number[self.graph.find(Y)]


@training_index.register
def _(kernel: LandmarkGeodesics) -> PointIndex:
    return kernel


def to_landmarks(distance: BoundPairwise, which: np.ndarray) -> BoundKernel:
    """Return the kernel of distances to the training points ``which`` alone."""
    precomputed = isinstance(distance.kernel, HalfSquaredDistance) and distance.kernel.metric == "precomputed"
    if precomputed and distance.X.shape[0] == distance.X.shape[1]:
        return PrecomputedLandmarks(np.asarray(distance.X[which]), which)
    return BoundPairwise(distance.kernel, distance.X[which])


@dataclass(frozen=True, eq=False)
class PrecomputedLandmarks:
    """``-d^2 / 2`` from the columns ``landmarks`` of precomputed distances to all points."""

    X: np.ndarray  # (q, n) rows of the landmarks in the precomputed matrix
    landmarks: np.ndarray  # (q,)
    _shapes: ClassVar = {"X": "q n", "landmarks": "q < n"}

    __repr__ = short_repr

    def __call__(self, Y: Rows) -> np.ndarray:
        return -0.5 * np.square(np.asarray(Y[:, self.landmarks], dtype=np.float64))

    def to(self, Z: Rows) -> Columns:
        return lambda Y, table=None: -0.5 * np.square(np.asarray(require_table(table), dtype=np.float64))  # noqa: ARG005
