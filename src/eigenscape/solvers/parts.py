"""Smallest eigenvalues of a graph of parts that few edges join, such as clusters.

The eigenvectors are nearly constant on each part (multiples of the null vector), so the eigenvectors of the
quotient graph, whose vertices are the parts, come first. What they lack is small and concentrated at the
joining edges: it solves ``(A - l) z = -r`` orthogonally to the parts, where the matrix is well conditioned if
the parts are clusters, and conjugate gradients take few steps.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigenscape._progress import stage
from eigenscape.operators import SparseOperator
from eigenscape.solvers.krylov import conjugate_gradients
from eigenscape.solvers.lanczos import smallest_beside
from eigenscape.solvers.policy import SolverConfig
from eigenscape.solvers.semidefinite import SemidefiniteProblem, SolverResult
from eigenscape.solvers.width import reordered

_EPS = np.finfo(np.float64).eps
#: Corrections of all vectors, and the reduction of the residual by each.
_CORRECTIONS, _REDUCTION = 12, 1e-3
#: Steps of conjugate gradients for a correction, if a hierarchy or sparse factors follow and if not: compact
#: clusters need 5 to 15 steps; clusters within clusters 60, and a hierarchy is seven times as fast.
FEW_STEPS, MOST_STEPS = 25, 120


def solve_parts(
    problem: SemidefiniteProblem,
    matrix: sparse.csr_array,
    count: int,
    solver: SolverConfig,
    most_steps: int = MOST_STEPS,
) -> SolverResult:
    """Solve in the space of ``solver.parts`` and of corrections.

    There must be at least as many parts as pairs. If there are no more, the last eigenvector is missing and
    its eigenvalue is an upper bound. The result is not converged if a correction takes ``most_steps`` steps
    or more, or if there is a smaller eigenvalue within a part.
    """
    assert solver.parts is not None
    # The vertices of a part are renumbered one after the other, so that neighbours are close in memory.
    order = np.argsort(solver.parts, kind="stable").astype(np.int32)
    labels, matrix = solver.parts[order], reordered(matrix, order, solver.n_jobs)
    operator = SparseOperator(matrix, solver.n_jobs)
    problem = SemidefiniteProblem(operator, problem.null[order], problem.bound)
    U, quotient = _quotient(matrix, problem.null, labels)
    product = problem.operator.matmat
    wanted, steps, converged = max(count - 1, 1), 0, False
    few = min(count, len(quotient) - 1)
    basis = np.empty((len(labels), _CORRECTIONS * few), order="F")  # of the corrections, column by column
    Y, projected = basis[:, :0], quotient

    def project(V: np.ndarray) -> np.ndarray:
        return V - U @ (U.T @ V)

    with stage("eigen-solve"):
        for _ in range(_CORRECTIONS):
            values, S = np.linalg.eigh(projected)
            values, S = values[1 : few + 1], S[:, 1 : few + 1]
            X = U @ S[: U.shape[1]] + Y @ S[U.shape[1] :]
            residual = product(X) - X * values
            size = np.linalg.norm(residual, axis=0)
            allowed = solver.tol / 2 * values + 16 * _EPS * problem.bound
            converged = bool((size <= allowed)[:wanted].all())
            if converged or steps >= (solver.max_iter or _CORRECTIONS * most_steps):
                break
            Z, taken = conjugate_gradients(
                lambda V: project(product(V)),
                values,
                project(residual),
                np.maximum(_REDUCTION * size, 0.1 * allowed),
                problem.null[:, None],
                most_steps,
                np.asarray,
                lambda function, m: function(slice(0, m)),
            )
            steps += taken
            if taken >= most_steps:  # parts that are not clusters
                break
            for _ in range(2):  # the second time for what rounding left
                Z = project(Z)
                Z = np.linalg.qr(Z - Y @ (Y.T @ Z))[0]
            AZ = product(Z)
            side, corner = np.concatenate([U.T @ AZ, Y.T @ AZ]), Z.T @ AZ
            projected = np.block([[projected, side], [side.T, (corner + corner.T) / 2]])
            basis[:, Y.shape[1] : Y.shape[1] + few] = Z
            Y = basis[:, : Y.shape[1] + few]
    X -= np.outer(problem.null, problem.null @ X)
    X = np.linalg.qr(X)[0]
    values, rotation = problem.resolve(X)
    X = X @ rotation
    following = smallest_beside(matrix, problem.bound, np.column_stack([problem.null, X]), solver.seed)
    floor = problem.floor(matrix.nnz / matrix.shape[0])
    converged = converged and following >= max(values[wanted - 1], floor)
    values = np.append(values, following)[:count]
    vectors = np.empty_like(X)
    vectors[order] = X
    return SolverResult(values, vectors, "parts", max(steps, 1), converged)


def _quotient(
    A: sparse.csr_array, null: np.ndarray, labels: np.ndarray
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the null vector restricted to each part (m, q), columns of length one, and ``U'A U``.

    The diagonal of the product follows from the other entries, since ``A null = 0``, without cancellation.
    """
    q, m = int(labels.max()) + 1, len(labels)
    size = np.sqrt(np.bincount(labels, weights=null**2, minlength=q))
    U = sparse.csr_array((null / size[labels], labels, np.arange(m + 1)), shape=(m, q))
    edges = sparse.coo_array(A)
    crossing = labels[edges.row] != labels[edges.col]
    i, j = edges.row[crossing], edges.col[crossing]
    joined = sparse.coo_array(
        (-edges.data[crossing] * null[i] * null[j], (labels[i], labels[j])), shape=(q, q)
    )
    W = joined.toarray()
    return U, (np.diag(W.sum(axis=1)) - W) / size / size[:, None]
