"""Lists of neighbours as sparse matrices of distances, and tables that the user computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.graph.sparse_distances import (
    distance_table,
    neighbor_table,
    other_neighbors_table,
    with_explicit_zeros,
    with_self,
    without_self,
)


@dataclass(frozen=True, eq=False)
class RadiusQuery:
    """``within`` of an index that has nothing to prepare for fixed radii."""

    index: Any
    radii: np.ndarray

    def __call__(self, Y: Any) -> sparse.csr_array:
        return self.index.radius_graph(Y, self.radii)


class PrecomputedIndex:
    """Distances given by the user; a query is its row of distances to the indexed points."""

    recall = 1.0
    known_symmetric = False

    def __init__(self, table: Any) -> None:
        self.table = with_self(table) if sparse.issparse(table) else np.asarray(table, dtype=np.float64)
        self.n_points = self.table.shape[0]

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        if not sparse.issparse(Y):
            number = np.argsort(Y, axis=1, kind="stable")[:, :k]
            return np.take_along_axis(Y, number, axis=1), number
        Y = with_explicit_zeros(Y)
        counts = np.diff(Y.indptr)
        if counts.min() < k:
            poorest = int(np.argmin(counts))
            raise ValueError(
                f"the precomputed graph holds {counts[poorest]} neighbours in row {poorest}, but {k} are needed; lower n_neighbors"
                " or store more distances a row"
            )
        row = np.repeat(np.arange(Y.shape[0]), counts)
        order = np.lexsort((Y.indices, Y.data, row))
        pick = Y.indptr[:-1, None] + np.arange(k)
        return Y.data[order][pick], Y.indices[order][pick].astype(np.intp)

    def nearest_graph(self, Y: Any, k: int) -> sparse.csr_array:
        if not sparse.issparse(Y):
            return neighbor_table(*self.nearest(Y, k), self.n_points)
        Y = with_explicit_zeros(Y)
        row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        order = np.lexsort((Y.indices, Y.data, row))
        first = order[np.arange(len(order)) - Y.indptr[row] < k]  # row by row, nearest first
        return distance_table(row[first], Y.indices[first], Y.data[first], Y.shape)

    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        if sparse.issparse(self.table):  # every point lists itself, and may list fewer others than k
            return without_self(self.nearest_graph(self.table, k + 1))
        return other_neighbors_table(*self.nearest(self.table, k + 1))

    def radius_graph(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        if sparse.issparse(Y):
            Y = sparse.coo_array(with_explicit_zeros(Y))
            row, column, length = Y.row, Y.col, Y.data
        else:
            row, column = np.nonzero(radii >= Y)
            length = Y[row, column]
        keep = length <= radii[column]
        return distance_table(row[keep], column[keep], length[keep], Y.shape)

    def radius_query(self, radii: np.ndarray) -> RadiusQuery:
        return RadiusQuery(self, radii)

    def vertices(self) -> RowIndex | DistanceRowIndex:
        return DistanceRowIndex(self.table) if sparse.issparse(self.table) else RowIndex(self.table)

    def points(self, which: np.ndarray) -> Any:
        return self.table[which]

    def subset(self, which: np.ndarray) -> PrecomputedIndex:
        return PrecomputedIndex(self.table[which][:, which])

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        return Y[:, which]
