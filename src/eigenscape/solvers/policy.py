"""The methods for the smallest eigenvalues of a sparse matrix, chosen from the shape of its graph.

========================  ==========================================  =======================================
graph                     methods, in this order                      why
========================  ==========================================  =======================================
up to 150 points, or a    LAPACK                                      nothing is faster
fifth of the spectrum
Laplacian, few points     Lanczos, then as below                      fast if the gap is wide, and stops early
thin                      sparse factors                              almost linear time
thin, over 10 000 points  multilevel, sparse factors, Lanczos         a hierarchy takes half the time
thin, weakly joined       sparse factors, Lanczos                     a hierarchy loses the small eigenvalues
clusters that were        the parts, then as below                    their vectors are nearly known
joined by few edges
clusters                  Lanczos, then as a thin graph               the gap after the clusters is wide
wide, up to 12 000        Lanczos, dense factors                      sparse factors fill in
wide                      Lanczos                                     factors and hierarchies fill in
not a Laplacian (LLE)     sparse factors, or dense ones if wide       eigenvalues near rounding
========================  ==========================================  =======================================

Lanczos iteration stops early if another method follows and its rate shows that it would take too long. What
a method found is the start of the next one. Sparse factors are left out if their estimate exceeds memory.
See docs/decisions/solvers-graph-shape.md for the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scipy import sparse

from eigenscape import _memory
from eigenscape.solvers.config import SolverConfig
from eigenscape.solvers.width import GraphShape, n_strong_components

#: Up to this many points LAPACK is as fast as any other method, for dense and for sparse matrices.
DENSE_POINTS, DENSE_SPARSE_POINTS = 500, 150
#: Above this many points a hierarchy is cheaper than sparse factors of a thin Laplacian.
FACTOR_POINTS = 10_000
#: Up to this many points dense factors of a wide Laplacian take less than a minute.
DENSE_FACTOR_POINTS = 12_000
#: Up to this many points, or this many for each eigenpair, Lanczos iteration is tried on all Laplacians.
TRIAL_POINTS, TRIAL_POINTS_PER_PAIR = 5000, 400
#: Largest number of parts, whose quotient is a dense matrix.
MOST_PARTS = 2000
#: Restarts of the Lanczos iteration if another method follows, and if none does.
RESTARTS, MOST_RESTARTS = 40, 2000

Step = Literal["dense", "parts", "lanczos", "shift-invert", "multilevel"]


@dataclass(frozen=True)
class Plan:
    """Methods in the order in which they are tried, and the reason."""

    methods: tuple[Step, ...]
    reason: str
    thin: bool = True  # whether factors are sparse

    def restarts(self, method_number: int) -> int:
        """Return the largest number of restarts of a Lanczos iteration."""
        return MOST_RESTARTS if method_number == len(self.methods) - 1 else RESTARTS


def is_small(m: int, count: int, solver: SolverConfig, limit: int = DENSE_POINTS) -> bool:
    """Return True if LAPACK is the fastest method for ``count`` of ``m`` eigenvalues."""
    return solver.method == "auto" and (m <= limit or 5 * count > m)


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
    if is_small(m, count, solver, DENSE_SPARSE_POINTS):
        return Plan(("dense",), f"{m} points are few")
    if method in ("dense", "lanczos"):
        return Plan((method,), "named by eigen_solver")
    shape = GraphShape(matrix)
    thin = shape.is_thin or not _memory.fits(2 * 8.0 * m * m)
    if method in ("shift-invert", "multilevel"):
        return Plan((method,), "named by eigen_solver", thin)
    if not laplacian:
        return Plan(("shift-invert",), "eigenvalues of LLE are close to rounding", thin)
    trial: tuple[Step, ...] = ("lanczos",)
    n_joined = 0 if solver.parts is None else int(solver.parts.max())
    if count <= n_joined < MOST_PARTS and not shape.is_narrow:
        trial = ("parts", "lanczos")
    elif shape.is_narrow and m > max(TRIAL_POINTS, TRIAL_POINTS_PER_PAIR * count):
        trial = ()
    if not shape.is_thin:
        if m > DENSE_FACTOR_POINTS or not _memory.fits(2 * 8.0 * m * m):
            return Plan(trial, "the graph is wide: factors and hierarchies fill in")
        return Plan((*trial, "shift-invert"), "the graph is wide and has few points", thin=False)
    factors: tuple[Step, ...] = ("shift-invert",) if _memory.fits(shape.factor_bytes()) else ()
    if m <= FACTOR_POINTS:
        return Plan((*trial, "shift-invert"), "the graph is thin")
    if n_strong_components(matrix) > 1 and factors:
        return Plan((*trial, *factors, "lanczos"), "the graph is thin with parts joined by weak edges")
    return Plan((*trial, "multilevel", *factors, "lanczos"), "the graph is thin and has many points")
