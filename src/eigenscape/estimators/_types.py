"""Types of constructor parameters that several estimators share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from eigenscape.kernels.base import Kernel
from eigenscape.options import Graph, Metric, Solver
from eigenscape.solvers import EigenSolver
from eigenscape.solvers.policy import SolverName

__all__ = ["AffinityLike", "DenseSolver", "Graph", "GraphSolver", "KernelLike", "Metric", "Seed"]

#: Name of a kernel, a function of two samples, or a kernel.
KernelLike: TypeAlias = str | Callable[[Any, Any], float] | Kernel
#: A graph of samples, or a kernel between all of them.
AffinityLike: TypeAlias = Graph | KernelLike
#: Value of ``random_state``.
Seed: TypeAlias = int | np.random.RandomState | None
#: Value of ``eigen_solver`` for a dense matrix, and for the sparse matrix of a graph.
DenseSolver: TypeAlias = Literal["auto", "dense", "lanczos"] | EigenSolver | Solver
GraphSolver: TypeAlias = SolverName | EigenSolver | Solver
