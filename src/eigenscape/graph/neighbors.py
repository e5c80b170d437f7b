"""Exact neighbour search: one interface, three engines, the same for training points and new ones.

* :class:`TreeIndex`: scipy's k-d tree, for dense rows of few features and Minkowski metrics.
* :class:`BlockIndex`: blocks of the distance matrix, for everything else. Euclidean blocks come from a matrix product and
  are then recomputed exactly where it matters, so that the answer does not depend on how the work was cut.
* :class:`TableIndex`: distances the user computed, dense or sparse.

Ties are broken by row number. A search never looks at the other queries, so neither does its answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import joblib
import numpy as np
from scipy import sparse
from scipy.spatial import KDTree
from sklearn.metrics import pairwise_distances

from eigenscape._memory import row_blocks

#: Above this many features a k-d tree visits most of its leaves, and blocks are faster.
TREE_FEATURES = 16

_MINKOWSKI = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "l1": 1.0, "cityblock": 1.0, "chebyshev": np.inf}

#: Distinct points may be at distance 0 under some metrics; an edge of length 0 would vanish from a sparse matrix.
SHORTEST = 1e-150


class NeighborIndex(Protocol):
    """Searches ``n_points`` indexed points."""

    n_points: int

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances and numbers of the ``k`` nearest indexed points, nearest first: two arrays (n_new, k)."""
        ...

    def within(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        """Distances (n_new, n_points) where they do not exceed the indexed point's own radius."""
        ...

    def points(self, which: np.ndarray) -> Any:
        """The indexed points ``which`` in the form that queries have."""
        ...

    def subset(self, which: np.ndarray) -> NeighborIndex:
        """An index of the points ``which`` alone."""
        ...

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        """Queries for this index rewritten for ``subset(which)``."""
        ...


def neighbor_index(
    X: Any, metric: str | Callable = "euclidean", metric_params: dict | None = None, n_jobs: int | None = None
) -> NeighborIndex:
    """The engine that suits the data (see the module's head for the rule)."""
    params = dict(metric_params or {})
    if metric == "precomputed":
        return TableIndex(X)
    power = params.get("p", 2.0) if metric == "minkowski" and set(params) <= {"p"} else _MINKOWSKI.get(str(metric))
    if power is not None and not sparse.issparse(X) and X.shape[1] <= TREE_FEATURES:
        return TreeIndex(X, power, n_jobs)
    return BlockIndex(X, metric, params, n_jobs)


class TreeIndex:
    """k-d tree over dense rows."""

    def __init__(self, X: np.ndarray, power: float, n_jobs: int | None) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.power, self.n_jobs = power, n_jobs
        self.n_points = len(self.X)
        self._tree = KDTree(self.X)

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        distance, number = self._tree.query(
            np.asarray(Y, dtype=np.float64), k=[*range(1, k + 1)], p=self.power, workers=joblib.effective_n_jobs(self.n_jobs)
        )
        return distance, number

    def within(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        """Points of like radius share a tree, so that one far outlier does not widen everybody's search."""
        queries = KDTree(np.asarray(Y, dtype=np.float64))
        positive = radii[radii > 0]
        smallest = positive.min() if len(positive) else 1.0
        level = np.floor(np.log2(np.maximum(radii, smallest) / smallest)).astype(int)
        rows, columns, lengths = [], [], []
        for one in np.unique(level):
            members = np.flatnonzero(level == one)
            reach = radii[members].max()
            pair = queries.sparse_distance_matrix(KDTree(self.X[members]), reach, p=self.power, output_type="ndarray")
            keep = pair["v"] <= radii[members][pair["j"]]
            rows.append(pair["i"][keep])
            columns.append(members[pair["j"][keep]])
            lengths.append(pair["v"][keep])
        return distance_table(np.concatenate(rows), np.concatenate(columns), np.concatenate(lengths), (len(Y), self.n_points))

    def points(self, which: np.ndarray) -> np.ndarray:
        return self.X[which]

    def subset(self, which: np.ndarray) -> TreeIndex:
        return TreeIndex(self.X[which], self.power, self.n_jobs)

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        return Y


class BlockIndex:
    """Blocks of the distance matrix, any metric, dense or sparse rows."""

    def __init__(self, X: Any, metric: str | Callable, params: dict, n_jobs: int | None) -> None:
        self.metric, self.params, self.n_jobs = metric, params, n_jobs
        self.X = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        self.n_points = self.X.shape[0]
        self._euclidean = metric in ("euclidean", "l2") and not params
        # A product of far-away vectors loses the digits of their difference: work around the mean.
        self._origin = 0.0 if sparse.issparse(X) else self.X.mean(axis=0)
        self._centred = self.X if sparse.issparse(X) else self.X - self._origin
        self._norms = _squared_norms(self._centred)

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        def search(block: slice) -> tuple[np.ndarray, np.ndarray]:
            rough, slack = self._rough(Y[block])
            kth = np.partition(rough, k - 1, axis=1)[:, k - 1]
            row, column = np.nonzero(rough <= (kth + slack)[:, None])
            length = self._exact(Y[block], rough, row, column)
            order = np.lexsort((column, length, row))
            row, column, length = row[order], column[order], length[order]
            first = np.searchsorted(row, np.arange(rough.shape[0]))
            pick = first[:, None] + np.arange(k)
            return length[pick], column[pick]

        found = self._map(search, Y)
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def within(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        reach = radii**2 if self._euclidean else radii

        def search(block: slice) -> sparse.csr_array:
            rough, slack = self._rough(Y[block])
            row, column = np.nonzero(rough <= reach + slack[:, None])
            length = self._exact(Y[block], rough, row, column)
            keep = length <= radii[column]
            return distance_table(row[keep], column[keep], length[keep], rough.shape)

        return sparse.csr_array(sparse.vstack(self._map(search, Y), format="csr"))

    def _map(self, search: Callable, Y: Any) -> list:
        blocks = row_blocks(Y.shape[0], 24 * self.n_points)
        return joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")(joblib.delayed(search)(b) for b in blocks)

    def _rough(self, Y: Any) -> tuple[np.ndarray, np.ndarray]:
        """A block of distances (squared if Euclidean) and, for each row, how far they may be off."""
        if not self._euclidean:
            exact = pairwise_distances(Y, self.X, metric=self.metric, **self.params)
            return np.maximum(exact, 0.0), np.zeros(exact.shape[0])
        Y = Y if sparse.issparse(Y) else np.asarray(Y, dtype=np.float64) - self._origin
        norms = _squared_norms(Y)
        product = Y @ self._centred.T
        rough = np.asarray(product.todense()) if sparse.issparse(product) else product
        rough *= -2.0
        rough += norms[:, None]
        rough += self._norms
        slack = 16 * np.finfo(np.float64).eps * self.X.shape[1] ** 0.5 * (norms + self._norms.max())
        return rough, slack

    def _exact(self, Y: Any, rough: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        if not self._euclidean:
            return rough[row, column]
        squared = np.empty(len(row))
        for block in row_blocks(len(row), 16 * self.X.shape[1]):
            squared[block] = _squared_norms(_float64(Y[row[block]]) - self.X[column[block]])
        return np.sqrt(squared)

    def points(self, which: np.ndarray) -> Any:
        return self.X[which]

    def subset(self, which: np.ndarray) -> BlockIndex:
        return BlockIndex(self.X[which], self.metric, self.params, self.n_jobs)

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        return Y


class TableIndex:
    """Distances given by the user; a query is its row of distances to the indexed points."""

    def __init__(self, table: Any) -> None:
        self.table = sparse.csr_array(table) if sparse.issparse(table) else np.asarray(table)
        self.n_points = self.table.shape[0]

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        if not sparse.issparse(Y):
            number = np.argsort(Y, axis=1, kind="stable")[:, :k]
            return np.take_along_axis(Y, number, axis=1), number
        Y = sparse.csr_array(Y)
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

    def within(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        if sparse.issparse(Y):
            Y = sparse.coo_array(Y)
            row, column, length = Y.row, Y.col, Y.data
        else:
            row, column = np.nonzero(radii >= Y)
            length = Y[row, column]
        keep = length <= radii[column]
        return distance_table(row[keep], column[keep], length[keep], Y.shape)

    def points(self, which: np.ndarray) -> Any:
        return self.table[which]

    def subset(self, which: np.ndarray) -> TableIndex:
        return TableIndex(self.table[which][:, which])

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        return Y[:, which]


def distance_table(row: np.ndarray, column: np.ndarray, length: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """A sparse matrix of distances in which a distance of 0 is still an entry."""
    table = sparse.csr_array((np.maximum(length, SHORTEST), (row, column)), shape=shape)
    table.sort_indices()
    return table


def _float64(rows: Any) -> Any:
    return rows.astype(np.float64) if rows.dtype != np.float64 else rows


def _squared_norms(X: Any) -> np.ndarray:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)
