"""The Gram matrix of a bound kernel: dense, sparse, or applied in blocks if it does not fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from scipy import sparse

from eigenscape._memory import BLOCK_BYTES, fits, row_blocks
from eigenscape._progress import stage
from eigenscape._threads import run_parallel
from eigenscape._typing import Matrix, is_sparse
from eigenscape.graph.row_index import canonical_csr
from eigenscape.kernels.base import BoundKernel, gram_matrix, n_points
from eigenscape.kernels.pairwise import BoundPairwise, Tiles
from eigenscape.operators.product import sparse_product

Storage = Literal["auto", "blocked"]
Stored = Literal["dense", "sparse", "blocked"]
M = TypeVar("M", bound=Matrix)
#: Side of the square blocks in which a matrix is averaged with its transpose.
_SQUARE = 512
#: Number of columns of a block in products.
_COLUMNS = 1024


class Operator(Protocol):
    """A symmetric linear operator."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """Compute ``K @ V`` for ``V`` of shape (m, c)."""
        ...

    def diagonal(self) -> np.ndarray: ...

    def magnitude(self) -> float:
        """Return the magnitude of the entries, to which the rounding of products is relative."""
        ...

    @property
    def storage(self) -> Stored:
        """``"dense"``, ``"sparse"``, or ``"blocked"`` if the matrix is not stored."""
        ...

    def matrix(self) -> Any:
        """Return the matrix, dense or sparse, or None if it is too large to store."""
        ...


@dataclass(frozen=True, eq=False)
class DenseOperator:
    """A dense symmetric matrix; a matrix in single precision is multiplied in double, block by block."""

    array: np.ndarray
    n_jobs: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape

    def matmat(self, V: np.ndarray) -> np.ndarray:
        if self.array.dtype == V.dtype:
            # K' = K, and BLAS multiplies few rows by a matrix faster than a matrix by few columns.
            m = len(self.array)
            out, transposed = np.empty((V.shape[1], m)), np.ascontiguousarray(V.T)

            def multiply(start: int) -> None:
                columns = slice(start, start + _COLUMNS)
                np.matmul(transposed, self.array[:, columns], out=out[:, columns])

            run_parallel(multiply, range(0, m, _COLUMNS), self.n_jobs)
            return out.T
        blocks = row_blocks(len(self.array), 8 * len(self.array))
        return np.concatenate([self.array[rows].astype(V.dtype) @ V for rows in blocks])

    def diagonal(self) -> np.ndarray:
        return np.diagonal(self.array)

    def magnitude(self) -> float:
        return float(np.abs(self.array[:256]).max())

    @property
    def storage(self) -> Stored:
        return "dense"

    def matrix(self) -> np.ndarray:
        return self.array


@dataclass(frozen=True, eq=False)
class SparseOperator:
    """A sparse symmetric matrix, multiplied on ``n_jobs`` threads."""

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
    def storage(self) -> Stored:
        return "sparse"

    def matrix(self) -> sparse.csr_array:
        return self.array


@dataclass(frozen=True, eq=False)
class BlockedOperator:
    """A kernel matrix that is recomputed block by block for every product, to save memory."""

    kernel: BoundKernel

    @property
    def shape(self) -> tuple[int, int]:
        m = n_points(self.kernel.X)
        return m, m

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return np.concatenate([values @ V for _, values in self.blocks()])

    def diagonal(self) -> np.ndarray:
        return np.concatenate([values.diagonal(rows.start) for rows, values in self.blocks()])

    def magnitude(self) -> float:
        values: Any = next(iter(self.blocks()))[1]
        return float(abs(values).max())

    @property
    def storage(self) -> Stored:
        return "blocked"

    def matrix(self) -> None:
        return None

    def blocks(self) -> Iterator[tuple[slice, Matrix]]:
        """Yield slices of rows and their values."""
        m = self.shape[0]
        for rows in row_blocks(m, 24 * m, BLOCK_BYTES):
            yield rows, check_finite(self.kernel(self.kernel.X[rows]), rows.start)


def gram(kernel: BoundKernel, storage: Storage = "auto", n_jobs: int | None = None) -> Operator:
    """Return the operator of a kernel's Gram matrix, evaluated by the same code as for new points.

    Parameters
    ----------
    kernel : BoundKernel
    storage : {"auto", "blocked"}, default="auto"
        "auto": the values of a sparse kernel are stored as a sparse matrix; those of a dense kernel are
        stored if they take at most half of the free memory, and otherwise applied in blocks. "blocked":
        always applied in blocks.
    n_jobs : int or None, default=None
        Number of threads.
    """
    m = n_points(kernel.X)
    whole = gram_matrix(kernel)
    if whole is not None:
        return as_operator(check_finite(whole))
    fitting = storage == "auto" and fits(8.0 * m * m, share=0.5)
    with stage("kernel matrix", total=m) as advance:
        if storage == "auto" and is_sparse(kernel(kernel.X[:1])):
            return SparseOperator(canonical_csr(check_finite(sparse.csr_array(kernel(kernel.X)))))
        if not fitting:
            return BlockedOperator(kernel)
        array = np.empty((m, m))
        tile = kernel.kernel.tiles(kernel.X) if isinstance(kernel, BoundPairwise) else None
        if tile is not None:
            _fill_symmetric(array, tile, advance, n_jobs)
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
    """Fill a symmetric matrix: each pair of points is evaluated once."""
    m = len(array)

    def fill(start: int) -> None:
        stop = min(start + _SQUARE, m)
        values = check_finite(tile(slice(start, stop), slice(start, m)), start)
        corner = values[:, : stop - start]
        array[start:stop, start:stop] = (corner + corner.T) / 2
        array[start:stop, stop:] = values[:, stop - start :]
        for other in range(stop, m, _SQUARE):
            some = slice(other, other + _SQUARE)
            array[some, start:stop] = array[start:stop, some].T
        advance(stop - start)

    run_parallel(fill, range(0, m, _SQUARE), n_jobs)


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


def as_operator(matrix: Matrix) -> Operator:
    """Return the operator of a stored matrix."""
    return (
        SparseOperator(sparse.csr_array(matrix)) if is_sparse(matrix) else DenseOperator(np.asarray(matrix))
    )


def check_finite(values: M, first_row: int = 0) -> M:
    """Return ``values``, or raise ValueError naming the first row with a value that is not finite."""
    entries = values.data if is_sparse(values) else np.asarray(values)
    if not np.isfinite(entries).all():
        if is_sparse(values):
            first = int(np.flatnonzero(~np.isfinite(entries))[0])
            row = int(np.searchsorted(values.indptr, first, side="right")) - 1
        else:
            row = int(np.flatnonzero(~np.isfinite(entries).all(axis=1))[0])
        raise ValueError(
            f"the kernel is not finite: row {first_row + row} of the Gram matrix has NaN or infinite values;"
            " check the kernel, its parameters and the scale of the data"
        )
    return values
