"""The small end of a positive semi-definite spectrum, next to a known null vector: four ways to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from eigenscape.kernels.base import Matrix
from eigenscape.operators import Operator, SparseOperator
from eigenscape.solvers.config import SolverConfig
from eigenscape.solvers.direct import dense_eigh, inverse_by_root, inverse_on_complement
from eigenscape.solvers.krylov import DENSE_BLOCKS, SPARSE_BLOCKS, KrylovOptions, Product, block_krylov
from eigenscape.solvers.multilevel import Hierarchy

#: Block steps granted with a preconditioner.
_PRECONDITIONED = 80


@dataclass(frozen=True, eq=False)
class SemidefiniteProblem:
    """A positive semi-definite operator ``A``, its unit ``null`` vector, and a ``bound`` at least as large as
    its eigenvalues.

    ``factor`` is a matrix ``F`` with ``A = F'F`` if there is one: ``|F v|^2`` resolves eigenvalues that ``v'A
    v`` cannot. ``laplacian``: whether ``A`` is a graph Laplacian, for which the multilevel method is made.
    """

    operator: Operator
    null: np.ndarray
    bound: float
    factor: sparse.csr_array | None = None
    laplacian: bool = True

    @property
    def n_points(self) -> int:
        return len(self.null)

    def ritz(self, vectors: np.ndarray) -> np.ndarray:
        """``V'A V``."""
        if self.factor is None:
            return vectors.T @ self.operator.matmat(vectors)
        image = self.factor @ vectors
        return image.T @ image

    def shifted(self, V: np.ndarray) -> np.ndarray:
        """``(bound - A) V``: the smallest eigenvalues become the largest."""
        return self.bound * V - self.operator.matmat(V)


class SolverResult(NamedTuple):
    """Eigenvalues in ascending order, vectors, the rung that result them, its steps, and whether it thinks
    them good."""

    values: np.ndarray
    vectors: np.ndarray
    solver: str
    n_iter: int = 1
    converged: bool = True


def solve_lapack(problem: SemidefiniteProblem, matrix: Matrix, count: int) -> SolverResult:
    """All at once; the null vector is moved out of the way."""
    lifted = as_dense(matrix) + 2 * problem.bound * np.outer(problem.null, problem.null)
    return SolverResult(*dense_eigh(lifted, count, "smallest"), "dense")


def solve_krylov(
    problem: SemidefiniteProblem, count: int, solver: SolverConfig, steps: int, patience: int = 1000
) -> SolverResult:
    """Block Krylov on ``bound - A``, judged by the small eigenvalue. The last pair only has to show that it
    is another."""
    blocks = SPARSE_BLOCKS if problem.operator.storage == "sparse" else DENSE_BLOCKS
    options = KrylovOptions(
        tol=solver.tol / 2,
        max_iter=steps,
        seed=solver.seed,
        origin=problem.bound,
        patience=patience,
        blocks=blocks,
    )
    result = block_krylov(
        problem.shifted,
        problem.n_points,
        count,
        options,
        wanted=max(count - 1, 1),
        known=problem.null[:, None],
    )
    return SolverResult(
        problem.bound - result.values, result.vectors, "lanczos", result.steps, result.converged
    )


def solve_multilevel(
    problem: SemidefiniteProblem, matrix: sparse.csr_array, count: int, solver: SolverConfig, thin: bool
) -> SolverResult:
    """Preconditioned by a multilevel cycle, with a first guess from the coarsest level.

    The points are renumbered first, so that neighbours are near in memory.
    """
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    matrix = sparse.csr_array(matrix[order][:, order])
    matrix.sort_indices()
    renumbered = SemidefiniteProblem(
        SparseOperator(matrix, solver.n_jobs), problem.null[order], problem.bound
    )
    hierarchy = Hierarchy(matrix, renumbered.null, solver.seed, thin, solver.n_jobs)
    result = _preconditioned(renumbered, count, solver, hierarchy.cycle, hierarchy.guess(count), "multilevel")
    vectors = np.empty_like(result.vectors)
    vectors[order] = result.vectors
    return result._replace(vectors=vectors)


def solve_shift_invert(
    problem: SemidefiniteProblem, matrix: sparse.csr_array, count: int, solver: SolverConfig, thin: bool
) -> SolverResult:
    """Preconditioned by the factorised matrix, with a first guess from three inverse steps."""
    guess = np.random.default_rng(solver.seed).standard_normal(
        (problem.n_points, min(count + 2, problem.n_points - 1))
    )
    inverse, guess = _inverse_steps(problem, matrix, thin, guess)
    return _preconditioned(problem, count, solver, inverse, guess, "shift-invert")


def _inverse_steps(
    problem: SemidefiniteProblem, matrix: sparse.csr_array, thin: bool, guess: np.ndarray
) -> tuple[Product, np.ndarray]:
    """The inverse, and ``guess`` after three steps with it.

    Two cheaper inverses propose directions as well as that of the matrix in double precision, unless the Ritz
    values of the guess say otherwise: the root of a thin matrix, unless a second null vector (points on an
    exact plane) drowns all others in its rounding; and a dense factor in single precision, at half the time
    and memory, unless the smallest eigenvalue is hidden by its rounding."""

    def steps(inverse: Product) -> tuple[Product, np.ndarray]:
        V = guess
        for _ in range(3):
            V, _ = np.linalg.qr(inverse(V))
        return inverse, V

    if thin and problem.factor is not None and problem.factor.shape[0] == problem.factor.shape[1]:
        cheap = steps(inverse_by_root(problem.factor, problem.null))
        ritz = np.linalg.eigvalsh(problem.ritz(cheap[1]))
        if ritz[0] > 1e3 * np.finfo(np.float64).eps * ritz[-1]:
            return cheap
        del cheap
    elif not thin:
        cheap = steps(inverse_on_complement(matrix, problem.null, thin, np.float32))
        if np.linalg.eigvalsh(problem.ritz(cheap[1]))[0] > 8 * np.finfo(np.float32).eps * problem.bound:
            return cheap
        del cheap
    return steps(inverse_on_complement(matrix, problem.null, thin))


def _preconditioned(
    problem: SemidefiniteProblem,
    count: int,
    solver: SolverConfig,
    precondition: Product,
    guess: np.ndarray,
    name: str,
) -> SolverResult:
    """Block Krylov on ``bound - A`` until the residuals are small or no longer shrink, then Rayleigh-Ritz
    with the factor.

    An inverse known to few digits does no harm here: it only proposes directions, and the products are with
    ``A``."""
    steps = solver.steps(_PRECONDITIONED)
    options = KrylovOptions(
        tol=solver.tol / 2,
        max_iter=steps,
        seed=solver.seed,
        origin=problem.bound,
        guard=0,
        patience=6,
        blocks=3,
    )
    result = block_krylov(
        problem.shifted,
        problem.n_points,
        guess.shape[1],
        options,
        wanted=max(count - 1, 1),  # the last one only has to show that it is another
        known=problem.null[:, None],
        start=guess,
        precondition=precondition,
    )
    values, turn = np.linalg.eigh(problem.ritz(result.vectors))
    return SolverResult(
        values[:count], (result.vectors @ turn)[:, :count], name, result.steps, result.converged
    )


def as_dense(matrix: Matrix) -> np.ndarray:
    """The matrix as a dense array."""
    return np.asarray(matrix.todense()) if sparse.issparse(matrix) else matrix
