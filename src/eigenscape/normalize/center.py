"""Additive normalisation: the origin of feature space moved to a weighted mean of the training points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from eigenscape._display import short_repr
from eigenscape._typing import Rows, is_sparse
from eigenscape.kernels.base import BoundKernel, Columns, n_points, product


class GramOperator(Protocol):
    """The operator of a Gram matrix, as far as a normalisation needs it."""

    def matmat(self, V: np.ndarray) -> np.ndarray: ...

    def diagonal(self) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class CenteredKernel:
    """Kernel centred by means over the training set (Bengio eq. 5, 10).

    ``k(x, y) - E'[k(x', y)] - E'[k(x, y')] + E'E'[k(x', y')]``. The ``weights`` of the means are Burges'
    centring coefficients ``c`` (sec. 2.2.1), any numbers of sum 1; uniform weights give the usual mean. The
    means for a new point are over the training set as well.
    """

    _shapes: ClassVar = {"<points>": "n ...", "weights": "n", "column_means": "n"}
    base: BoundKernel
    weights: np.ndarray  # (m,), sum 1
    column_means: np.ndarray  # (m,)
    grand_mean: float

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X

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
