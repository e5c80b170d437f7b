"""Smallest eigenvalues of a positive semi-definite operator with a known null vector: four solvers."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._threads import thread_team
from eigenscape._typing import Matrix, is_sparse
from eigenscape.operators import Operator, SparseOperator
from eigenscape.solvers.direct import RootInverse, dense_eigh, inverse_on_complement
from eigenscape.solvers.hierarchy import Hierarchy
from eigenscape.solvers.krylov import Product, block_krylov
from eigenscape.solvers.lanczos import smallest_beside, thick_restart_lanczos
from eigenscape.solvers.multilevel import multilevel_eigenvectors
from eigenscape.solvers.policy import SolverConfig
from eigenscape.solvers.width import breadth_first_order, reordered

_EPS = np.finfo(np.float64).eps
_TAKES_RNG = "rng" in signature(eigsh).parameters
#: Maximum number of block iterations with a preconditioner.
_PRECONDITIONED = 80
#: Eigenvalues below this share of the bound are computed from the edges, in blocks of this many.
_SMALL, _EDGES = 1e-7, 2**16
#: Vectors of the Lanczos iteration on an inverse, at least, its maximum number of restarts, and how often its
#: result is improved by inverse iteration.
_VECTORS, _INVERSE_RESTARTS, _POLISH = 20, 100, 4
#: Residuals of Lanczos iteration relative to the tolerance: they decrease fast in the end.
_ACCURACY = 1e-2


@dataclass(frozen=True, eq=False)
class SemidefiniteProblem:
    """Eigenproblem of a positive semi-definite operator ``A`` with a known null vector.

    Parameters
    ----------
    operator : Operator
        The operator ``A``.
    null : ndarray of shape (m,)
        Unit vector with ``A null = 0``.
    bound : float
        Upper bound of the eigenvalues of ``A``.
    factor : csr_array, optional
        A matrix ``F`` with ``A = F'F``. ``|F v|^2`` resolves eigenvalues that are lost to rounding in
        ``v'A v``.
    laplacian : bool, default=True
        Whether ``A`` is a graph Laplacian, for which the multilevel preconditioner is designed.
    """

    operator: Operator
    null: np.ndarray
    bound: float
    factor: sparse.csr_array | None = None
    laplacian: bool = True

    def ritz(self, vectors: np.ndarray) -> np.ndarray:
        """Compute ``V'A V``."""
        if self.factor is None:
            return vectors.T @ self.operator.matmat(vectors)
        image = self.factor @ vectors
        return image.T @ image

    def resolve(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute the Ritz values of orthonormal vectors, ascending, and the rotation to the Ritz vectors.

        Small eigenvalues of a sparse Laplacian belong to parts joined by few or weak edges, and are lost to
        rounding in ``v'A v``. The sum of squared differences over the edges has no cancellation.
        """
        values, rotation = np.linalg.eigh(self.ritz(vectors))
        few = int(np.count_nonzero(values < _SMALL * self.bound))
        matrix = self.operator.matrix() if self.laplacian and self.operator.storage == "sparse" else None
        if few == 0 or matrix is None:
            return values, rotation
        V = vectors @ rotation[:, :few]
        values[:few], inner = np.linalg.eigh(_sum_over_edges(sparse.coo_array(matrix), V, self.null))
        return values, np.column_stack([rotation[:, :few] @ inner, rotation[:, few:]])

    def floor(self, terms: float) -> float:
        """Return the largest eigenvalue that may be a rounding error, in products of ``terms`` terms."""
        return float(4 * _EPS * terms**0.5 * self.bound)

    def shifted(self, V: np.ndarray) -> np.ndarray:
        """Compute ``(bound - A) V``, whose largest eigenvalues belong to the smallest of ``A``."""
        return self.bound * V - self.operator.matmat(V)


def _sum_over_edges(A: sparse.coo_array, V: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Compute ``V'A V`` for ``A null = 0``: sums of ``-a_ij n_i n_j (f_i - f_j)^2`` with ``f = v / n``.

    No term is negative, so small eigenvalues are not lost by cancellation.
    """
    edge = (A.row < A.col) & (A.data < 0)
    i, j = A.row[edge], A.col[edge]
    root = np.sqrt(-A.data[edge] * null[i] * null[j])
    F = V / null[:, None]
    total = np.zeros((V.shape[1], V.shape[1]))
    for rows in row_blocks(len(i), 1, _EDGES):
        differences = (F[i[rows]] - F[j[rows]]) * root[rows, None]
        total += differences.T @ differences
    return total


class SolverResult(NamedTuple):
    """Eigenvalues in ascending order, eigenvectors, and how they were computed."""

    values: np.ndarray
    vectors: np.ndarray
    solver: str
    n_iter: int = 1
    converged: bool = True


def solve_lapack(problem: SemidefiniteProblem, matrix: Matrix, count: int) -> SolverResult:
    """Solve by LAPACK, the eigenvalue of the null vector shifted above all others."""
    lifted = as_dense(matrix) + 2 * problem.bound * np.outer(problem.null, problem.null)
    return SolverResult(*dense_eigh(lifted, count, "smallest"), "dense")


def solve_lanczos(
    problem: SemidefiniteProblem,
    matrix: sparse.csr_array,
    count: int,
    solver: SolverConfig,
    restarts: int,
    give_up: bool = False,
) -> SolverResult:
    """Solve by Lanczos iteration on ``bound - A`` with at most ``restarts`` restarts.

    The fastest solver for sparse matrices with a wide spectral gap. A Krylov space of one vector contains
    only one eigenvector of a multiple eigenvalue, so those that were missed are searched afterwards,
    orthogonally to the ones found. The result is not converged, and may have fewer pairs, if there are too
    few points or restarts, or if it may ``give_up`` and is too slow. The last pair only serves to detect a
    degenerate spectrum.
    """
    values, vectors = np.empty(0), np.empty((len(problem.null), 0))
    locked, n_iter, converged = 0, 0, True
    wanted, rng = max(count - 1, 1), np.random.default_rng(solver.seed)
    while converged and n_iter < restarts and len(problem.null) > 2 * (count + locked + 1):
        known = np.column_stack([problem.null, vectors[:, :locked]])
        with stage("eigen-solve"):
            result = thick_restart_lanczos(
                matrix,
                problem.bound,
                count,
                known,
                wanted=wanted,
                tol=_ACCURACY * solver.tol,
                max_restarts=restarts - n_iter,
                give_up=give_up,
                rng=rng,
            )
        n_iter, converged = n_iter + result.n_iter, result.converged
        basis = np.linalg.qr(np.column_stack([known, result.vectors]))[0][:, 1:]
        values, rotation = problem.resolve(basis)
        vectors = basis @ rotation
        locked = min(locked + wanted, len(values))
        if converged and len(values) >= count:
            found = np.column_stack([problem.null, vectors[:, :count]])
            floor = problem.floor(matrix.nnz / len(found))
            following = smallest_beside(matrix, problem.bound, found, solver.seed)
            if values[count - 1] <= floor or following >= max(values[wanted - 1], floor):
                return SolverResult(values[:count], vectors[:, :count], "lanczos", n_iter)
    return SolverResult(values[:count], vectors[:, :count], "lanczos", n_iter, converged=False)


def solve_krylov(problem: SemidefiniteProblem, count: int, solver: SolverConfig, steps: int) -> SolverResult:
    """Solve by block Krylov iteration on ``bound - A``, with residuals relative to the eigenvalues of ``A``.

    The last pair is only needed to detect a degenerate spectrum and does not have to converge.
    """
    result = block_krylov(
        problem.shifted,
        len(problem.null),
        count,
        tol=solver.tol / 2,
        max_iter=steps,
        seed=solver.seed,
        origin=problem.bound,
        wanted=max(count - 1, 1),
        known=problem.null[:, None],
    )
    values = problem.bound - result.values
    return SolverResult(values, result.vectors, "lanczos", result.n_iter, result.converged)


def solve_multilevel(
    problem: SemidefiniteProblem, matrix: sparse.csr_array, count: int, solver: SolverConfig
) -> SolverResult:
    """Solve on a hierarchy of matrices; if that does not converge, by Krylov iteration from its vectors.

    The vertices are renumbered first, so that neighbours are close in memory.
    """
    order = breadth_first_order(matrix)
    matrix = reordered(matrix, order, solver.n_jobs)
    renumbered = SemidefiniteProblem(
        SparseOperator(matrix, solver.n_jobs), problem.null[order], problem.bound
    )
    with thread_team(solver.n_jobs) as team:
        hierarchy = Hierarchy(matrix, renumbered.null, team, max(50, 4 * count))
        found = multilevel_eigenvectors(
            hierarchy,
            max(count - 1, 1),  # the last pair only serves to detect a degenerate spectrum
            count,
            solver.tol / 2,
            16 * np.finfo(np.float64).eps * problem.bound,
            solver.max_iter or _PRECONDITIONED,
        )
        result = SolverResult(found.values, found.vectors, "multilevel", found.n_iter, found.converged)
        if not found.converged and found.n_iter < (solver.max_iter or _PRECONDITIONED):
            result = _preconditioned(renumbered, count, solver, hierarchy.cycle, found.vectors, "multilevel")
    vectors = np.empty_like(result.vectors)
    vectors[order] = result.vectors
    return result._replace(values=result.values[:count], vectors=vectors[:, :count])


def solve_shift_invert(
    problem: SemidefiniteProblem,
    matrix: sparse.csr_array,
    count: int,
    solver: SolverConfig,
    thin: bool,
    start: np.ndarray | None = None,
) -> SolverResult:
    """Solve with the factorised matrix: by Lanczos iteration on its inverse, or as a preconditioner.

    Sparse factors of a Laplacian are applied to single vectors. A block needs many times as many products if
    many eigenvalues are close to each other. Its iteration only corrects what Lanczos iteration leaves.
    """
    guess = np.random.default_rng(solver.seed).standard_normal(
        (len(problem.null), min(count + 2, len(problem.null) - 1))
    )
    if start is not None:
        guess[:, : start.shape[1]] = start[:, : guess.shape[1]]
    if thin and problem.factor is None:
        inverse = inverse_on_complement(matrix, problem.null)
        found = _inverse_lanczos(problem, inverse, guess, count, solver)
        if isinstance(found, SolverResult):
            return found
        guess = found
    else:
        inverse, guess = _inverse_iteration(problem, matrix, thin, guess)
    return _preconditioned(problem, count, solver, inverse, guess, "shift-invert")


def _inverse_lanczos(
    problem: SemidefiniteProblem, inverse: Product, guess: np.ndarray, count: int, solver: SolverConfig
) -> SolverResult | np.ndarray:
    """Solve by Lanczos iteration on the inverse, or return starting vectors of a block iteration.

    The iteration may miss copies of a multiple eigenvalue. Inverse iteration of the remaining vectors of
    ``guess``, orthogonally to those found, detects them.
    """
    m, wanted = len(guess), max(count - 1, 1)
    operator = LinearOperator((m, m), lambda v: inverse(v.reshape(m, 1))[:, 0], dtype=guess.dtype)
    size, steps = min(max(_VECTORS, 2 * count + 5), m), solver.max_iter or _INVERSE_RESTARTS
    # ARPACK draws a vector where its basis is invariant; before SciPy 1.17 it has a generator of its own.
    seed: Any = {"rng": np.random.default_rng(solver.seed)} if _TAKES_RNG else {}
    try:
        found = eigsh(operator, count, ncv=size, v0=guess.sum(axis=1), tol=_EPS, maxiter=steps, **seed)[1]
    except ArpackNoConvergence as error:
        found = error.eigenvectors
    except ArpackError:
        found = guess[:, :0]
    found, rest = np.linalg.qr(found)[0], guess[:, found.shape[1] :]
    is_accurate = False
    for _ in range(_POLISH if found.shape[1] == count else 0):
        values, rotation = problem.resolve(found)
        found = found @ rotation
        residual = np.linalg.norm(problem.operator.matmat(found) - found * values, axis=0)
        is_accurate = bool((residual <= solver.tol / 2 * values + 16 * _EPS * problem.bound)[:wanted].all())
        if is_accurate:
            break
        found = np.linalg.qr(inverse(found))[0]  # copies of an eigenvalue contain parts of other eigenvectors
    for _ in range(3):
        rest = inverse(rest)
        rest = np.linalg.qr(rest - found @ (found.T @ rest))[0]
    if is_accurate:
        smallest = max(values[wanted - 1], 16 * _EPS * problem.bound) * (1 - 1e-6)
        if np.linalg.eigvalsh(problem.ritz(rest)).min(initial=np.inf) >= smallest:
            return SolverResult(values, found, "shift-invert")
    return np.column_stack([found, rest])


def _inverse_iteration(
    problem: SemidefiniteProblem, matrix: sparse.csr_array, thin: bool, guess: np.ndarray
) -> tuple[Product, np.ndarray]:
    """Return an inverse of the matrix, and ``guess`` after three steps of inverse iteration.

    A cheaper inverse than the inverse in double precision is used if the Ritz values of the resulting
    vectors are resolved by it. If the square root of the matrix is given, this is its inverse, from which
    further null vectors are projected out if there are some; it fails if an eigenvector that is not quite
    null dominates all others by rounding. For other matrices that are not thin it is a dense factor in single
    precision, at half the time and memory; it fails if the smallest eigenvalue is below its rounding.
    """

    def iterate(inverse: Product) -> tuple[Product, np.ndarray]:
        V = guess
        for _ in range(3):
            V, _ = np.linalg.qr(inverse(V))
        return inverse, V

    if problem.factor is not None and problem.factor.shape[0] == problem.factor.shape[1]:
        root = RootInverse(problem.factor, problem.null)
        cheap, others = iterate(root), guess[:, :0]
        if not _is_resolved(problem, cheap[1]):
            others = root.project_out(guess.shape[1])
            cheap = iterate(root)
        if others.shape[1] == guess.shape[1] or _is_resolved(problem, cheap[1]):
            return root, np.hstack([others, cheap[1]])
        del root, cheap
    elif not thin:
        cheap = iterate(inverse_on_complement(matrix, problem.null, thin, np.float32))
        if np.linalg.eigvalsh(problem.ritz(cheap[1]))[0] > 8 * np.finfo(np.float32).eps * problem.bound:
            return cheap
        del cheap
    return iterate(inverse_on_complement(matrix, problem.null, thin))


def _is_resolved(problem: SemidefiniteProblem, vectors: np.ndarray) -> bool:
    """Return True unless one of the vectors dominates the others by rounding in an inverse iteration."""
    ritz = np.linalg.eigvalsh(problem.ritz(vectors))
    return bool(ritz[0] > 1e3 * np.finfo(np.float64).eps * ritz[-1])


def _preconditioned(
    problem: SemidefiniteProblem,
    count: int,
    solver: SolverConfig,
    precondition: Product,
    guess: np.ndarray,
    name: str,
) -> SolverResult:
    """Solve by preconditioned block Krylov iteration on ``bound - A``, then Rayleigh-Ritz with the factor.

    The preconditioner may be inaccurate: it only proposes directions, and all products are with ``A``. The
    iteration stops when the residuals are small or no longer decrease.
    """
    result = block_krylov(
        problem.shifted,
        len(problem.null),
        guess.shape[1],
        tol=solver.tol / 2,
        max_iter=solver.max_iter or _PRECONDITIONED,
        seed=solver.seed,
        origin=problem.bound,
        guard=0,
        patience=6,
        blocks=3,
        wanted=max(count - 1, 1),  # the last pair only serves to detect a degenerate spectrum
        known=problem.null[:, None],
        start=guess,
        precondition=precondition,
    )
    values, rotation = problem.resolve(result.vectors)
    vectors = (result.vectors @ rotation)[:, :count]
    return SolverResult(values[:count], vectors, name, result.n_iter, result.converged)


def as_dense(matrix: Matrix) -> np.ndarray:
    """Return the matrix as a dense array."""
    return matrix.toarray() if is_sparse(matrix) else matrix
