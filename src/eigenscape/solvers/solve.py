"""Choice of the eigensolver for an operator, and verification of its result.

Two problems are solved, each by several methods.

``principal``: the largest eigenvalues of a kernel matrix (kernel PCA, MDS, Isomap).
    Up to 200 points (500 if more than one in 40 eigenvalues is wanted), or if more than a fifth of the
    spectrum is wanted: LAPACK. Otherwise, stored matrices: block Lanczos iteration. Block Krylov iteration if
    that does not converge or the matrix is recomputed for each product; then LAPACK if it is stored.
``smallest``: the smallest eigenvalues next to a known null vector (Laplacian eigenmaps, spectral clustering,
LLE).
    Up to 500 points (150 if sparse): LAPACK. Sparse Laplacians of up to 2 000 points, or of high-dimensional
    data and clusters: Lanczos iteration, which is fast if the spectral gap is wide and stops early if it is
    too slow. Otherwise, thin sparse graphs (curves, surfaces, clusters): one sparse factorisation and a few
    block iterations with the inverse; for Laplacians of more than 10 000 points a multilevel hierarchy
    instead. Wide sparse graphs (for which a sparse factorisation fills in): a multilevel hierarchy for
    Laplacians of more than 12 000 points, and otherwise a dense factorisation, or a sparse one if a dense
    one does not fit in memory. The matrix of LLE is a square ``F'F``, and the sparse ``F`` is factorised: it
    connects neighbours only, and fills in less. Dense matrices: block Krylov iteration, then LAPACK.

A user-defined :class:`~eigenscape.solvers.EigenSolver` replaces the choice. All results carry their residuals
``|A v - l v|``, computed from the operator itself. A pair whose residual exceeds ``tol |l|`` (plus rounding)
is rejected with :class:`~eigenscape.exceptions.NotConvergedError`. In ``smallest``, ``l`` is the small
eigenvalue, so the requirement becomes stricter as the eigenvalues decrease with the number of points.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from eigenscape import _memory
from eigenscape._typing import Matrix
from eigenscape._warnings import warn
from eigenscape.exceptions import DegenerateSpectrumWarning, NotConvergedError
from eigenscape.operators import ComplementOperator, FactoredOperator, Operator, SparseOperator
from eigenscape.solvers.block_lanczos import block_lanczos
from eigenscape.solvers.config import Order, SolverConfig
from eigenscape.solvers.direct import dense_eigh
from eigenscape.solvers.factored import solve_factored
from eigenscape.solvers.krylov import KrylovOptions, block_krylov
from eigenscape.solvers.pairs import EigenPairs, with_residuals
from eigenscape.solvers.semidefinite import (
    SemidefiniteProblem,
    SolverResult,
    as_dense,
    solve_krylov,
    solve_lanczos,
    solve_lapack,
    solve_multilevel,
    solve_shift_invert,
)
from eigenscape.solvers.width import has_narrow_levels, is_thin

#: Up to this many points LAPACK is as fast as any other solver, for dense and for sparse matrices.
DENSE_POINTS, DENSE_SPARSE_POINTS = 500, 150
#: The same for few principal eigenvalues of a dense matrix.
DENSE_PRINCIPAL_POINTS = 200
#: Additional pairs of the Krylov iteration for principal eigenvalues, and its steps without Rayleigh-Ritz.
_GUARD, _HEAD_START = 6, 4
#: Above this many points a multilevel hierarchy is cheaper than a factorisation of a thin Laplacian.
FACTOR_POINTS = 10_000
#: Up to this many points a dense factorisation of a wide Laplacian is as cheap as a multilevel hierarchy.
DENSE_FACTOR_POINTS = 12_000
#: Maximum number of Krylov block iterations if another solver is available, and if none is.
_SHORT, _LONG = 120, 2000
#: Up to this many points, or this many for each eigenpair, Lanczos iteration is tried on all Laplacians: it
#: stops early if it is too slow, and a factorisation iterates on blocks as wide as the number of pairs.
TRIAL_POINTS, TRIAL_POINTS_PER_PAIR = 5000, 400
#: Maximum number of restarts of the Lanczos iteration if another solver is available.
_RESTARTS = 40

_EPS = np.finfo(np.float64).eps


def principal(operator: Operator, count: int, order: Order, solver: SolverConfig) -> EigenPairs:
    """Compute the leading eigenpairs of a symmetric operator.

    Parameters
    ----------
    operator : Operator
        Symmetric operator of shape (m, m).
    count : int
        Number of eigenpairs.
    order : {"value", "magnitude"}
        Whether eigenvalues are ordered by value or by magnitude, largest first.
    solver : SolverConfig
        Eigensolver configuration.

    Returns
    -------
    EigenPairs

    Raises
    ------
    NotConvergedError
        If a residual exceeds the tolerance.
    """
    m = operator.shape[0]
    noise = 4 * _EPS * m**0.5
    if not isinstance(solver.method, str):
        result = _checked_result(solver.method.principal(operator, count, order), solver, m, count)
        values, vectors = result.values, result.vectors
        leading = np.argsort(-np.abs(values) if order == "magnitude" else -values, kind="stable")
        result = result._replace(values=values[leading], vectors=vectors[:, leading])
    else:
        result = _solve_principal(operator, count, order, solver, noise)
    pairs = with_residuals(operator, result.values, result.vectors, result.solver, result.n_iter)
    largest = max(float(np.abs(result.values).max()), operator.magnitude())
    return _accept(pairs, solver, 5 * noise * largest)


def _solve_principal(
    operator: Operator, count: int, order: Order, solver: SolverConfig, noise: float
) -> SolverResult:
    """Solve by LAPACK or block Krylov iteration."""
    m = operator.shape[0]
    _reject_sparse_solvers(solver)
    if isinstance(operator, FactoredOperator) and solver.method == "auto":
        factored = solve_factored(operator, count, solver)
        if factored is not None:
            return factored
    limit = DENSE_POINTS if 40 * count > m else DENSE_PRINCIPAL_POINTS
    if solver.method == "dense" or (operator.storage != "blocked" and _is_small(m, count, solver, limit)):
        return SolverResult(*dense_eigh(as_dense(_whole_matrix(operator)), count, order), "dense")
    steps = solver.steps(_LONG if solver.method == "lanczos" else _SHORT)
    start = None
    if operator.storage == "dense" and solver.max_iter is None and 10 * count < m:
        found = block_lanczos(
            operator.matmat, m, count, order=order, tol=solver.tol / 4, noise=noise, seed=solver.seed
        )
        if found.converged:
            return SolverResult(found.values, found.vectors, "lanczos", found.n_iter)
        start = found.vectors
    options = KrylovOptions(
        order=order,
        tol=solver.tol / 2,
        max_iter=steps,
        seed=solver.seed,
        noise=noise,
        guard=_GUARD,
        head_start=_HEAD_START,
    )
    result = block_krylov(operator.matmat, m, count, options, start=start)
    if not result.converged and solver.method == "auto":
        matrix = operator.matrix()
        if matrix is not None:
            return SolverResult(*dense_eigh(as_dense(matrix), count, order), "dense", result.n_iter)
    return SolverResult(result.values, result.vectors, "lanczos", result.n_iter, result.converged)


def smallest(
    problem: SemidefiniteProblem, count: int, solver: SolverConfig, *, strict: bool = False
) -> EigenPairs:
    """Compute the smallest eigenpairs orthogonal to the null vector, in ascending order.

    One more pair is computed, to detect eigenvalues that double precision cannot distinguish from the next.

    Parameters
    ----------
    problem : SemidefiniteProblem
        Positive semi-definite operator with its null vector.
    count : int
        Number of eigenpairs, the null vector not counted.
    solver : SolverConfig
        Eigensolver configuration.
    strict : bool, default=False
        Whether to raise the warning below as an error.

    Returns
    -------
    EigenPairs

    Raises
    ------
    NotConvergedError
        If a residual exceeds the tolerance.

    Warns
    -----
    DegenerateSpectrumWarning
        If the computed eigenvalues, including the additional one, are below rounding level.
    """
    m = problem.n_points
    n_pairs = min(count + 1, m - 1)
    terms: float = m
    if not isinstance(solver.method, str):
        result = _checked_result(solver.method.smallest(problem, n_pairs), solver, m, n_pairs)
        if float(np.abs(problem.null @ result.vectors).max(initial=0.0)) > 1e-6:
            raise ValueError(f"eigen_solver={result.solver} returned vectors not orthogonal to problem.null")
        ascending = np.argsort(result.values, kind="stable")
        result = result._replace(values=result.values[ascending], vectors=result.vectors[:, ascending])
    elif problem.operator.storage == "sparse":
        matrix = sparse.csr_array(_whole_matrix(problem.operator))
        problem = replace(problem, operator=SparseOperator(matrix, solver.n_jobs))
        result = _solve_sparse(problem, matrix, n_pairs, solver)
        terms = m if result.solver == "dense" else matrix.nnz / m
    else:
        result = _solve_dense(problem, n_pairs, solver)
    floor = problem.floor(terms)
    if n_pairs > count and result.values[count] <= floor:
        message = (
            f"the {n_pairs} smallest eigenvalues are all below {floor:.1e}, where double precision cannot"
            f" distinguish them, so the {count} coordinates are not determined by the data; use more"
            " neighbours, stronger regularisation or fewer points"
        )
        if strict:
            raise DegenerateSpectrumWarning(message)
        warn(message, DegenerateSpectrumWarning)
    pairs = with_residuals(
        problem.operator, result.values[:count], result.vectors[:, :count], result.solver, result.n_iter
    )
    rounding = 20 if result.solver == "lanczos" else 5  # a long iteration accumulates rounding errors
    return _accept(pairs, solver, rounding * floor)


def _solve_sparse(
    problem: SemidefiniteProblem, matrix: sparse.csr_array, count: int, solver: SolverConfig
) -> SolverResult:
    """Solve for a sparse matrix."""
    m, method = problem.n_points, solver.method
    if method == "dense" or _is_small(m, count, solver, DENSE_SPARSE_POINTS):
        return solve_lapack(problem, matrix, count)
    if method == "lanczos":
        result = solve_lanczos(problem, matrix, count, solver, solver.steps(_LONG))
        if result.converged:
            return result
        return solve_krylov(problem, count, solver, solver.steps(_LONG), result.vectors)
    is_trial = m <= max(TRIAL_POINTS, TRIAL_POINTS_PER_PAIR * count)
    if method == "auto" and problem.laplacian and (is_trial or not has_narrow_levels(matrix)):
        result = solve_lanczos(problem, matrix, count, solver, solver.steps(_RESTARTS))
        if result.converged:
            return result
    thin = is_thin(matrix)
    if method == "multilevel":
        return solve_multilevel(problem, matrix, count, solver, thin)
    if method == "shift-invert":
        return solve_shift_invert(problem, matrix, count, solver, thin or not _dense_factor_fits(m))
    if thin and not (problem.laplacian and m > FACTOR_POINTS):
        return solve_shift_invert(problem, matrix, count, solver, thin)
    if problem.laplacian and (thin or m > DENSE_FACTOR_POINTS):
        return solve_multilevel(problem, matrix, count, solver, thin)
    return solve_shift_invert(problem, matrix, count, solver, thin or not _dense_factor_fits(m))


def _solve_dense(problem: SemidefiniteProblem, count: int, solver: SolverConfig) -> SolverResult:
    """Solve for a matrix that is dense or applied in blocks; it is formed for LAPACK only."""
    _reject_sparse_solvers(solver)
    operator = problem.operator
    if isinstance(operator, ComplementOperator) and isinstance(operator.base, FactoredOperator):
        factored = None
        if solver.method == "auto" and problem.n_points > DENSE_POINTS:
            factored = solve_factored(operator.base, count, solver, problem.null)
        if factored is not None:
            return factored._replace(values=operator.c - factored.values)
    is_stored = problem.operator.storage == "dense"
    if solver.method == "dense" or (is_stored and _is_small(problem.n_points, count, solver)):
        return solve_lapack(problem, _whole_matrix(problem.operator), count)
    only_krylov = solver.method == "lanczos" or not is_stored
    result = solve_krylov(problem, count, solver, solver.steps(_LONG if only_krylov else _SHORT))
    if result.converged or only_krylov:
        return result
    return solve_lapack(problem, _whole_matrix(problem.operator), count)


def _checked_result(
    pairs: tuple[np.ndarray, np.ndarray], solver: SolverConfig, m: int, count: int
) -> SolverResult:
    """Check the shapes, the finiteness and the orthonormality of a user-defined solver's result."""
    name = type(solver.method).__name__
    given: object = pairs
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(
            f"eigen_solver={name} must return a tuple (eigenvalues, eigenvectors), got {type(given).__name__}"
        )
    values, vectors = (np.asarray(array, dtype=np.float64) for array in given)
    if values.shape != (count,) or vectors.shape != (m, count):
        raise ValueError(
            f"eigen_solver={name} must return eigenvalues of shape ({count},) and eigenvectors of shape"
            f" ({m}, {count}), got {values.shape} and {vectors.shape}"
        )
    if not (np.isfinite(values).all() and np.isfinite(vectors).all()):
        raise ValueError(f"eigen_solver={name} returned NaN or infinite values")
    if float(np.abs(vectors.T @ vectors - np.eye(count)).max(initial=0.0)) > 1e-6:
        raise ValueError(f"eigen_solver={name} returned eigenvectors that are not orthonormal")
    return SolverResult(values, vectors, name)


def _whole_matrix(operator: Operator) -> Matrix:
    """Return the matrix of an operator that stores it."""
    matrix = None if operator.storage == "blocked" else operator.matrix()
    if matrix is None:
        raise ValueError(
            "eigen_solver='dense' needs the whole matrix in memory, but it is applied in blocks;"
            " use eigen_solver='lanczos'"
        )
    return matrix


def _dense_factor_fits(m: int) -> bool:
    """Return True if a dense factor, faster than a sparse one that fills in, fits in memory."""
    return _memory.fits(2 * 8.0 * m * m)


def _reject_sparse_solvers(solver: SolverConfig) -> None:
    if solver.method in ("shift-invert", "multilevel"):
        raise ValueError(
            f"eigen_solver={solver.method!r} needs a sparse graph matrix; use 'auto', 'dense' or 'lanczos'"
        )


def _is_small(m: int, count: int, solver: SolverConfig, limit: int = DENSE_POINTS) -> bool:
    return solver.method == "auto" and (m <= limit or 5 * count > m)


def _accept(pairs: EigenPairs, solver: SolverConfig, floor: float) -> EigenPairs:
    """Return the pairs, or raise NotConvergedError if a residual exceeds ``tol |l| + floor``."""
    bad = pairs.residuals > solver.tol * np.abs(pairs.values) + floor
    if not bad.any():
        return pairs
    magnitude = np.maximum(np.abs(pairs.values), max(floor, np.finfo(np.float64).tiny))
    worst = int(np.argmax(pairs.residuals / magnitude))
    remedy = "loosen tol"
    if pairs.solver != "dense":
        remedy = "raise max_iter, loosen tol or choose another eigen_solver, such as 'dense'"
    raise NotConvergedError(
        f"the eigen-solver ({pairs.solver}) did not converge: eigenvalue {worst + 1} of {len(pairs)} is"
        f" {pairs.values[worst]:.3e} with a residual of {pairs.residuals[worst]:.1e}, above"
        f" tol={solver.tol:g} times it; {remedy}",
        pairs.residuals,
    )
