"""Gram matrices of neighbourhoods, and kernels made from local reconstruction weights (LLE).

The scalar products of differences from a point ``x`` to its neighbours follow from distances alone,

    ``(x_i - x)'(x_j - x) = (d(x, x_i)^2 + d(x, x_j)^2 - d(x_i, x_j)^2) / 2``,

which is exact for Euclidean distances and defines LLE for any others (Bengio sec. 1.2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._threads import parallel_map
from eigenscape._typing import Matrix, Rows, is_sparse
from eigenscape._warnings import warn
from eigenscape.exceptions import IsolatedPointWarning, UndefinedKernelError
from eigenscape.graph.blocks import Metric, metric_distances
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.precomputed import PrecomputedIndex
from eigenscape.graph.row_index import rows_by_vertex
from eigenscape.kernels.base import Columns

#: Distances are computed between all points of some neighbourhoods, at most about this many points: a call
#: of scikit-learn takes longer than the pairs that are not needed.
_UNION = 256


class LocalGram(Protocol):
    """Gram matrices of ``b`` neighbourhoods of training points, ``k`` or ``p`` points each."""

    def values_per_point(self, k: int) -> int:
        """Return the number of temporary values per point, without the Gram matrix, for ``k`` neighbours."""
        ...

    def around(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the scalar products (b, k, k) of the differences from training points ``rows`` (b,) to
        ``columns`` (b, k)."""
        ...

    def around_new(self, Y: Rows, columns: np.ndarray) -> np.ndarray:
        """Return the scalar products (b, k, k) of the differences from new points ``Y`` (b, n_features)."""
        ...

    def centered(self, points: np.ndarray) -> np.ndarray:
        """Return the scalar products (b, p, p) of the differences from the mean of each neighbourhood."""
        ...


def local_gram(graph: NeighborGraph, metric: Metric, metric_params: Mapping[str, Any]) -> LocalGram:
    """Return the local Gram matrices of the vertices of a graph.

    Rows are used if the metric is Euclidean and they are dense, otherwise distances. Arguments of the metric
    that describe the data must be among ``metric_params``.
    """
    X = graph.vertices.X
    if isinstance(graph.index, PrecomputedIndex):
        return TableGram(graph.index.table)
    if metric in ("euclidean", "l2") and not metric_params and not is_sparse(X):
        return RowGram(np.asarray(X, dtype=np.float64))
    return MetricGram(X, metric, dict(metric_params))


@dataclass(frozen=True, eq=False)
class RowGram:
    """Local Gram matrices of dense rows."""

    X: np.ndarray  # (m, n_features)

    __repr__ = short_repr

    def values_per_point(self, k: int) -> int:
        return 3 * self.X.shape[1]

    def around(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.around_new(self.X[rows], columns)

    def around_new(self, Y: Rows, columns: np.ndarray) -> np.ndarray:
        return _products(self.X[columns] - np.asarray(Y, dtype=np.float64)[:, None, :])

    def centered(self, points: np.ndarray) -> np.ndarray:
        patch = self.X[points]
        return _products(patch - patch.mean(axis=1, keepdims=True))


class _DistanceGram(ABC):
    """Base of local Gram matrices of distances."""

    @abstractmethod
    def _between(self, points: np.ndarray) -> np.ndarray:
        """Return the distances (b, p, p) between the points (b, p) of each neighbourhood."""

    @abstractmethod
    def _to_new(self, Y: Rows, columns: np.ndarray) -> np.ndarray:
        """Return the distances (b, k) from new points ``Y`` to the training points ``columns`` (b, k)."""

    def values_per_point(self, k: int) -> int:
        return 3 * k

    def around(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        lengths = self._between(np.concatenate([rows[:, None], columns], axis=1))
        return _gram(lengths[:, 0, 1:], lengths[:, 1:, 1:])

    def around_new(self, Y: Rows, columns: np.ndarray) -> np.ndarray:
        return _gram(self._to_new(Y, columns), self._between(columns))

    def centered(self, points: np.ndarray) -> np.ndarray:
        """Centre ``-d^2 / 2`` in rows and columns (Bengio eq. 8)."""
        half = -0.5 * np.square(self._between(points))
        rows = half.mean(axis=2, keepdims=True)
        return half - rows - half.mean(axis=1, keepdims=True) + rows.mean(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class MetricGram(_DistanceGram):
    """Local Gram matrices of the distances of rows, dense or sparse, by any metric."""

    X: Any  # (m, n_features)
    metric: Metric
    params: dict[str, Any] = field(default_factory=dict)

    __repr__ = short_repr

    def _to_new(self, Y: Rows, columns: np.ndarray) -> np.ndarray:
        to_point = np.empty(columns.shape)
        for some in self._steps(columns):
            union, place = np.unique(columns[some], return_inverse=True)
            table = metric_distances(Y[some], self.X[union], self.metric, self.params)
            to_point[some] = np.take_along_axis(table, place.reshape(columns[some].shape), axis=1)
        return to_point

    def _between(self, points: np.ndarray) -> np.ndarray:
        distances = np.empty((*points.shape, points.shape[1]))
        for some in self._steps(points):
            union, place = np.unique(points[some], return_inverse=True)
            rows, place = self.X[union], place.reshape(points[some].shape)
            table = metric_distances(rows, None, self.metric, self.params)
            distances[some] = table[place[:, :, None], place[:, None, :]]
        return distances

    def _steps(self, points: np.ndarray) -> list[slice]:
        """Return slices of neighbourhoods, each of one if the metric is a function, which is slow."""
        step = 1 if callable(self.metric) else max(1, _UNION // points.shape[1])
        return [slice(start, start + step) for start in range(0, len(points), step)]


@dataclass(frozen=True, eq=False)
class TableGram(_DistanceGram):
    """Local Gram matrices of precomputed distances.

    A sparse table must store the distances between the neighbours of each point, too."""

    distances: Matrix  # (m, m); `transform` needs them, so a model file contains them

    __repr__ = short_repr

    def _to_new(self, Y: Rows, columns: np.ndarray) -> np.ndarray:
        return _entries(Y, np.arange(len(columns))[:, None], columns)

    def _between(self, points: np.ndarray) -> np.ndarray:
        lengths = _entries(self.distances, points[:, :, None], points[:, None, :])
        if not is_sparse(self.distances):
            return lengths
        lengths = np.maximum(lengths, lengths.transpose(0, 2, 1))  # either direction may be stored
        missing = np.argwhere(lengths == 0)  # a stored distance of 0 was replaced by a positive number
        if len(missing):
            where, i, j = missing[0]
            raise ValueError(
                f"the sparse matrix of distances does not contain the distance between training samples"
                f" {points[where, i]} and {points[where, j]}, which are neighbours of the same sample; LLE"
                " needs the distances between the neighbours of each sample, too: store them, or pass a dense"
                " matrix"
            )
        return lengths


def _entries(table: Matrix, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return entries of a dense or sparse table, 0 if they are not stored, for indices to be broadcast."""
    if not is_sparse(table):
        return np.asarray(table[rows, columns], dtype=np.float64)
    rows, columns = np.broadcast_arrays(rows, columns)
    # A csr_matrix returns a dense row, while the result of a csr_array depends on the version of SciPy.
    return np.asarray(sparse.csr_matrix(table)[rows.flatten(), columns.flatten()]).reshape(rows.shape)


def _products(differences: np.ndarray) -> np.ndarray:
    """Return the scalar products (b, k, k) of differences (b, k, n_features)."""
    return differences @ differences.transpose(0, 2, 1)


def _gram(to_point: np.ndarray, between: np.ndarray) -> np.ndarray:
    """Return the Gram matrices (b, k, k), given distances to the point (b, k) and between its neighbours.

    Distances that are not Euclidean may give negative eigenvalues, for which no weights are best; they are
    set to zero, as in classical MDS of the neighbourhood."""
    squares = np.square(to_point)
    gram = (squares[:, :, None] + squares[:, None, :] - np.square(between)) / 2
    values, vectors = np.linalg.eigh((gram + gram.transpose(0, 2, 1)) / 2)
    return (vectors * np.maximum(values, 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1)


#: Size of a batch of local problems: small enough for the cache, and for enough batches for all threads.
_BATCH_BYTES = 4 * 2**20
T = TypeVar("T")


def barycentric_weights(
    gram: LocalGram, neighbors: sparse.csr_array, reg: float, n_jobs: int | None = None, Y: Rows | None = None
) -> sparse.csr_array:
    """Compute the weights (n, m) of sum 1 that best reconstruct each point from its neighbours.

    The points are new points ``Y``, or the training points if it is None. The pattern of ``neighbors`` (n, m)
    selects training points. See :func:`local_weights` for ``reg``.
    """
    values = np.empty(neighbors.nnz)

    def solve(rows: np.ndarray, columns: np.ndarray) -> None:
        local = gram.around(rows, columns) if Y is None else gram.around_new(Y[rows], columns)
        values[neighbors.indptr[rows][:, None] + np.arange(columns.shape[1])] = local_weights(local, reg)

    over_neighborhoods(solve, neighbors, gram, n_jobs)
    return sparse.csr_array((values, neighbors.indices, neighbors.indptr), shape=neighbors.shape)


def local_weights(gram: np.ndarray, reg: float) -> np.ndarray:
    """Compute the weights (b, k) from the local Gram matrices (b, k, k) (Bengio sec. 2.6).

    ``reg`` times its trace is added to the diagonal of each matrix."""
    b, k, _ = gram.shape
    trace = np.trace(gram, axis1=1, axis2=2)
    ridge = np.where(trace > 0, reg * trace, 1.0)
    ridge = np.maximum(ridge, 1e-14 * np.maximum(trace, 1e-300))
    weights = np.linalg.solve(gram + ridge[:, None, None] * np.eye(k), np.ones((b, k, 1)))[..., 0]
    return weights / weights.sum(axis=1, keepdims=True)


def over_neighborhoods(
    work: Callable[[np.ndarray, np.ndarray], T],
    neighbors: sparse.csr_array,
    gram: LocalGram,
    n_jobs: int | None,
) -> list[T]:
    """Call ``work(rows, columns)`` in threads, for batches of rows (b,) with equal numbers of neighbours."""
    counts = np.diff(neighbors.indptr)
    batches = []
    for k in np.unique(counts[counts > 0]):
        alike = np.flatnonzero(counts == k)
        n_bytes = 8 * k * (gram.values_per_point(k) + 3 * k)
        batches += [alike[block] for block in row_blocks(len(alike), n_bytes, _BATCH_BYTES)]

    with stage("local solves", total=sum(map(len, batches))) as advance:

        def one(rows: np.ndarray) -> T:
            k = neighbors.indptr[rows[0] + 1] - neighbors.indptr[rows[0]]
            result = work(rows, neighbors.indices[neighbors.indptr[rows][:, None] + np.arange(k)])
            advance(len(rows))
            return result

        return list(parallel_map(one, batches, n_jobs))


@dataclass(frozen=True, eq=False)
class LocalWeights:
    """Reconstruction weights ``w(x, x_i)`` of a point; a point that is a vertex has weight 1 there."""

    graph: NeighborGraph
    gram: LocalGram
    reg: float
    n_jobs: int | None = None
    _shapes: ClassVar = {"graph.vertices.X": "n ...", "gram.X": "n ..."}

    __repr__ = short_repr

    def __call__(self, Y: Rows) -> sparse.csr_array:
        vertex, neighbors = self.graph.locate(Y, self._neighbors)
        return rows_by_vertex(vertex, self._of_vertices, lambda new: self._of_new(neighbors, Y[new]))

    def _of_vertices(self, vertex: np.ndarray) -> sparse.csr_array:
        n = len(vertex)
        return sparse.csr_array((np.ones(n), vertex, np.arange(n + 1)), shape=(n, self.graph.n_vertices))

    def _neighbors(self, Y: Rows) -> sparse.csr_array:
        return self.graph.neighbors_of(Y.astype(np.float64))

    def _of_new(self, neighbors: sparse.csr_array, Y: Rows) -> sparse.csr_array:
        """Return the weights of points that are not vertices."""
        _warn_without_neighbors(int((np.diff(neighbors.indptr) == 0).sum()))
        return barycentric_weights(self.gram, neighbors, self.reg, self.n_jobs, Y.astype(np.float64))


def _warn_without_neighbors(count: int) -> None:
    """Warn about new points without neighbours, which exist if distances are a sparse matrix."""
    if count:
        warn(
            f"{count} new point(s) have no stored distance to a training point and are placed at the origin",
            IsolatedPointWarning,
        )


@dataclass(frozen=True, eq=False, repr=False)
class _WeightsKernel:
    """Base of kernels that local weights extend to new points."""

    weights: LocalWeights

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.weights.graph.vertices.X

    def to(self, Z: Rows) -> Columns:
        raise UndefinedKernelError(
            "the kernel of locally linear embedding has no information on pairs of new points: it is zero"
            " between them by definition (Bengio sec. 2.6), so its error would measure the size of the"
            " eigenfunctions only; use loss() of the training points, or quality.perturbation_stability for"
            " new points"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ExtendedKernel(_WeightsKernel):
    """``k(x, .) = sum_i w(x, x_i) K_i.``: a Gram matrix extended to new points by their local weights.

    On training points it equals ``K``. Its Nystrom formula is ``f_r(x) = sum_i w(x, x_i) f_r(x_i)``, the
    limit of Bengio's LLE kernel for large ``c`` (sec. 3.1).
    """

    gram: sparse.csr_array  # (m, m)
    _shapes: ClassVar = {"weights.graph.vertices.X": "n ...", "gram": "n n"}

    def __call__(self, Y: Rows) -> sparse.csr_array:
        return sparse.csr_array(self.weights(Y) @ self.gram)


@dataclass(frozen=True, eq=False, repr=False)
class FiniteLocalKernel(_WeightsKernel):
    """``k_m = (c - 1) k' + k''`` (Bengio sec. 2.6).

    ``k'`` are the local weights, and ``k''`` is defined on training points only.
    """

    inner: sparse.csr_array  # (m, m), k'' = I - M
    c: float
    _shapes: ClassVar = {"weights.graph.vertices.X": "n ...", "inner": "n n"}

    def __call__(self, Y: Rows) -> sparse.csr_array:
        vertex = self.weights.graph.find(Y)
        known = np.flatnonzero(vertex >= 0)
        pick = sparse.csr_array(
            (np.ones(len(known)), (known, vertex[known])), shape=(len(vertex), self.inner.shape[0])
        )
        return sparse.csr_array((self.c - 1.0) * self.weights(Y) + pick @ self.inner)
