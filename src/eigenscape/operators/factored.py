"""Gram matrices of kernels that are products of two thin matrices (linear, cosine), which are not formed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from eigenscape import _memory
from eigenscape._typing import is_sparse
from eigenscape.operators.centered_rows import CenteredRows
from eigenscape.operators.gram import Operator, Stored
from eigenscape.operators.wrapped import CenteredOperator, DividedOperator


@dataclass(frozen=True, eq=False)
class FactoredOperator:
    """``K = F F'`` for rows ``F`` (m, d): a product with ``V`` is ``F (F'V)``, and sparse rows stay sparse.

    Centring subtracts the mean from the rows, and division scales them, so both are factored operators too.
    """

    rows: CenteredRows

    @property
    def shape(self) -> tuple[int, int]:
        m = self.rows.shape[0]
        return m, m

    @property
    def storage(self) -> Stored:
        return "dense"

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return self.rows.times(self.rows.transposed_times(V))

    def diagonal(self) -> np.ndarray:
        return self.rows.squared_norms()

    def magnitude(self) -> float:
        # New points are multiplied before they are centred: rounding is relative to rows with their mean.
        return float(self.diagonal().max() + self.rows.mean @ self.rows.mean)

    def matrix(self) -> np.ndarray:
        """Form the matrix, for solvers that need all of it."""
        m = self.shape[0]
        _memory.require(8.0 * m * m, f"the kernel matrix of {m} points", "use eigen_solver='lanczos'")
        return self.rows.gram()

    def is_nonnegative(self) -> bool:
        """Return whether no row has a negative entry, so that no similarity is negative."""
        entries = self.rows.X.data if is_sparse(self.rows.X) else self.rows.X
        return not (entries < 0).any()

    def links(self) -> sparse.coo_array:
        """Return a sparse graph (m, m) with the connected components of ``K``, for non-negative rows.

        Two rows have a positive product if they share a column in which both are positive. The rows of a
        column are connected in a chain.
        """
        columns = sparse.csc_array(self.rows.X)
        columns.eliminate_zeros()
        ends = np.zeros(columns.nnz + 1, dtype=bool)
        ends[columns.indptr[1:]] = True  # the last entry of a column has no successor
        follows = np.flatnonzero(~ends[1:-1])
        pairs = columns.indices[follows], columns.indices[follows + 1]
        return sparse.coo_array((np.ones(len(follows)), pairs), shape=self.shape)


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
