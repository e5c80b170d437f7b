"""Normalisations: each turns a bound kernel into another bound kernel.

Centring is additive (Bengio eq. 5, 10), division by powers of row sums multiplicative (Bengio eq. 11, 12).
An indefinite kernel becomes positive semi-definite by a shift or by clipping (Burges sec. 2.2.2).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from eigenscape._typing import Matrix, Rows, is_sparse
from eigenscape._warnings import warn
from eigenscape.exceptions import IsolatedPointWarning
from eigenscape.graph.row_index import equal_rows
from eigenscape.kernels.base import (
    BoundKernel,
    Columns,
    PointIndex,
    WrappedKernel,
    n_points,
    product,
    product_by_rows,
    training_index,
)
from eigenscape.kernels.pairwise import BoundPairwise

#: Roots up to this are zero or subnormal.
_SMALLEST_ROOT = float(np.finfo(np.float64).tiny)


class GramOperator(Protocol):
    """The operator of a Gram matrix, as far as a normalisation needs it."""

    def matmat(self, V: np.ndarray) -> np.ndarray: ...

    def diagonal(self) -> np.ndarray: ...


@dataclass(frozen=True, eq=False, repr=False)
class CenteredKernel(WrappedKernel):
    """Kernel centred by means over the training set (Bengio eq. 5, 10).

    ``k(x, y) - E'[k(x', y)] - E'[k(x, y')] + E'E'[k(x', y')]``. The ``weights`` of the means are Burges'
    centring coefficients ``c`` (sec. 2.2.1), any numbers of sum 1; uniform weights give the usual mean. The
    means for a new point are over the training set as well.
    """

    weights: np.ndarray  # (m,), sum 1
    column_means: np.ndarray  # (m,)
    grand_mean: float
    _shapes: ClassVar = {"<points>": "n ...", "weights": "n", "column_means": "n"}

    def __call__(self, Y: Rows) -> np.ndarray:
        values = self.base(Y)
        if is_sparse(values):
            values = values.toarray()
        row_means = values @ self.weights  # (n_new,), in double precision for any type of values
        return values - row_means[:, None] - (self.column_means - self.grand_mean)

    def to(self, Z: Rows) -> Columns:
        base, column_means = self.base.to(Z), self.means(Z)

        def values(Y: Rows, table: Any = None) -> np.ndarray:  # Bengio eq. 10
            similarity = base(Y, table)
            if is_sparse(similarity):
                similarity = similarity.toarray()
            return similarity - self.means(Y)[:, None] - (column_means - self.grand_mean)

        return values

    def means(self, Y: Rows) -> np.ndarray:
        """Compute the means ``E'[k(x, x')]`` (n_new,) over the training set at any points."""
        return product(self.base, Y, self.weights[:, None])[:, 0]


@product.register
def _(kernel: CenteredKernel, Y: Rows, V: np.ndarray) -> np.ndarray:
    """Compute the product of the base kernel, then subtract the means: ``K~V - K~c 1'V - 1 (E - EE)'V``."""
    both = product(kernel.base, Y, np.column_stack([V, kernel.weights]))
    row_means = both[:, -1]
    return both[:, :-1] - np.outer(row_means, V.sum(axis=0)) - (kernel.column_means - kernel.grand_mean) @ V


def center(kernel: BoundKernel, gram: GramOperator, weights: np.ndarray | None = None) -> CenteredKernel:
    """Centre ``kernel``, whose Gram matrix is the operator ``gram``."""
    m = n_points(kernel.X)
    weights = uniform_weights(m) if weights is None else weights
    column_means = gram.matmat(weights[:, None])[:, 0]
    return CenteredKernel(kernel, weights, column_means, float(weights @ column_means))


def uniform_weights(m: int) -> np.ndarray:
    """Return the centring coefficients of the unweighted mean."""
    return np.full(m, 1.0 / m)


@dataclass(frozen=True, eq=False, repr=False)
class DividedKernel(WrappedKernel):
    """``k(x, y) / (S(x) S(y))^power`` with the sums ``S`` over the training set.

    The square root is Bengio eq. 11, 12. Other powers remove part of the influence of the density, which the
    sums estimate (diffusion maps). If ``rows`` is given, the sums exclude the similarity of a point to itself
    (footnote 3). With ``weights`` the sums are weighted, ``sum_i w_i k(x, x_i)``.
    """

    sums: np.ndarray  # (m,)
    rows: PointIndex | None = None  # recognises the training points
    power: float = 0.5
    weights: np.ndarray | None = None  # (m,) weights of the training points; None if all are 1
    _shapes: ClassVar = {"<points>": "n ...", "sums": "n", "weights": "n"}

    def __call__(self, Y: Rows) -> Matrix:
        values = self.base(Y)
        left = inverse_power(self._degrees(values, Y), self.power)
        if not is_sparse(values):
            return values * left[:, None] * inverse_power(self.sums, self.power)
        right = inverse_power(self.sums[values.indices], self.power)  # of the few training points stored
        scaled = copy(values)  # shares the positions of the entries
        scaled.data = values.data * (np.repeat(left, np.diff(values.indptr)) * right)
        return scaled

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
        """Compute the sums of kernel values, without the similarity of a training point to itself."""
        if self.weights is not None:
            return _check_degrees(np.asarray(values @ self.weights).ravel())
        sums = row_sums(values)
        if self.rows is not None:
            vertex = self.rows.find(Y)
            known = np.flatnonzero(vertex >= 0)
            if len(known):
                sums[known] -= np.asarray(values[known, vertex[known]]).ravel()
        return _check_degrees(sums)


@product.register
def _(kernel: DividedKernel, Y: Rows, V: np.ndarray) -> np.ndarray:
    """Compute ``S(Y)^-p K (S^-p V)`` with the sums ``S(Y) = K 1``, if the base kernel has a fast product."""
    if not isinstance(kernel.base, BoundPairwise) or kernel.rows is not None:
        return product_by_rows(kernel, Y, V)
    right = inverse_power(kernel.sums, kernel.power)[:, None] * V
    weights = np.ones(len(V)) if kernel.weights is None else kernel.weights
    both = product(kernel.base, Y, np.column_stack([right, weights]))
    return both[:, :-1] * inverse_power(_check_degrees(both[:, -1]), kernel.power)[:, None]


def divide(
    kernel: BoundKernel,
    gram: GramOperator,
    diagonal: bool = True,
    power: float = 0.5,
    weights: np.ndarray | None = None,
) -> DividedKernel:
    """Normalise ``kernel`` by the row sums of its Gram matrix ``gram``, with or without the diagonal.

    ``weights`` (m,) are the weights of the training points in the sums, which then include the diagonal."""
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
    return DividedKernel(kernel, sums, None if diagonal else training_index(kernel), power, weights)


def _check_degrees(sums: np.ndarray) -> np.ndarray:
    """Return the sums; raise ValueError if one is negative, and warn if one is zero."""
    if (sums > 0).all():
        return sums
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
    """Row sums, without allocating a vector of ones."""
    if not is_sparse(values):
        return np.asarray(values.sum(axis=1)).ravel()
    filled = np.flatnonzero(values.indptr[1:] > values.indptr[:-1])
    sums = np.zeros(values.shape[0])
    if len(filled):
        sums[filled] = np.add.reduceat(values.data, values.indptr[filled])
    return sums


def inverse_power(sums: np.ndarray, power: float = 0.5) -> np.ndarray:
    """Compute ``S^-power``, or 0 if ``S^power`` is zero or subnormal."""
    root = np.sqrt(sums) if power == 0.5 else np.power(sums, power)
    return np.divide(1.0, root, out=np.zeros_like(root), where=root > _SMALLEST_ROOT)


def scale_sides(values: Matrix, left: np.ndarray, right: np.ndarray) -> Matrix:
    """Compute ``diag(left) values diag(right)``."""
    if not is_sparse(values):
        return values * left[:, None] * right
    scaled = sparse.csr_array(values).copy()
    scaled.data *= np.repeat(left, np.diff(scaled.indptr)) * right[scaled.indices]
    return scaled


@dataclass(frozen=True, eq=False, repr=False)
class ShiftedKernel(WrappedKernel):
    """``k(x, y) + shift`` if ``x`` and ``y`` are the same point, and ``k(x, y)`` otherwise.

    For ``k = -d^2 / 2`` this adds ``2 shift`` to the squared distance of any two different points.
    """

    shift: float
    rows: PointIndex  # recognises the training points
    group: np.ndarray  # (m,) equal for equal training points
    _shapes: ClassVar = {"<points>": "n ...", "group": "n"}

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


@dataclass(frozen=True, eq=False, repr=False)
class ClippedKernel(WrappedKernel):
    """``k(x, .)`` without its components along eigenvectors of negative eigenvalue.

    This is the nearest positive semi-definite kernel. Between any two points it is
    ``k(x, y) - sum_r l_r f_r(x) f_r(y) / m`` over the negative eigenvalues. With ``weights`` they are
    eigenvectors of ``W^1/2 K W^1/2``.
    """

    negative: np.ndarray  # (m, q) orthonormal eigenvectors
    values: np.ndarray  # (q,) their eigenvalues
    weights: np.ndarray | None = None  # (m,) of the training points; None if all are 1
    _shapes: ClassVar = {"<points>": "n ...", "negative": "n *", "weights": "n"}

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
