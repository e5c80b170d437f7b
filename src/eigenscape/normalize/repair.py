"""Indefinite kernels made positive semi-definite, by a shift or by clipping (Burges sec. 2.2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape._display import short_repr
from eigenscape._omitted import OmittedArray
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.kernels.base import BoundKernel, product
from eigenscape.kernels.distance import GeodesicKernel, LandmarkGeodesics


@dataclass(frozen=True, eq=False)
class ShiftedKernel:
    """``k(x, y) + shift`` where ``x`` and ``y`` are the same point.

    For ``k = -d^2 / 2`` this adds ``2 shift`` to the squared distance of any two different points.
    """

    base: BoundKernel
    shift: float
    rows: RowIndex | DistanceRowIndex | LandmarkGeodesics  # recognises the training points
    group: np.ndarray  # (m,) equal for equal training points

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X

    def __call__(self, Y: Any) -> np.ndarray:
        values = np.array(self.base(Y))
        vertex = self.rows.find(Y)
        known = np.flatnonzero(vertex >= 0)
        values[known] += self.shift * (self.group[vertex[known]][:, None] == self.group)
        return values


def shift(kernel: BoundKernel, amount: float) -> ShiftedKernel:
    """Add ``amount`` to the similarity of every point to itself."""
    if isinstance(kernel, LandmarkGeodesics):
        return ShiftedKernel(kernel, amount, kernel, np.arange(len(kernel.landmarks)))
    rows = kernel.graph.vertices if isinstance(kernel, GeodesicKernel) else RowIndex(kernel.X)
    return ShiftedKernel(kernel, amount, rows, rows.find(kernel.X))


@dataclass(frozen=True, eq=False)
class ClippedKernel:
    """``k(x, .)`` without its part along the eigenvectors of negative eigenvalue: the nearest positive
    semi-definite kernel."""

    base: BoundKernel
    negative: np.ndarray  # (m, q) orthonormal

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X

    def __call__(self, Y: Any) -> np.ndarray:
        values = self.base(Y)
        return values - (values @ self.negative) @ self.negative.T


@product.register
def _(kernel: ClippedKernel, Y: Any, V: np.ndarray) -> np.ndarray:
    """``K (V - N N'V)``. The eigenvectors that are kept are orthogonal to the negative ones, so a saved model
    does without these."""
    if not isinstance(kernel.negative, OmittedArray):
        V = V - kernel.negative @ (kernel.negative.T @ V)
    return product(kernel.base, Y, V)
