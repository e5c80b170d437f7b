"""Kernels restricted to some of their training points, or bounded from below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eigenscape._display import short_repr
from eigenscape._typing import Matrix, Rows
from eigenscape.kernels.base import BoundKernel, Columns


@dataclass(frozen=True, eq=False)
class RestrictedKernel:
    """The columns ``members`` of a bound kernel."""

    _shapes: ClassVar = {"base.<points>": "n ...", "members": "m < n"}
    base: BoundKernel
    members: np.ndarray

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X[self.members]

    def __call__(self, Y: Rows) -> Matrix:
        return self.base(Y)[:, self.members]

    def to(self, Z: Rows) -> Columns:
        return self.base.to(Z)


@dataclass(frozen=True, eq=False)
class FlooredKernel:
    """A dense kernel with values raised to at least ``floor``."""

    base: BoundKernel
    floor: float

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X

    def __call__(self, Y: Rows) -> Matrix:
        return np.maximum(self.base(Y), self.floor)

    def to(self, Z: Rows) -> Columns:
        base = self.base.to(Z)
        return lambda Y, table=None: np.maximum(base(Y, table), self.floor)
