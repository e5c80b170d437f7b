"""Indefinite kernels made positive semi-definite, by a shift or by clipping (Burges sec. 2.2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar

import numpy as np

from eigenscape._display import short_repr
from eigenscape._typing import Rows
from eigenscape.graph.row_index import equal_rows
from eigenscape.kernels.base import BoundKernel, Columns, PointIndex, product, training_index


@dataclass(frozen=True, eq=False)
class ShiftedKernel:
    """``k(x, y) + shift`` if ``x`` and ``y`` are the same point, and ``k(x, y)`` otherwise.

    For ``k = -d^2 / 2`` this adds ``2 shift`` to the squared distance of any two different points.
    """

    _shapes: ClassVar = {"<points>": "n ...", "group": "n"}
    base: BoundKernel
    shift: float
    rows: PointIndex  # recognises the training points
    group: np.ndarray  # (m,) equal for equal training points

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X

    def __call__(self, Y: Rows) -> np.ndarray:
        values = np.array(self.base(Y))
        vertex = self.rows.find(Y)
        known = np.flatnonzero(vertex >= 0)
        values[known] += self.shift * (self.group[vertex[known]][:, None] == self.group)
        return values

    def to(self, Z: Rows) -> Columns:
        base = self.base.to(Z)
        return lambda Y, table=None: base(Y, table) + self.shift * equal_rows(Y, Z).toarray()


def shift(kernel: BoundKernel, amount: float) -> ShiftedKernel:
    """Add ``amount`` to the similarity of every point to itself."""
    rows = training_index(kernel)
    return ShiftedKernel(kernel, amount, rows, rows.find(kernel.X))


@dataclass(frozen=True, eq=False)
class ClippedKernel:
    """``k(x, .)`` without its components along eigenvectors of negative eigenvalue.

    This is the nearest positive semi-definite kernel. Between any two points it is
    ``k(x, y) - sum_r l_r f_r(x) f_r(y) / m`` over the negative eigenvalues. With ``weights`` the eigenvectors
    are those of ``W^1/2 K W^1/2``.
    """

    _shapes: ClassVar = {"<points>": "n ...", "negative": "n *", "weights": "n"}
    base: BoundKernel
    negative: np.ndarray  # (m, q) orthonormal eigenvectors
    values: np.ndarray  # (q,) their eigenvalues
    weights: np.ndarray | None = None  # (m,) of the training points; None if all are 1

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X

    def __call__(self, Y: Rows) -> np.ndarray:
        values = self.base(Y)
        if self.weights is None:
            return values - (values @ self.negative) @ self.negative.T
        return values - (values @ self._weighted()) @ (self.negative / np.sqrt(self.weights)[:, None]).T

    def _weighted(self) -> np.ndarray:
        negative: np.ndarray = self.negative
        return negative if self.weights is None else negative * np.sqrt(self.weights)[:, None]

    def to(self, Z: Rows) -> Columns:
        base, right = self.base.to(Z), product(self.base, Z, self._weighted()) / self.values

        def values(Y: Rows, table: Any = None) -> np.ndarray:
            return base(Y, table) - product(self.base, Y, self._weighted()) @ right.T

        return values


@singledispatch
def remove_components(negative: object, V: np.ndarray) -> np.ndarray:
    """Compute ``V - N N'V`` for orthonormal columns ``N``."""
    N = np.asarray(negative)
    return V - N @ (N.T @ V)


@product.register
def _(kernel: ClippedKernel, Y: Rows, V: np.ndarray) -> np.ndarray:
    """Compute ``K (V - N N'V)``; with weights ``K W^1/2 (U - N N'U)`` for ``U = W^-1/2 V``."""
    if kernel.weights is None:
        return product(kernel.base, Y, remove_components(kernel.negative, V))
    root = np.sqrt(kernel.weights)[:, None]
    return product(kernel.base, Y, root * remove_components(kernel.negative, V / root))
