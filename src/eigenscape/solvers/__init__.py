"""Operators in, eigenpairs with residuals out."""

from eigenscape.solvers.ladder import Solver, principal, smallest
from eigenscape.solvers.pairs import EigenPairs

__all__ = ["EigenPairs", "Solver", "principal", "smallest"]
