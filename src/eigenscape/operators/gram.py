"""Operators of Gram matrices: dense, sparse, or applied in blocks if they do not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
from scipy import sparse

from eigenscape._memory import BLOCK_BYTES, fits, row_blocks
from eigenscape._native.loops import multiply_dense, multiply_rows
from eigenscape._threads import n_threads, parallel_map, run_parallel
from eigenscape._typing import Matrix, is_sparse
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.kernels.pairwise import Tiles


def sparse_product(A: sparse.csr_array, V: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Compute ``A @ V`` for ``V`` (m, c)."""
    # SciPy's own product is as fast for few multiplications.
    if A.nnz * V.shape[1] < 2_000_000 or A.dtype != V.dtype or A.dtype.char not in "fd":
        return A @ V
    V = np.ascontiguousarray(V)
    out = np.empty((A.shape[0], V.shape[1]), dtype=V.dtype)
    threads = n_threads(n_jobs)
    cuts = np.searchsorted(A.indptr, np.linspace(0, A.nnz, threads + 1)[1:-1])  # equal work per thread
    ends = [0, *map(int, cuts), A.shape[0]]

    def work(part: int) -> None:
        multiply_rows(A.indptr, A.indices, A.data, V, ends[part], ends[part + 1], out)

    run_parallel(work, range(threads), n_jobs)
    return out


Storage = Literal["auto", "blocked"]
Stored = Literal["dense", "sparse", "blocked"]
M = TypeVar("M", bound=Matrix)
#: Side of the square tiles of a symmetric matrix that is not stored.
_TILE = 512


def is_stored(m: int, storage: Storage) -> bool:
    """Return whether a dense matrix of ``m`` points is stored; "auto": in at most half of the free memory."""
    return storage == "auto" and fits(8.0 * m * m, share=0.5)


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
    """A dense symmetric matrix; a matrix in single precision is multiplied in double precision."""

    array: np.ndarray
    n_jobs: int | None = None
    storage: ClassVar[Stored] = "dense"

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape

    def matmat(self, V: np.ndarray) -> np.ndarray:
        """Compute ``K @ V`` in blocks of rows of ``K``.

        By BLAS for one vector and for many, with ``K' = K`` since it multiplies few rows by a matrix faster
        than a matrix by few columns. For a few vectors, and for a matrix in single precision, which BLAS
        would convert as a whole, see ``multiply_dense`` of the native loops.
        """
        K, (m, columns), rows = self.array, V.shape, 512  # rows of a block of the matrix
        K = K if K.flags.c_contiguous else np.ascontiguousarray(K.T)  # no copy if columns are contiguous
        K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
        few = 1 < columns < 13 or K.dtype == np.float32
        out = np.empty((-(-columns // 4) * 4 if few else columns, m))
        transposed = np.zeros_like(out)
        transposed[:columns] = V.T

        def multiply(start: int) -> None:
            end = min(start + rows, m)
            if few:
                multiply_dense(K, transposed, start, end, out)
            elif columns == 1:
                np.dot(K[start:end], transposed[0], out=out[0, start:end])
            else:
                np.matmul(transposed, K[:, start:end], out=out[:, start:end])

        if m * m * columns < 8_000_000:  # less time than handing it to another thread takes
            for start in range(0, m, rows):
                multiply(start)
        else:
            run_parallel(multiply, range(0, m, rows), self.n_jobs)
        return out[:columns].T

    def diagonal(self) -> np.ndarray:
        return np.diagonal(self.array)

    def magnitude(self) -> float:
        some = self.array[:64]
        return float(max(some.max(), -some.min()))

    def matrix(self) -> np.ndarray:
        return self.array


@dataclass(frozen=True, eq=False)
class SparseOperator:
    """A sparse symmetric matrix, multiplied on ``n_jobs`` threads."""

    array: sparse.csr_array
    n_jobs: int | None = None
    storage: ClassVar[Stored] = "sparse"

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return sparse_product(self.array, V, self.n_jobs)

    def diagonal(self) -> np.ndarray:
        return self.array.diagonal()

    def magnitude(self) -> float:
        return float(np.abs(self.array.data).max(initial=0.0))

    def matrix(self) -> sparse.csr_array:
        return self.array


@dataclass(frozen=True, eq=False)
class BlockedOperator:
    """A kernel matrix that is recomputed block by block for every product, to save memory.

    Of a symmetric kernel with ``tile``, each pair of points is evaluated once a product: the tile ``K_ij``
    contributes ``K_ij V_j`` to the rows ``i`` and ``K_ij' V_i`` to the rows ``j``.
    """

    kernel: BoundKernel
    tile: Tiles | None = None
    n_jobs: int | None = None

    storage: ClassVar[Stored] = "blocked"

    @property
    def shape(self) -> tuple[int, int]:
        m = n_points(self.kernel.X)
        return m, m

    def matmat(self, V: np.ndarray) -> np.ndarray:
        tile = self.tile
        if tile is None:
            return np.concatenate([values @ V for _, values in self.blocks()])
        m = self.shape[0]
        slices = [slice(start, min(start + _TILE, m)) for start in range(0, m, _TILE)]

        def multiply(i: int) -> np.ndarray:
            """Compute the contributions of the tiles ``K_ij``, j >= i, to the rows from tile ``i`` on."""
            rows = slices[i]
            out = np.zeros((m - rows.start, V.shape[1]))
            for columns in slices[i:]:
                values = np.empty((rows.stop - rows.start, columns.stop - columns.start))
                tile(rows, columns, values)
                check_finite(values, rows.start)
                out[: len(values)] += values @ V[columns]
                if columns != rows:
                    out[columns.start - rows.start : columns.stop - rows.start] += values.T @ V[rows]
            return out

        total = np.zeros((m, V.shape[1]))
        # Added in the order of the tiles, so that the result is the same for any number of threads.
        for rows, part in zip(slices, parallel_map(multiply, range(len(slices)), self.n_jobs), strict=True):
            total[rows.start :] += part
        return total

    def diagonal(self) -> np.ndarray:
        return np.concatenate([values.diagonal(rows.start) for rows, values in self.blocks()])

    def magnitude(self) -> float:
        values: Any = next(iter(self.blocks()))[1]
        return float(abs(values).max())

    def matrix(self) -> None:
        return None

    def blocks(self) -> Iterator[tuple[slice, Matrix]]:
        """Yield slices of rows and their values."""
        m = self.shape[0]
        for rows in row_blocks(m, 24 * m, BLOCK_BYTES):
            yield rows, check_finite(self.kernel(self.kernel.X[rows]), rows.start)


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
