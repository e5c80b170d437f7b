"""Locally linear embedding and its variants (Bengio sec. 2.6, 3.1; Burges sec. 2.4).

See docs/decisions/methods-lle.md.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigenscape.eigenfunctions import Embedding, PlainScale, measured_eigenfunctions
from eigenscape.exceptions import RankError
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.base import BoundKernel
from eigenscape.kernels.local import ExtendedKernel, FiniteLocalKernel, LocalGram, LocalWeights, local_gram
from eigenscape.methods.alignment import LLEMethod, alignment_factor, alignment_matrix
from eigenscape.methods.laplacian import ZERO, next_to_trivial
from eigenscape.normalize import scale_sides
from eigenscape.operators import SparseOperator
from eigenscape.solvers import SemidefiniteProblem, SolverConfig


def locally_linear_embedding(
    graph: NeighborGraph,
    n_components: int,
    solver: SolverConfig,
    *,
    method: LLEMethod = "standard",
    reg: float = 1e-3,
    c: float | None = None,
    gram: LocalGram | None = None,
    weights: np.ndarray | None = None,
) -> Embedding:
    """Return the eigenvectors of ``K = c I - M`` after the constant one, ``M`` the alignment matrix.

    A new point follows its neighbours, ``P(x) = sum_i w(x, x_i) P(x_i)``, which is the limit of large ``c``
    (``K`` is then reported with ``c = 1``); or, with a finite ``c``, it is placed by Bengio's kernel.
    ``gram`` are the local Gram matrices; if None, those of the rows or of the precomputed distances.
    ``weights`` are those of the points in the sum of squared errors and in the constraints: the map minimises
    ``sum_i w_i |y_i - sum_j w(x_i, x_j) y_j|^2`` with ``sum_i w_i y_i = 0`` and ``sum_i w_i y_i y_i'`` a
    multiple of the identity."""
    gram = local_gram(graph, "euclidean", {}) if gram is None else gram
    m = graph.n_vertices
    n_components = min(n_components, m - 1)
    factor = alignment_factor(graph, method, n_components, reg, solver.n_jobs, gram, weights)
    alignment = alignment_matrix(factor)  # M
    bound = float(abs(alignment).sum(axis=1).max())
    constant = np.full(m, 1 / np.sqrt(m)) if weights is None else np.sqrt(weights / weights.sum())
    problem = SemidefiniteProblem(SparseOperator(alignment), constant, bound, factor, laplacian=False)
    pairs = next_to_trivial(problem, n_components, solver, 1.0 if c is None else c)
    if np.abs(pairs.values).min() < ZERO:
        raise RankError(
            f"an eigenvalue of c I - M is zero for c={1.0 if c is None else c:g}, so its eigenfunction cannot"
            " be extended to new points; lower n_components or set another c"
        )
    reconstruction = LocalWeights(graph, gram, reg, solver.n_jobs)  # w(x, x_i)
    inner = sparse.csr_array(sparse.eye_array(m) - alignment)  # k'' = W + W' - W'W for the standard method
    if weights is not None:
        inner = sparse.csr_array(scale_sides(inner, weights**-0.5, weights**-0.5))
    kernel: BoundKernel = (
        ExtendedKernel(reconstruction, inner) if c is None else FiniteLocalKernel(reconstruction, inner, c)
    )
    return Embedding(measured_eigenfunctions(kernel, pairs, weights), PlainScale(), trivial=1)
