"""Graph affinities: weights of edges as a function of their lengths (Belkin sec. 2, step 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._progress import stage
from eigenscape._typing import Rows
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.new_pairs import edges_to
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.kernels.base import Columns, gram_matrix, training_index

WeightName = Literal["binary", "heat", "inverse"]
#: Weights of affinities, "local" with a width for each point.
AffinityWeights = Literal["binary", "heat", "inverse", "local"]

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
        return self._weighted(self.graph.edges_of(Y))

    def to(self, Z: Rows) -> Columns:
        edges = edges_to(self.graph, Z)
        return lambda Y, table=None: self._weighted(edges(Y, table))

    def _weighted(self, edges: sparse.csr_array) -> sparse.csr_array:
        return sparse.csr_array((self.weight(edges.data), edges.indices, edges.indptr), shape=edges.shape)


@dataclass(frozen=True, eq=False)
class LocalAffinity:
    """``exp(-d^2 / (rho(x) rho(y)))`` for an edge of length ``d``; 0 without an edge.

    ``rho(x)`` is the length of the ``k``-th shortest edge of a point, new or not, so that weights are
    comparable where points are dense and where they are sparse (Zelnik-Manor and Perona 2004). In a graph of
    ``k`` nearest neighbours it is the distance to the ``k``-th nearest.
    """

    _shapes: ClassVar = {"<points>": "n ...", "widths": "n"}
    graph: NeighborGraph
    k: int
    widths: np.ndarray  # (m,)

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.graph.vertices.X

    def edges(self) -> sparse.csr_array:
        """Return the edge weights (m, m) between the vertices."""
        return _locally_weighted(self.graph.distances, self.widths, self.widths)

    def __call__(self, Y: Rows) -> sparse.csr_array:
        edges = self.graph.edges_of(Y)
        return _locally_weighted(edges, local_widths(edges, self.k), self.widths)

    def to(self, Z: Rows) -> Columns:
        edges, widths = edges_to(self.graph, Z), self._widths_of(Z)
        return lambda Y, table=None: _locally_weighted(edges(Y, table), self._widths_of(Y), widths)

    def _widths_of(self, Y: Rows) -> np.ndarray:
        return local_widths(self.graph.edges_of(Y), self.k)


def local_affinity(graph: NeighborGraph, k: int) -> LocalAffinity:
    """Return the affinity with a width for each point, the length of its ``k``-th shortest edge."""
    return LocalAffinity(graph, k, local_widths(graph.distances, k))


def local_widths(edges: sparse.csr_array, k: int) -> np.ndarray:
    """Return the length of the ``k``-th shortest edge of each row, or of the longest if there are fewer."""
    from eigenscape._compiled.rows import kth_in_rows

    widths = np.empty(edges.shape[0])
    kth_in_rows(edges.indptr, edges.data, k, widths)
    return widths


def _locally_weighted(edges: sparse.csr_array, left: np.ndarray, right: np.ndarray) -> sparse.csr_array:
    scale = np.repeat(left, np.diff(edges.indptr)) * right[edges.indices]
    weights = np.exp(-np.square(edges.data) / np.maximum(scale, np.finfo(np.float64).tiny))
    data = np.maximum(weights, MIN_EDGE_WEIGHT)
    return sparse.csr_array((data, edges.indices, edges.indptr), shape=edges.shape)


@training_index.register(GraphAffinity)
@training_index.register(LocalAffinity)
def _(kernel: GraphAffinity | LocalAffinity) -> RowIndex | DistanceRowIndex:
    return kernel.graph.vertices


@gram_matrix.register(GraphAffinity)
@gram_matrix.register(LocalAffinity)
def _(kernel: GraphAffinity | LocalAffinity) -> sparse.csr_array:
    with stage("kernel matrix"):
        return kernel.edges()
