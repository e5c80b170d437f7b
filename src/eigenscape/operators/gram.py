"""The Gram matrix of a bound kernel: dense, sparse, or applied in blocks because it does not fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import joblib
import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from eigenscape._memory import BLOCK_BYTES, fits, require, row_blocks
from eigenscape._progress import stage
from eigenscape.graph.row_index import canonical_csr
from eigenscape.kernels.base import BoundKernel, Matrix, n_points
from eigenscape.kernels.distance import GeodesicKernel
from eigenscape.operators.product import sparse_product

Storage = Literal["auto", "blocked"]
#: Side of the squares in which a matrix is gone through together with its transpose.
_SQUARE = 512


class Operator(Protocol):
    """A symmetric linear map. There is no transpose to get wrong."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """``K @ V`` for ``V`` of shape (m, c)."""
        ...

    def diagonal(self) -> np.ndarray: ...

    def magnitude(self) -> float:
        """Size of the entries that the products are made of: their rounding is relative to this."""
        ...

    @property
    def storage(self) -> str:
        """``"dense"``, ``"sparse"``, or ``"blocked"`` where there is no matrix to be had."""
        ...

    def matrix(self) -> Matrix | None:
        """The matrix itself, dense or sparse, or None where it is too large to form."""
        ...


@dataclass(frozen=True, eq=False)
class DenseOperator:
    """A dense symmetric matrix; one kept in single precision is multiplied in double, block by block."""

    array: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape

    def matmat(self, V: np.ndarray) -> np.ndarray:
        if self.array.dtype == V.dtype:
            return (
                V.T @ self.array
            ).T  # K' = K, and BLAS is faster at few rows times a matrix than at a matrix times few columns
        return np.concatenate(
            [
                self.array[rows].astype(V.dtype) @ V
                for rows in row_blocks(len(self.array), 8 * len(self.array))
            ]
        )

    def diagonal(self) -> np.ndarray:
        return np.diagonal(self.array)

    def magnitude(self) -> float:
        return float(np.abs(self.array[:256]).max())

    @property
    def storage(self) -> str:
        return "dense"

    def matrix(self) -> np.ndarray:
        return self.array


@dataclass(frozen=True, eq=False)
class SparseOperator:
    """A sparse symmetric matrix, applied on ``n_jobs`` cores."""

    array: sparse.csr_array
    n_jobs: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return sparse_product(self.array, V, self.n_jobs)

    def diagonal(self) -> np.ndarray:
        return self.array.diagonal()

    def magnitude(self) -> float:
        return float(np.abs(self.array.data).max(initial=0.0))

    @property
    def storage(self) -> str:
        return "sparse"

    def matrix(self) -> sparse.csr_array:
        return self.array


@dataclass(frozen=True, eq=False)
class BlockedOperator:
    """A kernel matrix made anew, block by block, whenever it is applied: memory for one block, time for
    many."""

    kernel: BoundKernel

    @property
    def shape(self) -> tuple[int, int]:
        m = n_points(self.kernel.X)
        return m, m

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return np.concatenate([values @ V for _, values in self.blocks()])

    def diagonal(self) -> np.ndarray:
        return np.concatenate(
            [
                values[np.arange(len(values)), range(*rows.indices(self.shape[0]))]
                for rows, values in self.blocks()
            ]
        )

    def magnitude(self) -> float:
        return float(np.abs(next(iter(self.blocks()))[1]).max())

    @property
    def storage(self) -> str:
        return "blocked"

    def matrix(self) -> None:
        return None

    def blocks(self) -> Any:
        """Slices of rows and their values."""
        m = self.shape[0]
        for rows in row_blocks(m, 24 * m, BLOCK_BYTES):
            yield rows, check_finite(self.kernel(self.kernel.X[rows]), rows.start)


def gram(kernel: BoundKernel, storage: Storage = "auto", n_jobs: int | None = None) -> Operator:
    """The operator of ``kernel``'s Gram matrix, evaluated by the code that serves new points.

    Sparse kernels stay sparse. A dense matrix is kept when it takes at most half of the free memory and is
    otherwise applied in blocks; ``storage="blocked"`` asks for blocks in any case."""
    m = n_points(kernel.X)
    if isinstance(
        kernel, GeodesicKernel
    ):  # makes all rows together, in the array that stays; anew for each product it would take hours
        size = np.dtype(kernel.dtype).itemsize
        require(
            1.05 * size * m * m, f"geodesic distances of {m} points", "fit a sample and transform the rest"
        )
        return DenseOperator(check_finite(kernel(kernel.X)))
    fitting = storage == "auto" and fits(8.0 * m * m, share=0.5)
    with stage("kernel matrix", total=m) as advance:
        if storage == "auto" and sparse.issparse(kernel(kernel.X[:1])):
            return SparseOperator(canonical_csr(check_finite(sparse.csr_array(kernel(kernel.X)))))
        if not fitting:
            return BlockedOperator(kernel)
        array = np.empty((m, m))

        def fill(rows: slice) -> None:
            array[rows] = check_finite(np.asarray(kernel(kernel.X[rows])), rows.start)
            advance(rows.stop - rows.start)

        with threadpool_limits(
            1 if joblib.effective_n_jobs(n_jobs) > 1 else None, user_api="blas"
        ):  # else products wait for each other
            joblib.Parallel(n_jobs=n_jobs, prefer="threads")(
                joblib.delayed(fill)(rows) for rows in row_blocks(m, 24 * m)
            )
    _check_symmetric(array)
    _symmetrize(array, n_jobs)
    return DenseOperator(array)


def _check_symmetric(array: np.ndarray) -> None:
    """A look at the first rows and columns: enough to catch a function that treats its two arguments
    differently."""
    few = min(len(array), 256)
    worst = float(np.abs(array[:few] - array[:, :few].T).max())
    if worst > 1e-6 * float(np.abs(array[:few]).max()):
        raise ValueError(
            f"the kernel is not symmetric: k(x, y) and k(y, x) differ by up to {worst:g}; use a symmetric kernel or metric"
        )


def _symmetrize(array: np.ndarray, n_jobs: int | None) -> None:
    """Make a matrix that is symmetric up to rounding exactly so, in place: solvers that read one half and
    those that read all agree."""
    starts = range(0, len(array), _SQUARE)

    def mirror(i: int) -> None:
        for j in range(0, i + 1, _SQUARE):
            lower, upper = array[i : i + _SQUARE, j : j + _SQUARE], array[j : j + _SQUARE, i : i + _SQUARE]
            mean = (lower + upper.T) / 2
            lower[...] = mean
            upper[...] = mean.T

    joblib.Parallel(n_jobs=n_jobs, prefer="threads")(joblib.delayed(mirror)(i) for i in starts)


def as_operator(matrix: Matrix) -> Operator:
    """A matrix at hand as an operator."""
    return (
        SparseOperator(sparse.csr_array(matrix))
        if sparse.issparse(matrix)
        else DenseOperator(np.asarray(matrix))
    )


def check_finite(values: Any, first_row: int = 0) -> Any:
    """``values``, or an error that names the first row in which a kernel value is not a finite number."""
    entries = values.data if sparse.issparse(values) else values
    if not np.isfinite(entries).all():
        if sparse.issparse(values):
            row = (
                int(np.searchsorted(values.indptr, np.flatnonzero(~np.isfinite(entries))[0], side="right"))
                - 1
            )
        else:
            row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise ValueError(
            f"the kernel is not finite: row {first_row + row} of the Gram matrix has NaN or infinite values; check the kernel,"
            " its parameters and the scale of the data"
        )
    return values
