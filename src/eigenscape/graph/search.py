"""Interface of neighbour indexes, and the parts that all indexes over rows share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigenscape._typing import Rows
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.graph.sparse_distances import nearest_entries, neighbor_table, other_neighbors_table, union


def without_own(which: np.ndarray, indices: np.ndarray, *tables: np.ndarray) -> tuple[np.ndarray, ...]:
    """Remove the points ``which`` (n,) from their own neighbour lists ``indices`` (n, k + 1).

    ``tables`` have the same shape, for example the distances. If a point is missing in its list, because many
    rows are equal, the last neighbour is removed.
    """
    own = indices == which[:, None]
    own[~own.any(axis=1), -1] = True
    return tuple(table[~own].reshape(len(indices), -1) for table in (indices, *tables))


class NeighborIndex(ABC):
    """Interface of an index that searches ``n_points`` points.

    Ties are broken by the values of the rows (:attr:`RowIndex.ranks`), in a precomputed matrix by the index
    of the point. The result for a query does not depend on other queries.

    Attributes
    ----------
    n_points : int
        Number of indexed points.
    recall : float
        Fraction of the true nearest neighbours that the index finds; 1 for exact search.
    known_symmetric : bool
        Whether the distances are known to be symmetric. If not, this is checked for the graph.
    """

    n_points: int
    recall: float = 1.0
    known_symmetric: bool = True

    @property
    def ranks(self) -> np.ndarray:
        """Ranks (n_points,) by which ties are broken."""
        return np.arange(self.n_points)

    @abstractmethod
    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices (n_new, k) of the ``k`` nearest indexed points, nearest first."""

    @abstractmethod
    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        """Return the distances of every indexed point to its ``k`` nearest others as a sparse matrix."""

    @abstractmethod
    def search_radius(self, Y: Rows, reach: Any) -> sparse.csr_array:
        """Return the distances (n_new, n_points) that do not exceed the radius of the indexed point.

        ``reach`` is the result of :meth:`prepare`.
        """

    @abstractmethod
    def vertices(self) -> RowIndex | DistanceRowIndex:
        """Return an index that recognises the indexed points among queries."""

    @abstractmethod
    def points(self, which: np.ndarray) -> Any:
        """Return the indexed points ``which`` in the form of queries."""

    @abstractmethod
    def subset(self, which: np.ndarray) -> NeighborIndex:
        """Return an index of the points ``which`` alone."""

    def prepare(self, radii: np.ndarray) -> Any:
        """Return the radii (n_points,) of the indexed points in the form that :meth:`search_radius` uses."""
        return radii

    def nearest_graph(self, Y: Rows, k: int) -> sparse.csr_array:
        """Return the distances to the ``k`` nearest points as a sparse matrix (n_new, n_points).

        A row may hold fewer than ``k`` entries if the distances are a sparse matrix that stores fewer.
        """
        return neighbor_table(*self.nearest(Y, k), self.n_points)

    def search_edges(self, Y: Rows, k: int, reach: Any) -> sparse.csr_array:
        """Return the union of ``nearest_graph(Y, k)`` and ``search_radius(Y, reach)``."""
        return union(self.nearest_graph(Y, k), self.search_radius(Y, reach))

    def closest_pairs(self, Y: Rows) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the queries nearest to an indexed point, the point nearest to each, and their distance."""
        length, index = self.nearest(Y, 1)
        shortest = length.min()
        winners = np.flatnonzero(length[:, 0] == shortest)
        return winners, index[winners, 0], float(shortest)

    def radius_graph(self, Y: Rows, radii: np.ndarray) -> sparse.csr_array:
        """Return ``search_radius`` for radii (n_points,) that are used once."""
        return self.search_radius(Y, self.prepare(radii))

    def restrict(self, Y: Rows, which: np.ndarray) -> Rows:
        """Convert queries of this index to queries of ``subset(which)``."""
        return Y

    def over(self, Z: Rows) -> NeighborIndex:
        """Return an index of other points with the same metric."""
        raise UndefinedKernelError(
            f"search={type(self).__name__} indexes the training points only, so the distances between new"
            " points are not known; use search='exact', or an object with kneighbors, fit and get_params"
        )


class RowSearch(NeighborIndex):
    """Base of indexes over rows ``X``; ``listed`` are the neighbours of these, if the user gives them."""

    X: Rows
    listed: sparse.csr_array | None = None  # (n_points, n_points) distances
    _shapes: ClassVar = {"n_points": "n", "X": "n d", "_rows": "n d", "_origin": "d", "listed": "n n"}

    @cached_property
    def rows(self) -> RowIndex:
        """Index that recognises the rows, and ranks them."""
        return RowIndex(self.X)

    @property
    def ranks(self) -> np.ndarray:
        return self.rows.ranks

    def nearest_all(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return ``nearest`` of all indexed points, faster if their distances are computed together."""
        return self.nearest(self.X, k)

    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        if self.listed is None:
            return other_neighbors_table(*self.nearest_all(k + 1))
        counts = np.diff(self.listed.indptr)
        if counts.min() < k:
            poorest = int(np.argmin(counts))
            raise ValueError(
                f"search=(indices, distances) lists {counts[poorest]} distinct other samples for distinct"
                f" sample {poorest}, but n_neighbors={k} are needed; list more neighbours or lower"
                " n_neighbors"
            )
        return nearest_entries(self.listed, k)

    def vertices(self) -> RowIndex:
        return self.rows

    def points(self, which: np.ndarray) -> Any:
        return self.X[which]
