"""Laplacian eigenmaps (Bengio sec. 2.4; Belkin sec. 2) and the normalised map of spectral clustering (Bengio
sec. 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape.eigenfunctions import Eigenfunctions, Embedding
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.methods.independence import Independence
from eigenscape.normalize import DividedKernel, divide
from eigenscape.operators import ComplementOperator, DividedOperator, Operator, gram, materialized
from eigenscape.solvers import EigenPairs, SemidefiniteProblem, SolverConfig, principal, smallest

#: Eigenvalues below this are rounding; one cannot divide by them.
ZERO = 1e-9


def laplacian_eigenmaps(
    affinity: BoundKernel,
    n_components: int,
    solver: SolverConfig,
    *,
    diagonal: bool = True,
    weights: Operator | None = None,
    fewer: bool = False,
) -> Embedding:
    """Solutions of ``(S - K) z = sigma S z`` with the smallest nonzero ``sigma`` (Bengio eq. 13, Belkin eq.
    1).

    With ``v = S^1/2 z`` they are the principal eigenvectors of the divided kernel, ``l = 1 - sigma``;
    coordinates are ``sqrt(m) z`` with ``z' S z = 1``."""
    functions = divided_eigenfunctions(affinity, n_components, solver, diagonal, weights, fewer)
    kernel: DividedKernel = functions.kernel  # type: ignore[assignment]
    return Embedding(
        functions,
        GeneralizedScale(float(kernel.sums.mean()), None if kernel.rows is None else kernel),
        trivial=1,
    )


def independent_eigenmaps(
    affinity: BoundKernel,
    n_components: int,
    solver: SolverConfig,
    rule: Independence | None,
    *,
    diagonal: bool = True,
    weights: Operator | None = None,
    fewer: bool = False,
) -> Embedding:
    """Laplacian eigenmaps, those passed over that are functions of earlier ones if there is a ``rule`` for
    that."""
    n = n_points(affinity.X)
    count = min(n_components, n - 1)
    if rule is None:
        return laplacian_eigenmaps(affinity, count, solver, diagonal=diagonal, weights=weights, fewer=fewer)
    weights = gram(affinity, n_jobs=solver.n_jobs) if weights is None else weights
    # Candidates beyond those asked for may have an eigenvalue of zero, which is no reason to fail.
    return rule.choose(
        lambda more: laplacian_eigenmaps(
            affinity, more, solver, diagonal=diagonal, weights=weights, fewer=True
        ),
        count,
        n,
    )


def spectral_map(
    affinity: BoundKernel,
    n_components: int,
    solver: SolverConfig,
    *,
    diagonal: bool = True,
    weights: Operator | None = None,
    fewer: bool = False,
) -> Embedding:
    """The first ``n_components`` eigenfunctions of the divided kernel, each point's row scaled to length one
    (Bengio sec. 2.3)."""
    functions = divided_eigenfunctions(affinity, n_components - 1, solver, diagonal, weights, fewer)
    return Embedding(functions, UnitRows())


def divided_eigenfunctions(
    affinity: BoundKernel,
    count: int,
    solver: SolverConfig,
    diagonal: bool,
    weights: Operator | None = None,
    fewer: bool = False,
) -> Eigenfunctions:
    """The trivial eigenfunction of the divided kernel and the next ``count``; ``weights`` is its Gram matrix
    if at hand.

    An eigenvalue of zero has no function beyond the training points (Bengio prop. 1): an error, or with
    ``fewer`` left out. It takes an almost complete graph to have one so near the top."""
    weights = gram(affinity, n_jobs=solver.n_jobs) if weights is None else weights
    diagonal = diagonal or not weights.diagonal().any()  # graph affinities have none
    kernel = divide(affinity, weights, diagonal)  # Bengio eq. 11, 12; footnote 3 without the diagonal
    operator = DividedOperator(weights, kernel.sums)
    end = SemidefiniteProblem(
        materialized(ComplementOperator(operator)), np.sqrt(kernel.sums / kernel.sums.sum()), 2.0
    )
    pairs = (
        next_to_trivial(end, count, solver) if diagonal else principal(operator, count + 1, "value", solver)
    )
    nonzero = np.flatnonzero(np.abs(pairs.values) > ZERO)
    if len(nonzero) <= count and not fewer:
        raise RankError(
            "an eigenvalue of the divided kernel is zero, so its function cannot be carried to new points; use fewer neighbours (the"
            " graph is almost complete), lower n_components, or use another affinity"
        )
    return Eigenfunctions(kernel, pairs.take(nonzero))


def next_to_trivial(end: SemidefiniteProblem, count: int, solver: SolverConfig, c: float = 1.0) -> EigenPairs:
    """Pairs of ``K = c - A`` from the small end of ``A``, the known trivial one first."""
    if count == 0:
        found = EigenPairs(np.empty(0), np.empty((len(end.null), 0)), np.empty(0), "known")
    else:
        found = smallest(end, count, solver)
    rest = float(np.linalg.norm(end.operator.matmat(end.null[:, None])))
    return EigenPairs(
        np.concatenate([[c], c - found.values]),
        np.column_stack([end.null, found.vectors]),
        np.concatenate([[rest], found.residuals]),
        found.solver,
        found.n_iter,
    )


@dataclass(frozen=True, eq=False)
class GeneralizedScale:
    """``v_r(x) / sqrt(S(x))``: from the symmetric problem back to eq. 13.

    The trivial eigenfunction is ``sqrt(S(x))`` up to a factor, so the degrees of new points need no second
    look at the kernel; where it is not (sums without the diagonal) ``kernel`` gives them."""

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
    """Rows of length one; a zero row stays zero."""

    def __call__(self, values: np.ndarray, Y: Any) -> np.ndarray:
        length = np.linalg.norm(values, axis=1, keepdims=True)
        return np.divide(values, length, out=np.zeros_like(values), where=length > 0)
