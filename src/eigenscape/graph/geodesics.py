"""Geodesic distances: lengths of shortest paths through the training graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from eigenscape._memory import row_blocks
from eigenscape._native.loops import (
    LANES,
    half_square_products,
    shortest_paths,
    shortest_through,
    store_rows,
    update_nearest_source,
)
from eigenscape._progress import stage
from eigenscape._threads import parallel_map, run_parallel
from eigenscape._typing import Rows
from eigenscape.graph.elimination import Elimination, are_few_sources, eliminated
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.new_pairs import edges_to, same_points
from eigenscape.graph.row_index import rows_by_vertex
from eigenscape.graph.tuning import TUNING

Advance = Callable[[float], None]

#: Searches through graphs of at most ``TUNING.kept_vertices`` vertices.
_searches: WeakKeyDictionary[NeighborGraph, _PathSearch | Elimination] = WeakKeyDictionary()


def geodesics(
    graph: NeighborGraph | sparse.csr_array,
    Y: Rows | None = None,
    n_jobs: int | None = None,
    dtype: DTypeLike = np.float64,
    *,
    half_squared: bool = False,
) -> np.ndarray:
    """Compute the geodesic distances (n_new, m) from the points of ``Y`` to the vertices (Bengio eq. 14).

    A path from a new point begins with one of its edges and then passes through vertices only, so the result
    for a new point does not depend on the others.

    Parameters
    ----------
    graph : NeighborGraph or csr_array of shape (m, m)
        A connected graph; a matrix contains the lengths of each edge in both directions, with sorted indices.
    Y : array of shape (n_new, n_features), optional
        The points. If None, the vertices.
    n_jobs : int or None
        Number of threads.
    dtype : dtype
        The dtype to which the values are rounded, once.
    half_squared : bool
        Whether the values are ``-d^2 / 2``.
    """
    if Y is None:
        m = graph.n_vertices if isinstance(graph, NeighborGraph) else graph.shape[0]
        entries = _at(np.arange(m), m)
    else:
        entries = _entry_edges(cast(NeighborGraph, graph), Y)
    search = _search_through(graph, entries.shape[0], n_jobs)
    out: np.ndarray = np.empty(entries.shape, dtype=dtype)
    with stage("geodesics", total=len(out)) as advance:
        _for_batches(
            lambda batch, distance: store_rows(
                half_squares(distance) if half_squared else distance, search.rank, batch, out
            ),
            search,
            entries,
            advance,
            n_jobs,
        )
    return out


def half_squares(lengths: np.ndarray) -> np.ndarray:
    """Compute ``-d^2 / 2`` in place."""
    np.square(lengths, out=lengths)
    lengths *= -0.5
    return lengths


def geodesic_products(
    graph: NeighborGraph, Y: Rows, V: np.ndarray, n_jobs: int | None = None, dtype: DTypeLike = np.float64
) -> np.ndarray:
    """Compute the products (n_new, c) of ``V`` (m, c) with ``-d^2 / 2`` of :func:`geodesics`, not stored.

    Paths are searched from the new points; or, if there are more of them than vertices, from the vertices,
    and continued to a new point by its best edge, ``d(y, i) = min_j d(y, j) + d(j, i)``.
    """
    entries = _entry_edges(graph, Y)
    if entries.shape[0] > graph.n_vertices:
        return _products_from_vertices(graph, entries, V, n_jobs, dtype)
    search = _search_through(graph, entries.shape[0], n_jobs)
    out, V = np.empty((entries.shape[0], V.shape[1])), V[search.order]

    def multiply(batch: np.ndarray, distance: np.ndarray) -> None:
        values = half_squares(distance).astype(dtype, copy=False)
        out[batch] = (values.T @ V)[: len(batch)]

    with stage("projection", total=len(out)) as advance:
        _for_batches(multiply, search, entries, advance, n_jobs)
    return out


def _products_from_vertices(
    graph: NeighborGraph, entries: sparse.csr_array, V: np.ndarray, n_jobs: int | None, dtype: DTypeLike
) -> np.ndarray:
    """Compute the products of :func:`geodesic_products` by batches of vertices, added in their order."""
    n_new, m = entries.shape
    search, single = _search_through(graph, m, n_jobs), np.dtype(dtype) == np.float32
    inner, V = search.rank[entries.indices].astype(entries.indptr.dtype, copy=False), V[search.order]
    out = np.zeros((n_new, V.shape[1]))

    def product_of(first: int) -> np.ndarray:
        batch = np.arange(first, min(first + LANES, m))
        distance = search.distances(np.arange(len(batch) + 1), batch, np.zeros(len(batch)))
        distance[:, len(batch) :] = 0.0
        values, part = np.zeros((LANES, V.shape[1])), np.empty_like(out)
        values[: len(batch)] = V[batch]
        half_square_products(entries.indptr, inner, entries.data, distance, values, single, part)
        return part

    with stage("projection", total=m) as advance:
        for part in parallel_map(product_of, range(0, m, LANES), n_jobs):
            out += part
            advance(LANES)
    return out


def _for_batches(
    function: Callable[[np.ndarray, np.ndarray], object],
    search: _PathSearch | Elimination,
    entries: sparse.csr_array,
    advance: Advance,
    n_jobs: int | None,
) -> None:
    """Call ``function(batch, distance)`` for batches of sources with the first edges ``entries``, on threads.

    ``distance`` (m, LANES) are the distances from the sources ``batch``; zero in unused lanes. Sources that
    enter at neighbouring vertices are searched together.
    """
    order = np.argsort(search.rank[entries.indices[entries.indptr[:-1]]], kind="stable")
    edges = entries[order] if len(order) > 1 else entries
    start, inner = edges.indptr.astype(np.int64), search.rank[edges.indices].astype(np.int64)
    # Few distances are not worth a task.
    task = LANES * max(1, TUNING.task_distances // (LANES * entries.shape[1]))

    def search_from(first: int) -> None:
        stop = min(first + task, len(order))
        for place in range(first, stop, LANES):
            batch = order[place : min(place + LANES, stop)]
            bounds = start[place : place + len(batch) + 1]
            own = slice(bounds[0], bounds[-1])
            distance = search.distances(bounds - bounds[0], inner[own], edges.data[own])
            distance[:, len(batch) :] = 0.0
            function(batch, distance)
            advance(len(batch))

    run_parallel(search_from, range(0, len(order), task), n_jobs)


def geodesics_to(
    graph: NeighborGraph, Z: Rows, n_jobs: int | None = None
) -> Callable[[Rows, Any], np.ndarray]:
    """Return a function ``(Y, table)`` that computes the geodesic distances (n_Y, n_Z) between any points.

    A path begins with an edge of the one point, passes through vertices and ends with an edge of the other;
    or it is their direct edge, if they are neighbours (a path of two points in Bengio eq. 14). ``table`` are
    the distances (n_Y, n_Z) if distances are precomputed, otherwise None.
    """
    entries, direct = _entry_edges(graph, Z), edges_to(graph, Z)

    def lengths(Y: Rows, table: Any = None) -> np.ndarray:
        onward = np.ascontiguousarray(geodesics(graph, Y, n_jobs).T)  # (m, n_Y)
        out = np.empty((entries.shape[0], onward.shape[1]))
        shortest_through(entries.indptr, entries.indices, entries.data, onward, out)
        shortest = out.T
        edges = sparse.coo_array(direct(Y, table))
        shortest[edges.row, edges.col] = np.minimum(shortest[edges.row, edges.col], edges.data)
        same = sparse.coo_array(same_points(graph, Y, Z, table))
        shortest[same.row, same.col] = 0.0
        return shortest

    return lengths


def geodesics_to_landmarks(
    graph: NeighborGraph, landmarks: np.ndarray, n_jobs: int | None = None, dtype: DTypeLike = np.float64
) -> np.ndarray:
    """Compute the geodesic distances (m, q) of all vertices to the vertices ``landmarks``.

    Landmarks are far from one another, so their searches have nothing in common and are separate.
    """
    q, m = len(landmarks), graph.n_vertices
    out: np.ndarray = np.empty((m, q), dtype=dtype)
    search = _PathSearch(graph.distances)
    inner, step = search.lengths, _step(search.lengths)

    def search_batch(batch: slice, advance: Advance) -> None:
        rows = np.full((batch.stop - batch.start, m), np.inf)
        for row, source in zip(rows, search.rank[landmarks[batch]].astype(np.intp), strict=True):
            update_nearest_source(inner.indptr, inner.indices, inner.data, source, step, row)
        out[search.order, batch] = rows.T
        advance(len(rows))

    with stage("geodesics", total=q) as advance:
        batches = row_blocks(q, 8.0, budget=64)  # columns that share a cache line
        run_parallel(lambda batch: search_batch(batch, advance), batches, n_jobs)
    return out


def _step(lengths: sparse.csr_array) -> float:
    """Return the step of a search: near the fastest for curves, surfaces and point clouds alike."""
    return 4.0 * float(lengths.data.mean())


def extend_geodesics(entries: sparse.csr_array, lengths: np.ndarray) -> np.ndarray:
    """Compute the distances (n_new, q) of new points from the distances ``lengths`` (m, q) of the vertices.

    ``d(y, l) = min_v w(y, v) + d(v, l)`` with the edges ``entries`` (n_new, m) of the new points: the last
    edge of Bengio eq. 14, without another search.
    """
    _require_entry(entries)
    out = np.empty((entries.shape[0], lengths.shape[1]), dtype=lengths.dtype)
    onward = np.ascontiguousarray(lengths)
    shortest_through(entries.indptr, entries.indices, entries.data, onward, out)
    return out


def geodesics_from_vertex(graph: NeighborGraph, vertex: int) -> np.ndarray:
    """Compute the geodesic distances (m,) of one vertex to all."""
    row = np.full(graph.n_vertices, np.inf)
    edges = graph.distances
    update_nearest_source(edges.indptr, edges.indices, edges.data, vertex, _step(edges), row)
    return row


def farthest_vertices(graph: NeighborGraph, count: int, first: int) -> np.ndarray:
    """Select vertices by the max-min rule: each is the farthest along the graph from those before it.

    The result is the same as from complete rows of distances, but the search from a new landmark is limited
    to the vertices to which it is nearer than the earlier ones, so that all searches together cost little
    more than one. :func:`geodesics_to_landmarks` then computes the complete rows in parallel.
    """
    edges = graph.distances
    step = _step(edges)
    nearest = np.full(graph.n_vertices, np.inf)
    chosen = np.empty(count, dtype=np.intp)
    with stage("landmarks", total=count) as advance:
        for place in range(count):
            chosen[place] = first if place == 0 else int(np.argmax(nearest))
            update_nearest_source(edges.indptr, edges.indices, edges.data, chosen[place], step, nearest)
            advance(1)
    return chosen


def _entry_edges(graph: NeighborGraph, Y: Rows) -> sparse.csr_array:
    """Return the lengths (n_new, m) of the first edges of paths from ``Y``; 0 from a vertex to itself."""
    m = graph.n_vertices
    vertex, edges = graph.locate(Y)
    return rows_by_vertex(vertex, lambda known: _at(known, m), lambda _: _require_entry(edges))


def _at(vertex: np.ndarray, m: int) -> sparse.csr_array:
    """Return edges (n, m) of length 0 to a vertex each."""
    n = len(vertex)
    return sparse.csr_array((np.zeros(n), vertex, np.arange(n + 1)), shape=(n, m))


def _require_entry(edges: sparse.csr_array) -> sparse.csr_array:
    """Raise ValueError if a new point has no edge, as a row of a sparse precomputed matrix may."""
    isolated = np.flatnonzero(np.diff(edges.indptr) == 0)
    if len(isolated):
        raise ValueError(
            f"{len(isolated)} new point(s) have no stored distance to a training point, so no path leads to"
            f" them (the first is number {int(isolated[0])} of the new ones); store at least one"
        )
    return edges


def _search_through(
    graph: NeighborGraph | sparse.csr_array, n_sources: int, n_jobs: int | None
) -> _PathSearch | Elimination:
    """Return the faster way to shortest paths from ``n_sources`` sources.

    For many sources in a small :class:`NeighborGraph` it is the one that is fastest for all vertices, and it
    is kept for later points. It does not depend on what was kept, so that a model from a file gives the same
    results.
    """
    if not isinstance(graph, NeighborGraph):
        return _new_search(graph, n_sources, n_jobs)
    lengths, m = graph.distances, graph.n_vertices
    if m > TUNING.kept_vertices or are_few_sources(n_sources, m):
        return _new_search(lengths, n_sources, n_jobs)
    if graph not in _searches:
        _searches[graph] = _new_search(lengths, m, n_jobs)
    return _searches[graph]


def _new_search(lengths: sparse.csr_array, n_sources: int, n_jobs: int | None) -> _PathSearch | Elimination:
    return eliminated(lengths, n_sources, n_jobs) or _PathSearch(
        lengths, renumber=n_sources > TUNING.unnumbered_sources
    )


class _PathSearch:
    """Shortest paths in a graph whose vertices are renumbered so that neighbours are close in memory.

    ``order`` are the old numbers in the new order, ``rank`` the new number of each vertex. Without
    ``renumber`` they are the same, which is faster for few sources.
    """

    def __init__(self, lengths: sparse.csr_array, renumber: bool = True) -> None:
        if not renumber:
            self.order = self.rank = np.arange(lengths.shape[0], dtype=np.int32)
            self.lengths = lengths
            return
        self.order = reverse_cuthill_mckee(sparse.csr_array(lengths), symmetric_mode=True)
        self.rank = np.empty_like(self.order)
        self.rank[self.order] = np.arange(len(self.order), dtype=self.order.dtype)
        self.lengths = sparse.csr_array(lengths[self.order][:, self.order])
        self.lengths.sort_indices()

    def distances(self, start: np.ndarray, entry: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Compute the distances (m, LANES) from up to ``LANES`` sources.

        Source ``i`` has edges of lengths ``length[start[i]:start[i + 1]]`` to the vertices ``entry``.
        """
        edges, distance = self.lengths, np.empty((len(self.order), LANES))
        shortest_paths(edges.indptr, edges.indices, edges.data, start, entry, length, distance)
        return distance
