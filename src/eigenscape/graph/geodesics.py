"""Shortest paths through the training points."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from eigenscape.graph.neighborhood import NeighborGraph


def geodesics(graph: NeighborGraph, Y: Any) -> np.ndarray:
    """Geodesic distances (n_new, m) from the points of ``Y`` to the vertices (Bengio eq. 14).

    A new point starts a path and is never passed through: its edges lead into the graph and none leads back. So new
    points do not see one another.
    """
    vertex = graph.vertices.find(Y)
    new = np.flatnonzero(vertex < 0)
    m = graph.n_vertices
    source = vertex.copy()
    source[new] = m + np.arange(len(new))
    roads = graph.distances
    if len(new):
        entry = graph.join(Y[new])  # (n_new, m), one way
        nowhere = sparse.csr_array((m + len(new), len(new)))
        roads = sparse.csr_array(sparse.hstack([sparse.vstack([roads, entry]), nowhere], format="csr"))
    return dijkstra(roads, directed=True, indices=source)[:, :m]
