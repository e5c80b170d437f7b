"""Kernels that extend a Gram matrix by local reconstruction weights (locally linear embedding)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.sparse_distances import reassemble

#: Batches of local problems of about this size: they stay in the cache, and there are enough for every core.
_BATCH_BYTES = 4 * 2**20


def barycentric_weights(
    Y: np.ndarray, X: np.ndarray, neighbors: sparse.csr_array, reg: float, n_jobs: int | None = None
) -> sparse.csr_array:
    """Weights (n_new, m) that best reconstruct each row of ``Y`` from its neighbours and sum to one.

    The local Gram matrix gets ``reg / k`` of its trace on the diagonal (Bengio sec. 2.6). ``neighbors`` says
    by its pattern which rows of ``X`` may be used."""
    values = np.empty(neighbors.nnz)

    def solve(rows: np.ndarray, columns: np.ndarray) -> None:
        weights = local_weights(X[columns] - Y[rows][:, None, :], reg)
        values[neighbors.indptr[rows][:, None] + np.arange(columns.shape[1])] = weights

    over_neighborhoods(solve, neighbors, X.shape[1], n_jobs)
    return sparse.csr_array((values, neighbors.indices, neighbors.indptr), shape=neighbors.shape)


def local_weights(spread: np.ndarray, reg: float) -> np.ndarray:
    """Weights (b, k) from the differences (b, k, d) of a point's neighbours and itself."""
    b, k, _ = spread.shape
    gram = spread @ spread.transpose(0, 2, 1)  # (b, k, k)
    trace = np.trace(gram, axis1=1, axis2=2)
    ridge = np.where(trace > 0, reg * trace / k, 1.0)
    gram[:, np.arange(k), np.arange(k)] += np.maximum(ridge, 1e-14 * np.maximum(trace, 1e-300))[:, None]
    weights = np.linalg.solve(gram, np.ones((b, k, 1)))[..., 0]
    return weights / weights.sum(axis=1, keepdims=True)


def over_neighborhoods(
    work: Callable[[np.ndarray, np.ndarray], Any],
    neighbors: sparse.csr_array,
    n_features: int,
    n_jobs: int | None,
) -> list[Any]:
    """Results of ``work(rows, columns)`` for batches of rows (b,) with equally many neighbours (b, k), on
    several cores."""
    counts = np.diff(neighbors.indptr)
    batches = []
    for k in np.unique(counts[counts > 0]):
        alike = np.flatnonzero(counts == k)
        batches += [
            alike[block] for block in row_blocks(len(alike), 8 * k * (3 * n_features + 3 * k), _BATCH_BYTES)
        ]

    with stage("local solves", total=sum(map(len, batches))) as advance:

        def one(rows: np.ndarray) -> Any:
            k = neighbors.indptr[rows[0] + 1] - neighbors.indptr[rows[0]]
            result = work(rows, neighbors.indices[neighbors.indptr[rows][:, None] + np.arange(k)])
            advance(len(rows))
            return result

        return joblib.Parallel(n_jobs=n_jobs, prefer="threads")(joblib.delayed(one)(rows) for rows in batches)


@dataclass(frozen=True, eq=False)
class LocalWeights:
    """``w(x, x_i)``: how a point is made of its neighbours; a point equal to a vertex is made of that vertex
    alone."""

    graph: NeighborGraph
    reg: float
    n_jobs: int | None = None

    __repr__ = short_repr

    def __call__(self, Y: Any) -> sparse.csr_array:
        vertex = self.graph.vertices.find(Y)
        known, new = np.flatnonzero(vertex >= 0), np.flatnonzero(vertex < 0)
        own = sparse.csr_array(
            (np.ones(len(known)), vertex[known], np.arange(len(known) + 1)),
            shape=(len(known), self.graph.n_vertices),
        )
        if len(new) == 0:
            return own
        fresh = np.asarray(Y[new], dtype=np.float64)
        points = np.asarray(self.graph.vertices.X, dtype=np.float64)
        return reassemble(
            [
                (known, own),
                (
                    new,
                    barycentric_weights(fresh, points, self.graph.neighbors_of(fresh), self.reg, self.n_jobs),
                ),
            ]
        )


@dataclass(frozen=True, eq=False)
class ExtendedKernel:
    """``k(x, .) = sum_i w(x, x_i) K_i.``: a Gram matrix carried to new points by their local weights.

    On training points it is ``K`` itself. Its Nystrom formula reads ``f_r(x) = sum_i w(x, x_i) f_r(x_i)``,
    which is what Bengio's LLE kernel tends to as ``c`` grows (sec. 3.1)."""

    weights: LocalWeights
    gram: sparse.csr_array  # (m, m)

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.weights.graph.vertices.X

    def __call__(self, Y: Any) -> sparse.csr_array:
        return sparse.csr_array(self.weights(Y) @ self.gram)


@dataclass(frozen=True, eq=False)
class FiniteLocalKernel:
    """``k_m = (c - 1) k' + k''`` with ``k'`` the local weights and ``k''`` known on training points only
    (Bengio sec. 2.6)."""

    weights: LocalWeights
    inner: sparse.csr_array  # (m, m), k'' = I - M
    c: float

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.weights.graph.vertices.X

    def __call__(self, Y: Any) -> sparse.csr_array:
        vertex = self.weights.graph.vertices.find(Y)
        known = np.flatnonzero(vertex >= 0)
        pick = sparse.csr_array(
            (np.ones(len(known)), (known, vertex[known])), shape=(len(vertex), self.inner.shape[0])
        )
        return sparse.csr_array((self.c - 1.0) * self.weights(Y) + pick @ self.inner)
