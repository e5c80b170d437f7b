"""Shortest paths through the training points."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from eigenscape._progress import stage
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.rows import reassemble


def geodesics(graph: NeighborGraph, Y: Any, n_jobs: int | None = None, dtype: type = np.float64) -> np.ndarray:
    """Geodesic distances (n_new, m) from the points of ``Y`` to the vertices (Bengio eq. 14).

    A new point enters the graph by its edges and is never passed through, so new points do not see one another. Vertices
    are renumbered so that neighbours are near in memory, and sources that are neighbours travel together.
    """
    vertex = graph.vertices.find(Y)
    known, new = np.flatnonzero(vertex >= 0), np.flatnonzero(vertex < 0)
    entries = sparse.csr_array((np.zeros(len(known)), vertex[known], np.arange(len(known) + 1)), shape=(len(known), graph.n_vertices))
    if len(new):
        entries = reassemble([(known, entries), (new, graph.join(Y[new]))])
    return _many_paths(graph.distances, entries, n_jobs, dtype)


def _many_paths(roads: sparse.csr_array, entries: sparse.csr_array, n_jobs: int | None, dtype: type) -> np.ndarray:
    """Distances (s, m) for sources whose first steps are the rows of ``entries``."""
    from eigenscape._compiled.paths import LANES, shortest_paths

    order = reverse_cuthill_mckee(sparse.csr_array(roads), symmetric_mode=True)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=order.dtype)
    inner = sparse.csr_array(roads[order][:, order])
    inner.sort_indices()
    first = rank[entries.indices[entries.indptr[:-1]]]  # where each source enters
    sources = np.argsort(first, kind="stable")
    n_sources, m = entries.shape
    out = np.empty((n_sources, m), dtype=dtype)  # paths are measured in double precision and rounded once

    def travel(batch: np.ndarray, advance: Any) -> None:
        rows = entries[batch]
        distance = np.empty((m, LANES))
        shortest_paths(
            inner.indptr, inner.indices, inner.data, rows.indptr.astype(np.int64), rank[rows.indices].astype(np.int64), rows.data, distance
        )
        out[batch[:, None], order] = distance[:, : len(batch)].T
        advance(len(batch))

    with stage("geodesics", total=n_sources) as advance:
        batches = [sources[start : start + LANES] for start in range(0, n_sources, LANES)]
        joblib.Parallel(n_jobs=n_jobs, prefer="threads")(joblib.delayed(travel)(batch, advance) for batch in batches)
    return out
