"""How thin a graph is: whether a sparse factorisation of its matrix would fill in."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def is_thin(A: sparse.csr_array) -> bool:
    """Whether breadth-first search never has more than about ``10 sqrt(m)`` vertices at once.

    A level of the search separates what comes before from what comes after, so its size bounds the fronts of
    an elimination. Graphs of curves and surfaces are thin and factorise in almost linear time; neighbourhood
    graphs of high-dimensional data reach half of all points in two steps, and their factors are all but
    dense."""
    limit = int(10 * A.shape[0] ** 0.5)
    return widest_level(A, 0, limit) <= limit


def widest_level(A: sparse.csr_array, start: int, limit: int) -> int:
    """Size of the largest level of a breadth-first search from ``start``; it ends early above ``limit``."""
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
