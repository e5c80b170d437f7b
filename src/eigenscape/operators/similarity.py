"""The Gram matrix of a bound kernel, in the form that takes the least time and memory; centring, division and
complement of operators, applied but not stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._threads import run_parallel
from eigenscape._typing import is_sparse
from eigenscape.graph.row_index import canonical_csr
from eigenscape.kernels.base import BoundKernel, gram_matrix, n_columns, n_points
from eigenscape.kernels.pairwise import BoundPairwise, Tiles
from eigenscape.normalize import inverse_power, scale_sides
from eigenscape.operators.centered_rows import CenteredRows, FactoredOperator
from eigenscape.operators.gram import (
    BlockedOperator,
    DenseOperator,
    Operator,
    SparseOperator,
    Storage,
    Stored,
    as_operator,
    check_finite,
    is_stored,
)

#: Side of the square tiles in which a symmetric matrix is evaluated, or averaged with its transpose.
_SQUARE = 256


def gram(
    kernel: BoundKernel, storage: Storage = "auto", n_jobs: int | None = None, *, factored: bool = True
) -> Operator:
    """Return the operator of a kernel's Gram matrix, evaluated by the same code as for new points.

    Parameters
    ----------
    kernel : BoundKernel
    storage : {"auto", "blocked"}, default="auto"
        "auto": the values of a sparse kernel are stored as a sparse matrix; values of a dense kernel are
        stored if they take at most half of the free memory, and otherwise applied in blocks. "blocked":
        always applied in blocks.
    n_jobs : int or None, default=None
        Number of threads.
    factored : bool, default=True
        Whether the matrix of a linear or cosine kernel may be a product of two thin matrices, if there are
        more points than columns.
    """
    m = n_points(kernel.X)
    if factored and isinstance(kernel, BoundPairwise) and m > n_columns(kernel.X):
        factors = kernel.kernel.factors(kernel.X[:1], kernel.X)
        if factors is not None:
            rows = check_finite(factors[1])
            return FactoredOperator(CenteredRows(rows, np.zeros(rows.shape[1]), n_jobs=n_jobs))
    whole = gram_matrix(kernel)
    if whole is not None:
        return as_operator(check_finite(whole))
    with stage("kernel matrix", total=m) as advance:
        tile = kernel.kernel.tiles(kernel.X) if isinstance(kernel, BoundPairwise) else None
        if tile is None and storage == "auto" and is_sparse(kernel(kernel.X[:1])):
            return SparseOperator(canonical_csr(check_finite(sparse.csr_array(kernel(kernel.X)))))
        if not is_stored(m, storage):
            return BlockedOperator(kernel, tile, n_jobs)
        array = np.empty((m, m))
        if tile is not None:
            short = m * m * n_columns(kernel.X) < 30_000_000  # evaluated before threads are started
            _fill_symmetric(array, tile, advance, 1 if short else n_jobs)
            return DenseOperator(array, n_jobs)

        def fill(rows: slice) -> None:
            array[rows] = check_finite(np.asarray(kernel(kernel.X[rows])), rows.start)
            advance(rows.stop - rows.start)

        run_parallel(fill, row_blocks(m, 24 * m), n_jobs)
    _check_symmetric(array)
    _symmetrize(array, n_jobs)
    return DenseOperator(array, n_jobs)


def _fill_symmetric(
    array: np.ndarray, tile: Tiles, advance: Callable[[int], None], n_jobs: int | None
) -> None:
    """Fill a symmetric matrix by the square tiles of its upper half, so that each pair is evaluated once."""
    slices = [slice(start, min(start + _SQUARE, len(array))) for start in range(0, len(array), _SQUARE)]
    tiles = ((rows, columns) for i, rows in enumerate(slices) for columns in slices[i:])

    def fill(pair: tuple[slice, slice]) -> None:
        rows, columns = pair
        values = array[pair]
        tile(rows, columns, values)
        check_finite(values, rows.start)
        if rows == columns:
            values[...] = (values + values.T) / 2
            advance(rows.stop - rows.start)
        else:
            array[columns, rows] = values.T

    run_parallel(fill, tiles, n_jobs)


def _check_symmetric(array: np.ndarray) -> None:
    """Raise ValueError if the first rows and columns differ, as for a function that is not symmetric."""
    few = min(len(array), 256)
    worst = float(np.abs(array[:few] - array[:, :few].T).max())
    if worst > 1e-6 * float(np.abs(array[:few]).max()):
        raise ValueError(
            f"the kernel is not symmetric: k(x, y) and k(y, x) differ by up to {worst:g}; use a symmetric"
            " kernel or metric"
        )


def _symmetrize(array: np.ndarray, n_jobs: int | None) -> None:
    """Average a matrix with its transpose in place, so that solvers that read one half or all agree."""
    starts = range(0, len(array), _SQUARE)

    def mirror(i: int) -> None:
        for j in range(0, i + 1, _SQUARE):
            lower, upper = array[i : i + _SQUARE, j : j + _SQUARE], array[j : j + _SQUARE, i : i + _SQUARE]
            mean = (lower + upper.T) / 2
            lower[...] = mean
            upper[...] = mean.T

    run_parallel(mirror, starts, n_jobs)


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
