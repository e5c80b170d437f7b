"""Quadratic forms of a graph in a basis: the matrices ``Z'(D - W)Z`` and ``Z'DZ`` of Brand eq. 8."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from eigenscape._memory import BLOCK_BYTES, row_blocks
from eigenscape._progress import stage
from eigenscape.quality.edge_distortion import remove_loops


class Basis(Protocol):
    """The matrix ``Z`` (n, n_columns), evaluated in blocks of rows."""

    @property
    def n_columns(self) -> int:
        """Number of columns ``p``."""

    @property
    def order(self) -> np.ndarray:
        """Row indices, ordered so that consecutive rows are nonzero in the same columns."""

    def block(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dense rows (b, c) and the indices (c,) of their columns; all other columns are zero."""

    def apply(self, V: np.ndarray) -> np.ndarray:
        """Return ``Z V`` (n, c)."""

    def apply_transpose(self, A: np.ndarray) -> np.ndarray:
        """Return ``Z' A`` (p, c)."""

    def row_gram(self) -> np.ndarray:
        """Return ``Z Z'`` (n, n)."""


@dataclass(frozen=True, eq=False)
class FeatureBasis:
    """``Z`` given as the features of the vertices, dense or sparse; row i is multiplied by ``scale[i]``."""

    Z: Any
    scale: np.ndarray | None = None

    @property
    def n_columns(self) -> int:
        """Number of features."""
        return self.Z.shape[1]

    @property
    def order(self) -> np.ndarray:
        """All rows in their given order."""
        return np.arange(self.Z.shape[0])

    def block(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dense rows and the indices of all columns."""
        Z = self.Z[rows]
        Z = Z if isinstance(Z, np.ndarray) else Z.toarray()
        return Z if self.scale is None else Z * self.scale[rows, None], np.arange(self.n_columns)

    def apply(self, V: np.ndarray) -> np.ndarray:
        """Return ``Z V``."""
        values = self.Z @ V
        return values if self.scale is None else values * self.scale[:, None]

    def apply_transpose(self, A: np.ndarray) -> np.ndarray:
        """Return ``Z' A``."""
        return self.Z.T @ (A if self.scale is None else A * self.scale[:, None])

    def row_gram(self) -> np.ndarray:
        """Return ``Z Z'`` (n, n)."""
        gram = self.Z @ self.Z.T
        gram = gram if isinstance(gram, np.ndarray) else gram.toarray()
        return gram if self.scale is None else gram * self.scale * self.scale[:, None]


@dataclass(frozen=True, eq=False)
class QuadraticForms:
    """The matrices of the reduced eigenproblem.

    ``size`` are the D-norms of the columns before any centring. Rounding errors are judged relative to them:
    relative to the norms after centring, the rounding left of a constant column would count as a direction.
    """

    laplacian: np.ndarray  # Z'(D - W)Z (p, p)
    degree: np.ndarray  # Z'DZ (p, p)
    mean: np.ndarray  # Z'D1 / volume (p,)
    volume: float  # 1'D1
    size: np.ndarray  # (p,)

    def centered(self) -> QuadraticForms:
        """Return the forms with the D-mean of every column removed; ``laplacian`` does not depend on it."""
        degree = self.degree - self.volume * np.outer(self.mean, self.mean)
        return replace(self, degree=degree, mean=np.zeros_like(self.mean))


def quadratic_forms(basis: Basis, W: sparse.csr_array, degree: np.ndarray) -> QuadraticForms:
    """Compute the matrices of Brand eq. 8 as sums over blocks of vertices that are nonzero in few columns.

    ``Z'WZ`` is ``H + H'`` with ``H`` from the edges that lead upwards in the order of the basis. The diagonal
    of ``W`` enters ``Z'DZ`` alone: it cancels in ``D - W`` and would leave its rounding error. No more than
    about 64 MB of dense rows exist at a time, for any graph.
    """
    n, p, order = W.shape[0], basis.n_columns, basis.order
    edges = remove_loops(W)
    edge_degree, loops = np.asarray(edges.sum(axis=1)).ravel(), W.diagonal()
    upward = sparse.csr_array(sparse.triu(edges[order][:, order], 1))
    without, half, mean = np.zeros((p, p)), np.zeros((p, p)), np.zeros(p)
    on_loops = np.zeros((p, p)) if loops.any() else None
    max_rows = max(64, min(768, BLOCK_BYTES // (32 * p)))
    with stage("assembly", total=n) as advance:
        for rows in row_blocks(n, 1, max_rows):
            Z, columns = basis.block(order[rows])
            without[np.ix_(columns, columns)] += _weighted_square(Z, edge_degree[order[rows]])
            if on_loops is not None:
                on_loops[np.ix_(columns, columns)] += _weighted_square(Z, loops[order[rows]])
            mean[columns] += degree[order[rows]] @ Z
            for second, weights in _edge_blocks(upward[rows], 16 * max_rows):
                Z_second, other = basis.block(order[second])
                half[np.ix_(columns, other)] += Z.T @ (weights @ Z_second)
            advance(rows.stop - rows.start)
    volume = float(degree.sum())
    total = without if on_loops is None else without + on_loops
    size = np.sqrt(np.diagonal(total))
    return QuadraticForms(without - half - half.T, total, mean / volume, volume, size)


def _weighted_square(Z: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return ``Z' diag(weight) Z``."""
    root = np.sqrt(weight)[:, None] * Z
    return root.T @ root


def _edge_blocks(edges: sparse.csr_array, max_edges: int) -> Iterator[tuple[np.ndarray, sparse.csr_array]]:
    """Yield the edges in blocks: the vertices they lead to, and their weights (n_rows, n_vertices)."""
    row = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    for block in row_blocks(edges.nnz, 1, max_edges):
        vertices, column = np.unique(edges.indices[block], return_inverse=True)
        shape = (edges.shape[0], len(vertices))
        yield vertices, sparse.csr_array((edges.data[block], (row[block], column)), shape=shape)
