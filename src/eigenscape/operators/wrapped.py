"""Operators derived from other operators: centring, division and complement, applied but not stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._typing import is_sparse
from eigenscape.normalize import inverse_power, scale_sides
from eigenscape.operators.centered_rows import FactoredOperator
from eigenscape.operators.gram import Operator, SparseOperator, Stored


@dataclass(frozen=True, eq=False)
class _DerivedOperator:
    """Shape and storage of the operator from which another one is derived."""

    base: Operator

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    @property
    def storage(self) -> Stored:
        return self.base.storage


@dataclass(frozen=True, eq=False)
class CenteredOperator(_DerivedOperator):
    """``P K P'`` with ``P = I - e c'`` (Burges sec. 2.2.1)."""

    weights: np.ndarray  # c, (m,)

    def matmat(self, V: np.ndarray) -> np.ndarray:
        V = V - np.outer(V.sum(axis=0), self.weights).T  # columns are contiguous, as in products
        out = self.base.matmat(V)
        return out - self.weights @ out

    def diagonal(self) -> np.ndarray:
        means = self.base.matmat(self.weights[:, None])[:, 0]
        return self.base.diagonal() - 2 * means + self.weights @ means

    def magnitude(self) -> float:
        return self.base.magnitude()

    def matrix(self) -> Any:
        array = self.base.matrix()
        if array is None:
            return None
        array = array.toarray() if is_sparse(array) else array
        means = array @ self.weights
        return array - means[:, None] - (means - self.weights @ means)


@dataclass(frozen=True, eq=False)
class DividedOperator(_DerivedOperator):
    """``S^-1/2 K S^-1/2`` (Bengio eq. 11), or with another power."""

    sums: np.ndarray  # S, (m,)
    power: float = 0.5

    def matmat(self, V: np.ndarray) -> np.ndarray:
        root = inverse_power(self.sums, self.power)[:, None]
        return root * self.base.matmat(root * V)

    def diagonal(self) -> np.ndarray:
        return self.base.diagonal() * inverse_power(self.sums, 2 * self.power)

    def magnitude(self) -> float:
        if self.power == 0.5:
            return 1.0
        return self.base.magnitude() * float(inverse_power(self.sums, 2 * self.power).max())

    def matrix(self) -> Any:
        array = self.base.matrix()
        if array is None:
            return None
        root = inverse_power(self.sums, self.power)
        return scale_sides(array, root, root)


@dataclass(frozen=True, eq=False)
class ComplementOperator(_DerivedOperator):
    """``c I - K``, which reverses the order of the eigenvalues."""

    c: float = 1.0

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return self.c * V - self.base.matmat(V)

    def diagonal(self) -> np.ndarray:
        return self.c - self.base.diagonal()

    def magnitude(self) -> float:
        return abs(self.c) + self.base.magnitude()

    def matrix(self) -> Any:
        array = self.base.matrix()
        if array is None:
            return None
        if is_sparse(array):
            return sparse.csr_array(self.c * sparse.eye_array(self.shape[0], format="csr") - array)
        array = -array
        array[np.diag_indices_from(array)] += self.c
        return array


def materialized(operator: Operator) -> Operator:
    """Return the operator with its matrix formed if that is sparse, so that a product is a single one."""
    matrix = operator.matrix() if operator.storage == "sparse" else None
    return operator if matrix is None else SparseOperator(sparse.csr_array(matrix))


def centered(operator: Operator, weights: np.ndarray) -> Operator:
    """Return the operator ``P K P'`` with ``P = I - e c'`` (Burges sec. 2.2.1)."""
    if not isinstance(operator, FactoredOperator):
        return CenteredOperator(operator, weights)
    rows = operator.rows
    return FactoredOperator(replace(rows, mean=np.asarray(weights @ rows.X).ravel()))


def weighted(operator: Operator, weights: np.ndarray) -> Operator:
    """Return the operator ``W^1/2 K W^1/2`` for positive weights (m,)."""
    if not isinstance(operator, FactoredOperator):
        return DividedOperator(operator, weights, -0.5)
    return FactoredOperator(replace(operator.rows, weights=weights))


def divided(operator: Operator, sums: np.ndarray) -> Operator:
    """Return the operator ``S^-1/2 K S^-1/2`` (Bengio eq. 11)."""
    if not isinstance(operator, FactoredOperator):
        return DividedOperator(operator, sums)
    return FactoredOperator(replace(operator.rows, weights=1.0 / sums))
