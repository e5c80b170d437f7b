"""Lists of neighbours as sparse matrices of distances, and tables that the user computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.graph.rows import SHORTEST, RowIndex, TableRows, with_self, without_self, zeros_kept


def neighbor_table(length: np.ndarray, column: np.ndarray, n_points: int) -> sparse.csr_array:
    """Lists of neighbours (n, k) as a sparse matrix (n, n_points)."""
    n, k = length.shape
    order = np.argsort(column, axis=1)
    length, column = np.take_along_axis(length, order, axis=1), np.take_along_axis(column, order, axis=1)
    numbers = column.astype(np.int32 if n * k < 2**31 else np.int64).ravel()
    return sparse.csr_array(
        (np.maximum(length.ravel(), SHORTEST), numbers, np.arange(0, n * k + 1, k)), shape=(n, n_points)
    )


def others_table(length: np.ndarray, column: np.ndarray) -> sparse.csr_array:
    """Lists (n, k + 1) in which every point looked for its neighbours, as a table of the ``k`` others.

    A point need not come first in its own list where distances tie; if it is not there at all, the farthest
    is dropped."""
    n, k = length.shape[0], length.shape[1] - 1
    if (column[:, 0] == np.arange(n)).all():  # the usual case
        return neighbor_table(length[:, 1:], column[:, 1:], n)
    other = column != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False
    return neighbor_table(length[other].reshape(n, k), column[other].reshape(n, k), n)


def distance_table(
    row: np.ndarray, column: np.ndarray, length: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """A sparse matrix of distances in which a distance of 0 is still an entry."""
    table = sparse.csr_array((np.maximum(length.astype(np.float64), SHORTEST), (row, column)), shape=shape)
    table.sort_indices()
    return table


@dataclass(frozen=True, eq=False)
class PlainReach:
    """``within`` of an index that has nothing to prepare for fixed radii."""

    index: Any
    radii: np.ndarray

    def __call__(self, Y: Any) -> sparse.csr_array:
        return self.index.within(Y, self.radii)


class TableIndex:
    """Distances given by the user; a query is its row of distances to the indexed points."""

    recall = 1.0
    trusted = False

    def __init__(self, table: Any) -> None:
        self.table = with_self(table) if sparse.issparse(table) else np.asarray(table, dtype=np.float64)
        self.n_points = self.table.shape[0]

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        if not sparse.issparse(Y):
            number = np.argsort(Y, axis=1, kind="stable")[:, :k]
            return np.take_along_axis(Y, number, axis=1), number
        Y = zeros_kept(Y)
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

    def chosen(self, Y: Any, k: int) -> sparse.csr_array:
        if not sparse.issparse(Y):
            return neighbor_table(*self.nearest(Y, k), self.n_points)
        Y = zeros_kept(Y)
        row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        order = np.lexsort((Y.indices, Y.data, row))
        first = order[np.arange(len(order)) - Y.indptr[row] < k]  # row by row, nearest first
        return distance_table(row[first], Y.indices[first], Y.data[first], Y.shape)

    def chosen_by_all(self, k: int) -> sparse.csr_array:
        if sparse.issparse(self.table):  # every point lists itself, and may list fewer others than k
            return without_self(self.chosen(self.table, k + 1))
        return others_table(*self.nearest(self.table, k + 1))

    def within(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        if sparse.issparse(Y):
            Y = sparse.coo_array(zeros_kept(Y))
            row, column, length = Y.row, Y.col, Y.data
        else:
            row, column = np.nonzero(radii >= Y)
            length = Y[row, column]
        keep = length <= radii[column]
        return distance_table(row[keep], column[keep], length[keep], Y.shape)

    def reach(self, radii: np.ndarray) -> PlainReach:
        return PlainReach(self, radii)

    def vertices(self) -> RowIndex | TableRows:
        return TableRows(self.table) if sparse.issparse(self.table) else RowIndex(self.table)

    def points(self, which: np.ndarray) -> Any:
        return self.table[which]

    def subset(self, which: np.ndarray) -> TableIndex:
        return TableIndex(self.table[which][:, which])

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        return Y[:, which]
