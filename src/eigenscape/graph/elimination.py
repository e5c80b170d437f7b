"""Shortest paths by elimination of the vertices, for many sources in one graph.

See docs/decisions/graph-shortest-paths.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from eigenscape import _memory
from eigenscape._native.loops import (
    LANES,
    depth_first,
    distances_to,
    distances_within,
    eliminate,
    eliminate_from,
    eliminate_within,
    later_edges,
    minimum_degree,
    sweep,
)
from eigenscape._threads import run_parallel
from eigenscape.graph.tuning import TUNING

#: Edges of some vertices: bounds, vertices and lengths.
Edges = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Elimination:
    """A graph whose vertices are eliminated one by one; see ``_native/elimination.c``.

    ``order`` are the vertices in the order of elimination, ``rank`` their places in it.
    """

    order: np.ndarray  # (m,)
    rank: np.ndarray  # (m,)
    start: np.ndarray  # (p + 1,) bounds of the rows of `up`, for the p vertices eliminated in sparse form
    up: np.ndarray
    weight: np.ndarray
    core: np.ndarray  # (m - p, m - p) distances between the other vertices

    def distances(self, start: np.ndarray, entry: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Compute the distances (m, LANES) from up to ``LANES`` sources, in the order of elimination.

        Source ``i`` has edges of lengths ``length[start[i]:start[i + 1]]`` to the vertices ``entry``.
        """
        distance = np.empty((len(self.order), LANES))
        sweep(self.start, self.up, self.weight, self.core, start, entry, length, distance)
        return distance


def are_few_sources(n_sources: int, m: int) -> bool:
    """Return whether a search from each source is faster in any graph of ``m`` vertices."""
    return n_sources < max(TUNING.few_sources, m / TUNING.few_source_parts)


def eliminated(lengths: sparse.csr_array, n_sources: int, n_jobs: int | None = None) -> Elimination | None:
    """Eliminate the vertices of a graph, or return None if a search from each source is faster.

    Graphs of curves and surfaces are eliminated with few additional edges. In graphs of high-dimensional data
    most of the vertices become joined with each other: these are not eliminated, and the distances between
    them are computed in a dense matrix, the core. Its cost grows with the cube of their number, so a search
    is faster for large graphs and for few sources.
    """
    m = lengths.shape[0]
    if are_few_sources(n_sources, m):
        return None
    search_cost = TUNING.search_cost * lengths.nnz * n_sources
    near = np.empty((m, (m + 63) // 64), dtype=np.uint64)  # neighbours as sets of bits
    first_order, count = np.empty(m, dtype=np.int32), np.empty(m, dtype=np.int64)
    n_sparse = minimum_degree(lengths.indptr, lengths.indices, search_cost, near, first_order, count)
    if count.sum() > TUNING.sparse_edges * m:
        n_sparse = min(n_sparse, int(TUNING.sparse_part * m))
    n_core = m - n_sparse
    # Additions in the core, in the sweeps, and on the ways of the other sources into the core.
    cost = 1.5 * float(count[n_sparse:] @ np.arange(n_core, 0, -1.0)) + n_sources * float(
        count[:n_sparse].sum()
    )
    entered = 2.0 * float(count[max(n_sparse - 1, 0)])  # vertices of the core at which a source enters it
    cost += n_sources * n_sparse / m * entered * n_core
    needed = 8.0 * n_core**2 + 8.0 * m * min(n_sources, m)  # the core and the result
    if cost > search_cost or not _memory.fits(needed):
        return None
    bounds = np.concatenate([[0], np.cumsum(count[:n_sparse])])
    order, rank, start = np.empty_like(first_order), np.empty_like(first_order), np.empty_like(bounds)
    up = np.empty(bounds[-1], dtype=np.int32)
    depth_first(near, first_order, bounds, order, rank, start, up)
    weight, core = np.empty(len(up)), np.full((n_core, n_core), np.inf)
    eliminate(lengths.indptr, lengths.indices, lengths.data, order, rank, start, up, weight, core)
    _solve_core(core, n_jobs)
    return Elimination(order, rank, start, up, weight, core)


def _solve_core(w: np.ndarray, n_jobs: int | None) -> None:
    """Replace the lengths of edges in the upper triangle by the distances, in place, block by block."""
    m, tile = len(w), TUNING.core_tile
    blocks = [(begin, min(begin + TUNING.core_block, m)) for begin in range(0, m, TUNING.core_block)]
    for number, block in enumerate(blocks):
        eliminate_within(w, *block)

        def eliminate_rows(rows: tuple[int, int], block: tuple[int, int] = block) -> None:
            eliminate_from(w, *block, *rows, tile)

        run_parallel(eliminate_rows, blocks[number + 1 :], n_jobs)
    for begin, end in reversed(blocks):
        start = np.empty(end - begin + 1, dtype=np.int64)
        via, length = np.empty((end - begin) * m, dtype=np.int64), np.empty((end - begin) * m)
        later_edges(w, begin, end, start, via, length)
        edges: Edges = (start, via[: start[-1]], length[: start[-1]])

        def measure_columns(left: int, begin: int = begin, end: int = end, edges: Edges = edges) -> None:
            distances_to(w, begin, end, *edges, left, min(left + tile, m), TUNING.core_block)

        run_parallel(measure_columns, range(end, m, tile), n_jobs)
        distances_within(w, begin, end, *edges)
