"""Types of constructor parameters that several estimators share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from eigenscape.graph.neighbors import Neighbors
from eigenscape.kernels.base import Kernel
from eigenscape.solvers import EigenSolver, SolverConfig
from eigenscape.solvers.policy import SolverName

__all__ = ["DenseSolver", "GraphSolver", "KernelLike", "LandmarkStrategy", "Metric", "Neighbors", "Seed"]

#: Name of a metric, or a function of two samples.
Metric: TypeAlias = str | Callable[[Any, Any], float]
#: Name of a kernel, a function of two samples, or a kernel.
KernelLike: TypeAlias = str | Callable[[Any, Any], float] | Kernel
#: Value of ``random_state``.
Seed: TypeAlias = int | np.random.RandomState | None
#: Value of ``eigen_solver`` for a dense matrix, and for the sparse matrix of a graph.
DenseSolver: TypeAlias = Literal["auto", "dense", "lanczos"] | EigenSolver | SolverConfig
GraphSolver: TypeAlias = SolverName | EigenSolver | SolverConfig
#: Strategies by which landmarks are chosen.
LandmarkStrategy: TypeAlias = Literal["maxmin", "random", "kmeans", "greedy"]
