"""Leading eigenpairs of ``K = F F'`` from the small matrix ``C = F'F``, which has the same spectrum."""

from __future__ import annotations

import numpy as np

from eigenscape.operators import FactoredOperator, ScatterOperator
from eigenscape.solvers.direct import dense_eigh
from eigenscape.solvers.krylov import block_krylov
from eigenscape.solvers.policy import SolverConfig
from eigenscape.solvers.semidefinite import SolverResult

#: Up to this many columns, ``C`` is formed and LAPACK finds its eigenpairs.
_DENSE_COLUMNS = 500
#: Eigenvalues below this share of the largest lose too many digits by the map from ``C`` to ``K``.
_SMALLEST = 1e-6
#: Residuals grow by this factor at most, for eigenvalues above 1/400 of the largest.
_GROWTH = 20.0
_EPS = np.finfo(np.float64).eps


def solve_factored(
    operator: FactoredOperator, count: int, solver: SolverConfig, null: np.ndarray | None = None
) -> SolverResult | None:
    """Compute the largest eigenvalues of ``F F'``, with eigenvectors orthogonal to the eigenvector ``null``.

    ``C w = l w`` gives ``K v = l v`` with ``v = F w / sqrt(l)``. Vectors have as many entries as ``F`` has
    columns, until the last product. Returns None if an eigenvalue is too small for this, or the iteration
    does not converge.
    """
    rows = operator.rows
    d = rows.shape[1]
    known = np.zeros((d, 0)) if null is None else rows.transposed_times(null[:, None])
    if null is not None:
        known /= np.linalg.norm(known)
    if count >= min(d - known.shape[1], operator.shape[0]):
        return None
    n_iter = 1
    if d <= _DENSE_COLUMNS:
        scatter = rows.scatter()
        scatter -= (known * np.sum(known * (scatter @ known))) @ known.T
        values, w = dense_eigh(scatter, count, "value")
    else:
        product, tol = ScatterOperator(rows, "features").matmat, solver.tol / (2 * _GROWTH)
        result = block_krylov(
            product,
            d,
            count,
            tol=tol,
            max_iter=300,
            seed=solver.seed,
            noise=4 * _EPS,
            guard=3,
            head_start=7,
            known=known,
        )
        if not result.converged:
            return None
        values, w, n_iter = result.values, result.vectors, result.n_iter
    if not values[-1] > _SMALLEST * values[0]:
        return None
    return SolverResult(values, rows.times(w) / np.sqrt(values), "factored", n_iter)
