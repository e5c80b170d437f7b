"""Width of a graph: an estimate of the fill-in of a sparse factorisation of its matrix.

See docs/decisions/solvers-graph-shape.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from eigenscape._memory import row_blocks
from eigenscape._native.loops import breadth_first, reorder_rows
from eigenscape._threads import run_parallel

#: Number of rows of a block.
_ROWS = 2**15


class GraphShape(NamedTuple):
    """How wide the levels of a breadth-first search are.

    A level of the search separates the vertices before it from those after it, so its size bounds the fronts
    of an elimination. Graphs of curves and surfaces are thin, and their factorisation takes almost linear
    time. In neighbourhood graphs of high-dimensional data half of all vertices are reached in two steps, and
    the factors are nearly dense.

    Attributes
    ----------
    is_narrow : bool
        Whether no level holds more than about ``10 sqrt(m)`` vertices: a curve or surface.
    is_thin : bool
        The same of the connected parts of levels without hubs, with the number of hubs: clusters that single
        edges join are thin, too.
    width : int
        Size of the largest level, or of the largest part if it is not narrow.
    """

    is_narrow: bool
    is_thin: bool
    width: int


def graph_shape(A: sparse.csr_array) -> GraphShape:
    """Return the shape of the graph of a matrix."""
    limit = int(10 * A.shape[0] ** 0.5)
    _, depth, widest = _breadth_first(A)
    if widest <= limit:
        return GraphShape(True, True, widest)
    edges, is_hub = (
        sparse.coo_array(A),
        np.diff(A.indptr) > limit,
    )  # few vertices, which separators may contain
    same = (depth[edges.row] == depth[edges.col]) & ~is_hub[edges.row] & ~is_hub[edges.col]
    levels = sparse.coo_array((np.ones(int(same.sum())), (edges.row[same], edges.col[same])), shape=A.shape)
    width = int(np.bincount(connected_components(levels, directed=False)[1]).max())
    width += int(is_hub.sum())
    return GraphShape(False, width <= limit, width)


def hierarchy_fill(A: sparse.csr_array) -> float:
    """Estimate the number of entries of the next coarser level, relative to the matrix.

    The interpolation joins the groups of vertices that are neighbours of a group, so that a group of ``d``
    neighbours adds up to ``d^2`` entries; the vertices that a hub joins add as many.
    """
    from eigenscape.solvers.hierarchy import aggregate

    group, count = aggregate(A)
    edges = sparse.coo_array(A)
    joined = sparse.csr_array((np.ones(A.nnz), (group[edges.row], group[edges.col])), shape=(count, count))
    entries = np.minimum(np.diff(joined.indptr).astype(np.float64) ** 2, count).sum()
    hubs = np.square(np.diff(A.indptr).astype(np.float64)).sum()
    return float(max(entries, hubs / 10) / A.nnz)


def breadth_first_order(A: sparse.csr_array) -> np.ndarray:
    """Return the vertices in the order of a breadth-first search, in which neighbours are close."""
    return _breadth_first(A)[0]


def _breadth_first(A: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, int]:
    """Search from vertex 0; return the order of the vertices, their depths and the largest level.

    Vertices of other components are last, at depth -1.
    """
    m, widest = A.shape[0], np.empty(1, dtype=np.int64)
    order, depth = np.empty(m, dtype=np.int32), np.full(m, -1, dtype=np.int32)
    found = breadth_first(A.indptr, A.indices, 0, order, depth, widest)
    order[found:] = np.flatnonzero(depth < 0)
    return order, depth, int(widest[0])


def reordered(A: sparse.csr_array, order: np.ndarray, n_jobs: int | None = None) -> sparse.csr_array:
    """Return ``A[order][:, order]``; the columns of a row are not sorted."""
    order = order.astype(A.indices.dtype, copy=False)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=order.dtype)
    indptr = np.concatenate([[0], np.cumsum(np.diff(A.indptr)[order])]).astype(A.indptr.dtype)
    indices, data = np.empty_like(A.indices), np.empty_like(A.data)

    def fill(rows: slice) -> None:
        reorder_rows(A.indptr, A.indices, A.data, order, rank, rows.start, rows.stop, indptr, indices, data)

    run_parallel(fill, row_blocks(len(order), 1, _ROWS), n_jobs)
    return sparse.csr_array((data, indices, indptr), shape=A.shape)
