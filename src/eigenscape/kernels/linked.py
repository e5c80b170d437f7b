"""Affinities of several views of data, of which some points are linked.

See docs/decisions/methods-views.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._typing import Rows
from eigenscape.kernels.base import BoundKernel, Columns, training_index


@dataclass(frozen=True, eq=False)
class LinkedAffinity:
    """Affinities between points of one view and the vertices of all views.

    Within the view they are those of ``base``. A vertex of the view is linked to vertices of other views; any
    other point has affinities to its own view only.
    """

    _shapes: ClassVar = {"base.<points>": "n ...", "links": "n *"}
    base: BoundKernel  # the sparse affinity of the view
    start: int  # number of vertices of the views before this one
    links: sparse.csr_array  # (m_view, m) weights of the links of its vertices

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X

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
    """Recognises the vertices of one view, by their number among those of all views."""

    kernel: LinkedAffinity

    def find(self, Y: Rows) -> np.ndarray:
        vertex = training_index(self.kernel.base).find(Y)
        return np.where(vertex >= 0, vertex + self.kernel.start, -1)


@training_index.register
def _(kernel: LinkedAffinity) -> _ViewIndex:
    return _ViewIndex(kernel)
