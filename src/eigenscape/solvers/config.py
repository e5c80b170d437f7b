"""What the user wishes of an eigen-solver."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Literal

import numpy as np

SolverName = Literal["auto", "dense", "lanczos", "shift-invert", "multilevel"]
NAMES = ("auto", "dense", "lanczos", "shift-invert", "multilevel")


@dataclass(frozen=True)
class SolverConfig:
    """Which rung of the ladder, how good, how long, from which seed, on how many cores."""

    method: SolverName = "auto"
    tol: float = 1e-10
    max_iter: int | None = None
    seed: int = 0
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.method not in NAMES:
            raise ValueError(
                f"eigen_solver={self.method!r} is not known; choose one of {', '.join(map(repr, NAMES))}"
            )
        if isinstance(self.tol, bool) or not isinstance(self.tol, numbers.Real) or not 0 <= self.tol < np.inf:
            raise ValueError(f"tol={self.tol!r} must be a number of at least 0")
        whole = isinstance(self.max_iter, numbers.Integral) and not isinstance(self.max_iter, bool)
        if self.max_iter is not None and not (whole and self.max_iter >= 1):
            raise ValueError(f"max_iter={self.max_iter!r} must be an integer of at least 1, or None")

    def steps(self, default: int) -> int:
        """Block steps to take: the user's number, or ``default``."""
        return default if self.max_iter is None else self.max_iter
