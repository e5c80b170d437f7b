"""Eigenproblems of scikit-learn's methods, solved by eigenscape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from eigenscape._threads import single_blas_thread
from eigenscape._typing import is_sparse
from eigenscape.accel._record import UnsupportedProblemError
from eigenscape.exceptions import DegenerateSpectrumWarning, NotConvergedError

if TYPE_CHECKING:
    from eigenscape.operators import Operator
    from eigenscape.solvers import Order


def leading(
    matrix: np.ndarray | Operator,
    count: int,
    order: Order = "value",
    given: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ``count`` largest eigenvalues in ascending order, as LAPACK does, and their vectors.

    ``given`` tells that the symmetry of the matrix is not known.
    """
    if 5 * count > matrix.shape[0]:
        raise UnsupportedProblemError("many eigenvectors")
    if given and not _is_symmetric(np.asarray(matrix)):
        raise UnsupportedProblemError("kernel not symmetric")
    from eigenscape.operators import DenseOperator
    from eigenscape.solvers import SolverConfig, principal

    dtype = np.float32 if isinstance(matrix, np.ndarray) and matrix.dtype == np.float32 else np.float64
    operator = DenseOperator(matrix) if isinstance(matrix, np.ndarray) else matrix
    solver = SolverConfig(tol=1e-6 if dtype == np.float32 else 1e-10)
    try:
        with single_blas_thread():
            pairs = principal(operator, count, order, solver)
    except NotConvergedError as error:
        raise UnsupportedProblemError("the iteration did not converge") from error
    ascending = np.argsort(pairs.values, kind="stable")
    return pairs.values[ascending].astype(dtype), pairs.vectors[:, ascending].astype(dtype)


def lowest(
    matrix: Any,  # dense or sparse
    null: np.ndarray,
    count: int,
    *,
    factor: sparse.csr_array | None = None,
    laplacian: bool = True,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ``count`` smallest eigenvalues, ascending, and their vectors, the null vector first.

    ``matrix`` is positive semi-definite and ``matrix @ null`` is zero.
    """
    from eigenscape.operators import DenseOperator, SparseOperator
    from eigenscape.solvers import SemidefiniteProblem, SolverConfig, smallest

    null = null / np.linalg.norm(null)
    if count == 1:
        return np.zeros(1), null[:, None]
    bound = 2.0 if laplacian else float(abs(matrix).sum(axis=1).max())  # at least all eigenvalues
    operator = SparseOperator(matrix, n_jobs) if is_sparse(matrix) else DenseOperator(matrix, n_jobs)
    problem = SemidefiniteProblem(operator, null, bound, factor, laplacian)
    try:
        with single_blas_thread():
            pairs = smallest(problem, count - 1, SolverConfig(n_jobs=n_jobs), strict=True)
    except DegenerateSpectrumWarning as warning:
        raise UnsupportedProblemError("eigenvalues below rounding level") from warning
    except NotConvergedError as error:
        raise UnsupportedProblemError("the iteration did not converge") from error
    return np.concatenate([[0.0], pairs.values]), np.column_stack([null, pairs.vectors])


def _is_symmetric(K: np.ndarray) -> bool:
    """Return whether a matrix is symmetric up to rounding: ``K x = K' x`` for a random ``x``.

    Two products take a tenth of the time of a comparison of all entries, which was as long as the solution.
    """
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 2, len(K)) * rng.choice([-1, 1], len(K))
    tolerance = 1e-10 * float(max(K.max(initial=0.0), -K.min(initial=0.0)))
    return bool(np.abs(K @ x - x @ K).max(initial=0.0) <= tolerance)
