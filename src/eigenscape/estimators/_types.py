"""Types of constructor parameters that several estimators share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from eigenscape.solvers import EigenSolver
from eigenscape.solvers.config import SolverName

#: Name of a metric, or a function of two samples.
Metric = str | Callable[[Any, Any], float]
#: Value of ``random_state``.
Seed = int | np.random.RandomState | None
#: Value of ``eigen_solver`` for a dense matrix, and for the sparse matrix of a graph.
DenseSolver = Literal["auto", "dense", "lanczos"] | EigenSolver
GraphSolver = SolverName | EigenSolver
#: Strategies by which landmarks are chosen.
LandmarkStrategy = Literal["maxmin", "random", "kmeans", "greedy"]
