"""Interface of neighbour indexes, and the parts that all indexes over rows share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from eigenscape._typing import Rows
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.graph.sparse_distances import neighbor_table, other_neighbors_table


@runtime_checkable
class NeighborIndex(Protocol):
    """Interface of an index that searches ``n_points`` points.

    Ties are broken by the index of the point, and the result for a query does not depend on other queries.

    Attributes
    ----------
    n_points : int
        Number of indexed points.
    recall : float
        Fraction of the true nearest neighbours that the index finds; 1 for exact search.
    known_symmetric : bool
        Whether the distances are known to be symmetric. If not, this is checked for the graph.
    """

    @property
    def n_points(self) -> int: ...

    @property
    def recall(self) -> float: ...

    @property
    def known_symmetric(self) -> bool: ...

    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices (n_new, k) of the ``k`` nearest indexed points, nearest first."""
        ...

    def nearest_graph(self, Y: Rows, k: int) -> sparse.csr_array:
        """Return the distances to the ``k`` nearest points as a sparse matrix (n_new, n_points).

        A row may hold fewer than ``k`` entries if the distances are a sparse matrix that stores fewer.
        """
        ...

    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        """Return the distances of every indexed point to its ``k`` nearest others as a sparse matrix."""
        ...

    def radius_graph(self, Y: Rows, radii: np.ndarray) -> sparse.csr_array:
        """Return the distances (n_new, n_points) that do not exceed the radius of the indexed point."""
        ...

    def radius_query(self, radii: np.ndarray) -> Callable[[Rows], sparse.csr_array]:
        """Return ``radius_graph`` for fixed radii (n_points,), prepared for repeated calls."""
        ...

    def vertices(self) -> RowIndex | DistanceRowIndex:
        """Return an index that recognises the indexed points among queries."""
        ...

    def points(self, which: np.ndarray) -> Any:
        """Return the indexed points ``which`` in the form of queries."""
        ...

    def subset(self, which: np.ndarray) -> NeighborIndex:
        """Return an index of the points ``which`` alone."""
        ...

    def restrict(self, Y: Rows, which: np.ndarray) -> Rows:
        """Convert queries of this index to queries of ``subset(which)``."""
        ...


class RowSearch(ABC):
    """Base of indexes over rows ``X``; a subclass implements the searches and ``subset``."""

    _shapes: ClassVar = {"n_points": "n", "X": "n d", "_rows": "n d", "_origin": "d"}
    X: Rows
    n_points: int
    recall: float = 1.0
    known_symmetric: bool = True

    @abstractmethod
    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]: ...

    @abstractmethod
    def radius_query(self, radii: np.ndarray) -> Callable[[Rows], sparse.csr_array]: ...

    @abstractmethod
    def subset(self, which: np.ndarray) -> NeighborIndex: ...

    @abstractmethod
    def over(self, Z: Rows) -> NeighborIndex:
        """Return an index of other points with the same metric."""

    def nearest_graph(self, Y: Rows, k: int) -> sparse.csr_array:
        return neighbor_table(*self.nearest(Y, k), self.n_points)

    def nearest_all(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return ``nearest`` of all indexed points, faster if their distances are computed together."""
        return self.nearest(self.X, k)

    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        return other_neighbors_table(*self.nearest_all(k + 1))

    def radius_graph(self, Y: Rows, radii: np.ndarray) -> sparse.csr_array:
        return self.radius_query(radii)(Y)

    def search_both(self, Y: Rows, k: int, radii: np.ndarray) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return ``nearest_graph(Y, k)`` and ``radius_graph(Y, radii)``, by one search if possible."""
        return self.nearest_graph(Y, k), self.radius_graph(Y, radii)

    def vertices(self) -> RowIndex:
        return RowIndex(self.X)

    def points(self, which: np.ndarray) -> Any:
        return self.X[which]

    def restrict(self, Y: Rows, which: np.ndarray) -> Rows:
        return Y


class RadiusSearch(Protocol):
    """An index that searches within radii without preparation."""

    def search_both(
        self, Y: Rows, k: int, radii: np.ndarray
    ) -> tuple[sparse.csr_array, sparse.csr_array]: ...

    def search_radius(self, Y: Rows, radii: np.ndarray) -> sparse.csr_array:
        """Return the distances (n_new, n_points) that do not exceed the radius of the indexed point."""
        ...


@dataclass(frozen=True, eq=False)
class RadiusQuery:
    """Radius search with fixed radii, for an index that needs no preparation."""

    _shapes: ClassVar = {"index.n_points": "n", "radii": "n"}
    index: RadiusSearch
    radii: np.ndarray

    def __call__(self, Y: Rows) -> sparse.csr_array:
        return self.index.search_radius(Y, self.radii)

    def with_nearest(self, Y: Rows, k: int) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the distances to the ``k`` nearest points, and those within the radii."""
        return self.index.search_both(Y, k, self.radii)
