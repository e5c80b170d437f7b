"""Additive normalisation: the origin moved to a weighted mean of the training points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape.kernels.base import BoundKernel, n_points, product


@dataclass(frozen=True, eq=False)
class CenteredKernel:
    """``k(x, y) - E'[k(x', y)] - E'[k(x, y')] + E'E'[k(x', y')]`` with means over the training set (Bengio
    eq. 5, 10).

    ``weights`` are Burges' centring coefficients ``c`` (sec. 2.2.1): any numbers that sum to one; uniform is
    the usual mean. The averages of a new point run over the training set."""

    base: BoundKernel
    weights: np.ndarray  # (m,), sum 1
    column_means: np.ndarray  # (m,)
    grand_mean: float

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X

    def __call__(self, Y: Any) -> np.ndarray:
        values = self.base(Y)
        if sparse.issparse(values):
            values = np.asarray(values.todense())
        row_means = values @ self.weights  # (n_new,), double whatever the values are
        return values - row_means[:, None] - (self.column_means - self.grand_mean)


@product.register
def _(kernel: CenteredKernel, Y: Any, V: np.ndarray) -> np.ndarray:
    """The base's product, then the means: ``K~V - K~c 1'V - 1 (E - EE)'V``."""
    both = product(kernel.base, Y, np.column_stack([V, kernel.weights]))
    row_means = both[:, -1]
    return both[:, :-1] - np.outer(row_means, V.sum(axis=0)) - (kernel.column_means - kernel.grand_mean) @ V


def center(kernel: BoundKernel, gram: Any, weights: np.ndarray | None = None) -> CenteredKernel:
    """Centre ``kernel``; ``gram`` is the operator of its Gram matrix."""
    m = n_points(kernel.X)
    weights = uniform_weights(m) if weights is None else weights
    column_means = gram.matmat(weights[:, None])[:, 0]
    return CenteredKernel(kernel, weights, column_means, float(weights @ column_means))


def uniform_weights(m: int) -> np.ndarray:
    """The centring coefficients of the plain mean."""
    return np.full(m, 1.0 / m)
