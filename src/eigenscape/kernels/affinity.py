"""Graph affinities: weights of edges as a function of their lengths (Belkin sec. 2, step 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._typing import Rows
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.new_pairs import edges_to
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.kernels.base import Columns, gram_matrix, training_index

WeightName = Literal["binary", "heat", "inverse"]

#: Smallest weight of an edge. A heat kernel may underflow on a long edge, but the graph must stay connected.
MIN_EDGE_WEIGHT = 1e-8
#: Inverse-distance weights are constant below this fraction of the median edge length.
_SHORT = 1e-3


@dataclass(frozen=True)
class EdgeWeight:
    """Weight of an edge of length ``d``.

    ``binary``: 1. ``heat``: ``exp(-d^2 / scale)``. ``inverse``: ``scale / d``, at most 1.
    """

    kind: WeightName
    scale: float = 1.0

    def __call__(self, lengths: np.ndarray) -> np.ndarray:
        if self.kind == "binary":
            return np.ones_like(lengths)
        if self.kind == "heat":
            return np.maximum(np.exp(-np.square(lengths) / self.scale), MIN_EDGE_WEIGHT)
        return np.maximum(self.scale / np.maximum(lengths, self.scale), MIN_EDGE_WEIGHT)


def edge_weight(kind: WeightName, lengths: np.ndarray, t: float | None = None) -> EdgeWeight:
    """Return the weight function for a graph with the given edge lengths.

    If ``t`` is None, the heat kernel takes the squared median length, so that a typical edge has weight
    ``1/e``. Inverse weights are scaled so that the largest is 1: that of the shortest edge, or of edges of
    one thousandth of the median length, so that near-duplicates do not dominate.
    """
    if kind == "heat":
        scale = float(t) if t is not None else max(float(np.median(lengths)) ** 2, np.finfo(float).tiny)
        return EdgeWeight(kind, scale)
    if kind == "inverse":
        return EdgeWeight(kind, max(float(lengths.min()), _SHORT * float(np.median(lengths))))
    if kind != "binary":
        raise ValueError(f"weights={kind!r} is not known; choose 'binary', 'heat' or 'inverse'")
    return EdgeWeight(kind)


@dataclass(frozen=True, eq=False)
class GraphAffinity:
    """Edge weights between any point and the vertices; 0 without an edge, and of a point to itself."""

    graph: NeighborGraph
    weight: EdgeWeight

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.graph.vertices.X

    def edges(self) -> sparse.csr_array:
        """Return the edge weights (m, m) between the vertices."""
        return self._weighted(self.graph.distances)

    def __call__(self, Y: Rows) -> sparse.csr_array:
        return self.edges() if Y is self.X else self._weighted(self.graph.edges_of(Y))

    def to(self, Z: Rows) -> Columns:
        edges = edges_to(self.graph, Z)
        return lambda Y, table=None: self._weighted(edges(Y, table))

    def _weighted(self, edges: sparse.csr_array) -> sparse.csr_array:
        return sparse.csr_array((self.weight(edges.data), edges.indices, edges.indptr), shape=edges.shape)


@training_index.register
def _(kernel: GraphAffinity) -> RowIndex | DistanceRowIndex:
    return kernel.graph.vertices


@gram_matrix.register
def _(kernel: GraphAffinity) -> sparse.csr_array:
    return kernel.edges()
