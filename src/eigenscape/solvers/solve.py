"""Choice of the eigensolver for an operator, and verification of its result.

``principal``: the largest eigenvalues of a kernel matrix (kernel PCA, MDS, Isomap).
    Up to 200 points (500 if more than one in 40 eigenvalues is wanted), or if more than a fifth of the
    spectrum is wanted: LAPACK. Otherwise block Krylov iteration, then LAPACK if the matrix is stored.
``smallest``: the smallest eigenvalues next to a known null vector (Laplacian eigenmaps, spectral clustering,
LLE).
    Sparse matrices: the methods of :mod:`~eigenscape.solvers.policy`, one after the other until the result is
    accurate. Dense matrices: block Krylov iteration, then LAPACK.

A user-defined :class:`~eigenscape.solvers.EigenSolver` replaces the choice. All results carry their residuals
``|A v - l v|``, computed from the operator itself, and are judged by the angles between the computed and the
exact eigenvectors (:func:`~eigenscape.solvers.pairs.angles`).
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace

import numpy as np
from scipy import sparse

from eigenscape._typing import Matrix
from eigenscape._warnings import warn
from eigenscape.exceptions import DegenerateSpectrumWarning, NotConvergedError, NotConvergedWarning
from eigenscape.operators import ComplementOperator, FactoredOperator, Operator, SparseOperator
from eigenscape.solvers.direct import dense_eigh
from eigenscape.solvers.factored import solve_factored
from eigenscape.solvers.krylov import block_krylov
from eigenscape.solvers.lanczos import smallest_beside
from eigenscape.solvers.pairs import EigenPairs, angles, with_residuals
from eigenscape.solvers.parts import FEW_STEPS, MOST_STEPS, solve_parts
from eigenscape.solvers.policy import (
    DENSE_POINTS,
    DENSE_PRINCIPAL_POINTS,
    DRAWING,
    LONG,
    MOST_RESTARTS,
    SHORT,
    Order,
    Plan,
    SolverConfig,
    plan_sparse,
)
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

#: Additional pairs of the Krylov iteration for principal eigenvalues, and its steps without Rayleigh-Ritz:
#: fewer and wider products for a matrix that is recomputed. A stored matrix is multiplied by four columns at
#: a time, so blocks are filled up.
_STORED, _RECOMPUTED = (2, 7), (6, 4)

_EPS = np.finfo(np.float64).eps
#: Failures of the fit that is running, which raises them with its coordinates.
failures: ContextVar[list[NotConvergedError] | None] = ContextVar("failures", default=None)


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
        If the eigenvectors are not determined by what was computed.

    Warns
    -----
    NotConvergedWarning
        If they are, but not with the accuracy ``solver.tol``.
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
    return _accept(pairs, angles(pairs, None, solver.tol, 5 * noise * largest), solver)


def _solve_principal(
    operator: Operator, count: int, order: Order, solver: SolverConfig, noise: float
) -> SolverResult:
    """Solve by LAPACK or block Krylov iteration."""
    m = operator.shape[0]
    if solver.method in ("shift-invert", "multilevel"):
        raise _needs_sparse_matrix(solver)
    if isinstance(operator, FactoredOperator) and solver.method == "auto":
        factored = solve_factored(operator, count, solver)
        if factored is not None:
            return factored
    limit = DENSE_POINTS if 40 * count > m else DENSE_PRINCIPAL_POINTS
    if solver.method == "dense" or (operator.storage != "blocked" and _is_small(m, count, solver, limit)):
        return SolverResult(*dense_eigh(as_dense(_whole_matrix(operator)), count, order), "dense")
    steps = solver.max_iter or (LONG if solver.method == "lanczos" else SHORT)
    guard, head_start = _RECOMPUTED if operator.storage == "blocked" else _STORED
    if operator.storage == "dense":
        guard += -(count + guard) % 4
    result = block_krylov(
        operator.matmat,
        m,
        count,
        order=order,
        tol=solver.tol / 2,
        max_iter=steps,
        seed=solver.seed,
        noise=noise,
        guard=guard,
        head_start=head_start,
    )
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
        If the eigenvectors are not determined by what was computed.

    Warns
    -----
    NotConvergedWarning
        If they are, but not with the accuracy ``solver.tol``.
    DegenerateSpectrumWarning
        If the computed eigenvalues, including the additional one, are below rounding level.
    """
    m = len(problem.null)
    n_pairs = min(count + 1, m - 1)
    terms: float = m
    if not isinstance(solver.method, str):
        result = _checked_result(solver.method.smallest(problem, n_pairs), solver, m, n_pairs)
        if float(np.abs(problem.null @ result.vectors).max(initial=0.0)) > 1e-6:
            raise ValueError(f"eigen_solver={result.solver} returned vectors not orthogonal to problem.null")
        ascending = np.argsort(result.values, kind="stable")
        result = result._replace(values=result.values[ascending], vectors=result.vectors[:, ascending])
    elif problem.operator.storage == "sparse":
        matrix = sparse.csr_array(problem.operator.matrix())
        problem = replace(problem, operator=SparseOperator(matrix, solver.n_jobs))
        result = _solve_sparse(problem, matrix, n_pairs, solver)
        terms = m if result.solver == "dense" else matrix.nnz / m
    else:
        result = _solve_dense(problem, n_pairs, solver)
    pairs, found = _judge(problem, result, count, solver.tol, terms)
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
    return _accept(pairs, found, solver)


def _judge(
    problem: SemidefiniteProblem, result: SolverResult, count: int, tol: float, terms: float
) -> tuple[EigenPairs, np.ndarray]:
    """Return the first pairs of a result and their angles, with products of ``terms`` terms.

    If the following eigenvalue is zero up to rounding, all are: their vectors are null vectors, determined up
    to a rotation among all null vectors.
    """
    values, vectors = result.values[:count], result.vectors[:, :count]
    pairs = with_residuals(problem.operator, values, vectors, result.solver, result.n_iter)
    rounding = 20 if result.solver == "lanczos" else 5  # a long iteration accumulates rounding errors
    following = float(result.values[count]) if len(result.values) > count else None
    floor = problem.floor(terms)
    if following is not None and following <= floor:
        return pairs, np.zeros(len(pairs))
    return pairs, angles(pairs, following, tol, rounding * floor)


def _solve_sparse(
    problem: SemidefiniteProblem, matrix: sparse.csr_array, count: int, solver: SolverConfig
) -> SolverResult:
    """Solve for a sparse matrix by the methods of a plan, until the result is accurate; return the best."""
    plan = plan_sparse(matrix, count, problem.laplacian, solver)
    best, smallest_angle = None, np.inf
    for number in range(len(plan.methods)):
        try:
            result = _run(plan, number, problem, matrix, count, solver, best)
        except (MemoryError, np.linalg.LinAlgError):
            if number == len(plan.methods) - 1 and best is None:
                raise
            continue
        if len(result.values) < count:  # a Krylov space that ended early
            continue
        terms = matrix.nnz / matrix.shape[0]
        angle = float(_judge(problem, result, max(count - 1, 1), solver.tol, terms)[1].max())
        is_zero = result.values[count - 1] <= problem.floor(terms)  # no eigenvalue is smaller
        if not (result.converged or is_zero) and result.solver in ("parts", "lanczos"):
            known = np.column_stack([problem.null, result.vectors])
            if smallest_beside(matrix, problem.bound, known, solver.seed) < result.values[max(count - 2, 0)]:
                angle = np.inf  # the pairs may be accurate, but a smaller eigenvalue is missing
        if angle <= smallest_angle:
            best, smallest_angle = result, angle
        if angle <= solver.tol:
            break
    return solve_lapack(problem, matrix, count) if best is None else best


def _run(
    plan: Plan,
    number: int,
    problem: SemidefiniteProblem,
    matrix: sparse.csr_array,
    count: int,
    solver: SolverConfig,
    found: SolverResult | None,
) -> SolverResult:
    """Solve by one method of a plan, starting from what another one found."""
    method, is_last = plan.methods[number], number == len(plan.methods) - 1
    if method == "dense":
        return solve_lapack(problem, matrix, count)
    if method == "lanczos":
        restarts = solver.max_iter or (MOST_RESTARTS if is_last else plan.restarts)
        return solve_lanczos(problem, matrix, count, solver, restarts, give_up=not is_last)
    if method == "parts":
        return solve_parts(problem, matrix, count, solver, FEW_STEPS if plan.thin else MOST_STEPS)
    if method == "multilevel":
        return solve_multilevel(problem, matrix, count, solver)
    thin, start = plan.needs_sparse_factors(matrix), None if found is None else found.vectors
    return solve_shift_invert(problem, matrix, count, solver, thin, start)


def _solve_dense(problem: SemidefiniteProblem, count: int, solver: SolverConfig) -> SolverResult:
    """Solve for a matrix that is dense or applied in blocks; it is formed for LAPACK only."""
    if solver.method in ("shift-invert", "multilevel"):
        raise _needs_sparse_matrix(solver)
    operator = problem.operator
    if isinstance(operator, ComplementOperator) and isinstance(operator.base, FactoredOperator):
        factored = None
        if solver.method == "auto" and len(problem.null) > DENSE_POINTS:
            factored = solve_factored(operator.base, count, solver, problem.null)
        if factored is not None:
            return factored._replace(values=operator.c - factored.values)
    is_stored = problem.operator.storage == "dense"
    if solver.method == "dense" or (is_stored and _is_small(len(problem.null), count, solver)):
        return solve_lapack(problem, _whole_matrix(problem.operator), count)
    only_krylov = solver.method == "lanczos" or not is_stored
    result = solve_krylov(problem, count, solver, solver.max_iter or (LONG if only_krylov else SHORT))
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


def _is_small(m: int, count: int, solver: SolverConfig, limit: int = DENSE_POINTS) -> bool:
    return solver.method == "auto" and (m <= limit or 5 * count > m)


def _needs_sparse_matrix(solver: SolverConfig) -> ValueError:
    return ValueError(
        f"eigen_solver={solver.method!r} needs a sparse graph matrix; use 'auto', 'dense' or 'lanczos'"
    )


def _accept(pairs: EigenPairs, found: np.ndarray, solver: SolverConfig) -> EigenPairs:
    """Return pairs with their angles; warn if they are not accurate, and fail if they are not determined."""
    worst = int(np.argmax(found))
    if not found[worst] > solver.tol:
        return pairs
    remedy = "loosen tol"
    if pairs.solver != "dense":
        remedy = "raise max_iter, loosen tol or choose another eigen_solver, such as 'dense'"
    message = (
        f"eigenvector {worst + 1} of {len(pairs)} has an error of about {found[worst]:.0e} (the angle to the"
        f" exact one), above tol={solver.tol:g}: the eigenvalue is {pairs.values[worst]:.3e}, the residual"
        f" {pairs.residuals[worst]:.1e} (eigen-solver {pairs.solver}); {remedy}"
    )
    if found[worst] <= DRAWING:
        warn(f"{message} if more digits are needed", NotConvergedWarning)
        return pairs
    error = NotConvergedError(f"the eigen-solver did not converge: {message}", pairs.residuals, pairs.vectors)
    deferred = failures.get()
    if deferred is None:
        raise error
    deferred.append(error)
    return pairs
