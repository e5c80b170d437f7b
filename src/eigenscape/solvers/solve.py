"""The ladder: which solver for which operator, and the proof that its answer is right.

Two questions are asked of a spectrum, and each has its rungs.

``principal``: the largest eigenvalues of a kernel matrix (kernel PCA, MDS, Isomap).
    Up to 500 points, or when more than a fifth of the spectrum is wanted: LAPACK. Otherwise block Krylov,
    whose products are all it needs; if it does not converge and the matrix is there, LAPACK after all.
``smallest``: the eigenvalues next to a known null vector (Laplacian eigenmaps, spectral clustering, LLE).
    Up to 500 points: LAPACK. A thin sparse graph (curves, surfaces): one sparse factorisation and a few block
    steps on the inverse; for a Laplacian of more than 400 000 points (50 000 if ``tol`` is at least 1e-6),
    multilevel instead. A wide sparse graph (high-dimensional data, where a factorisation would fill in):
    block Krylov, which is fast when the gap is wide; if it is not, multilevel for Laplacians of more than 12
    000 points and otherwise a dense factorisation, or a sparse one where a dense one does not fit in memory.
    A dense matrix: block Krylov, else LAPACK.

Every answer carries its residuals ``|A v - l v|``, measured afterwards with the operator itself. A pair whose
residual exceeds ``tol |l|`` (plus rounding) is refused with
:class:`~eigenscape.exceptions.NotConvergedError`. At the small end ``l`` is the small eigenvalue, so the
demand grows with n as the eigenvalues shrink."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from scipy import sparse

from eigenscape import _memory
from eigenscape.exceptions import DegenerateSpectrumWarning, NotConvergedError
from eigenscape.kernels.base import Matrix
from eigenscape.operators import Operator, SparseOperator
from eigenscape.solvers.config import SolverConfig
from eigenscape.solvers.direct import dense_eigh
from eigenscape.solvers.krylov import KrylovOptions, block_krylov
from eigenscape.solvers.pairs import EigenPairs, with_residuals
from eigenscape.solvers.semidefinite import (
    SemidefiniteProblem,
    SolverResult,
    as_dense,
    solve_krylov,
    solve_lapack,
    solve_multilevel,
    solve_shift_invert,
)
from eigenscape.solvers.width import is_thin

#: Up to this many points LAPACK is as fast as anything.
DENSE_POINTS = 500
#: Above this many points a hierarchy is cheaper than a factor of a thin Laplacian: sooner where few digits
#: are asked for.
FACTOR_POINTS, FACTOR_POINTS_LOOSE = 400_000, 50_000
#: Up to this many points a dense factor of a wide Laplacian is as cheap as a hierarchy.
DENSE_FACTOR_POINTS = 12_000
#: Block steps granted to Krylov where there is another rung, and where there is none; steps without progress
#: before it gives up.
_SHORT, _LONG, _PATIENCE = 120, 2000, 15

_EPS = np.finfo(np.float64).eps


def principal(operator: Operator, count: int, order: str, solver: SolverConfig) -> EigenPairs:
    """The ``count`` largest eigenpairs by ``order`` (``"value"`` or ``"magnitude"``), largest first."""
    m = operator.shape[0]
    noise = 4 * _EPS * m**0.5
    _refuse_sparse_solvers(solver)
    matrix = None
    if solver.method == "dense" or (operator.storage != "blocked" and _is_small(m, count, solver)):
        matrix = _whole_matrix(operator)
    n_iter = 1
    if matrix is None:
        steps = solver.steps(_LONG if solver.method == "lanczos" else _SHORT)
        options = KrylovOptions(
            order=order, tol=solver.tol / 2, max_iter=steps, seed=solver.seed, noise=noise
        )
        values, vectors, converged, n_iter = block_krylov(operator.matmat, m, count, options)
        if not converged and solver.method == "auto":
            matrix = operator.matrix()
    if matrix is not None:
        values, vectors = dense_eigh(as_dense(matrix), count, order)
    pairs = with_residuals(operator, values, vectors, "lanczos" if matrix is None else "dense", n_iter)
    return _accept(pairs, solver, 5 * noise * max(float(np.abs(values).max()), operator.magnitude()))


def smallest(problem: SemidefiniteProblem, count: int, solver: SolverConfig) -> EigenPairs:
    """The ``count`` smallest eigenpairs orthogonal to the null vector, smallest first.

    One pair more is computed, to see whether the wanted ones can be told from the next.
    """
    m = problem.n_points
    asked = min(count + 1, m - 1)
    if problem.operator.storage == "sparse":
        matrix = _whole_matrix(problem.operator)
        problem = replace(problem, operator=SparseOperator(matrix, solver.n_jobs))
        result, terms = _solve_sparse(problem, matrix, asked, solver), matrix.nnz / m
    else:
        result, terms = _solve_dense(problem, asked, solver), m
    terms = m if result.solver == "dense" else terms
    floor = 4 * _EPS * terms**0.5 * problem.bound
    if asked > count and result.values[count] <= floor:
        warnings.warn(
            f"the {asked} smallest eigenvalues are all below {floor:.1e}, where double precision cannot tell them apart, so the"
            f" {count} coordinates are not determined by the data; use more neighbours, stronger regularisation or fewer points",
            DegenerateSpectrumWarning,
            stacklevel=2,
        )
    pairs = with_residuals(
        problem.operator, result.values[:count], result.vectors[:, :count], result.solver, result.n_iter
    )
    return _accept(
        pairs, solver, (20 if result.solver == "lanczos" else 5) * floor
    )  # a long iteration gathers some rounding


def _solve_sparse(
    problem: SemidefiniteProblem, matrix: sparse.csr_array, count: int, solver: SolverConfig
) -> SolverResult:
    """The rungs for a sparse matrix."""
    m, name = problem.n_points, solver.method
    if name == "dense" or _is_small(m, count, solver):
        return solve_lapack(problem, matrix, count)
    if name == "lanczos":
        return solve_krylov(problem, count, solver, solver.steps(_LONG))
    if name == "multilevel":
        return solve_multilevel(problem, matrix, count, solver, is_thin(matrix))
    thin = is_thin(matrix)
    if name == "shift-invert":
        return solve_shift_invert(problem, matrix, count, solver, thin or not _dense_factor_fits(m))
    if thin and not (problem.laplacian and _is_large(m, solver)):
        return solve_shift_invert(problem, matrix, count, solver, thin)
    if not thin:
        result = solve_krylov(problem, count, solver, solver.steps(_SHORT), _PATIENCE)
        if result.converged:
            return result
    if problem.laplacian and m > DENSE_FACTOR_POINTS:
        return solve_multilevel(problem, matrix, count, solver, thin)
    return solve_shift_invert(problem, matrix, count, solver, thin or not _dense_factor_fits(m))


def _solve_dense(problem: SemidefiniteProblem, count: int, solver: SolverConfig) -> SolverResult:
    """The rungs for a dense matrix, formed only for LAPACK, or for one that is not there."""
    _refuse_sparse_solvers(solver)
    there = problem.operator.storage == "dense"
    if solver.method == "dense" or (there and _is_small(problem.n_points, count, solver)):
        return solve_lapack(problem, _whole_matrix(problem.operator), count)
    last = solver.method == "lanczos" or not there
    result = solve_krylov(problem, count, solver, solver.steps(_LONG if last else _SHORT))
    return (
        result if result.converged or last else solve_lapack(problem, _whole_matrix(problem.operator), count)
    )


def _whole_matrix(operator: Operator) -> Matrix:
    if operator.storage == "blocked":
        raise ValueError(
            "eigen_solver='dense' needs the whole matrix in memory, and it is applied in blocks; use 'lanczos'"
        )
    return operator.matrix()


def _dense_factor_fits(m: int) -> bool:
    """A wide matrix fills in: a dense factor is faster than a sparse one, as long as there is room for it."""
    return _memory.fits(2 * 8.0 * m * m)


def _is_large(m: int, solver: SolverConfig) -> bool:
    return m > (FACTOR_POINTS_LOOSE if solver.tol >= 1e-6 else FACTOR_POINTS)


def _refuse_sparse_solvers(solver: SolverConfig) -> None:
    if solver.method in ("shift-invert", "multilevel"):
        raise ValueError(
            f"eigen_solver={solver.method!r} needs a sparse graph matrix; use 'auto', 'dense' or 'lanczos' here"
        )


def _is_small(m: int, count: int, solver: SolverConfig) -> bool:
    return solver.method == "auto" and (m <= DENSE_POINTS or 5 * count > m)


def _accept(pairs: EigenPairs, solver: SolverConfig, floor: float) -> EigenPairs:
    """The pairs, if their residuals prove them."""
    bad = pairs.residuals > solver.tol * np.abs(pairs.values) + floor
    if bad.any():
        worst = int(
            np.argmax(
                pairs.residuals / np.maximum(np.abs(pairs.values), max(floor, np.finfo(np.float64).tiny))
            )
        )
        remedy = (
            "loosen tol"
            if pairs.solver == "dense"
            else "raise max_iter, loosen tol or choose another eigen_solver, such as 'dense'"
        )
        raise NotConvergedError(
            f"the eigen-solver ({pairs.solver}) did not converge: eigenvalue {worst + 1} of {len(pairs)} is"
            f" {pairs.values[worst]:.3e} with a residual of {pairs.residuals[worst]:.1e}, above tol={solver.tol:g} times it;"
            f" {remedy}",
            pairs.residuals,
        )
    return pairs
