"""Shortest paths through the training points."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from eigenscape._memory import row_blocks
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
    # Paths are measured in double precision and rounded once.
    return _many_paths(graph.distances, entries, n_jobs, np.empty(entries.shape, dtype=dtype))


def geodesics_to(graph: NeighborGraph, landmarks: np.ndarray, n_jobs: int | None = None, dtype: type = np.float64) -> np.ndarray:
    """Geodesic distances (m, q) of all vertices to some of them, in the order in which a vertex's row is one piece of memory.

    Landmarks are far from one another, so their searches have nothing to share and go one by one.
    """
    from eigenscape._compiled.paths import lower_to_source

    q, m = len(landmarks), graph.n_vertices
    out: np.ndarray = np.empty((m, q), dtype=dtype)
    order, rank, inner = _near_in_memory(graph.distances)
    step = _step(inner)

    def travel(batch: slice, advance: Any) -> None:
        rows = np.full((batch.stop - batch.start, m), np.inf)
        for row, source in zip(rows, rank[landmarks[batch]].astype(np.intp), strict=True):
            lower_to_source(inner.indptr, inner.indices, inner.data, source, step, row)
        out[order, batch] = rows.T
        advance(len(rows))

    with stage("geodesics", total=q) as advance:
        batches = row_blocks(q, 8.0, budget=64)  # as many as share a line of memory
        joblib.Parallel(n_jobs=n_jobs, prefer="threads")(joblib.delayed(travel)(batch, advance) for batch in batches)
    return out


def _step(roads: sparse.csr_array) -> float:
    """How far ahead a search looks at a time: as fast as any within a factor of four, on curves, surfaces and clouds."""
    return 4.0 * float(roads.data.mean())


def _near_in_memory(roads: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, sparse.csr_array]:
    """An order of the vertices in which neighbours are near in memory, the place of each, and the graph in that order."""
    order = reverse_cuthill_mckee(sparse.csr_array(roads), symmetric_mode=True)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=order.dtype)
    inner = sparse.csr_array(roads[order][:, order])
    inner.sort_indices()
    return order, rank, inner


def through_neighbors(entries: sparse.csr_array, lengths: np.ndarray) -> np.ndarray:
    """Distances (n_new, q) of new points whose edges are ``entries`` (n_new, m), given those of the vertices (m, q).

    ``d(y, l) = min_v w(y, v) + d(v, l)``: the last edge of Bengio eq. 14, without another search.
    """
    from eigenscape._compiled.paths import shortest_through

    out = np.empty((entries.shape[0], lengths.shape[1]), dtype=lengths.dtype)
    shortest_through(entries.indptr, entries.indices, entries.data, lengths, out)
    return out


def geodesic_row(graph: NeighborGraph, vertex: int) -> np.ndarray:
    """Geodesic distances (m,) of one vertex to all."""
    from eigenscape._compiled.paths import lower_to_source

    row = np.full(graph.n_vertices, np.inf)
    roads = graph.distances
    lower_to_source(roads.indptr, roads.indices, roads.data, vertex, _step(roads), row)
    return row


def farthest_vertices(graph: NeighborGraph, count: int, first: int) -> np.ndarray:
    """Max-min on geodesics: each vertex is the one farthest along the graph from those before it.

    Exactly the result of one row of distances after another; but a search from a new landmark goes only as far as it is
    nearer than the earlier ones, so that all of them together cost little more than one. The rows themselves, which the
    embedding needs, are then found side by side by :func:`geodesics_to`.
    """
    from eigenscape._compiled.paths import lower_to_source

    roads = graph.distances
    step = _step(roads)
    nearest = np.full(graph.n_vertices, np.inf)
    chosen = np.empty(count, dtype=np.intp)
    with stage("landmarks", total=count) as advance:
        for place in range(count):
            chosen[place] = first if place == 0 else int(np.argmax(nearest))
            lower_to_source(roads.indptr, roads.indices, roads.data, chosen[place], step, nearest)
            advance(1)
    return chosen


def _many_paths(roads: sparse.csr_array, entries: sparse.csr_array, n_jobs: int | None, out: np.ndarray) -> np.ndarray:
    """Distances (s, m), written to ``out``, for sources whose first steps are the rows of ``entries``."""
    from eigenscape._compiled.paths import LANES, shortest_paths

    order, rank, inner = _near_in_memory(roads)
    first = rank[entries.indices[entries.indptr[:-1]]]  # where each source enters
    sources = np.argsort(first, kind="stable")
    n_sources, m = entries.shape

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
