"""Operators in, eigenpairs with residuals out."""

from eigenscape.solvers.generalized import GeneralizedPairs, Split, generalized_eigh, split
from eigenscape.solvers.ladder import principal, smallest
from eigenscape.solvers.pairs import EigenPairs
from eigenscape.solvers.small_end import SmallEnd
from eigenscape.solvers.wishes import NAMES, Solver

__all__ = [
    "NAMES",
    "EigenPairs",
    "GeneralizedPairs",
    "SmallEnd",
    "Solver",
    "Split",
    "generalized_eigh",
    "principal",
    "smallest",
    "split",
]
