"""Affinities of several datasets (views) with known correspondences between some points.

See docs/decisions/methods-views.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from eigenscape._typing import Rows
from eigenscape.kernels.base import Columns, WrappedKernel, training_index


@dataclass(frozen=True, eq=False, repr=False)
class LinkedAffinity(WrappedKernel):
    """Affinities between points of one view and the vertices of all views.

    ``base`` gives the affinities within the view. A vertex of the view is linked to vertices of other views;
    any other point has affinities to its own view only.
    """

    start: int  # number of vertices of the views before this one
    links: sparse.csr_array  # (m_view, m) weights of the links of its vertices
    _shapes: ClassVar = {"base.<points>": "n ...", "links": "n *"}

    def __call__(self, Y: Rows) -> sparse.csr_array:
        own = sparse.csr_array(self.base(Y))
        n, (m_view, m) = own.shape[0], self.links.shape
        within = sparse.csr_array((own.data, own.indices + self.start, own.indptr), shape=(n, m))
        vertex = training_index(self.base).find(Y)
        known = np.flatnonzero(vertex >= 0)
        chosen = sparse.csr_array((np.ones(len(known)), (known, vertex[known])), shape=(n, m_view))
        return sparse.csr_array(within + chosen @ self.links)

    def to(self, Z: Rows) -> Columns:
        return self.base.to(Z)


@dataclass(frozen=True, eq=False)
class _ViewIndex:
    """Recognises the vertices of one view; vertices are numbered over all views."""

    kernel: LinkedAffinity

    def find(self, Y: Rows) -> np.ndarray:
        vertex = training_index(self.kernel.base).find(Y)
        return np.where(vertex >= 0, vertex + self.kernel.start, -1)


@training_index.register
def _(kernel: LinkedAffinity) -> _ViewIndex:
    return _ViewIndex(kernel)
