"""Shortest paths through the training points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.sparse_distances import reassemble


def geodesics(
    graph: NeighborGraph, Y: Any, n_jobs: int | None = None, dtype: type = np.float64
) -> np.ndarray:
    """Geodesic distances (n_new, m) from the points of ``Y`` to the vertices (Bengio eq. 14).

    A new point enters the graph by its edges and is never passed through, so new points do not see one
    another."""
    entries = _entries(graph, Y)
    roads = _PathSearch(graph.distances)
    first = roads.rank[
        entries.indices[entries.indptr[:-1]]
    ]  # where each source enters: those that are neighbours travel together
    sources = np.argsort(first, kind="stable")
    out = np.empty(entries.shape, dtype=dtype)  # paths are measured in double precision and rounded once

    def travel(batch: np.ndarray, advance: Any) -> None:
        rows = entries[batch]
        out[batch[:, None], roads.order] = roads.distances(rows.indptr, roads.rank[rows.indices], rows.data)[
            :, : len(batch)
        ].T
        advance(len(batch))

    with stage("geodesics", total=len(sources)) as advance:
        _in_parallel(travel, sources, advance, n_jobs)
    return out


def geodesic_columns(
    graph: NeighborGraph, Y: Any, n_jobs: int | None = None, dtype: type = np.float64
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same distances in blocks of columns: vertices (b,) and their distances (n_new, b).

    Paths are searched from the vertices, and every new point takes its best entry, ``d(x, i) = min_j d(x, j)
    + d(j, i)``. However many new points there are, each vertex is searched from once."""
    from eigenscape._compiled.paths import LANES, shortest_through

    entries = _entries(graph, Y)
    roads = _PathSearch(graph.distances)
    inner = roads.rank[entries.indices]
    n_new, m = entries.shape
    with stage("geodesics", total=m) as advance:
        for block in row_blocks(-(-m // LANES), 8 * LANES * n_new):
            targets = np.arange(LANES * block.start, min(LANES * block.stop, m))
            out = np.empty((n_new, len(targets)), dtype=dtype)

            def travel(
                batch: np.ndarray, advance: Any, out: np.ndarray = out, start: int = targets[0]
            ) -> None:
                distance = roads.distances(np.arange(len(batch) + 1), batch, np.zeros(len(batch)))
                shortest_through(
                    entries.indptr,
                    inner,
                    entries.data,
                    distance,
                    out[:, batch[0] - start : batch[-1] - start + 1],
                )
                advance(len(batch))

            _in_parallel(travel, targets, advance, n_jobs)
            yield roads.order[targets], out


def geodesics_to_landmarks(
    graph: NeighborGraph, landmarks: np.ndarray, n_jobs: int | None = None, dtype: type = np.float64
) -> np.ndarray:
    """Geodesic distances (m, q) of all vertices to some of them, in the order in which a vertex's row is one
    piece of memory.

    Landmarks are far from one another, so their searches have nothing to share and go one by one.
    """
    from eigenscape._compiled.paths import lower_to_source

    q, m = len(landmarks), graph.n_vertices
    out: np.ndarray = np.empty((m, q), dtype=dtype)
    roads = _PathSearch(graph.distances)
    inner, step = roads.lengths, _step(roads.lengths)

    def travel(batch: slice, advance: Any) -> None:
        rows = np.full((batch.stop - batch.start, m), np.inf)
        for row, source in zip(rows, roads.rank[landmarks[batch]].astype(np.intp), strict=True):
            lower_to_source(inner.indptr, inner.indices, inner.data, source, step, row)
        out[roads.order, batch] = rows.T
        advance(len(rows))

    with stage("geodesics", total=q) as advance:
        batches = row_blocks(q, 8.0, budget=64)  # as many as share a line of memory
        joblib.Parallel(n_jobs=n_jobs, prefer="threads")(
            joblib.delayed(travel)(batch, advance) for batch in batches
        )
    return out


def _step(roads: sparse.csr_array) -> float:
    """How far ahead a search looks at a time: as fast as any within a factor of four, on curves, surfaces and
    clouds."""
    return 4.0 * float(roads.data.mean())


def extend_geodesics(entries: sparse.csr_array, lengths: np.ndarray) -> np.ndarray:
    """Distances (n_new, q) of new points whose edges are ``entries`` (n_new, m), given those of the vertices
    (m, q).

    ``d(y, l) = min_v w(y, v) + d(v, l)``: the last edge of Bengio eq. 14, without another search.
    """
    from eigenscape._compiled.paths import shortest_through

    _ways_in(entries)
    out = np.empty((entries.shape[0], lengths.shape[1]), dtype=lengths.dtype)
    shortest_through(entries.indptr, entries.indices, entries.data, lengths, out)
    return out


def geodesics_from_vertex(graph: NeighborGraph, vertex: int) -> np.ndarray:
    """Geodesic distances (m,) of one vertex to all."""
    from eigenscape._compiled.paths import lower_to_source

    row = np.full(graph.n_vertices, np.inf)
    roads = graph.distances
    lower_to_source(roads.indptr, roads.indices, roads.data, vertex, _step(roads), row)
    return row


def farthest_vertices(graph: NeighborGraph, count: int, first: int) -> np.ndarray:
    """Max-min on geodesics: each vertex is the one farthest along the graph from those before it.

    Exactly the result of one row of distances after another; but a search from a new landmark goes only as
    far as it is nearer than the earlier ones, so that all of them together cost little more than one. The
    rows themselves, which the embedding needs, are then found side by side by :func:`geodesics_to_landmarks`."""
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


def _entries(graph: NeighborGraph, Y: Any) -> sparse.csr_array:
    """Lengths (n_new, m) of the first steps from the points of ``Y``; a vertex is at itself."""
    vertex = graph.vertices.find(Y)
    known, new = np.flatnonzero(vertex >= 0), np.flatnonzero(vertex < 0)
    entries = sparse.csr_array(
        (np.zeros(len(known)), vertex[known], np.arange(len(known) + 1)), shape=(len(known), graph.n_vertices)
    )
    return reassemble([(known, entries), (new, _ways_in(graph.edges_of(Y[new])))]) if len(new) else entries


def _ways_in(edges: sparse.csr_array) -> sparse.csr_array:
    """The edges of new points, of which each needs one: a row of a table of stored distances may have
    none."""
    lonely = np.flatnonzero(np.diff(edges.indptr) == 0)
    if len(lonely):
        raise ValueError(
            f"{len(lonely)} new point(s) have no stored distance to a training point, so no path leads to them (the first is number"
            f" {int(lonely[0])} of the new ones); store at least one"
        )
    return edges


class _PathSearch:
    """The graph with its vertices renumbered so that neighbours are near in memory; ``order`` are the old
    numbers, ``rank`` the new."""

    def __init__(self, lengths: sparse.csr_array) -> None:
        self.order = reverse_cuthill_mckee(sparse.csr_array(lengths), symmetric_mode=True)
        self.rank = np.empty_like(self.order)
        self.rank[self.order] = np.arange(len(self.order), dtype=self.order.dtype)
        self.lengths = sparse.csr_array(lengths[self.order][:, self.order])
        self.lengths.sort_indices()

    def distances(self, start: np.ndarray, entry: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Distances (m, LANES) from up to ``LANES`` sources whose entries lie between one ``start`` and the
        next."""
        from eigenscape._compiled.paths import LANES, shortest_paths

        roads, distance = self.lengths, np.empty((len(self.order), LANES))
        shortest_paths(
            roads.indptr,
            roads.indices,
            roads.data,
            start.astype(np.int64),
            entry.astype(np.int64),
            length,
            distance,
        )
        return distance


def _in_parallel(travel: Callable, sources: np.ndarray, advance: Any, n_jobs: int | None) -> None:
    """``travel`` for as many sources at a time as travel together."""
    from eigenscape._compiled.paths import LANES

    batches = [sources[start : start + LANES] for start in range(0, len(sources), LANES)]
    joblib.Parallel(n_jobs=n_jobs, prefer="threads")(
        joblib.delayed(travel)(batch, advance) for batch in batches
    )
