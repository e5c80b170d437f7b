"""Connected components of a graph, and the shortest edges that connect them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from eigenscape._progress import stage
from eigenscape._typing import Matrix, is_sparse
from eigenscape.exceptions import DisconnectedGraphError
from eigenscape.graph.approximate import ApproximateIndex
from eigenscape.graph.blocks import BlockIndex, edge_order
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.precomputed import PrecomputedIndex
from eigenscape.graph.search import NeighborIndex
from eigenscape.graph.tree import TreeIndex
from eigenscape.graph.tuning import TUNING


def component_labels(matrix: Matrix | sparse.coo_array) -> np.ndarray:
    """Return the component of each vertex of a symmetric graph; component 0 is the largest."""
    count, label = connected_components(matrix, directed=False)
    by_size = np.argsort(-np.bincount(label, minlength=count), kind="stable")
    rank = np.empty(count, dtype=np.intp)
    rank[by_size] = np.arange(count)
    return rank[label]


def connect(graph: NeighborGraph, label: np.ndarray) -> NeighborGraph:
    """Connect the components by the shortest missing edges: a minimum spanning tree of the components.

    The closest points of each pair of components are found by one pass over the distances between them. For
    many components, or where a k-d tree or another index is faster, Boruvka's algorithm is used: in each
    round every component except the largest adds its shortest outgoing edge. No distance matrix is formed.
    """
    if isinstance(graph.index, PrecomputedIndex) and is_sparse(graph.index.table):
        raise DisconnectedGraphError(
            f"the precomputed graph has {label.max() + 1} connected components and contains no distances"
            " between them, so they cannot be connected; store more neighbours, or set"
            " on_disconnected='per_component' or 'largest'"
        )
    index, few = graph.index, 0 < label.max() < TUNING.most_components
    if few and isinstance(index, TreeIndex) and index.n_points > TUNING.sampled_rows:
        index = index.in_blocks()
    if few and isinstance(index, BlockIndex | ApproximateIndex):
        return graph.with_edges(*index.shortest_bridges(label))
    while label.max() > 0:
        row, column, length = _shortest_outgoing(graph.index, label)
        graph = graph.with_edges(row, column, length)
        label = component_labels(graph.distances)
    return graph


def connect_closed(graph: NeighborGraph) -> NeighborGraph:
    """Return the graph with edges out of groups of vertices that list no neighbours outside of the group.

    LLE minimises to zero any function that is constant on each of ``g`` such groups, so that more than one
    coordinate is undetermined if ``g`` exceeds two. The shortest edge that enters each group is then listed
    by both of its ends, until at most two groups are left.
    """
    while True:
        edges = sparse.coo_array(graph.neighborhoods)
        _, label = connected_components(edges, directed=True, connection="strong")
        leaving = label[edges.row] != label[edges.col]
        closed = np.setdiff1d(label, label[edges.row[leaving]])
        enters = np.flatnonzero(leaving & np.isin(label[edges.col], closed))
        if len(closed) <= 2 or not len(enters):
            return graph
        row, column, length, ranks = (
            edges.row[enters],
            edges.col[enters],
            edges.data[enters],
            graph.index.ranks,
        )
        order = edge_order(length, ranks[row], ranks[column], label[column])
        some = order[np.unique(label[column[order]], return_index=True)[1]]
        graph = graph.with_edges(row[some], column[some], length[some])


def spanning_tree(index: NeighborIndex) -> NeighborGraph:
    """Return the minimum spanning tree of the indexed points: :func:`connect` applied to an empty graph."""
    empty = sparse.csr_array((index.n_points, index.n_points))
    radii = np.zeros(index.n_points)  # a new point is connected to its nearest vertex only
    edgeless = NeighborGraph(index, index.vertices(), empty, empty, radii, 1, tree=True)
    with stage("spanning tree"):
        edges = connect(edgeless, np.arange(index.n_points)).distances
    # With approximate neighbours a round may close a cycle; an edge of it is removed.
    tree = sparse.csr_array(minimum_spanning_tree(edges))
    tree = sparse.csr_array(tree.maximum(tree.T))
    tree.sort_indices()
    return replace(edgeless, neighbors=tree, distances=tree)


def add_spanning_tree(graph: NeighborGraph) -> NeighborGraph:
    """Return the graph with the edges of the minimum spanning tree added, so that it is connected."""
    tree = sparse.coo_array(sparse.triu(spanning_tree(graph.index).distances))
    return replace(graph.with_edges(tree.row, tree.col, tree.data), tree=True)


def _shortest_outgoing(index: NeighborIndex, label: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the shortest outgoing edge of every component except the largest (number 0)."""
    count = label.max() + 1
    row, column, length = np.empty(count, dtype=np.intp), np.empty(count, dtype=np.intp), np.empty(count)
    pending, ranks = np.arange(1, count), index.ranks
    k = 8
    few = isinstance(index, TreeIndex) and len(pending) < TUNING.few_components
    while len(pending) and not few and k <= min(TUNING.most_neighbors, index.n_points):
        members = np.flatnonzero(np.isin(label, pending))
        mine = label[members]
        near, number = index.nearest(index.points(members), k)
        outside = label[number] != mine[:, None]
        found = outside.any(axis=1)
        place = outside.argmax(axis=1)
        best = np.where(found, near[np.arange(len(members)), place], np.inf)
        # The nearest point outside may be nearer than `near[:, -1]` if all k neighbours are inside.
        bound = np.where(found, np.inf, near[:, -1])
        ends = ranks[members], ranks[number[np.arange(len(members)), place]]
        order = edge_order(best, *ends, mine)  # component by component, the shortest exit first
        starts = np.flatnonzero(np.diff(mine[order], prepend=-1))
        winner = order[starts]
        certain = best[winner] < np.minimum.reduceat(bound[order], starts)
        done, pending = winner[certain], mine[winner[~certain]]
        row[mine[done]], column[mine[done]], length[mine[done]] = (
            members[done],
            number[done, place[done]],
            best[done],
        )
        k *= 4
    for one in pending:
        row[one], column[one], length[one] = _outgoing_by_complement(index, label, one)
    return row[1:], column[1:], length[1:]


def _outgoing_by_complement(index: NeighborIndex, label: np.ndarray, one: int) -> tuple[int, int, float]:
    """Return the shortest outgoing edge of one component by a search among all other points."""
    members, others = np.flatnonzero(label == one), np.flatnonzero(label != one)
    queries = index.restrict(index.points(members), others)
    row, column, length = index.subset(others).closest_pairs(queries)
    row, column = members[row], others[column]
    first = edge_order(np.zeros(len(row)), index.ranks[row], index.ranks[column])[0]
    return row[first], column[first], length
