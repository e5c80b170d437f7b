"""Edges between any two points; neither needs to be a vertex of the training graph.

A new point does not change the neighbours of any other point, vertex or new: the edge of two new points
depends on them and on the vertices alone. Each has the list of its nearest vertices; one lists the other if
it is at least as near as the last of them, which is the condition under which it is among the nearest
neighbours. The rule ``joined`` of the graph then decides (:func:`combine_edges`). In a minimum spanning tree
two new points are neighbours if either is at least as near to the other as its nearest vertex.

See docs/decisions/graph-new-points.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._typing import Matrix, Rows, is_sparse
from eigenscape.graph.neighborhood import NeighborGraph, combine_edges
from eigenscape.graph.precomputed import PrecomputedIndex, require_table
from eigenscape.graph.row_index import equal_rows
from eigenscape.graph.sparse_distances import SHORTEST, assemble, union

#: A function of points ``Y`` and of their precomputed distances to fixed points ``Z``, if there are such.
EdgeLengths = Callable[[Rows, Any], sparse.csr_array]


def edges_to(graph: NeighborGraph, Z: Rows) -> EdgeLengths:
    """Return a function ``(Y, table)`` that computes the edge lengths (n_Y, n_Z) between any points.

    A point that is a vertex has its edges. A point has no edge to itself. ``table`` are the distances
    (n_Y, n_Z) if distances are precomputed, otherwise None.
    """
    columns = _NewPoints.of(graph, Z)

    def lengths(Y: Rows, table: Any = None) -> sparse.csr_array:
        rows = _NewPoints.of(graph, Y)
        blocks: list[tuple[np.ndarray, np.ndarray, Matrix]] = []  # row numbers, column numbers, lengths
        if len(columns.known):
            to_vertices = graph.edges_of(Y)[:, columns.vertex[columns.known]]
            blocks.append((np.arange(len(rows.vertex)), columns.known, to_vertices))
        if len(rows.known) and len(columns.new):
            to_vertices = graph.edges_of(columns.points)[:, rows.vertex[rows.known]]
            blocks.append((rows.known, columns.new, to_vertices.T))
        if len(rows.new) and len(columns.new):
            blocks.append((rows.new, columns.new, _edges_of_new(graph, rows, columns, table)))
        return assemble(blocks, (len(rows.vertex), len(columns.vertex)))

    return lengths


def same_points(graph: NeighborGraph, Y: Rows, Z: Rows, table: Any = None) -> sparse.csr_array:
    """Return a sparse matrix (n_Y, n_Z) of ones where the points are the same.

    These are equal rows, or points whose precomputed distance is zero.
    """
    if not isinstance(graph.index, PrecomputedIndex):
        return equal_rows(Y, Z)
    table = require_table(table)
    if not is_sparse(table):
        return sparse.csr_array((np.asarray(table) <= SHORTEST).astype(np.float64))
    same = sparse.csr_array(table, copy=True).astype(np.float64)
    same.data = (same.data <= SHORTEST).astype(np.float64)
    same.eliminate_zeros()
    return same


@dataclass(frozen=True, eq=False)
class _NewPoints:
    """Points among which some may be vertices, with the neighbour lists of the others."""

    vertex: np.ndarray  # (n,) the vertex that a point is, or -1
    points: Any  # the points that are not vertices
    lists: sparse.csr_array | None  # (n_new, m) distances to their nearest vertices; None in a radius graph
    radii: np.ndarray  # (n_new,) distance within which each lists another point
    nearest: np.ndarray | None  # (n_new,) distance to the nearest vertex, in a graph with a spanning tree

    @property
    def known(self) -> np.ndarray:
        return np.flatnonzero(self.vertex >= 0)

    @property
    def new(self) -> np.ndarray:
        return np.flatnonzero(self.vertex < 0)

    @staticmethod
    def of(graph: NeighborGraph, Y: Rows) -> _NewPoints:
        """Search the neighbours of the points that are not vertices."""
        vertex = graph.find(Y)
        new = np.flatnonzero(vertex < 0)
        points = Y[new]
        if len(new) == 0 or graph.n_neighbors is None:
            return _NewPoints(vertex, points, None, np.full(len(new), graph.radii[0]), None)
        lists = graph.neighbors_of(points)
        nearest = _farthest(graph.index.nearest_graph(points, 1)) if graph.tree else None
        return _NewPoints(vertex, points, lists, _farthest(lists), nearest)


def _farthest(lists: sparse.csr_array) -> np.ndarray:
    """Return the largest distance (n,) in each list, 0 for an empty one."""
    return np.asarray(lists.max(axis=1).toarray()).ravel()


def _edges_of_new(
    graph: NeighborGraph, rows: _NewPoints, columns: _NewPoints, table: Any
) -> sparse.csr_array:
    """Return the edge lengths (n_Y, n_Z) between points that are not vertices."""
    index = graph.index
    if isinstance(index, PrecomputedIndex):
        among = require_table(table)[rows.new][:, columns.new]
        transposed = sparse.csr_array(among.T) if is_sparse(among) else among.T
        of_rows, of_columns, same = (
            partial(index.search_radius, transposed),
            partial(index.search_radius, among),
            None,
        )
    else:
        of_rows = partial(index.over(rows.points).radius_graph, columns.points)
        of_columns = partial(index.over(columns.points).radius_graph, rows.points)
        same = equal_rows(rows.points, columns.points)
    # Distances (n_Y, n_Z) within the radius of the row, and of the column.
    outgoing, incoming = sparse.csr_array(of_rows(rows.radii).T), of_columns(columns.radii)
    if graph.n_neighbors is None:
        edges = union(outgoing, incoming)
    else:
        assert rows.lists is not None
        assert columns.lists is not None
        edges = combine_edges(graph.joined, outgoing, incoming, rows.lists, columns.lists, graph.n_neighbors)
    if graph.tree and graph.joined != "union":
        assert rows.nearest is not None
        assert columns.nearest is not None
        nearest = union(sparse.csr_array(of_rows(rows.nearest).T), of_columns(columns.nearest))
        edges = union(edges, nearest)
    if same is not None:
        edges = sparse.csr_array(edges - edges.multiply(same))
    else:
        edges.data[edges.data <= SHORTEST] = 0.0
    edges.eliminate_zeros()
    return edges
