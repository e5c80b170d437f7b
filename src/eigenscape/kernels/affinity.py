"""Graph affinities: weights of edges as a function of their lengths (Belkin sec. 2, step 2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy import sparse

from eigenscape._progress import stage
from eigenscape._typing import Rows
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.new_pairs import edges_to
from eigenscape.kernels.base import Columns, GraphKernel, gram_matrix

WeightName = Literal["binary", "heat", "inverse"]
#: Weights of affinities, "local" with a width for each point.
AffinityWeights = Literal["binary", "heat", "inverse", "local"]

#: Smallest weight of an edge. A heat kernel may underflow on a long edge, but the graph must stay connected.
MIN_EDGE_WEIGHT = 1e-8


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
    ``1/e``. Inverse weights are scaled so that the largest is 1: the weight of the shortest edge, or of
    edges of one thousandth of the median length, so that near-duplicates do not dominate.
    """
    if kind == "heat":
        scale = float(t) if t is not None else max(float(np.median(lengths)) ** 2, np.finfo(float).tiny)
        return EdgeWeight(kind, scale)
    if kind == "inverse":
        return EdgeWeight(kind, max(float(lengths.min()), 1e-3 * float(np.median(lengths))))
    if kind != "binary":
        raise ValueError(f"weights={kind!r} is not known; choose 'binary', 'heat' or 'inverse'")
    return EdgeWeight(kind)


@dataclass(frozen=True, eq=False, repr=False)
class GraphAffinity(GraphKernel):
    """Edge weights between any point and the vertices; 0 without an edge, and of a point to itself."""

    weight: EdgeWeight

    def edges(self) -> sparse.csr_array:
        """Return the edge weights (m, m) between the vertices."""
        with stage("kernel matrix"):
            return self._weighted(self.graph.distances)

    def __call__(self, Y: Rows) -> sparse.csr_array:
        return self._weighted(self.graph.edges_of(Y))

    def to(self, Z: Rows) -> Columns:
        edges = edges_to(self.graph, Z)
        return lambda Y, table=None: self._weighted(edges(Y, table))

    def _weighted(self, edges: sparse.csr_array) -> sparse.csr_array:
        weighted = copy(edges)  # shares the positions of the entries; a constructor would check them again
        weighted.data = self.weight(edges.data)
        return weighted


@dataclass(frozen=True, eq=False, repr=False)
class WidthAffinity(GraphKernel, ABC):
    """Base of affinities with a width for each point, the length of its ``k``-th shortest edge.

    In a graph of ``k`` nearest neighbours it is the distance to the ``k``-th nearest, for training points and
    new points.
    """

    k: int
    widths: np.ndarray  # (m,)
    _shapes: ClassVar = {"<points>": "n ...", "widths": "n"}

    @abstractmethod
    def weigh(self, lengths: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Compute the weights (e,) of edges, given the widths (e,) of their ends."""

    def edges(self) -> sparse.csr_array:
        """Return the edge weights (m, m) between the vertices."""
        with stage("kernel matrix"):
            return self._weighted(self.graph.distances, self.widths, self.widths)

    def __call__(self, Y: Rows) -> sparse.csr_array:
        return self.of_edges(self.graph.edges_of(Y))

    def of_edges(self, edges: sparse.csr_array) -> sparse.csr_array:
        """Return the affinities of points whose edges (n_new, m) are known."""
        return self._weighted(edges, local_widths(edges, self.k), self.widths)

    def to(self, Z: Rows) -> Columns:
        edges, widths = edges_to(self.graph, Z), self._widths_of(Z)
        return lambda Y, table=None: self._weighted(edges(Y, table), self._widths_of(Y), widths)

    def _widths_of(self, Y: Rows) -> np.ndarray:
        return local_widths(self.graph.edges_of(Y), self.k)

    def _weighted(self, edges: sparse.csr_array, left: np.ndarray, right: np.ndarray) -> sparse.csr_array:
        weighted = copy(edges)  # as in GraphAffinity
        weighted.data = self.weigh(edges.data, np.repeat(left, np.diff(edges.indptr)), right[edges.indices])
        return weighted


class LocalAffinity(WidthAffinity):
    """``exp(-d^2 / (rho(x) rho(y)))`` for an edge of length ``d`` and the widths ``rho``; 0 without an edge.

    Weights are comparable where points are dense and where they are sparse (Zelnik-Manor and Perona 2004).
    """

    def weigh(self, lengths: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        scale = np.maximum(left * right, np.finfo(np.float64).tiny)
        return np.maximum(np.exp(-np.square(lengths) / scale), MIN_EDGE_WEIGHT)


class MutualAffinity(WidthAffinity):
    """1 if each of two points is among the ``k`` nearest neighbours of the other, 1/2 if only one is.

    This is ``(A + A') / 2`` with the matrix ``A`` of the nearest neighbours: every point has the same weight
    in it, unlike in their union. A point is among the neighbours of another if it is not farther away than
    the ``k``-th. Edges that connect components have the weight 1/2; without an edge the affinity is 0.
    """

    def weigh(self, lengths: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.where(lengths <= np.minimum(left, right), 1.0, 0.5)


def local_affinity(graph: NeighborGraph, k: int) -> LocalAffinity:
    """Return the affinity with a width for each point, the length of its ``k``-th shortest edge."""
    return LocalAffinity(graph, k, local_widths(graph.distances, k))


def mutual_affinity(graph: NeighborGraph, k: int) -> MutualAffinity:
    """Return the affinity of a graph of the union of ``k`` nearest neighbours."""
    return MutualAffinity(graph, k, local_widths(graph.distances, k))


def local_widths(edges: sparse.csr_array, k: int) -> np.ndarray:
    """Return the length of the ``k``-th shortest edge of each row, or of the longest if there are fewer."""
    from eigenscape._native.loops import kth_in_rows

    widths = np.empty(edges.shape[0])
    kth_in_rows(edges.indptr, edges.data, k, widths)
    return widths


gram_matrix.register(GraphAffinity, GraphAffinity.edges)
gram_matrix.register(WidthAffinity, WidthAffinity.edges)
