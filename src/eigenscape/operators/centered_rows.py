"""Centred and weighted rows, their products, and the operators made from them, without a centred copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from scipy import sparse

from eigenscape import _memory
from eigenscape._memory import row_blocks
from eigenscape._typing import Matrix, is_sparse
from eigenscape.kernels.base import as_float64
from eigenscape.operators.gram import Stored, sparse_product

#: Size of the blocks in which rows are centred, so that they stay in the processor's cache.
_CACHE_BYTES = 2**21
#: Up to this ratio of squared mean to variance the mean may be subtracted after the product, at the cost of
#: no more than three digits.
SMALL_OFFSET = 1e3


@dataclass(frozen=True, eq=False)
class CenteredRows:
    """``D^1/2 (X - e mu')`` (n, d) with the diagonal ``D`` of sample weights; sparse rows stay sparse."""

    _shapes: ClassVar = {"X": "n d", "mean": "d", "weights": "n"}
    X: Matrix
    mean: np.ndarray  # mu, (d,)
    weights: np.ndarray | None = None  # (n,); None for weights of 1
    n_jobs: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def total_weight(self) -> float:
        return float(self.shape[0]) if self.weights is None else float(self.weights.sum())

    @cached_property
    def _roots(self) -> np.ndarray | None:
        return None if self.weights is None else np.sqrt(self.weights)[:, None]

    @cached_property
    def _is_plain(self) -> bool:
        """Whether the rows equal ``X``: in double precision, not centred and not weighted."""
        return self.weights is None and self.X.dtype == np.float64 and not self.mean.any()

    @cached_property
    def _transposed(self) -> sparse.csr_array:
        """Transpose of sparse rows, for products on several threads."""
        return sparse.csr_array(self.X.T)

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows, centred and weighted in double precision."""
        for rows in row_blocks(self.shape[0], 8 * self.shape[1], _CACHE_BYTES):
            block = (self.X[rows].toarray() if is_sparse(self.X) else self.X[rows]) - self.mean
            yield rows, block if self._roots is None else block * self._roots[rows]

    def times(self, V: np.ndarray) -> np.ndarray:
        """Compute ``D^1/2 (X - e mu') V`` (n, c) for ``V`` (d, c)."""
        if is_sparse(self.X):
            out = sparse_product(self.X, V, self.n_jobs) - self.mean @ V
            return out if self._roots is None else out * self._roots
        if self._is_plain:
            return self.X @ V
        out = np.empty((self.shape[0], V.shape[1]))
        for rows, block in self.blocks():
            np.matmul(block, V, out=out[rows])
        return out

    def transposed_times(self, U: np.ndarray) -> np.ndarray:
        """Compute ``(X - e mu')' D^1/2 U`` (d, c) for ``U`` (n, c)."""
        if is_sparse(self.X):
            U = U if self._roots is None else U * self._roots
            return sparse_product(self._transposed, U, self.n_jobs) - np.outer(self.mean, U.sum(axis=0))
        if self._is_plain:
            return self.X.T @ U
        out = np.zeros((self.shape[1], U.shape[1]))
        for rows, block in self.blocks():
            out += block.T @ U[rows]
        return out

    def scatter_times(self, V: np.ndarray) -> np.ndarray:
        """Compute ``(X - e mu')' D (X - e mu') V`` (d, c), in one pass over dense rows."""
        if is_sparse(self.X):
            return self.transposed_times(self.times(V))
        out = np.zeros_like(V)
        for _, block in self.blocks():
            out += block.T @ (block @ V)
        return out

    def scatter(self) -> np.ndarray:
        """Compute ``(X - e mu')' D (X - e mu')`` (d, d)."""
        if is_sparse(self.X) or (self.weights is None and self.X.dtype == np.float64):
            raw = self._raw_scatter()
            offset = self.total_weight * np.square(self.mean)
            if is_sparse(self.X) or (offset <= SMALL_OFFSET * (np.diagonal(raw) - offset)).all():
                return raw - self.total_weight * np.outer(self.mean, self.mean)
        out = np.zeros((self.shape[1], self.shape[1]))
        for _, block in self.blocks():
            out += block.T @ block
        return out

    def _raw_scatter(self) -> np.ndarray:
        """Compute ``X' D X``, without centring."""
        if not is_sparse(self.X):
            return self.X.T @ self.X
        weighted = self.X if self._roots is None else self.X.multiply(self._roots)
        return sparse.csr_array(weighted.T @ weighted).toarray()

    def gram(self) -> np.ndarray:
        """Compute ``D^1/2 (X - e mu') (X - e mu')' D^1/2`` (n, n), by blocks of columns."""
        n, d = self.shape
        if is_sparse(self.X):
            means = self.X @ self.mean
            out = (self.X @ self.X.T).toarray() - means[:, None] - (means - self.mean @ self.mean)
        else:
            out = np.zeros((n, n))
            for columns in row_blocks(d, 8 * n, 16 * _CACHE_BYTES):
                block = self.X[:, columns] - self.mean[columns]
                out += block @ block.T
        return out if self._roots is None else out * self._roots * self._roots.T

    def squared_norms(self) -> np.ndarray:
        """Compute the squared norms (n,) of the centred, weighted rows."""
        if is_sparse(self.X):
            squares = np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel()
            squares = np.maximum(squares - 2 * (self.X @ self.mean) + self.mean @ self.mean, 0.0)
            return squares if self.weights is None else squares * self.weights
        return np.concatenate([np.einsum("ij,ij->i", block, block) for _, block in self.blocks()])

    def column_squares(self) -> np.ndarray:
        """Compute the squared norms (d,) of the centred, weighted columns."""
        if is_sparse(self.X):
            weights = np.ones(self.shape[0]) if self.weights is None else self.weights
            squares = np.asarray(weights @ self.X.multiply(self.X)).ravel()
            return squares - self.total_weight * np.square(self.mean)
        return np.sum([np.einsum("ij,ij->j", block, block) for _, block in self.blocks()], axis=0)


@dataclass(frozen=True, eq=False)
class ScatterOperator:
    """The scatter matrix (side "features") or the Gram matrix (side "samples") of centred rows."""

    rows: CenteredRows
    side: Literal["features", "samples"]

    storage: ClassVar[Stored] = "dense"

    @property
    def shape(self) -> tuple[int, int]:
        size = self.rows.shape[1 if self.side == "features" else 0]
        return size, size

    def matmat(self, V: np.ndarray) -> np.ndarray:
        if self.side == "features":
            return self.rows.scatter_times(V)
        return self.rows.times(self.rows.transposed_times(V))

    def diagonal(self) -> np.ndarray:
        if self.side == "samples":
            return self.rows.squared_norms()
        return self.rows.column_squares()

    def magnitude(self) -> float:
        return float(self.rows.squared_norms().max())

    def matrix(self) -> np.ndarray:
        return self.rows.scatter() if self.side == "features" else self.rows.gram()


@dataclass(frozen=True, eq=False)
class FactoredOperator:
    """``K = F F'`` for rows ``F`` (m, d): a product with ``V`` is ``F (F'V)``, and sparse rows stay sparse.

    Centring subtracts the mean from the rows, and division scales them, so both are factored operators too.
    """

    rows: CenteredRows

    storage: ClassVar[Stored] = "dense"

    @property
    def shape(self) -> tuple[int, int]:
        m = self.rows.shape[0]
        return m, m

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


def weighted_mean(X: Matrix, weights: np.ndarray | None) -> np.ndarray:
    """Compute the mean (d,) of dense or sparse rows in double precision."""
    n = X.shape[0]
    weights = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    if is_sparse(X) or X.dtype == np.float64:
        mean = weights @ X
    else:
        mean = np.zeros(X.shape[1])
        for rows in row_blocks(n, 8 * X.shape[1], _CACHE_BYTES):
            mean += weights[rows] @ X[rows].astype(np.float64)
    return np.asarray(mean, dtype=np.float64).ravel()


def as_product_operand(X: Matrix) -> Matrix:
    """Convert sparse rows to double precision, for compiled products; dense rows are converted by blocks."""
    return as_float64(X) if is_sparse(X) else X
