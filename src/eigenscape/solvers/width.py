"""Width of a graph: an estimate of the fill-in of a sparse factorisation of its matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components


def is_thin(A: sparse.csr_array) -> bool:
    """Return True if no level of a breadth-first search holds more than about ``10 sqrt(m)`` vertices.

    A level of the search separates the vertices before it from those after it, so its size bounds the fronts
    of an elimination. Graphs of curves and surfaces are thin, and their factorisation takes almost linear
    time. In neighbourhood graphs of high-dimensional data half of all vertices are reached in two steps, and
    the factors are nearly dense. Clusters that are joined by single edges are eliminated one by one, so the
    connected parts of a level count separately.
    """
    return has_narrow_levels(A) or widest_part(A, 0) <= _limit(A)


def has_narrow_levels(A: sparse.csr_array) -> bool:
    """Return True if all levels are narrow without being divided: a curve or surface, not clusters."""
    return all(len(level) <= _limit(A) for level in _levels(A, 0))


def _limit(A: sparse.csr_array) -> int:
    return int(10 * A.shape[0] ** 0.5)


def widest_part(A: sparse.csr_array, start: int) -> int:
    """Return the size of the largest connected part of a level of a breadth-first search."""
    depth = np.full(A.shape[0], -1)
    for number, level in enumerate(_levels(A, start)):
        depth[level] = number
    edges = sparse.coo_array(A)
    same = depth[edges.row] == depth[edges.col]
    within = sparse.coo_array((np.ones(int(same.sum())), (edges.row[same], edges.col[same])), shape=A.shape)
    return int(np.bincount(connected_components(within, directed=False)[1]).max())


def _levels(A: sparse.csr_array, start: int) -> Iterator[np.ndarray]:
    """Yield the vertices of each level of a breadth-first search."""
    seen = np.zeros(A.shape[0], dtype=bool)
    seen[start] = True
    level = np.array([start])
    while len(level):
        yield level
        lengths = A.indptr[level + 1] - A.indptr[level]
        offset = np.repeat(A.indptr[level] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        reached = A.indices[np.arange(lengths.sum()) + offset]
        level = np.unique(reached[~seen[reached]])
        seen[level] = True
