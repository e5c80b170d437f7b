"""Hierarchy of ever smaller matrices for a graph Laplacian: smoothed aggregation.

A coarse vertex represents a group of fine ones, the interpolation is piecewise a multiple of the null vector
(which it therefore reproduces exactly) followed by one Jacobi step, and the coarse matrix is ``P' A P``. The
coarsest level is factorised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._native.loops import (
    correct_rows,
    divide_columns,
    first_residual,
    group_vertices,
    multiply_columns,
    multiply_rows,
    multiply_sparse,
    product_size,
    relax_rows,
    smooth_rows,
)
from eigenscape._progress import stage
from eigenscape._threads import Team, one_thread
from eigenscape.graph.sparse_distances import transpose
from eigenscape.solvers.direct import inverse_on_complement

#: Size of the coarsest level, and the largest for which an inverse is stored.
COARSEST, _INVERSE_STORED = 500, 2000
_MOST_LEVELS, _FEWEST = 12, 50
#: Edges weaker than this fraction of the strongest of a vertex are not used to form groups.
_STRENGTH = 0.1
#: Eigenvectors are computed in blocks of a multiple of this many columns.
WIDTH = 4
#: Number of multiplications of a part of a loop.
_LARGE = 2_000_000
#: Number of rows of a block in products of sparse matrices.
_ROWS = 2**15
#: Number of rows of a block in operations on vectors.
_BLOCK = 2**14


@dataclass(frozen=True, eq=False)
class Level:
    """One level of the hierarchy."""

    A: sparse.csr_array
    null: np.ndarray  # of length one
    single: np.ndarray  # values of A in single precision
    step: np.ndarray  # inverse diagonal times the damping factor of the Jacobi step
    P: sparse.csr_array  # interpolation from the next, coarser level, in single precision
    R: sparse.csr_array  # restriction, the transpose of P


class Hierarchy:
    """Multilevel hierarchy of a positive semi-definite sparse matrix ``A`` with null vector ``null``."""

    def __init__(
        self,
        A: sparse.csr_array,
        null: np.ndarray,
        team: Team = one_thread,
        fewest: int = _FEWEST,
    ) -> None:
        self.team = team
        self.levels: list[Level] = []
        with stage("coarsening"):
            while A.shape[0] > COARSEST and len(self.levels) < _MOST_LEVELS:
                group, count = aggregate(A)
                if not fewest < count < 0.8 * A.shape[0]:
                    break
                level, A, null = _coarsen(A, null, group, count, team)
                self.levels.append(level)
        self.coarse, self.coarse_null = A, null / np.linalg.norm(null)
        self._coarse_inverse = _inverse(A, self.coarse_null)

    def matrix(self, depth: int) -> tuple[sparse.csr_array, np.ndarray]:
        """Return the matrix of a level and its null vector, of length one."""
        if depth == len(self.levels):
            return self.coarse, self.coarse_null
        return self.levels[depth].A, self.levels[depth].null

    def coarse_vectors(self, count: int) -> np.ndarray:
        """Compute the lowest eigenvectors of the coarsest level by subspace iteration."""
        n = self.coarse.shape[0]
        V = np.random.default_rng(0).standard_normal((n, min(count + 4, n - 1)))
        for _ in range(8):
            V, _ = np.linalg.qr(self._coarse_inverse(V))
        _, rotation = np.linalg.eigh(V.T @ (self.coarse @ V))
        return (V @ rotation)[:, :count]

    def interpolate(self, V: np.ndarray, depth: int) -> np.ndarray:
        """Interpolate vectors of the level below ``depth`` to it."""
        P = self.levels[depth].P
        return self.product(P, P.data, V.astype(np.float32)).astype(np.float64)

    def cycle(self, B: np.ndarray, depth: int = 0) -> np.ndarray:
        """Apply one V-cycle for ``A X = B``, in single precision, which suffices for a preconditioner."""
        scale = np.maximum(np.linalg.norm(B, axis=0), np.finfo(np.float64).tiny)
        scaled, out = np.empty(B.shape, dtype=np.float32), np.empty(B.shape)
        self.sweep(lambda rows: divide_columns(B, scale, rows.start, rows.stop, scaled), len(B))
        X = self._cycle(_padded(scaled), depth)
        self.sweep(lambda rows: multiply_columns(X, scale, rows.start, rows.stop, out), len(B))
        return out

    def _cycle(self, B: np.ndarray, depth: int) -> np.ndarray:
        if depth == len(self.levels):
            return self._coarse_inverse(B).astype(np.float32)
        level = self.levels[depth]
        rest = self._rows(first_residual, level.A, level.single, level.step, B)
        Y = self._cycle(self.product(level.R, level.R.data, rest), depth + 1)
        X = self._rows(correct_rows, level.P, level.P.data, level.step, B, Y)
        return self._rows(relax_rows, level.A, level.single, level.step, B, X)

    def product(self, A: sparse.csr_array, data: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Compute ``A V``, with the values ``data`` of ``A`` in the type of ``V``."""
        return self._rows(multiply_rows, A, data, np.ascontiguousarray(V))

    def sweep(self, function: Callable[[slice], Any], m: int) -> Any:
        """Return the sum of ``function(rows)`` over blocks of rows that fit in the processor's cache."""
        parts = self._run(function, list(row_blocks(m, 1, _BLOCK)))
        return sum(parts[1:], start=parts[0]) if parts[0] is not None else None

    def _run(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        return (self.team if len(items) > 1 else one_thread)(function, items)

    def _rows(
        self, loop: Callable[..., int], A: sparse.csr_array, data: np.ndarray, *arrays: np.ndarray
    ) -> np.ndarray:
        """Return the result (rows of A, columns of the last array) of a loop over rows of ``A``."""
        width = arrays[-1].shape[1]
        out = np.empty((A.shape[0], width), dtype=arrays[-1].dtype)
        parts = 1 + A.nnz * width // _LARGE
        cuts = np.searchsorted(A.indptr, np.linspace(0, A.nnz, parts + 1, dtype=A.indptr.dtype)[1:-1])
        ends = [0, *map(int, cuts), A.shape[0]]

        def work(part: int) -> None:
            loop(A.indptr, A.indices, data, *arrays, ends[part], ends[part + 1], out)

        self._run(work, range(parts))
        return out


def _padded(V: np.ndarray) -> np.ndarray:
    """Return the vectors as consecutive rows, with columns of zeros up to a multiple of ``WIDTH``."""
    missing = -V.shape[1] % WIDTH
    if missing:
        V = np.column_stack([V, np.zeros((len(V), missing), dtype=V.dtype)])
    return np.ascontiguousarray(V)


def aggregate(A: sparse.csr_array) -> tuple[np.ndarray, int]:
    """Partition the vertices into groups of neighbours; return the group of each vertex and their number."""
    group = np.empty(A.shape[0], dtype=np.int32)
    return group, group_vertices(A.indptr, A.indices, A.data, _STRENGTH, group)


def _coarsen(
    A: sparse.csr_array, null: np.ndarray, group: np.ndarray, count: int, team: Team
) -> tuple[Level, sparse.csr_array, np.ndarray]:
    """Return the level of ``A``, the coarse matrix ``P' A P`` and its null vector."""
    m = A.shape[0]
    coarse_null = np.sqrt(np.bincount(group, weights=null**2, minlength=count))
    values = null / coarse_null[group]
    piecewise = sparse.csr_array((values, group, np.arange(m + 1, dtype=A.indptr.dtype)), shape=(m, count))
    step = _damped_inverse(A)
    P = _sparse_product(A, piecewise, team)
    smooth_rows(P.indptr, P.indices, P.data, group, values, step)
    R = transpose(P, 1)
    coarse = _sparse_product(R, _sparse_product(A, P, team), team)
    level = Level(
        A,
        null / np.linalg.norm(null),
        A.data.astype(np.float32),
        step.astype(np.float32),
        P.astype(np.float32),
        R.astype(np.float32),
    )
    return level, coarse, coarse_null


def _sparse_product(A: sparse.csr_array, B: sparse.csr_array, team: Team) -> sparse.csr_array:
    """Compute ``A B``; the columns of a row are not sorted."""
    index = np.promote_types(A.indices.dtype, B.indices.dtype)
    starts, columns = A.indptr.astype(index, copy=False), A.indices.astype(index, copy=False)
    inner, targets = B.indptr.astype(index, copy=False), B.indices.astype(index, copy=False)

    def rows(block: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, last = block.start, block.stop
        size = product_size(starts, columns, inner, first, last)
        count = np.empty(last - first, dtype=np.int64)
        indices, data = np.empty(size, dtype=index), np.empty(size)
        used = multiply_sparse(
            *(starts, columns, A.data),
            *(inner, targets, B.data),
            *(B.shape[1], first, last),
            *(count, indices, data),
        )
        return count, indices[:used].copy(), data[:used].copy()

    count, indices, data = zip(*team(rows, row_blocks(A.shape[0], 1, _ROWS)), strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(count))])
    return sparse.csr_array(
        (np.concatenate(data), np.concatenate(indices), indptr), shape=(A.shape[0], B.shape[1])
    )


def _inverse(A: sparse.csr_array, null: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return ``V -> A^-1 V`` on the orthogonal complement of the null vector."""
    m = A.shape[0]
    if m > _INVERSE_STORED:
        solve = inverse_on_complement(A, null)
        return lambda V: solve(V.astype(np.float64))
    outer = np.outer(null, null)
    inverse = np.linalg.inv(A.toarray() + outer) - outer
    return lambda V: inverse.astype(V.dtype) @ V


def _damped_inverse(A: sparse.csr_array) -> np.ndarray:
    """Compute ``omega / diagonal``, ``omega`` being 4/3 over a bound of the eigenvalues of ``D^-1 A``."""
    diagonal = A.diagonal()
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    x = np.random.default_rng(0).standard_normal(len(inverse))
    for _ in range(8):  # power iteration, whose estimate is raised by a tenth below
        x = inverse * (A @ (x / np.linalg.norm(x)))
    return inverse * (4 / 3) / (1.1 * np.linalg.norm(x))
