"""Neighbour search in a precomputed matrix of distances."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigenscape._typing import Matrix, is_sparse
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.graph.search import NeighborIndex
from eigenscape.graph.sparse_distances import (
    distance_table,
    neighbor_table,
    other_neighbors_table,
    with_explicit_zeros,
    with_self,
    without_self,
)


class PrecomputedIndex(NeighborIndex):
    """Index over a precomputed matrix; a query is its row of distances to the indexed points."""

    known_symmetric = False
    _shapes: ClassVar = {"n_points": "n", "table": "* n"}

    def __init__(self, table: Matrix) -> None:
        self.table: Matrix = with_self(table) if is_sparse(table) else np.asarray(table, dtype=np.float64)
        self.n_points = self.table.shape[0]

    def nearest(self, Y: Matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        if not is_sparse(Y):
            index = np.argsort(Y, axis=1, kind="stable")[:, :k]
            return np.take_along_axis(Y, index, axis=1), index
        Y = with_explicit_zeros(Y)
        counts = np.diff(Y.indptr)
        if counts.min() < k:
            poorest = int(np.argmin(counts))
            raise ValueError(
                f"the precomputed graph holds {counts[poorest]} neighbours in row {poorest}, but {k} are"
                " needed; lower n_neighbors or store more distances per row"
            )
        row = np.repeat(np.arange(Y.shape[0]), counts)
        order = np.lexsort((Y.indices, Y.data, row))
        pick = Y.indptr[:-1, None] + np.arange(k)
        return Y.data[order][pick], Y.indices[order][pick].astype(np.intp)

    def nearest_graph(self, Y: Matrix, k: int) -> sparse.csr_array:
        if not is_sparse(Y):
            return neighbor_table(*self.nearest(Y, k), self.n_points)
        Y = with_explicit_zeros(Y)
        row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        order = np.lexsort((Y.indices, Y.data, row))
        first = order[np.arange(len(order)) - Y.indptr[row] < k]  # row by row, nearest first
        return distance_table(row[first], Y.indices[first], Y.data[first], Y.shape)

    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        if is_sparse(self.table):  # every row stores its diagonal entry and may store fewer than k others
            return without_self(self.nearest_graph(self.table, k + 1))
        return other_neighbors_table(*self.nearest(self.table, k + 1))

    def search_radius(self, Y: Matrix, reach: np.ndarray) -> sparse.csr_array:
        row: np.ndarray
        column: np.ndarray
        if is_sparse(Y):
            entries = sparse.coo_array(with_explicit_zeros(Y))
            row, column, length = entries.row, entries.col, entries.data
        else:
            row, column = np.nonzero(reach >= Y)
            length = Y[row, column]
        keep = length <= reach[column]
        return distance_table(row[keep], column[keep], length[keep], (Y.shape[0], Y.shape[1]))

    def vertices(self) -> RowIndex | DistanceRowIndex:
        return DistanceRowIndex(self.table) if is_sparse(self.table) else RowIndex(self.table)

    def points(self, which: np.ndarray) -> Any:
        return self.table[which]

    def subset(self, which: np.ndarray) -> PrecomputedIndex:
        return PrecomputedIndex(self.table[which][:, which])

    def restrict(self, Y: Matrix, which: np.ndarray) -> Matrix:
        return Y[:, which]


def require_table(table: Any) -> Any:
    """Return the precomputed values between two sets of points; raise ValueError if they are missing."""
    if table is None:
        raise ValueError(
            "the kernel between two new points cannot be computed from their precomputed similarities or"
            " distances to the training points; pass those among the new points as between, of shape (n_new,"
            " n_new)"
        )
    return table
