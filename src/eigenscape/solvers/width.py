"""Width of a graph: an estimate of the fill-in of a sparse factorisation of its matrix."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def is_thin(A: sparse.csr_array) -> bool:
    """Return True if no level of a breadth-first search holds more than about ``10 sqrt(m)`` vertices.

    A level of the search separates the vertices before it from those after it, so its size bounds the fronts
    of an elimination. Graphs of curves and surfaces are thin, and their factorisation takes almost linear
    time. In neighbourhood graphs of high-dimensional data half of all vertices are reached in two steps, and
    the factors are nearly dense.
    """
    limit = int(10 * A.shape[0] ** 0.5)
    return widest_level(A, 0, limit) <= limit


def widest_level(A: sparse.csr_array, start: int, limit: int) -> int:
    """Return the size of the largest level of a breadth-first search, which stops above ``limit``."""
    seen = np.zeros(A.shape[0], dtype=bool)
    seen[start] = True
    front = np.array([start])
    widest = 1
    while True:
        lengths = A.indptr[front + 1] - A.indptr[front]
        offset = np.repeat(A.indptr[front] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        reached = A.indices[np.arange(lengths.sum()) + offset]
        reached = np.unique(reached[~seen[reached]])
        if len(reached) == 0:
            return widest
        seen[reached] = True
        front = reached
        widest = max(widest, len(front))
        if widest > limit:
            return widest
