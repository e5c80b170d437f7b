"""Multilevel preconditioning for graph matrices that are too large or too wide to factorise.

Smoothed aggregation: a coarse vertex represents a group of fine ones, the interpolation is piecewise a
multiple of the null vector (which it therefore reproduces exactly) followed by one Jacobi step, and the
coarse matrix is ``P' A P``. The coarsest level is factorised. One V-cycle is the preconditioner of the block
Krylov iteration, and the interpolated eigenvectors of the coarsest level are its starting vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from eigenscape._progress import stage
from eigenscape.operators.product import sparse_product
from eigenscape.solvers.direct import inverse_on_complement

#: Size of the coarsest level, whose factorisation is cheap: sparse for thin graphs, dense for wide ones.
COARSEST_THIN, COARSEST_WIDE = 8_000, 3_000
_MOST_LEVELS, _FEWEST = 12, 50


@dataclass(frozen=True, eq=False)
class Level:
    """One level of the hierarchy."""

    A: sparse.csr_array
    inverse_diagonal: np.ndarray  # with the damping factor of the Jacobi step
    P: sparse.csr_array  # interpolation from the next, coarser level
    R: sparse.csr_array  # restriction, the transpose of P


class Hierarchy:
    """Multilevel hierarchy of a positive semi-definite sparse matrix ``A`` with null vector ``null``."""

    def __init__(
        self, A: sparse.csr_array, null: np.ndarray, seed: int, thin: bool, n_jobs: int | None = None
    ) -> None:
        self.n_jobs = n_jobs
        coarsest = COARSEST_THIN if thin else COARSEST_WIDE
        self.levels: list[Level] = []
        rng = np.random.default_rng(seed)
        with stage("coarsening"):
            while A.shape[0] > coarsest and len(self.levels) < _MOST_LEVELS:
                group = aggregate(A, rng)
                if not _FEWEST < group.max() + 1 < 0.8 * A.shape[0]:
                    break
                P, coarse_null = _interpolation(A, null, group)
                R = sparse.csr_array(P.T)
                self.levels.append(_single_precision(A, P, R))
                A = sparse.csr_array(R @ (A @ P))
                A.sort_indices()
                null = coarse_null
        self.coarse, self.coarse_null = A, null
        self._coarse_inverse = inverse_on_complement(
            A, null / np.linalg.norm(null), thin or A.shape[0] > 4 * COARSEST_WIDE
        )

    def starting_vectors(self, count: int) -> np.ndarray:
        """Approximate the lowest eigenvectors (m, count) by those of the coarsest level.

        ``A_c y = l M_c y`` with ``M_c = P' P``.
        """
        V = self._coarse_eigenvectors(count)
        for level in reversed(self.levels):
            V = level.P @ V
        return V.astype(np.float64)

    def _coarse_eigenvectors(self, count: int) -> np.ndarray:
        """Compute eigenvectors of the coarsest level by subspace iteration with its factorisation."""
        P = sparse.eye_array(self.coarse.shape[0], format="csr")
        for level in reversed(self.levels):
            P = level.P @ P
        mass = sparse.csr_array(P.T @ P).astype(np.float64)
        V = np.random.default_rng(0).standard_normal(
            (self.coarse.shape[0], min(count + 4, self.coarse.shape[0] - 1))
        )
        for _ in range(5):
            V, _ = np.linalg.qr(self._coarse_inverse(np.asarray(mass @ V)))
            _, rotation = linalg.eigh(V.T @ (self.coarse @ V), V.T @ np.asarray(mass @ V))
            V = V @ rotation
        return V[:, :count]

    def cycle(self, B: np.ndarray) -> np.ndarray:
        """Apply one V-cycle for ``A X = B``, in single precision, which suffices for a preconditioner."""
        scale = np.maximum(np.linalg.norm(B, axis=0), np.finfo(np.float64).tiny)
        return self._cycle((B / scale).astype(np.float32), 0).astype(np.float64)

    def _cycle(self, B: np.ndarray, depth: int) -> np.ndarray:
        if depth == len(self.levels):
            return self._coarse_inverse(B.astype(np.float64)).astype(np.float32)
        level = self.levels[depth]
        step = level.inverse_diagonal[:, None]
        X = step * B
        residual = B - sparse_product(level.A, X, self.n_jobs)
        X += sparse_product(
            level.P, self._cycle(sparse_product(level.R, residual, self.n_jobs), depth + 1), self.n_jobs
        )
        X += step * (B - sparse_product(level.A, X, self.n_jobs))
        return X


def aggregate(A: sparse.csr_array, rng: np.random.Generator) -> np.ndarray:
    """Partition the vertices into groups of neighbours; return the group of each vertex.

    The roots of the groups are a maximal independent set, chosen by random priority in a few rounds; every
    other vertex joins one of its neighbouring roots.
    """
    m = A.shape[0]
    start, column = A.indptr[:-1], A.indices
    priority = rng.permutation(m).astype(np.int32) + 1
    value = priority.copy()  # 0 once decided
    root = np.zeros(m, dtype=bool)
    while value.any():
        chosen = (value > 0) & (_neighbor_max(value, start, column) == value)
        root |= chosen
        value[_neighbor_max(chosen.astype(np.int32), start, column) > 0] = 0
    group = np.where(root, np.cumsum(root, dtype=np.int32), 0)
    return np.where(root, group, _neighbor_max(group, start, column)) - 1


def _neighbor_max(values: np.ndarray, start: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Compute the largest value among the neighbours of each vertex, the vertex itself included."""
    return np.maximum.reduceat(values[column], start)


def _interpolation(
    A: sparse.csr_array, null: np.ndarray, group: np.ndarray
) -> tuple[sparse.csr_array, np.ndarray]:
    """Compute the smoothed interpolation ``P`` (fine, coarse) with ``P @ coarse_null == null``."""
    m = A.shape[0]
    size = np.sqrt(np.bincount(group, weights=null**2))
    piecewise = sparse.csr_array((null / size[group], (np.arange(m), group)), shape=(m, len(size)))
    damping = sparse.diags_array(_damped_inverse(A))
    return sparse.csr_array(piecewise - damping @ (A @ piecewise)), size


def _damped_inverse(A: sparse.csr_array) -> np.ndarray:
    """Compute ``omega / diagonal``, ``omega`` being 4/3 over a bound of the eigenvalues of ``D^-1 A``."""
    diagonal = A.diagonal()
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    x = np.random.default_rng(0).standard_normal(len(inverse))
    for _ in range(8):  # power iteration, whose estimate is raised by a tenth below
        x = inverse * (A @ (x / np.linalg.norm(x)))
    return inverse * (4 / 3) / (1.1 * np.linalg.norm(x))


def _single_precision(A: sparse.csr_array, P: sparse.csr_array, R: sparse.csr_array) -> Level:
    return Level(
        A.astype(np.float32),
        _damped_inverse(A).astype(np.float32),
        P.astype(np.float32),
        R.astype(np.float32),
    )
