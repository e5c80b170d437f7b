"""Connected components, and the shortest edges that would join them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from eigenscape._progress import stage
from eigenscape.exceptions import DisconnectedGraphError
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.neighbors import NeighborIndex
from eigenscape.graph.precomputed import PrecomputedIndex

#: Beyond this many neighbours it is cheaper to search a component's complement directly.
_MOST_NEIGHBORS = 256


def component_labels(matrix: object) -> np.ndarray:
    """Component number of each vertex of a symmetric graph, the largest component first."""
    count, label = connected_components(matrix, directed=False)
    by_size = np.argsort(-np.bincount(label, minlength=count), kind="stable")
    rank = np.empty(count, dtype=np.intp)
    rank[by_size] = np.arange(count)
    return rank[label]


def connect(graph: NeighborGraph, label: np.ndarray) -> NeighborGraph:
    """Join the components by the shortest missing edges: a minimum spanning tree of the components.

    Boruvka's rounds: every component but the largest takes its shortest edge outwards, and components so
    joined are one in the next round. No distance matrix is formed."""
    if isinstance(graph.index, PrecomputedIndex) and sparse.issparse(graph.index.table):
        raise DisconnectedGraphError(
            f"the precomputed graph has {label.max() + 1} components and holds no distances between them, so they cannot be"
            " connected; store more neighbours, or set on_disconnected='per_component' or 'largest'"
        )
    while label.max() > 0:
        row, column, length = _shortest_exits(graph.index, label)
        graph = graph.with_edges(row, column, length)
        label = component_labels(graph.distances)
    return graph


def spanning_tree(index: NeighborIndex) -> NeighborGraph:
    """The minimum spanning tree of all indexed points, found by :func:`connect` from points without any
    edge."""
    nothing = sparse.csr_array((index.n_points, index.n_points))
    radii = np.zeros(index.n_points)  # no vertex reaches out for a new point
    bare = NeighborGraph(
        index, index.vertices(), nothing, nothing, index.radius_query(radii), radii, 1, tree=True
    )
    with stage("spanning tree"):
        edges = connect(bare, np.arange(index.n_points)).distances
    # Where distances tie, rounds may close a ring of equal edges; one of them is too many.
    tree = sparse.csr_array(minimum_spanning_tree(edges))
    tree = sparse.csr_array(tree.maximum(tree.T))
    tree.sort_indices()
    return replace(bare, neighbors=tree, distances=tree)


def add_spanning_tree(graph: NeighborGraph) -> NeighborGraph:
    """The graph with the edges of the minimum spanning tree of its vertices: connected by construction."""
    tree = sparse.coo_array(sparse.triu(spanning_tree(graph.index).distances))
    return replace(graph.with_edges(tree.row, tree.col, tree.data), tree=True)


def _shortest_exits(index: NeighborIndex, label: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The shortest edge out of every component but the largest (number 0)."""
    count = label.max() + 1
    row, column, length = np.empty(count, dtype=np.intp), np.empty(count, dtype=np.intp), np.empty(count)
    pending = np.arange(1, count)
    k = 8
    while len(pending) and k <= min(_MOST_NEIGHBORS, index.n_points):
        members = np.flatnonzero(np.isin(label, pending))
        mine = label[members]
        near, number = index.nearest(index.points(members), k)
        outside = label[number] != mine[:, None]
        found = outside.any(axis=1)
        place = outside.argmax(axis=1)
        best = np.where(found, near[np.arange(len(members)), place], np.inf)
        # A point whose k neighbours are all its own kin may still be nearer to a stranger than `near[:, -1]`
        # tells.
        bound = np.where(found, np.inf, near[:, -1])
        order = np.lexsort((best, mine))  # component by component, the shortest exit first
        starts = np.flatnonzero(np.diff(mine[order], prepend=-1))
        winner = order[starts]
        settled = best[winner] <= np.minimum.reduceat(bound[order], starts)
        done, pending = winner[settled], mine[winner[~settled]]
        row[mine[done]], column[mine[done]], length[mine[done]] = (
            members[done],
            number[done, place[done]],
            best[done],
        )
        k *= 4
    for one in pending:
        row[one], column[one], length[one] = _exit_by_complement(index, label, one)
    return row[1:], column[1:], length[1:]


def _exit_by_complement(index: NeighborIndex, label: np.ndarray, one: int) -> tuple[int, int, float]:
    members, others = np.flatnonzero(label == one), np.flatnonzero(label != one)
    queries = index.restrict(index.points(members), others)
    length, column = index.subset(others).nearest(queries, 1)
    winner = int(np.argmin(length[:, 0]))
    return members[winner], others[column[winner, 0]], length[winner, 0]
