"""The neighbourhood graph of a training set, and how a new point joins it.

``x`` and ``x_i`` are neighbours when either is among the ``k`` nearest of the other (Bengio sec. 2.4), or
when they are within a radius (Belkin sec. 2, step 1a). A point is never its own neighbour. Vertices are
distinct rows.

Stricter rules: both must choose the other (``"mutual"``), or one must and their lists must have a third of
``k`` in common (``"shared"``, after Jarvis and Patrick), so that a lone short cut between two sheets is no
edge. A new point joins by the same rule, its own list made of vertices alone and theirs left as they are. In
a spanning tree it hangs on its nearest vertex: that is the edge which the shortest tree that grows the old
one by this point would have."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._progress import stage
from eigenscape.exceptions import IsolatedPointWarning
from eigenscape.graph.neighbors import NeighborIndex
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.graph.sparse_distances import SHORTEST, distance_table, reassemble, scatter_rows

#: Who is whose neighbour: either chose the other, both did, or one did and they have neighbours in common.
Joined = Literal["union", "mutual", "shared"]


@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """Vertices, their edges, and the reach that decides whether a new point is theirs."""

    index: NeighborIndex
    vertices: RowIndex | DistanceRowIndex
    neighbors: sparse.csr_array  # (m, m) lengths; row i lists the points that i chose
    distances: sparse.csr_array  # (m, m) the same, symmetric: either chose the other
    radius_query: Callable[
        [Any], sparse.csr_array
    ]  # lengths (n_new, m) to the vertices that a new point is near enough to
    radii: np.ndarray  # (m,) the reach of each vertex
    n_neighbors: int | None  # how many the new point chooses; None for a radius graph
    samples: np.ndarray | None = (
        None  # (m,) the sample that each vertex is, ascending, where that has been said
    )
    joined: Joined = "union"
    tree: bool = False  # whether a spanning tree is part of the graph, so that a new point always has its nearest vertex

    __repr__ = short_repr

    @property
    def n_vertices(self) -> int:
        return self.index.n_points

    def edges_of(self, Y: Any) -> sparse.csr_array:
        """Edge lengths (n_new, m) from each point of ``Y`` into the graph.

        A row equal to a vertex is that vertex and has its edges. Another row gets edges to the points it
        chooses and to those that would choose it; if there are none, to its nearest vertex, with a warning.
        """
        vertex = self.vertices.find(Y)
        known, new = np.flatnonzero(vertex >= 0), np.flatnonzero(vertex < 0)
        if len(new) == 0:
            return self.distances[vertex]
        return reassemble([(known, self.distances[vertex[known]]), (new, self._edges(Y[new]))])

    def _edges(self, Y: Any) -> sparse.csr_array:
        edges = self.radius_query(Y)
        if self.n_neighbors is not None:
            edges = combine_edges(self.joined, self.neighbors_of(Y), edges, self.neighbors, self.n_neighbors)
        if self.tree:
            return _either(edges, self.index.nearest_graph(Y, 1))
        lonely = np.flatnonzero(np.diff(edges.indptr) == 0)
        if len(lonely) and self.joined != "union":
            self._warn(len(lonely), f"would be joined by joined={self.joined!r}", "Raise n_neighbors")
            edges = _either(
                edges, scatter_rows(self.index.nearest_graph(Y[lonely], 1), lonely, edges.shape[0])
            )
        elif len(lonely) and self.n_neighbors is None:
            self._warn(len(lonely), f"is within radius={self.radii[0]:g}", "Enlarge radius")
            length, column = self.index.nearest(Y[lonely], 1)
            edges = _either(edges, distance_table(lonely, column[:, 0], length[:, 0], edges.shape))
        return edges

    @staticmethod
    def _warn(count: int, what: str, remedy: str) -> None:
        warnings.warn(
            f"for {count} new point(s) no training point {what}; each is joined to its nearest one. {remedy} if that is too far.",
            IsolatedPointWarning,
            stacklevel=3,
        )

    def neighbors_of(self, Y: Any) -> sparse.csr_array:
        """Lengths (n_new, m) to the points each new point chooses: its own neighbours, not those that choose
        it."""
        if self.n_neighbors is None:
            return self._edges(Y)
        return self.index.nearest_graph(Y, self.n_neighbors)

    def subset(self, which: np.ndarray) -> NeighborGraph:
        """The graph on the vertices ``which`` alone."""
        index = self.index.subset(which)
        return NeighborGraph(
            index,
            index.vertices(),
            self.neighbors[which][:, which],
            self.distances[which][:, which],
            index.radius_query(self.radii[which]),
            self.radii[which],
            None if self.n_neighbors is None else min(self.n_neighbors, len(which)),
            None if self.samples is None else self.samples[which],
            self.joined,
            self.tree,
        )

    def with_edges(self, row: np.ndarray, column: np.ndarray, length: np.ndarray) -> NeighborGraph:
        """The graph with more edges, chosen from both sides."""
        # Two components may have picked the same edge; a sparse matrix would add its lengths up.
        ends, first = np.unique(np.sort(np.column_stack([row, column]), axis=1), axis=0, return_index=True)
        row, column, length = ends[:, 0], ends[:, 1], length[first]
        both = np.concatenate([row, column]), np.concatenate([column, row])
        extra = distance_table(*both, np.concatenate([length, length]), self.distances.shape)
        return replace(
            self, neighbors=_either(self.neighbors, extra), distances=_either(self.distances, extra)
        )


def nearest_neighbor_graph(index: NeighborIndex, n_neighbors: int, joined: Joined = "union") -> NeighborGraph:
    """Graph of the ``n_neighbors`` nearest among the distinct rows that ``index`` searches."""
    with stage("neighbours"):
        chosen = index.nearest_others_graph(n_neighbors)
    if chosen.data.max() <= SHORTEST:
        raise ValueError(
            "all distances between neighbours are zero: the points are equal to this metric, there is nothing to embed"
        )
    if not index.known_symmetric:
        _check_symmetric(chosen)
    radii = np.maximum.reduceat(chosen.data, chosen.indptr[:-1])
    edges = combine_edges(joined, chosen, sparse.csr_array(chosen.T), chosen, n_neighbors)
    return NeighborGraph(
        index, index.vertices(), chosen, edges, index.radius_query(radii), radii, n_neighbors, joined=joined
    )


def combine_edges(
    joined: Joined,
    chosen: sparse.csr_array,
    choosing: sparse.csr_array,
    lists: sparse.csr_array,
    n_neighbors: int,
) -> sparse.csr_array:
    """Edges (n, m) of points that chose ``chosen`` and that ``choosing`` would choose, by the rule
    ``joined``.

    ``lists`` (m, m) has what the vertices chose.
    """
    if joined == "union":
        return _either(chosen, choosing)
    if joined == "mutual":
        return _some(chosen, chosen.astype(bool).multiply(choosing.astype(bool)))
    common = (
        chosen.astype(bool).astype(np.int32) @ lists.astype(bool).astype(np.int32).T
    )  # how many neighbours two points share
    return _some(_either(chosen, choosing), common >= max(1, n_neighbors // 3))


def _some(edges: sparse.csr_array, which: Any) -> sparse.csr_array:
    """The edges that ``which`` has too."""
    kept = sparse.csr_array(edges.multiply(sparse.csr_array(which)))
    kept.eliminate_zeros()
    kept.sort_indices()
    return kept


def radius_graph(index: NeighborIndex, radius: float) -> NeighborGraph:
    """Graph of all pairs within ``radius``."""
    radii = np.full(index.n_points, float(radius))
    with stage("neighbours"):
        pairs = sparse.coo_array(index.radius_graph(index.points(np.arange(index.n_points)), radii))
    other = pairs.row != pairs.col
    table = distance_table(pairs.row[other], pairs.col[other], pairs.data[other], pairs.shape)
    edges = _either(table, table.T)
    return NeighborGraph(index, index.vertices(), edges, edges, index.radius_query(radii), radii, None)


def _check_symmetric(chosen: sparse.csr_array) -> None:
    """Two points that chose each other must be equally far from each other."""
    mutual = chosen.multiply(chosen.T > 0)
    if mutual.nnz and abs(mutual - mutual.T).max() > 1e-6 * mutual.max():
        raise ValueError(
            "the distances are not symmetric: d(x, y) and d(y, x) differ; a neighbourhood graph needs a symmetric metric"
        )


def _either(A: Any, B: Any) -> sparse.csr_array:
    """Entries of either matrix (lengths are positive and agree where both have one)."""
    union = sparse.csr_array(A.maximum(B))
    union.sort_indices()
    return union
