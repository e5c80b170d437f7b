"""Operators in, eigenpairs with residuals out."""

from eigenscape.solvers.config import NAMES, SolverConfig
from eigenscape.solvers.generalized import GeneralizedPairs, Whitening, generalized_eigh, whiten
from eigenscape.solvers.pairs import EigenPairs
from eigenscape.solvers.semidefinite import SemidefiniteProblem
from eigenscape.solvers.solve import principal, smallest

__all__ = [
    "NAMES",
    "EigenPairs",
    "GeneralizedPairs",
    "SemidefiniteProblem",
    "SolverConfig",
    "Whitening",
    "generalized_eigh",
    "principal",
    "smallest",
    "whiten",
]
