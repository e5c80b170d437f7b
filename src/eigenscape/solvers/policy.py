"""Eigensolver configuration, the interface of user-defined eigensolvers, and the choice of methods.

The methods for the smallest eigenvalues of a sparse matrix are chosen from the shape of its graph:

========================  ==========================================  =======================================
graph                     methods, in this order                      why
========================  ==========================================  =======================================
up to 150 points, or a    LAPACK                                      nothing is faster
fifth of the spectrum
up to 5 000 points        Lanczos, factors                            fast if the gap is wide, and stops early
1 000 to 5 000, surfaces  sparse factors                              almost linear time
up to 10 000, narrow      sparse factors                              almost linear time
up to 10 000, wide        Lanczos, dense factors                      sparse factors fill in
curves, strips            sparse factors, Lanczos                     a hierarchy loses digits
surfaces, solids          multilevel, sparse factors, Lanczos         a hierarchy takes half the time
thin, with hubs           Lanczos, sparse factors, Lanczos            a hierarchy fills in
wide                      Lanczos                                     factors and hierarchies fill in
parts joined, 5 000 on    the parts before, unless narrow             their vectors are nearly known
not a Laplacian (LLE)     sparse factors, or dense ones if wide       eigenvalues near rounding
========================  ==========================================  =======================================

Lanczos iteration stops early if another method follows and its rate shows that it would take too long.
Factors start from what a method before found; sparse ones are left out if their estimate exceeds memory.
See docs/decisions/solvers-graph-shape.md.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from eigenscape import _memory
from eigenscape.solvers.width import graph_shape, hierarchy_fill

if TYPE_CHECKING:
    from eigenscape.operators import Operator
    from eigenscape.solvers.semidefinite import SemidefiniteProblem

SolverName = Literal["auto", "dense", "lanczos", "shift-invert", "multilevel"]
Order = Literal["value", "magnitude"]
NAMES: tuple[SolverName, ...] = ("auto", "dense", "lanczos", "shift-invert", "multilevel")
Step = Literal["dense", "parts", "lanczos", "shift-invert", "multilevel"]

#: Up to this many points LAPACK is as fast as any other method, and up to this many parts for their quotient.
DENSE_SPARSE_POINTS, MOST_PARTS = 150, 2000
#: Up to this many points, or this many for each eigenpair, Lanczos iteration is tried on all Laplacians; up
#: to the third number they are factorised: sparse if they are thin, dense if they are wide.
TRIAL_POINTS, TRIAL_POINTS_PER_PAIR, FACTOR_POINTS = 5000, 400, 10_000
#: Above this many points, graphs of at most this width are factorised (a curve has 10 to 40), and up to
#: ``TRIAL_POINTS``, of at most this width over ``sqrt(m)`` (a tree has 1, a sheet 2.5, a solid 5).
CURVE_POINTS, CURVE_WIDTH, SHEET_WIDTH = 1000, 40, 3
#: So are strips, of at most this width over ``sqrt(m)`` (a sheet has 2.5), up to this many points or for more
#: than this many pairs; a hierarchy is faster for other ones, by half.
STRIP_WIDTH, STRIP_POINTS, FEW_PAIRS = 1.5, 100_000, 5
#: Largest growth of the entries of the coarse levels: 2 for solids, 20 for high-dimensional data.
MOST_FILL = 6
#: Restarts of the Lanczos iteration if another method follows, if dense factors do, which take as long at
#: 3 500 points, and if none follows.
RESTARTS, WIDE_RESTARTS, MOST_RESTARTS = 40, 120, 2000
#: Up to this many points LAPACK is as fast for dense matrices, and for few of their principal eigenvalues.
DENSE_POINTS, DENSE_PRINCIPAL_POINTS = 500, 200
#: Steps of the block Krylov iteration for dense matrices if LAPACK may follow, and if nothing does.
SHORT, LONG = 120, 2000
#: Largest angle of a result that is returned with a warning: differences that a drawing does not show.
DRAWING = 1e-3


@runtime_checkable
class EigenSolver(Protocol):
    """Interface of a user-defined eigensolver.

    An object with these two methods may be passed wherever the name of an eigensolver is accepted. Its
    results are verified like the results of built-in solvers: the residuals ``|A v - l v|`` are
    computed from the operator, and pairs that are not determined by them are rejected with
    :class:`~eigenscape.exceptions.NotConvergedError`. Signs and the order of the pairs are normalised by the
    caller.
    """

    def principal(self, operator: Operator, count: int, order: Order) -> tuple[np.ndarray, np.ndarray]:
        """Compute the leading eigenpairs of a symmetric operator.

        Parameters
        ----------
        operator : Operator
            Symmetric operator with ``shape`` (m, m), the product ``matmat(V)``, ``diagonal()`` and
            ``matrix()``, which returns the dense or sparse matrix, or None if it is not stored.
        count : int
            Number of eigenpairs.
        order : {"value", "magnitude"}
            Whether the eigenvalues of largest value or of largest magnitude are wanted.

        Returns
        -------
        values : ndarray of shape (count,)
        vectors : ndarray of shape (m, count)
            Orthonormal columns.
        """
        ...

    def smallest(self, problem: SemidefiniteProblem, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Compute the smallest eigenpairs of a positive semi-definite operator next to its null vector.

        Parameters
        ----------
        problem : SemidefiniteProblem
            The operator ``problem.operator``, its unit null vector ``problem.null`` (m,) and an upper bound
            ``problem.bound`` of its eigenvalues.
        count : int
            Number of eigenpairs, the null vector not counted.

        Returns
        -------
        values : ndarray of shape (count,)
        vectors : ndarray of shape (m, count)
            Orthonormal columns, orthogonal to ``problem.null``.
        """
        ...


@dataclass(frozen=True)
class SolverConfig:
    """Eigensolver configuration.

    Parameters
    ----------
    method : {"auto", "dense", "lanczos", "shift-invert", "multilevel"} or EigenSolver, default="auto"
        Eigensolver. See :mod:`eigenscape.solvers.solve` for the rule that "auto" follows.
    tol : float, default=1e-10
        Largest angle between a computed and the exact eigenvector: residual divided by spectral gap.
    max_iter : int or None, default=None
        Maximum number of block iterations. If None, the limit depends on the method.
    seed : int, default=0
        Seed of the starting vectors.
    n_jobs : int or None, default=None
        Number of threads for sparse products.
    parts : ndarray of shape (m,), optional
        The part of each point, from 0, if a graph was joined from parts by few edges.
    storage : {"auto", "blocked"}, default="auto"
        Storage of a kernel matrix; see :func:`eigenscape.operators.gram`.
    """

    method: SolverName | EigenSolver = "auto"
    tol: float = 1e-10
    max_iter: int | None = None
    seed: int = 0
    n_jobs: int | None = None
    parts: np.ndarray | None = field(default=None, compare=False, repr=False)
    storage: Literal["auto", "blocked"] = "auto"

    def __post_init__(self) -> None:
        method: object = self.method
        names = ", ".join(map(repr, NAMES))
        if isinstance(method, str):
            if method not in NAMES:
                raise ValueError(f"eigen_solver={method!r} is not known; choose one of {names}")
        elif isinstance(method, type) or not isinstance(method, EigenSolver):
            raise ValueError(
                f"eigen_solver={method!r} is not known; choose one of {names}, or pass an object with the"
                " methods principal(operator, count, order) and smallest(problem, count)"
            )
        tol: object = self.tol
        max_iter: object = self.max_iter
        if isinstance(tol, bool) or not isinstance(tol, numbers.Real) or not 0 <= float(tol) < np.inf:
            raise ValueError(f"tol={tol!r} must be a number of at least 0")
        if max_iter is not None and (
            isinstance(max_iter, bool) or not isinstance(max_iter, numbers.Integral) or int(max_iter) < 1
        ):
            raise ValueError(f"max_iter={max_iter!r} must be an integer of at least 1, or None")


@dataclass(frozen=True)
class Plan:
    """Methods in the order in which they are tried, and the reason."""

    methods: tuple[Step, ...]
    reason: str
    thin: bool | None = None  # whether factors are sparse; None: seen when they are needed
    restarts: int = RESTARTS  # of the Lanczos iteration before another method

    def needs_sparse_factors(self, matrix: sparse.csr_array) -> bool:
        if self.thin is None:
            return graph_shape(matrix).is_thin or not _memory.fits(16.0 * matrix.shape[0] ** 2)
        return self.thin


def plan_sparse(matrix: sparse.csr_array, count: int, laplacian: bool, solver: SolverConfig) -> Plan:
    """Choose the methods for the ``count`` smallest eigenvalues of a sparse matrix.

    Parameters
    ----------
    matrix : csr_array of shape (m, m)
    count : int
    laplacian : bool
        Whether the matrix is a graph Laplacian.
    solver : SolverConfig
        A named method is the only one of the plan.
    """
    m, method = matrix.shape[0], solver.method
    if method == "auto" and (m <= DENSE_SPARSE_POINTS or 5 * count > m):
        return Plan(("dense",), f"{m} points are few")
    if method == "multilevel":
        _memory.require(
            12.0 * matrix.nnz * (1 + hierarchy_fill(matrix)),
            f"a hierarchy of {m} points",
            "use eigen_solver='lanczos'",
        )
    if method in ("dense", "lanczos", "shift-invert", "multilevel"):
        return Plan((method,), "named by eigen_solver")
    if not laplacian:
        return Plan(("shift-invert",), "eigenvalues of LLE are close to rounding")
    n_joined = 0 if solver.parts is None else int(solver.parts.max())
    trial: tuple[Step, ...] = ("parts", "lanczos") if count <= n_joined + 1 <= MOST_PARTS else ("lanczos",)
    is_small = m <= max(TRIAL_POINTS, TRIAL_POINTS_PER_PAIR * count)
    if is_small and m <= CURVE_POINTS:
        return Plan(("lanczos", "shift-invert"), "there are few points")
    shape = graph_shape(matrix)
    if is_small and shape.width <= SHEET_WIDTH * m**0.5:
        return Plan(("shift-invert",), "the graph is a curve or a surface")
    restarts = RESTARTS if shape.is_thin else WIDE_RESTARTS
    if is_small:
        return Plan(("lanczos", "shift-invert"), "there are few points", restarts=restarts)
    if m <= FACTOR_POINTS:
        trial = () if shape.is_narrow else trial
        reason = "the graph is thin" if shape.is_thin else "the graph is wide"
        return Plan((*trial, "shift-invert"), reason, restarts=restarts)
    factors: tuple[Step, ...] = ()
    if shape.is_thin and _memory.fits(12.0 * (matrix.nnz + m * shape.width / 2)):  # the profile of the levels
        factors = ("shift-invert",)
    is_strip = shape.width <= STRIP_WIDTH * m**0.5 and (m <= STRIP_POINTS or count > FEW_PAIRS)
    if factors and shape.is_narrow and (is_strip or shape.width <= CURVE_WIDTH):
        return Plan((*factors, "lanczos"), "the graph is a curve or a strip", thin=True)
    if hierarchy_fill(matrix) <= MOST_FILL:
        trial = () if shape.is_narrow else trial[:-1]
        return Plan((*trial, "multilevel", *factors, "lanczos"), "the graph has a hierarchy", thin=True)
    if factors:
        return Plan((*trial, *factors, "lanczos"), "the graph is thin, but a hierarchy fills in", thin=True)
    return Plan(trial, "the graph is wide: factors and hierarchies fill in")
