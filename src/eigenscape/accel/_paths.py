"""SciPy's lengths of shortest paths, computed by eigenscape."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path as _shortest_path

from eigenscape.accel._record import is_few, left, ran_here
from eigenscape.accel._settings import FEW


def shortest_path(graph: Any, method: Any = "auto", directed: bool = False) -> np.ndarray:
    """Return ``scipy.sparse.csgraph.shortest_path`` of an undirected graph, for any ``method``."""
    reason = FEW if is_few(graph.shape[0], "compiled") else ""
    if directed or not sparse.issparse(graph):
        reason = "directed or dense graph"
    if reason:
        left("shortest paths", reason)
        return _shortest_path(graph, method=method, directed=directed)
    from eigenscape.graph.geodesics import geodesics

    lengths = geodesics(_undirected(graph))
    ran_here("shortest paths")
    return lengths


def _undirected(graph: Any) -> sparse.csr_array:
    """Return the graph with each edge in both directions; of two lengths the shorter is kept."""
    edges = sparse.coo_array(graph)
    row, column = np.concatenate([edges.row, edges.col]), np.concatenate([edges.col, edges.row])
    length = np.concatenate([edges.data, edges.data]).astype(np.float64)
    order = np.lexsort((length, column, row))
    row, column, length = row[order], column[order], length[order]
    first = np.ones(len(row), dtype=bool)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    first &= row != column
    ends = np.concatenate([[0], np.cumsum(np.bincount(row[first], minlength=graph.shape[0]))])
    return sparse.csr_array((length[first], column[first], ends), shape=graph.shape)
