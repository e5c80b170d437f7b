"""Eigensolvers for symmetric operators. The residuals of all eigenpairs are verified.

:func:`principal` computes the leading eigenpairs of a symmetric operator, :func:`smallest` the smallest ones
of a positive semi-definite operator next to its null vector. Both take a :class:`SolverConfig`, whose
``method`` is the name of a built-in solver or an object that implements :class:`EigenSolver`:

>>> import numpy as np
>>> from eigenscape.operators import as_operator
>>> from eigenscape.solvers import SolverConfig, principal
>>> class NumpySolver:
...     def principal(self, operator, count, order):
...         values, vectors = np.linalg.eigh(operator.matrix())
...         return values[-count:], vectors[:, -count:]
...
...     def smallest(self, problem, count):
...         values, vectors = np.linalg.eigh(problem.operator.matrix())
...         return values[1 : count + 1], vectors[:, 1 : count + 1]
>>> pairs = principal(as_operator(np.diag([1.0, 3.0, 2.0])), 2, "value", SolverConfig(NumpySolver()))
>>> pairs.values.tolist(), pairs.solver
([3.0, 2.0], 'NumpySolver')

Residuals are computed from the operator and checked against ``tol``, whichever solver is used.
"""

from eigenscape.solvers.generalized import GeneralizedPairs, Whitening, generalized_eigh, whiten
from eigenscape.solvers.pairs import EigenPairs
from eigenscape.solvers.policy import NAMES, EigenSolver, Order, SolverConfig
from eigenscape.solvers.semidefinite import SemidefiniteProblem, SolverResult
from eigenscape.solvers.solve import principal, smallest

__all__ = [
    "NAMES",
    "EigenPairs",
    "EigenSolver",
    "GeneralizedPairs",
    "Order",
    "SemidefiniteProblem",
    "SolverConfig",
    "SolverResult",
    "Whitening",
    "generalized_eigh",
    "principal",
    "smallest",
    "whiten",
]
