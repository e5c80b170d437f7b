"""Kernels that extend a Gram matrix to new points by local reconstruction weights (LLE)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._threads import parallel_map
from eigenscape._typing import Rows
from eigenscape._warnings import warn
from eigenscape.exceptions import IsolatedPointWarning, UndefinedKernelError
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.sparse_distances import reassemble
from eigenscape.kernels.base import Columns
from eigenscape.kernels.local_gram import LocalGram

#: Size of a batch of local problems: small enough for the cache, and for enough batches for all threads.
_BATCH_BYTES = 4 * 2**20
T = TypeVar("T")
_NOT_DEFINED = (
    "the kernel of locally linear embedding has no information on pairs of new points: it is zero between"
    " them by definition (Bengio sec. 2.6), so its error would measure the size of the eigenfunctions only;"
    " use loss() of the training points, or quality.perturbation_stability for new points"
)


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
    """Reconstruction weights ``w(x, x_i)`` of a point; a point equal to a vertex has weight 1 there."""

    _shapes: ClassVar = {"graph.vertices.X": "n ...", "gram.X": "n ..."}
    graph: NeighborGraph
    gram: LocalGram
    reg: float
    n_jobs: int | None = None

    __repr__ = short_repr

    def __call__(self, Y: Rows) -> sparse.csr_array:
        vertex = self.graph.vertices.find(Y)
        known, new = np.flatnonzero(vertex >= 0), np.flatnonzero(vertex < 0)
        if len(known) == 0:
            return self._of_new(Y)
        to_itself = sparse.csr_array(
            (np.ones(len(known)), vertex[known], np.arange(len(known) + 1)),
            shape=(len(known), self.graph.n_vertices),
        )
        if len(new) == 0:
            return to_itself
        return reassemble([(known, to_itself), (new, self._of_new(Y[new]))])

    def _of_new(self, Y: Rows) -> sparse.csr_array:
        """Return the weights of points that are not vertices."""
        fresh = Y.astype(np.float64)
        neighbors = self.graph.neighbors_of(fresh)
        _warn_without_neighbors(int((np.diff(neighbors.indptr) == 0).sum()))
        return barycentric_weights(self.gram, neighbors, self.reg, self.n_jobs, fresh)


def _warn_without_neighbors(count: int) -> None:
    """Warn about new points without neighbours, which exist if distances are a sparse matrix."""
    if count:
        warn(
            f"{count} new point(s) have no stored distance to a training point and are placed at the origin",
            IsolatedPointWarning,
        )


@dataclass(frozen=True, eq=False)
class ExtendedKernel:
    """``k(x, .) = sum_i w(x, x_i) K_i.``: a Gram matrix extended to new points by their local weights.

    On training points it equals ``K``. Its Nystrom formula is ``f_r(x) = sum_i w(x, x_i) f_r(x_i)``, the
    limit of Bengio's LLE kernel for large ``c`` (sec. 3.1).
    """

    _shapes: ClassVar = {"weights.graph.vertices.X": "n ...", "gram": "n n"}
    weights: LocalWeights
    gram: sparse.csr_array  # (m, m)

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.weights.graph.vertices.X

    def __call__(self, Y: Rows) -> sparse.csr_array:
        return sparse.csr_array(self.weights(Y) @ self.gram)

    def to(self, Z: Rows) -> Columns:
        raise UndefinedKernelError(_NOT_DEFINED)


@dataclass(frozen=True, eq=False)
class FiniteLocalKernel:
    """``k_m = (c - 1) k' + k''`` (Bengio sec. 2.6).

    ``k'`` are the local weights, and ``k''`` is defined on training points only.
    """

    _shapes: ClassVar = {"weights.graph.vertices.X": "n ...", "inner": "n n"}
    weights: LocalWeights
    inner: sparse.csr_array  # (m, m), k'' = I - M
    c: float

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.weights.graph.vertices.X

    def __call__(self, Y: Rows) -> sparse.csr_array:
        vertex = self.weights.graph.vertices.find(Y)
        known = np.flatnonzero(vertex >= 0)
        pick = sparse.csr_array(
            (np.ones(len(known)), (known, vertex[known])), shape=(len(vertex), self.inner.shape[0])
        )
        return sparse.csr_array((self.c - 1.0) * self.weights(Y) + pick @ self.inner)

    def to(self, Z: Rows) -> Columns:
        raise UndefinedKernelError(_NOT_DEFINED)
