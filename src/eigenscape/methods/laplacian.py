"""Laplacian eigenmaps (Bengio sec. 2.4; Belkin sec. 2) and the map of spectral clustering (sec. 2.3).

See docs/decisions/methods-laplacian.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.eigenfunctions import Eigenfunctions, Embedding, measured_eigenfunctions
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import BoundKernel, n_points, training_index
from eigenscape.normalize import DividedKernel, divide, inverse_power, scale_sides
from eigenscape.operators import ComplementOperator, Operator, SparseOperator, divided, gram
from eigenscape.solvers import EigenPairs, SemidefiniteProblem, SolverConfig, principal, smallest

#: Eigenvalues below this are rounding errors of zero.
ZERO = 1e-9


def laplacian_eigenmaps(
    affinity: BoundKernel,
    n_components: int,
    solver: SolverConfig,
    *,
    diagonal: bool = True,
    operator: Operator | None = None,
    measure: np.ndarray | None = None,
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
    operator : Operator, optional
        Gram matrix of ``affinity``, if it has been computed.
    measure : ndarray of shape (m,), optional
        Weights of the points in the empirical measure: ``S`` are the weighted sums, and the graph has the
        edge weights ``w_i K_ij w_j``.
    """
    count = min(n_components, n_points(affinity.X) - 1)
    functions = divided_eigenfunctions(affinity, count, solver, diagonal, operator, measure)
    kernel = functions.kernel
    assert isinstance(kernel, DividedKernel)
    scale = GeneralizedScale(kernel.mean_sum, None if kernel.rows is None else kernel)
    return Embedding(functions, scale, trivial=1)


def spectral_map(
    affinity: BoundKernel,
    n_components: int,
    solver: SolverConfig,
    *,
    diagonal: bool = True,
    operator: Operator | None = None,
    measure: np.ndarray | None = None,
) -> Embedding:
    """Return the first ``n_components`` eigenfunctions of the divided kernel, rows scaled to length one.

    This is the map of spectral clustering (Bengio sec. 2.3). Parameters as for :func:`laplacian_eigenmaps`.
    """
    return Embedding(
        divided_eigenfunctions(affinity, n_components - 1, solver, diagonal, operator, measure), UnitRows()
    )


def divided_eigenfunctions(
    affinity: BoundKernel,
    count: int,
    solver: SolverConfig,
    diagonal: bool = True,
    operator: Operator | None = None,
    measure: np.ndarray | None = None,
) -> Eigenfunctions:
    """Return the trivial eigenfunction of the divided kernel and at most ``count`` further ones.

    An eigenvalue of zero is a solution on the training points without a Nyström formula (Bengio prop. 1).
    Graphs have such eigenvalues, trees for example, and new points then take the average of their neighbours,
    which minimises Belkin's sum for that point. Zero eigenvalues of other kernels, and of graphs that are
    given without points, are left out: they are rounding errors, or their points cannot be recognised."""
    operator = gram(affinity, n_jobs=solver.n_jobs) if operator is None else operator
    is_graph = not operator.diagonal().any()  # graph affinities have no diagonal
    diagonal = diagonal or is_graph
    # Bengio eq. 11, 12; footnote 3 without the diagonal
    kernel = divide(affinity, operator, diagonal, weights=measure)
    points = np.ones(len(kernel.sums)) if measure is None else measure
    if diagonal:
        trivial = np.sqrt(points * kernel.sums / (points @ kernel.sums))
        problem = SemidefiniteProblem(normalized_laplacian(operator, kernel.sums / points), trivial, 2.0)
        pairs = next_to_trivial(problem, count, solver)
    else:
        pairs = principal(divided(operator, kernel.sums / points), count + 1, "value", solver)
    zero = np.abs(pairs.values) <= ZERO
    if zero.any() and is_graph and _points_are_recognized(kernel):
        pairs = replace(pairs, values=np.where(zero, 0.0, pairs.values))
        return measured_eigenfunctions(kernel, pairs, measure)
    kept = pairs.take(np.flatnonzero(~zero)) if zero.any() else pairs
    return measured_eigenfunctions(kernel, kept, measure)


def normalized_laplacian(operator: Operator, sums: np.ndarray) -> Operator:
    """Return ``I - S^-1/2 K S^-1/2`` for the operator ``K``; its matrix is stored if ``K`` is sparse."""
    if operator.storage != "sparse":
        return ComplementOperator(divided(operator, sums))
    root = inverse_power(sums)
    matrix = scale_sides(operator.matrix(), root, root)
    return SparseOperator(sparse.csr_array(sparse.eye_array(len(sums), format="csr") - matrix))


def _points_are_recognized(kernel: BoundKernel) -> bool:
    """Return whether the training points can be told apart: rows of given affinities may be equal."""
    return np.array_equal(training_index(kernel).find(kernel.X), np.arange(n_points(kernel.X)))


def require_eigenfunctions(embedding: Embedding, n_components: int, nonzero: bool = False) -> Embedding:
    """Return ``embedding`` if it has ``n_components`` (nonzero) eigenvalues, else raise RankError."""
    values = embedding.eigenvalues
    found = int(np.count_nonzero(values)) if nonzero else len(values)
    if found < n_components:
        raise RankError(
            f"n_components={n_components}, but {n_components - found} of the first eigenvalues of the divided"
            " affinity are zero, so their eigenvectors cannot be extended to new points; lower n_components,"
            " change the number of neighbours, or use another affinity or a narrower kernel (larger gamma)"
        )
    return embedding


def next_to_trivial(
    problem: SemidefiniteProblem, count: int, solver: SolverConfig, c: float = 1.0
) -> EigenPairs:
    """Return the trivial pair of ``K = c I - A``, then the pairs of the smallest eigenvalues of ``A``."""
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
        root = self._root_degrees(values, Y)
        return np.divide(values[:, 1:], root, out=np.zeros_like(values[:, 1:]), where=root > 0)

    def invert(self, coordinates: np.ndarray, values: np.ndarray, Y: Any) -> np.ndarray:
        return coordinates * np.maximum(self._root_degrees(values, Y), 0.0)

    def _root_degrees(self, values: np.ndarray, Y: Any) -> np.ndarray:
        if self.kernel is None:
            return values[:, :1] * np.sqrt(self.mean_sum)
        return np.sqrt(np.maximum(self.kernel.degrees(Y), 0.0))[:, None]


@dataclass(frozen=True)
class UnitRows:
    """Scale rows to length one; a zero row stays zero."""

    def __call__(self, values: np.ndarray, Y: Any) -> np.ndarray:
        length = np.linalg.norm(values, axis=1, keepdims=True)
        return np.divide(values, length, out=np.zeros_like(values), where=length > 0)
