"""Affinities by the rank of neighbours: both points list each other, or only one does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._progress import stage
from eigenscape._typing import Rows
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.new_pairs import edges_to
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.kernels.affinity import local_widths
from eigenscape.kernels.base import Columns, gram_matrix, training_index


@dataclass(frozen=True, eq=False)
class MutualAffinity:
    """1 for two points of which each is among the ``k`` nearest neighbours of the other, 1/2 for one of them.

    This is ``(A + A') / 2`` with the matrix ``A`` of the nearest neighbours: every point has the same weight
    in it, unlike in their union. A point is among the neighbours of another if it is not farther away than
    the ``k``-th. Edges that connect components have the weight 1/2; without an edge the affinity is 0.
    """

    _shapes: ClassVar = {"<points>": "n ...", "radii": "n"}
    graph: NeighborGraph
    k: int
    radii: np.ndarray  # (m,): distance of each vertex to its k-th neighbour

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.graph.vertices.X

    def edges(self) -> sparse.csr_array:
        """Return the affinities (m, m) of the vertices."""
        return _mutual(self.graph.distances, self.radii, self.radii)

    def __call__(self, Y: Rows) -> sparse.csr_array:
        edges = self.graph.edges_of(Y)
        return _mutual(edges, local_widths(edges, self.k), self.radii)

    def to(self, Z: Rows) -> Columns:
        edges, radii = edges_to(self.graph, Z), self._radii_of(Z)
        return lambda Y, table=None: _mutual(edges(Y, table), self._radii_of(Y), radii)

    def _radii_of(self, Y: Rows) -> np.ndarray:
        return local_widths(self.graph.edges_of(Y), self.k)


def mutual_affinity(graph: NeighborGraph, k: int) -> MutualAffinity:
    """Return the affinity of a graph of the union of ``k`` nearest neighbours."""
    return MutualAffinity(graph, k, local_widths(graph.distances, k))


def _mutual(edges: sparse.csr_array, left: np.ndarray, right: np.ndarray) -> sparse.csr_array:
    both = edges.data <= np.minimum(np.repeat(left, np.diff(edges.indptr)), right[edges.indices])
    return sparse.csr_array((np.where(both, 1.0, 0.5), edges.indices, edges.indptr), shape=edges.shape)


@training_index.register(MutualAffinity)
def _(kernel: MutualAffinity) -> RowIndex | DistanceRowIndex:
    return kernel.graph.vertices


@gram_matrix.register(MutualAffinity)
def _(kernel: MutualAffinity) -> sparse.csr_array:
    with stage("kernel matrix"):
        return kernel.edges()
