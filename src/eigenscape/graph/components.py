"""Connected components, and the shortest edges that would join them."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from eigenscape.exceptions import DisconnectedGraphError
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.neighbors import NeighborIndex
from eigenscape.graph.tables import TableIndex

#: Beyond this many neighbours it is cheaper to search a component's complement directly.
_MOST_NEIGHBORS = 256


def components(matrix: object) -> np.ndarray:
    """Component number of each vertex of a symmetric graph, the largest component first."""
    count, label = connected_components(matrix, directed=False)
    by_size = np.argsort(-np.bincount(label, minlength=count), kind="stable")
    rank = np.empty(count, dtype=np.intp)
    rank[by_size] = np.arange(count)
    return rank[label]


def connect(graph: NeighborGraph, label: np.ndarray) -> NeighborGraph:
    """Join the components by the shortest missing edges: a minimum spanning tree of the components.

    Boruvka's rounds: every component but the largest takes its shortest edge outwards, and components so joined are one
    in the next round. No distance matrix is formed.
    """
    if isinstance(graph.index, TableIndex) and sparse.issparse(graph.index.table):
        raise DisconnectedGraphError(
            f"the precomputed graph has {label.max() + 1} components and holds no distances between them, so they cannot be"
            " connected; store more neighbours, or set on_disconnected='per_component' or 'largest'"
        )
    while label.max() > 0:
        row, column, length = _shortest_exits(graph.index, label)
        graph = graph.with_edges(row, column, length)
        label = components(graph.distances)
    return graph


def _shortest_exits(index: NeighborIndex, label: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The shortest edge out of every component but the largest (number 0)."""
    count = label.max() + 1
    exits = dict.fromkeys(range(1, count), (-1, -1, np.inf))
    pending = np.arange(1, count)
    k = 8
    while len(pending) and k <= min(_MOST_NEIGHBORS, index.n_points):
        members = np.flatnonzero(np.isin(label, pending))
        length, column = index.nearest(index.points(members), k)
        outside = label[column] != label[members][:, None]
        found = outside.any(axis=1)
        place = outside.argmax(axis=1)
        best = np.where(found, length[np.arange(len(members)), place], np.inf)
        # A point whose k neighbours are all its own kin may still be nearer to a stranger than `length[:, -1]` tells.
        bound = np.where(found, np.inf, length[:, -1])
        settled = []
        for one in pending:
            mine = np.flatnonzero(label[members] == one)
            winner = mine[np.argmin(best[mine])]
            if best[winner] <= bound[mine].min():
                exits[one] = (members[winner], column[winner, place[winner]], best[winner])
                settled.append(one)
        pending = np.setdiff1d(pending, settled)
        k *= 4
    for one in pending:
        exits[one] = _exit_by_complement(index, label, one)
    row, column, length = (np.array(part) for part in zip(*exits.values(), strict=True))
    return row.astype(np.intp), column.astype(np.intp), length


def _exit_by_complement(index: NeighborIndex, label: np.ndarray, one: int) -> tuple[int, int, float]:
    members, others = np.flatnonzero(label == one), np.flatnonzero(label != one)
    queries = index.restrict(index.points(members), others)
    length, column = index.subset(others).nearest(queries, 1)
    winner = int(np.argmin(length[:, 0]))
    return members[winner], others[column[winner, 0]], length[winner, 0]
