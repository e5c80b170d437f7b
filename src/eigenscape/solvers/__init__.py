"""Operators in, eigenpairs with residuals out."""

from eigenscape.solvers.ladder import SmallEnd, Solver, principal, smallest
from eigenscape.solvers.pairs import EigenPairs

__all__ = ["EigenPairs", "SmallEnd", "Solver", "principal", "smallest"]
