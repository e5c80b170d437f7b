"""A kernel seen by some of its training points only, or kept from vanishing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape._display import short_repr
from eigenscape.kernels.base import BoundKernel, Matrix


@dataclass(frozen=True, eq=False)
class RestrictedKernel:
    """The columns ``members`` of a bound kernel."""

    base: BoundKernel
    members: np.ndarray

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X[self.members]

    def __call__(self, Y: Any) -> Matrix:
        return self.base(Y)[:, self.members]


@dataclass(frozen=True, eq=False)
class FlooredKernel:
    """A dense kernel whose values are at least ``least``."""

    base: BoundKernel
    least: float

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X

    def __call__(self, Y: Any) -> Matrix:
        return np.maximum(self.base(Y), self.least)
