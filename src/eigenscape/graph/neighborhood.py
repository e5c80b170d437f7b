"""The neighbourhood graph of a training set, and its extension to new points.

Two points are neighbours if either is among the ``k`` nearest neighbours of the other (Bengio sec. 2.4), or
if their distance is at most a radius (Belkin sec. 2, step 1a). A point is not its own neighbour. The vertices
are the distinct rows.

Two stricter rules suppress isolated short cuts between separate sheets: both points must be among the nearest
neighbours of the other (``"mutual"``); or one must be, and their neighbour lists must have a third of ``k``
in common (``"shared"``, after Jarvis and Patrick 1973). The same rule holds for a new point: its own list
consists of vertices, and the lists of the vertices do not change. In a minimum spanning tree a new point is
connected to its nearest vertex, which is the edge that the tree extended by this point would have. Two new
points are neighbours by the rule as well: one lists the other if it is at least as near as the last vertex of
its list.

A row that is nearer to a vertex than a thousandth of the distance from there to the next vertex is that
vertex, computed or written with rounding errors. See docs/decisions/graph-new-points.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from eigenscape import _memory
from eigenscape._display import short_repr
from eigenscape._progress import stage
from eigenscape._typing import Rows
from eigenscape._warnings import warn
from eigenscape.exceptions import IsolatedPointWarning
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex, rows_by_vertex
from eigenscape.graph.search import NeighborIndex, RowSearch
from eigenscape.graph.sparse_distances import SHORTEST, distance_table, scatter_rows, transpose, union

#: Rule for an edge: either point lists the other, both do, or one does and their lists have points in common.
Joined = Literal["union", "mutual", "shared"]

#: Rows from which the number of edges within a radius is estimated, and bytes of an edge at the peak.
_SAMPLED_ROWS, _EDGE_BYTES = 100, 100
#: A point is a vertex if it is within this fraction of the distance from the vertex to the next one, or
SAME_POINT = 1e-3
#: within this fraction of its radius. The latter matters where rounding has split equal rows.
SAME_POINT_OF_RADIUS = 1e-6


@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """Neighbourhood graph of training points.

    Attributes
    ----------
    index : NeighborIndex
        Index of the vertices.
    vertices : RowIndex or DistanceRowIndex
        Recognises vertices among queries; its ``X`` are the vertices.
    neighbors : csr_array of shape (m, m)
        Distances; row i lists the nearest neighbours of vertex i.
    distances : csr_array of shape (m, m)
        Edge lengths, symmetric.
    radii : ndarray of shape (m,)
        Radius of each vertex: the distance to its farthest listed neighbour, or the radius of the graph.
    n_neighbors : int or None
        Number of nearest neighbours of a new point; None for a radius graph.
    samples : ndarray of shape (m,), optional
        Index of the sample that each vertex represents, in ascending order.
    joined : {"union", "mutual", "shared"}
        Rule for edges.
    tree : bool
        Whether the graph contains a minimum spanning tree, so that a new point is connected to its nearest
        vertex.
    added : csr_array of shape (m, m), optional
        Lengths of the edges that connect components, or of a spanning tree, symmetric: the ends are in no
        list because of them.
    """

    index: NeighborIndex
    vertices: RowIndex | DistanceRowIndex
    neighbors: sparse.csr_array
    distances: sparse.csr_array
    radii: np.ndarray
    n_neighbors: int | None
    samples: np.ndarray | None = None
    joined: Joined = "union"
    tree: bool = False
    added: sparse.csr_array | None = None
    _shapes: ClassVar = {
        "vertices.X": "n ...",
        "index.n_points": "n",
        "neighbors": "n n",
        "distances": "n n",
        "added": "n n",
        "radii": "n",
        "samples": "n",
    }

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        """The vertices."""
        return self.vertices.X

    @property
    def n_vertices(self) -> int:
        return self.index.n_points

    @property
    def neighborhoods(self) -> sparse.csr_array:
        """Distances (m, m) of each vertex to its nearest neighbours and to the other ends of added edges."""
        return self.neighbors if self.added is None else union(self.neighbors, self.added)

    @cached_property
    def _reach(self) -> Any:
        """The radii, prepared for a search within them."""
        return self.index.prepare(self.radii)

    @cached_property
    def _tolerance(self) -> np.ndarray:
        """Distance (m,) from each vertex within which a point is this vertex."""
        table, tolerance = self.neighbors, SAME_POINT_OF_RADIUS * self.radii
        filled = np.flatnonzero(np.diff(table.indptr))
        if len(filled):
            nearest = SAME_POINT * np.minimum.reduceat(table.data, table.indptr[filled])
            tolerance[filled] = np.maximum(tolerance[filled], nearest)
        return tolerance

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_reach", "_tolerance")}

    def find(self, Y: Rows) -> np.ndarray:
        """Return for each point the vertex that it is, or -1."""
        return self.locate(Y, lambda new: self.index.nearest_graph(new, 1))[0]

    def locate(
        self, Y: Rows, search: Callable[[Rows], sparse.csr_array] | None = None
    ) -> tuple[np.ndarray, sparse.csr_array]:
        """Return for each point the vertex that it is, or -1, and the edges of the points that are none.

        Equal rows are recognised by their values. Among the other rows those are vertices whose nearest
        vertex is within its tolerance. ``search(rows)`` computes the distances (n_rows, m) to some vertices
        with the nearest one among them, :meth:`edges_of_new` by default.
        """
        vertex = self.vertices.find(Y)
        new = np.flatnonzero(vertex < 0)
        if len(new) == 0:
            return vertex, self.distances[:0]
        edges = (search or self.edges_of_new)(Y if len(new) == len(vertex) else Y[new])
        near = np.flatnonzero(edges.data <= self._tolerance[edges.indices])
        if len(near) == 0:
            return vertex, edges
        near = near[np.argsort(-edges.data[near], kind="stable")]  # the nearest is assigned last
        row = np.searchsorted(edges.indptr, near, side="right") - 1
        vertex[new[row]] = edges.indices[near]
        return vertex, edges[vertex[new] < 0]

    def edges_of(self, Y: Rows) -> sparse.csr_array:
        """Return the edge lengths (n_new, m) between each point of ``Y`` and the vertices.

        A row that is a vertex has the edges of that vertex. Another row has edges to its nearest neighbours
        and to the vertices that would list it as a neighbour; if there are none, to its nearest vertex, with
        a warning.
        """
        vertex, edges = self.locate(Y)
        return rows_by_vertex(vertex, self.distances.__getitem__, lambda _: edges)

    def edges_of_new(self, Y: Rows) -> sparse.csr_array:
        """Return the edge lengths of points that are not vertices."""
        k, reach = self.n_neighbors, self._reach
        if k is not None and self.joined == "union":
            return self.index.search_edges(Y, k, reach)
        edges = self.index.search_radius(Y, reach)
        if k is not None:
            own = self.index.nearest_graph(Y, k)
            edges = combine_edges(self.joined, own, edges, own, self.neighbors, k)
        if self.tree:
            return union(edges, self.index.nearest_graph(Y, 1))
        isolated = np.flatnonzero(np.diff(edges.indptr) == 0)
        if len(isolated) and k is not None:
            self._warn_isolated(
                len(isolated), f"satisfies the rule symmetrize={self.joined!r}", "Raise n_neighbors"
            )
            nearest = self.index.nearest_graph(Y[isolated], 1)
            edges = union(edges, scatter_rows(nearest, isolated, edges.shape[0]))
        elif len(isolated):
            self._warn_isolated(len(isolated), f"is within radius={self.radii[0]:g}", "Enlarge radius")
            length, column = self.index.nearest(Y[isolated], 1)
            edges = union(edges, distance_table(isolated, column[:, 0], length[:, 0], edges.shape))
        return edges

    @staticmethod
    def _warn_isolated(count: int, condition: str, remedy: str) -> None:
        warn(
            f"for {count} new point(s) no training point {condition}; each is connected to its nearest one."
            f" {remedy} if that is too far.",
            IsolatedPointWarning,
        )

    def neighbors_of(self, Y: Rows) -> sparse.csr_array:
        """Return the distances (n_new, m) of new points to their own nearest neighbours."""
        if self.n_neighbors is None:
            return self.edges_of_new(Y)
        return self.index.nearest_graph(Y, self.n_neighbors)

    def subset(self, which: np.ndarray) -> NeighborGraph:
        """Return the graph of the vertices ``which`` alone."""
        index = self.index.subset(which)
        return NeighborGraph(
            index,
            index.vertices(),
            self.neighbors[which][:, which],
            self.distances[which][:, which],
            self.radii[which],
            None if self.n_neighbors is None else min(self.n_neighbors, len(which)),
            None if self.samples is None else self.samples[which],
            self.joined,
            self.tree,
            None if self.added is None else self.added[which][:, which],
        )

    def with_edges(self, row: np.ndarray, column: np.ndarray, length: np.ndarray) -> NeighborGraph:
        """Return the graph with additional edges."""
        # Two components may have selected the same edge; a sparse matrix would sum its lengths.
        ends, first = np.unique(np.sort(np.column_stack([row, column]), axis=1), axis=0, return_index=True)
        row, column, length = ends[:, 0], ends[:, 1], length[first]
        both = np.concatenate([row, column]), np.concatenate([column, row])
        extra = distance_table(*both, np.concatenate([length, length]), self.distances.shape)
        added = extra if self.added is None else union(self.added, extra)
        return replace(self, added=added, distances=union(self.distances, extra))


def nearest_neighbor_graph(
    index: NeighborIndex,
    n_neighbors: int,
    joined: Joined = "union",
    rows: RowIndex | None = None,
    n_jobs: int | None = None,
) -> NeighborGraph:
    """Return the graph of the ``n_neighbors`` nearest neighbours of the indexed points.

    ``rows`` is the index that recognises the points, if it has been computed.
    """
    if rows is not None and isinstance(index, RowSearch) and index.X is rows.X:
        index.rows = rows
    with stage("neighbours"):
        chosen = index.nearest_others_graph(n_neighbors)
    if chosen.data.max() <= SHORTEST:
        raise ValueError(
            "all distances between neighbours are zero, so the metric does not distinguish the points and"
            " there is nothing to embed; use another metric"
        )
    if not index.known_symmetric:
        _check_symmetric(chosen)
    radii = np.maximum.reduceat(chosen.data, chosen.indptr[:-1])
    if joined == "union":
        edges = union(chosen, transpose(chosen, n_jobs), n_jobs)
    else:
        edges = combine_edges(joined, chosen, transpose(chosen, n_jobs), chosen, chosen, n_neighbors)
    return NeighborGraph(index, index.vertices(), chosen, edges, radii, n_neighbors, joined=joined)


def combine_edges(
    joined: Joined,
    outgoing: sparse.csr_array,
    incoming: sparse.csr_array,
    row_lists: sparse.csr_array,
    column_lists: sparse.csr_array,
    n_neighbors: int,
) -> sparse.csr_array:
    """Combine neighbour lists to edges (n, p) between two sets of points by the rule ``joined``.

    Parameters
    ----------
    joined : {"union", "mutual", "shared"}
        Edges of the points that list each other: either does, both do, or one does and their lists have at
        least a third of ``n_neighbors`` in common.
    outgoing : csr_array of shape (n, p)
        Distances to the points that each point of the rows lists.
    incoming : csr_array of shape (n, p)
        Distances to the points that list each point of the rows.
    row_lists, column_lists : csr_array of shape (n, m) and (p, m)
        Distances of the points to the vertices that are their nearest neighbours.
    n_neighbors : int
        Length of the lists.
    """
    if joined == "union":
        return union(outgoing, incoming)
    if joined == "mutual":
        return _select(outgoing, outgoing.astype(bool).multiply(incoming.astype(bool)))
    # The number of neighbours that two points have in common.
    common = row_lists.astype(bool).astype(np.int32) @ column_lists.astype(bool).astype(np.int32).T
    return _select(union(outgoing, incoming), common >= max(1, n_neighbors // 3))


def _select(edges: sparse.csr_array, which: sparse.csr_array) -> sparse.csr_array:
    """Return the edges at which ``which`` is nonzero."""
    kept = sparse.csr_array(edges.multiply(sparse.csr_array(which)))
    kept.eliminate_zeros()
    kept.sort_indices()
    return kept


def radius_graph(index: NeighborIndex, radius: float) -> NeighborGraph:
    """Return the graph of all pairs of indexed points within ``radius``."""
    n = index.n_points
    radii = np.full(n, float(radius))
    if n > _SAMPLED_ROWS:
        some = np.linspace(0, n - 1, _SAMPLED_ROWS).astype(np.intp)
        count = index.radius_graph(index.points(some), radii[some]).nnz / len(some) * n
        purpose = f"the graph of {n} points with radius={radius:g} (about {count:.1e} edges)"
        _memory.require(_EDGE_BYTES * count, purpose, "lower radius, or connect nearest neighbours")
    with stage("neighbours"):
        pairs = sparse.coo_array(index.radius_graph(index.points(np.arange(index.n_points)), radii))
    other = pairs.row != pairs.col
    table = distance_table(pairs.row[other], pairs.col[other], pairs.data[other], pairs.shape)
    edges = union(table, transpose(table))
    return NeighborGraph(index, index.vertices(), edges, edges, radii, None)


def _check_symmetric(chosen: sparse.csr_array) -> None:
    """Raise ValueError if two points that list each other do so at different distances."""
    mutual = chosen.multiply(chosen.T > 0)
    if mutual.nnz and abs(mutual - mutual.T).max() > 1e-6 * mutual.max():
        raise ValueError(
            "the distances are not symmetric: d(x, y) and d(y, x) differ; a neighbourhood graph needs a"
            " symmetric metric"
        )
