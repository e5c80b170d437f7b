"""Eigenpairs of the random walk on a weighted graph, each connected component by itself.

See docs/decisions/methods-components.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from eigenscape.graph.components import component_labels
from eigenscape.kernels.base import BoundKernel
from eigenscape.methods.laplacian import next_to_trivial
from eigenscape.normalize import DividedKernel, inverse_power, row_sums, scale_sides
from eigenscape.operators import ComplementOperator, as_operator, materialized
from eigenscape.solvers import EigenPairs, SemidefiniteProblem, SolverConfig


@dataclass(frozen=True, eq=False)
class Transitions:
    r"""The symmetric form :math:`T = S^{-1/2} W_\alpha S^{-1/2}` of a random walk.

    :math:`Q` is the diagonal matrix of the row sums of the affinities :math:`W`, which estimate the density,
    :math:`W_\alpha = Q^{-\alpha} W Q^{-\alpha}`, and :math:`S` is the diagonal matrix of the row sums of
    :math:`W_\alpha` (Coifman and Lafon 2006; Haghverdi et al. 2016).
    """

    matrix: sparse.csr_array  # T (m, m)
    density: np.ndarray  # Q (m,)
    sums: np.ndarray  # S (m,)
    alpha: float

    @staticmethod
    def of(weights: sparse.csr_array, alpha: float) -> Transitions:
        """Normalise the weights of a graph in which every vertex has an edge."""
        density = row_sums(weights)
        factor = inverse_power(density, alpha)
        weights = sparse.csr_array(scale_sides(weights, factor, factor))
        sums = row_sums(weights)
        root = inverse_power(sums)
        return Transitions(sparse.csr_array(scale_sides(weights, root, root)), density, sums, alpha)

    def kernel(self, affinity: BoundKernel) -> DividedKernel:
        """Return the kernel whose Gram matrix is ``matrix``, given the kernel ``affinity`` of the weights."""
        inner = DividedKernel(affinity, self.density, None, self.alpha) if self.alpha else affinity
        return DividedKernel(inner, self.sums)

    def eigenpairs(self, count: int, solver: SolverConfig) -> EigenPairs:
        """Compute the ``count`` largest eigenvalues, the 1 of each connected component among them.

        The matrix is block diagonal, so each eigenpair belongs to one block.
        """
        labels = component_labels(self.matrix)
        if labels.max() == 0:
            return self._block(self.matrix, self.sums, count, solver)
        members = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
        blocks = [self._block(self.matrix[some][:, some], self.sums[some], count, solver) for some in members]
        values = np.concatenate([pairs.values for pairs in blocks])
        block = np.repeat(np.arange(len(blocks)), [len(pairs) for pairs in blocks])
        place = np.concatenate([np.arange(len(pairs)) for pairs in blocks])
        largest = np.argsort(-values, kind="stable")[:count]
        vectors = np.zeros((len(labels), len(largest)))
        for column, index in enumerate(largest):
            vectors[members[block[index]], column] = blocks[block[index]].vectors[:, place[index]]
        residuals = np.concatenate([pairs.residuals for pairs in blocks])[largest]
        return EigenPairs(values[largest], vectors, residuals, blocks[0].solver, blocks[0].n_iter)

    @staticmethod
    def _block(matrix: sparse.csr_array, sums: np.ndarray, count: int, solver: SolverConfig) -> EigenPairs:
        operator = materialized(ComplementOperator(as_operator(sparse.csr_array(matrix))))
        problem = SemidefiniteProblem(operator, np.sqrt(sums / sums.sum()), 2.0)
        return next_to_trivial(problem, min(count, len(sums)) - 1, solver)
