"""The neighbourhood graph of a training set, and how a new point joins it.

``x`` and ``x_i`` are neighbours when either is among the ``k`` nearest of the other (Bengio sec. 2.4), or when they are
within a radius (Belkin sec. 2, step 1a). A point is never its own neighbour. Vertices are distinct rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._progress import stage
from eigenscape.exceptions import IsolatedPointWarning
from eigenscape.graph.neighbors import NeighborIndex, distance_table
from eigenscape.graph.rows import RowIndex


@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """Vertices, their edges, and the reach that decides whether a new point is theirs."""

    index: NeighborIndex
    vertices: RowIndex
    neighbors: sparse.csr_array  # (m, m) lengths; row i lists the points that i chose
    distances: sparse.csr_array  # (m, m) the same, symmetric: either chose the other
    radii: np.ndarray  # (m,) a new point this near is a neighbour
    n_neighbors: int | None  # how many the new point chooses; None for a radius graph

    @property
    def n_vertices(self) -> int:
        return self.index.n_points

    def join(self, Y: Any) -> sparse.csr_array:
        """Edge lengths (n_new, m) from each point of ``Y`` into the graph.

        A row equal to a vertex is that vertex and has its edges. Another row gets edges to the points it chooses and
        to those that would choose it; if there are none, to its nearest vertex, with a warning.
        """
        vertex = self.vertices.find(Y)
        new = np.flatnonzero(vertex < 0)
        rows = [self.distances[vertex[vertex >= 0]], self._edges(Y[new])] if len(new) else [self.distances[vertex]]
        place = np.argsort(np.concatenate([np.flatnonzero(vertex >= 0), new]), kind="stable")
        return sparse.csr_array(sparse.vstack(rows, format="csr")[place])

    def _edges(self, Y: Any) -> sparse.csr_array:
        edges = self.index.within(Y, self.radii)
        if self.n_neighbors is not None:
            return _either(self.choose(Y), edges)
        lonely = np.flatnonzero(np.diff(edges.indptr) == 0)
        if len(lonely):
            warnings.warn(
                f"{len(lonely)} new point(s) have no training point within radius={self.radii[0]:g}; each is joined to its"
                " nearest one. Enlarge radius if that is too far.",
                IsolatedPointWarning,
                stacklevel=2,
            )
            length, column = self.index.nearest(Y[lonely], 1)
            edges = _either(edges, distance_table(lonely, column[:, 0], length[:, 0], edges.shape))
        return edges

    def choose(self, Y: Any) -> sparse.csr_array:
        """Lengths (n_new, m) to the points each new point chooses: its own neighbours, not those that choose it."""
        if self.n_neighbors is None:
            return self._edges(Y)
        length, column = self.index.nearest(Y, self.n_neighbors)
        row = np.repeat(np.arange(len(length)), self.n_neighbors)
        return distance_table(row, column.ravel(), length.ravel(), (len(length), self.n_vertices))

    def subset(self, which: np.ndarray) -> NeighborGraph:
        """The graph on the vertices ``which`` alone."""
        return NeighborGraph(
            self.index.subset(which),
            RowIndex(self.index.restrict(self.vertices.X[which], which)),
            self.neighbors[which][:, which],
            self.distances[which][:, which],
            self.radii[which],
            None if self.n_neighbors is None else min(self.n_neighbors, len(which)),
        )

    def with_edges(self, row: np.ndarray, column: np.ndarray, length: np.ndarray) -> NeighborGraph:
        """The graph with more edges, chosen from both sides."""
        ends = np.concatenate([row, column]), np.concatenate([column, row])
        extra = distance_table(*ends, np.concatenate([length, length]), self.distances.shape)
        return replace(self, neighbors=_either(self.neighbors, extra), distances=_either(self.distances, extra))


def nearest_neighbor_graph(X: Any, index: NeighborIndex, n_neighbors: int) -> NeighborGraph:
    """Graph of the ``n_neighbors`` nearest; ``X`` holds the distinct rows that ``index`` searches."""
    n_points = index.n_points
    with stage("neighbours"):
        # One more than wanted, for a point finds itself; it need not come first where distances tie.
        length, column = index.nearest(X, n_neighbors + 1)
    other = column != np.arange(n_points)[:, None]
    other[other.all(axis=1), -1] = False
    length = length[other].reshape(n_points, n_neighbors)
    column = column[other].reshape(n_points, n_neighbors)
    row = np.repeat(np.arange(n_points), n_neighbors)
    chosen = distance_table(row, column.ravel(), length.ravel(), (n_points, n_points))
    return NeighborGraph(index, RowIndex(X), chosen, _either(chosen, chosen.T), length[:, -1], n_neighbors)


def radius_graph(X: Any, index: NeighborIndex, radius: float) -> NeighborGraph:
    """Graph of all pairs within ``radius``."""
    radii = np.full(index.n_points, float(radius))
    with stage("neighbours"):
        pairs = sparse.coo_array(index.within(X, radii))
    other = pairs.row != pairs.col
    table = distance_table(pairs.row[other], pairs.col[other], pairs.data[other], pairs.shape)
    edges = _either(table, table.T)
    return NeighborGraph(index, RowIndex(X), edges, edges, radii, None)


def _either(A: Any, B: Any) -> sparse.csr_array:
    """Entries of either matrix (lengths are positive and agree where both have one)."""
    union = sparse.csr_array(A.maximum(B))
    union.sort_indices()
    return union
