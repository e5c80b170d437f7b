"""Affinities of partly labelled vertices: edges of the data mixed with edges of the classes.

See docs/decisions/kernels-labels.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigenscape._typing import Rows
from eigenscape.graph.row_index import canonical_csr, rows_by_vertex
from eigenscape.graph.sparse_distances import assemble
from eigenscape.kernels.base import BoundKernel, Columns, WrappedKernel, gram_matrix, training_index


@dataclass(frozen=True, eq=False, repr=False)
class LabelledAffinity(WrappedKernel):
    """``(1 - w) k(x, y) + w l(x, y)`` of two labelled vertices, otherwise the affinity ``k(x, y)``.

    A point that is not a vertex has no label, so ``base`` gives its edges.
    """

    matrix: sparse.csr_array  # (m, m) mixed affinities of the vertices
    _shapes: ClassVar = {"<points>": "n ...", "matrix": "n n"}

    def __call__(self, Y: Rows) -> sparse.csr_array:
        vertex = training_index(self.base).find(Y)
        return rows_by_vertex(vertex, self.matrix.__getitem__, lambda others: self.base(Y[others]))

    def to(self, Z: Rows) -> Columns:
        base, column_vertex = self.base.to(Z), training_index(self.base).find(Z)
        columns, new_columns = np.flatnonzero(column_vertex >= 0), np.flatnonzero(column_vertex < 0)

        def values(Y: Rows, table: Any = None) -> sparse.csr_array:
            row_vertex = training_index(self.base).find(Y)
            rows, new_rows = np.flatnonzero(row_vertex >= 0), np.flatnonzero(row_vertex < 0)
            unlabelled = sparse.csr_array(base(Y, table))
            mixed = self.matrix[row_vertex[rows]][:, column_vertex[columns]]
            all_columns = np.arange(unlabelled.shape[1])
            blocks = [  # labels change the affinities of two vertices only
                (rows, columns, mixed),
                (rows, new_columns, unlabelled[rows][:, new_columns]),
                (new_rows, all_columns, unlabelled[new_rows]),
            ]
            return assemble(blocks, unlabelled.shape)

        return values


def mix_labels(affinity: BoundKernel, codes: np.ndarray, weight: float, seed: int) -> LabelledAffinity:
    """Return an affinity of the data mixed with an affinity within the classes of the labelled vertices.

    Parameters
    ----------
    affinity : BoundKernel
        Sparse affinities, without a diagonal.
    codes : ndarray of shape (m,)
        Class of each vertex, -1 if it has no label.
    weight : float
        Weight of the classes, from 0 to below 1: edges between different classes keep ``1 - weight`` of
        their affinity, so the graph stays connected.
    seed : int
        Seed of the cycles; see :func:`class_affinity`.
    """
    matrix = gram_matrix(affinity)
    assert matrix is not None
    edges = sparse.coo_array(matrix)
    labelled = (codes[edges.row] >= 0) & (codes[edges.col] >= 0)
    kept = sparse.csr_array(
        (np.where(labelled, 1 - weight, 1.0) * edges.data, (edges.row, edges.col)), shape=edges.shape
    )
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    classes = class_affinity(codes, float(degrees[codes >= 0].mean()), seed)
    return LabelledAffinity(affinity, canonical_csr(kept + weight * classes))


def class_affinity(codes: np.ndarray, degree: float, seed: int) -> sparse.csr_array:
    """Return affinities (m, m) within classes whose sums are ``degree``, 0 for a vertex alone in its class.

    A vertex for each class, connected to its members (Costa and Hero 2005), connects all pairs of them when
    it is eliminated. Some random cycles through the members have nearly the spectrum of all pairs, with a
    number of edges that is linear in theirs.
    """
    n_cycles = 5  # their union is nearly as good as all pairs
    rng, m = np.random.default_rng(seed), len(codes)
    members = np.flatnonzero(codes >= 0)
    following = []
    for _ in range(n_cycles):
        order = members[np.lexsort((rng.random(len(members)), codes[members]))]  # classes in random order
        first = np.flatnonzero(np.r_[True, np.diff(codes[order]) != 0])
        last = np.r_[first[1:], len(order)] - 1
        after = np.roll(order, -1)
        after[last] = order[first]
        following.append(np.stack([order, after]))
    row, column = np.concatenate(following, axis=1)
    other = row != column
    weights = np.full(int(other.sum()), degree / (2 * n_cycles))
    cycles = sparse.csr_array((weights, (row[other], column[other])), shape=(m, m))
    return canonical_csr(cycles + cycles.T)


@gram_matrix.register
def _(kernel: LabelledAffinity) -> sparse.csr_array:
    return kernel.matrix
