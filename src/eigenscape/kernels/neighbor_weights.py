"""Affinities of single-cell neighbour graphs: each point weighs its own list of nearest neighbours.

``FuzzyWeights`` follow UMAP, ``GaussWeights`` diffusion pseudotime. Both are functions of the length of an
edge and of a few numbers that each end derives from its own list, so that a new point has the weights that it
would have as a training point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._native.loops import fuzzy_widths
from eigenscape._threads import run_parallel
from eigenscape._typing import Rows
from eigenscape.graph.new_pairs import edges_to
from eigenscape.graph.row_index import rows_by_vertex
from eigenscape.graph.sparse_distances import SHORTEST, transpose, union
from eigenscape.kernels.base import Columns, GraphKernel, gram_matrix


class WeightRule(Protocol):
    """Weights of edges as a function of their lengths and of the neighbour lists of both ends."""

    def parameters(self, lengths: np.ndarray) -> np.ndarray:
        """Compute the numbers (n, p) of points from the sorted lengths (n, k) of their lists."""
        ...

    def weigh(self, lengths: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Compute the weights (e,) of edges, given the numbers (e, p) of their ends."""
        ...


@dataclass(frozen=True)
class FuzzyWeights:
    r"""Membership strengths of fuzzy simplicial sets and their union (McInnes et al. 2018, sec. 3.1).

    A point :math:`x` with the ``k - 1`` nearest others :math:`x_j` has :math:`\rho`, the smallest of their
    positive distances, and :math:`\sigma` with :math:`\sum_j \exp(-\max(0, d_j - \rho) / \sigma) = \log_2 k`.
    It gives the members of its list the strength :math:`p = \exp(-\max(0, d - \rho) / \sigma)`, others 0. An
    edge has the weight :math:`p + q - p q` of the strengths of both directions.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours ``k``, the point itself included.
    mean_distance : float
        Mean of the distances of all training points to their neighbours, themselves included.
    """

    n_neighbors: int
    mean_distance: float

    def parameters(self, lengths: np.ndarray) -> np.ndarray:
        offsets = np.where(lengths > SHORTEST, lengths, np.inf).min(axis=1)
        offsets[np.isinf(offsets)] = 0.0
        widths, target = np.empty(len(lengths)), float(np.log2(self.n_neighbors))
        ordered = np.ascontiguousarray(lengths, dtype=np.float64)

        def solve(rows: slice) -> None:
            fuzzy_widths(ordered[rows], offsets[rows], target, widths[rows])

        run_parallel(solve, row_blocks(len(lengths), 1, 2048))
        mean = np.where(offsets > 0, lengths.sum(axis=1) / self.n_neighbors, self.mean_distance)
        # UMAP's smallest width, which keeps weights of near-duplicates apart.
        widths = np.maximum(widths, np.maximum(1e-3 * mean, np.finfo(np.float64).tiny))
        return np.column_stack([offsets, widths, lengths[:, -1]])

    def weigh(self, lengths: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        p, q = self._strengths(lengths, left), self._strengths(lengths, right)
        return p + q - p * q

    @staticmethod
    def _strengths(lengths: np.ndarray, ends: np.ndarray) -> np.ndarray:
        offset, width, reach = ends.T
        strengths = np.exp(-np.maximum(lengths - offset, 0.0) / width)
        # Two computations of the same distance may differ by rounding.
        return np.where(lengths <= (1 + 1e-6) * reach, strengths, 0.0)


@dataclass(frozen=True)
class GaussWeights:
    r"""Gaussians with a width for each point (Haghverdi et al. 2016).

    An edge of length :math:`d` between points of widths :math:`\sigma`, :math:`\tau` has the weight
    :math:`\sqrt{2 \sigma \tau / (\sigma^2 + \tau^2)} \exp(-d^2 / (\sigma^2 + \tau^2))`, the scalar product of
    two Gaussians. :math:`\sigma^2` is the median of the squared distances in the list of the point.
    """

    def parameters(self, lengths: np.ndarray) -> np.ndarray:
        squares = np.median(np.square(lengths), axis=1)
        return np.maximum(squares, np.finfo(np.float64).tiny)[:, None]

    def weigh(self, lengths: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        left, right = left[:, 0], right[:, 0]
        total = left + right
        return np.sqrt(2 * np.sqrt(left) * np.sqrt(right) / total) * np.exp(-np.square(lengths) / total)


def sorted_lists(table: sparse.csr_array, k: int) -> np.ndarray:
    """Return the ``k`` shortest lengths (n, k) of each row, in ascending order; no row has fewer."""
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    order = np.lexsort((table.data, row))
    return table.data[order][table.indptr[:-1, None] + np.arange(k)]


def edge_weights(neighbors: sparse.csr_array, rule: WeightRule, parameters: np.ndarray) -> sparse.csr_array:
    """Return the symmetric weights (m, m) of a graph, given the lists of its points as rows of distances."""
    edges = union(neighbors, transpose(neighbors))
    left = np.repeat(parameters, np.diff(edges.indptr), axis=0)
    weights = rule.weigh(edges.data, left, parameters[edges.indices])
    return sparse.csr_array((weights, edges.indices, edges.indptr), shape=edges.shape)


@dataclass(frozen=True, eq=False, repr=False)
class NeighborAffinity(GraphKernel):
    """Weights between any point and the vertices of a graph; the weights between vertices are given."""

    rule: WeightRule
    weights: sparse.csr_array  # (m, m)
    parameters: np.ndarray  # (m, p)

    def __call__(self, Y: Rows) -> sparse.csr_array:
        vertex, edges = self.graph.locate(Y)
        return rows_by_vertex(
            vertex,
            self.weights.__getitem__,
            lambda _: self._weighted(edges, self._own_parameters(edges), self.parameters),
        )

    def to(self, Z: Rows) -> Columns:
        edges, right = edges_to(self.graph, Z), self._parameters_of(Z)
        return lambda Y, table=None: self._weighted(edges(Y, table), self._parameters_of(Y), right)

    def _parameters_of(self, Y: Rows) -> np.ndarray:
        vertex, edges = self.graph.locate(Y)
        parameters = self.parameters[vertex]  # a copy
        if edges.shape[0]:
            parameters[vertex < 0] = self._own_parameters(edges)
        return parameters

    def _own_parameters(self, edges: sparse.csr_array) -> np.ndarray:
        """Return the numbers of new points, whose nearest vertices are the shortest of their edges."""
        k = self.graph.n_neighbors
        assert k is not None
        return self.rule.parameters(sorted_lists(edges, k))

    def _weighted(self, edges: sparse.csr_array, left: np.ndarray, right: np.ndarray) -> sparse.csr_array:
        ends = np.repeat(left, np.diff(edges.indptr), axis=0)
        weights = self.rule.weigh(edges.data, ends, right[edges.indices])
        return sparse.csr_array((weights, edges.indices, edges.indptr), shape=edges.shape)


@gram_matrix.register
def _(kernel: NeighborAffinity) -> sparse.csr_array:
    return kernel.weights
