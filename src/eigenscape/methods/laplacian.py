"""Laplacian eigenmaps (Bengio sec. 2.4; Belkin sec. 2) and the map of spectral clustering (sec. 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape.eigenfunctions import Eigenfunctions, Embedding
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.normalize import DividedKernel, divide
from eigenscape.operators import ComplementOperator, DividedOperator, Operator, gram, materialized
from eigenscape.solvers import EigenPairs, SemidefiniteProblem, SolverConfig, principal, smallest

#: Eigenvalues below this are rounding errors of zero.
ZERO = 1e-9


def laplacian_eigenmaps(
    affinity: BoundKernel,
    n_components: int,
    solver: SolverConfig,
    *,
    diagonal: bool = True,
    weights: Operator | None = None,
) -> Embedding:
    """Return the solutions of ``(S - K) z = sigma S z`` with the smallest nonzero ``sigma``.

    These are Bengio eq. 13 and Belkin eq. 1. With ``v = S^1/2 z`` they are the principal eigenvectors of the
    divided kernel, ``l = 1 - sigma``; coordinates are ``sqrt(m) z`` with ``z' S z = 1``.

    Parameters
    ----------
    affinity : BoundKernel
    n_components : int
        Maximum number of coordinates; see :func:`require_eigenfunctions`.
    solver : SolverConfig
    diagonal : bool
        Whether the similarity of a point to itself contributes to its degree (Bengio footnote 3).
    weights : Operator, optional
        Gram matrix of ``affinity``, if it has been computed.
    """
    count = min(n_components, n_points(affinity.X) - 1)
    functions = divided_eigenfunctions(affinity, count, solver, diagonal, weights)
    kernel = functions.kernel
    assert isinstance(kernel, DividedKernel)
    scale = GeneralizedScale(float(kernel.sums.mean()), None if kernel.rows is None else kernel)
    return Embedding(functions, scale, trivial=1)


def spectral_map(
    affinity: BoundKernel,
    n_components: int,
    solver: SolverConfig,
    *,
    diagonal: bool = True,
    weights: Operator | None = None,
) -> Embedding:
    """Return the first ``n_components`` eigenfunctions of the divided kernel, rows scaled to length one.

    This is the map of spectral clustering (Bengio sec. 2.3). Parameters as for :func:`laplacian_eigenmaps`.
    """
    return Embedding(
        divided_eigenfunctions(affinity, n_components - 1, solver, diagonal, weights), UnitRows()
    )


def divided_eigenfunctions(
    affinity: BoundKernel,
    count: int,
    solver: SolverConfig,
    diagonal: bool = True,
    weights: Operator | None = None,
) -> Eigenfunctions:
    """Return the trivial eigenfunction of the divided kernel and at most ``count`` further ones.

    Eigenvalues of zero are left out: they have no function beyond the training points (Bengio prop. 1)."""
    weights = gram(affinity, n_jobs=solver.n_jobs) if weights is None else weights
    diagonal = diagonal or not weights.diagonal().any()  # graph affinities have no diagonal
    kernel = divide(affinity, weights, diagonal)  # Bengio eq. 11, 12; footnote 3 without the diagonal
    operator = DividedOperator(weights, kernel.sums)
    if diagonal:
        trivial = np.sqrt(kernel.sums / kernel.sums.sum())
        problem = SemidefiniteProblem(materialized(ComplementOperator(operator)), trivial, 2.0)
        pairs = next_to_trivial(problem, count, solver)
    else:
        pairs = principal(operator, count + 1, "value", solver)
    return Eigenfunctions(kernel, pairs.take(np.flatnonzero(np.abs(pairs.values) > ZERO)))


def require_eigenfunctions(embedding: Embedding, n_components: int) -> Embedding:
    """Return ``embedding`` if it has ``n_components`` coordinates, else raise RankError."""
    if len(embedding.eigenvalues) < n_components:
        raise RankError(
            "an eigenvalue of the divided kernel is zero, so its eigenfunction cannot be extended to new"
            " points; use fewer neighbours (the graph is almost complete), lower n_components, or use"
            " another affinity"
        )
    return embedding


def next_to_trivial(
    problem: SemidefiniteProblem, count: int, solver: SolverConfig, c: float = 1.0
) -> EigenPairs:
    """Return the trivial pair of ``K = c I - A``, then those of the smallest eigenvalues of ``A``."""
    if count == 0:
        pairs = EigenPairs(np.empty(0), np.empty((len(problem.null), 0)), np.empty(0), "known")
    else:
        pairs = smallest(problem, count, solver)
    rest = float(np.linalg.norm(problem.operator.matmat(problem.null[:, None])))
    return EigenPairs(
        np.concatenate([[c], c - pairs.values]),
        np.column_stack([problem.null, pairs.vectors]),
        np.concatenate([[rest], pairs.residuals]),
        pairs.solver,
        pairs.n_iter,
    )


@dataclass(frozen=True, eq=False)
class GeneralizedScale:
    """``v_r(x) / sqrt(S(x))``: from the symmetric problem back to Bengio eq. 13.

    The trivial eigenfunction is ``sqrt(S(x))`` up to a factor and provides the degrees of new points. If it
    is not (sums without the diagonal), they are computed from ``kernel``."""

    mean_sum: float  # mean of S over the training points
    kernel: DividedKernel | None = None

    def __call__(self, values: np.ndarray, Y: Any) -> np.ndarray:
        if self.kernel is None:
            root = values[:, :1] * np.sqrt(self.mean_sum)
        else:
            root = np.sqrt(np.maximum(self.kernel.degrees(Y), 0.0))[:, None]
        return np.divide(values[:, 1:], root, out=np.zeros_like(values[:, 1:]), where=root > 0)


@dataclass(frozen=True)
class UnitRows:
    """Scale rows to length one; a zero row stays zero."""

    def __call__(self, values: np.ndarray, Y: Any) -> np.ndarray:
        length = np.linalg.norm(values, axis=1, keepdims=True)
        return np.divide(values, length, out=np.zeros_like(values), where=length > 0)
