"""Divisive normalisation: similarities divided by the square root, or another power, of their row sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._typing import Matrix, Rows, is_sparse
from eigenscape._warnings import warn
from eigenscape.exceptions import IsolatedPointWarning
from eigenscape.graph.row_index import RowIndex
from eigenscape.kernels.base import (
    BoundKernel,
    Columns,
    PointIndex,
    n_points,
    product,
    product_by_rows,
    training_index,
)
from eigenscape.kernels.pairwise import BoundPairwise
from eigenscape.normalize.center import GramOperator


@dataclass(frozen=True, eq=False)
class DividedKernel:
    """``k(x, y) / (S(x) S(y))^power`` with the sums ``S`` over the training set.

    The square root is Bengio eq. 11, 12. Other powers remove part of the influence of the density, which the
    sums estimate (diffusion maps). If ``rows`` is given, the sums exclude the similarity of a point to itself
    (footnote 3). With ``weights`` the sums are those under a weighted measure, ``sum_i w_i k(x, x_i)``.
    """

    _shapes: ClassVar = {"<points>": "n ...", "sums": "n", "weights": "n"}
    base: BoundKernel
    sums: np.ndarray  # (m,)
    rows: RowIndex | None = None  # recognises the training points
    power: float = 0.5
    weights: np.ndarray | None = None  # (m,) weights of the training points; None if all are 1

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X

    def __call__(self, Y: Rows) -> Matrix:
        values = self.base(Y)
        left = inverse_power(self._degrees(values, Y), self.power)
        if not is_sparse(values):
            return values * left[:, None] * inverse_power(self.sums, self.power)
        scaled = sparse.csr_array(values)
        right = inverse_power(self.sums[scaled.indices], self.power)  # of the few training points stored
        data = scaled.data * (np.repeat(left, np.diff(scaled.indptr)) * right)
        return sparse.csr_array((data, scaled.indices, scaled.indptr), shape=scaled.shape)

    def to(self, Z: Rows) -> Columns:
        base, right = self.base.to(Z), inverse_power(self.degrees(Z), self.power)

        def values(Y: Rows, table: Any = None) -> Matrix:  # Bengio eq. 12
            left = inverse_power(self.degrees(Y), self.power)
            with np.errstate(over="ignore"):  # infinite between similar points far from all training points
                return scale_sides(base(Y, table), left, right)

        return values

    def degrees(self, Y: Rows) -> np.ndarray:
        """Compute ``S(x)`` of any points."""
        return self._degrees(self.base(Y), Y)

    @property
    def mean_sum(self) -> float:
        """Mean of ``S`` over the training points, weighted as the sums."""
        return float(np.average(self.sums, weights=self.weights))

    def _degrees(self, values: Matrix, Y: Rows) -> np.ndarray:
        if self.weights is not None:
            return _check_degrees(np.asarray(values @ self.weights).ravel())
        return _degrees(values, Y, self.rows)


@product.register
def _(kernel: DividedKernel, Y: Rows, V: np.ndarray) -> np.ndarray:
    """Compute ``S(Y)^-p K (S^-p V)`` with the sums ``S(Y) = K 1``, if the base kernel has a fast product."""
    if not isinstance(kernel.base, BoundPairwise) or kernel.rows is not None:
        return product_by_rows(kernel, Y, V)
    right = inverse_power(kernel.sums, kernel.power)[:, None] * V
    weights = np.ones(len(V)) if kernel.weights is None else kernel.weights
    both = product(kernel.base, Y, np.column_stack([right, weights]))
    return both[:, :-1] * inverse_power(_check_degrees(both[:, -1]), kernel.power)[:, None]


@training_index.register
def _(kernel: DividedKernel) -> PointIndex:
    return training_index(kernel.base)


def divide(
    kernel: BoundKernel,
    gram: GramOperator,
    diagonal: bool = True,
    power: float = 0.5,
    weights: np.ndarray | None = None,
) -> DividedKernel:
    """Normalise ``kernel`` by the row sums of its Gram matrix ``gram``, with or without the diagonal.

    ``weights`` (m,) are those of the training points in the sums, which then include the diagonal."""
    m = n_points(kernel.X)
    sums = gram.matmat((np.ones(m) if weights is None else weights)[:, None])[:, 0]
    if not diagonal:
        sums = sums - gram.diagonal()
    if not sums.min() > 0:
        worst = int(np.argmin(sums))
        raise ValueError(
            f"divisive normalisation needs positive row sums, but row {worst} of the affinity sums to"
            f" {sums[worst]:g}; use an affinity without negative values in which every point has a neighbour"
        )
    return DividedKernel(kernel, sums, None if diagonal else RowIndex(kernel.X), power, weights)


def _degrees(values: Matrix, Y: Rows, rows: RowIndex | None) -> np.ndarray:
    """Compute the row sums of kernel values, without the similarity of a training point to itself."""
    sums = row_sums(values)
    if rows is not None:
        vertex = rows.find(Y)
        known = np.flatnonzero(vertex >= 0)
        if len(known):
            sums[known] -= np.asarray(values[known, vertex[known]]).ravel()
    return _check_degrees(sums)


def _check_degrees(sums: np.ndarray) -> np.ndarray:
    """Return the sums; raise ValueError if one is negative, and warn if one is zero."""
    if (sums < 0).any():
        worst = int(np.argmin(sums))
        raise ValueError(
            f"the affinities of new point {worst} sum to {sums[worst]:g}; divisive normalisation needs a"
            " positive sum"
        )
    if (sums == 0).any():
        warn(
            f"{int((sums == 0).sum())} point(s) have no affinity to any training point and are placed at the"
            " origin; widen the kernel (lower gamma) to distinguish them",
            IsolatedPointWarning,
        )
    return sums


def row_sums(values: Matrix) -> np.ndarray:
    """Compute the sums of the rows, without a product with a vector as long as they are."""
    if not is_sparse(values):
        return np.asarray(values.sum(axis=1)).ravel()
    stored = sparse.csr_array(values)
    filled = np.flatnonzero(np.diff(stored.indptr))
    sums = np.zeros(stored.shape[0])
    if len(filled):
        sums[filled] = np.add.reduceat(stored.data, stored.indptr[filled])
    return sums


def inverse_power(sums: np.ndarray, power: float = 0.5) -> np.ndarray:
    """Compute ``S^-power``, or 0 if ``S^power`` is zero or subnormal."""
    root = np.sqrt(sums) if power == 0.5 else np.power(sums, power)
    return np.divide(1.0, root, out=np.zeros_like(root), where=root > np.finfo(np.float64).tiny)


def scale_sides(values: Matrix, left: np.ndarray, right: np.ndarray) -> Matrix:
    """Compute ``diag(left) values diag(right)``."""
    if not is_sparse(values):
        return values * left[:, None] * right
    scaled = sparse.csr_array(values).copy()
    scaled.data *= np.repeat(left, np.diff(scaled.indptr)) * right[scaled.indices]
    return scaled
