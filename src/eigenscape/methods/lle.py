"""Locally linear embedding and its variants (Bengio sec. 2.6, 3.1; Burges sec. 2.4).

Each method has an alignment matrix ``M = F'F``, a quadratic form that measures how far a map is from locally
linear. The rows of the sparse matrix ``F`` are vectors on the points of one neighbourhood each, and the map
minimises ``|F y|^2 = y' M y``. All alignment matrices have the constant vector in their null space.

See docs/decisions/methods-lle.md.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from scipy import sparse

from eigenscape._progress import stage
from eigenscape.eigenfunctions import Embedding, PlainScale, measured_eigenfunctions
from eigenscape.exceptions import RankError
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.base import BoundKernel
from eigenscape.kernels.local import (
    ExtendedKernel,
    FiniteLocalKernel,
    LocalGram,
    LocalWeights,
    barycentric_weights,
    local_gram,
    local_weights,
    over_neighborhoods,
)
from eigenscape.methods.laplacian import ZERO, next_to_trivial
from eigenscape.normalize import scale_sides
from eigenscape.operators import SparseOperator
from eigenscape.solvers import SemidefiniteProblem, SolverConfig

LLEMethod: TypeAlias = Literal["standard", "modified", "hessian", "ltsa"]


def alignment_factor(
    graph: NeighborGraph,
    method: LLEMethod,
    n_components: int,
    reg: float,
    n_jobs: int | None = None,
    gram: LocalGram | None = None,
    weights: np.ndarray | None = None,
) -> sparse.csr_array:
    """Return the factor ``F`` (n_rows, m) of the alignment matrix of a method.

    ``gram`` are the local Gram matrices; by default of the rows or of the precomputed distances. With
    ``weights`` (m,) each row is multiplied by the root of the weight of the point that its neighbourhood
    belongs to, and each column divided by the root of the weight of its point: ``W^1/2 F W^-1/2``."""
    gram = local_gram(graph, "euclidean", {}) if gram is None else gram
    m = graph.n_vertices
    with stage("local solves"):
        if method == "standard":
            reconstruction = barycentric_weights(gram, graph.neighborhoods, reg, n_jobs)
            factor = sparse.csr_array(sparse.eye_array(m) - reconstruction)  # I - W, Bengio sec. 2.6
            if weights is not None:
                factor = sparse.csr_array(scale_sides(factor, np.sqrt(weights), weights**-0.5))
            return factor
        if method == "modified":
            return _stack(_modified(gram, graph.neighborhoods, n_components, reg, n_jobs), m, weights)
        patch = {"hessian": _hessian, "ltsa": _tangent}[method]

        def work(rows: np.ndarray, columns: np.ndarray) -> Patch:
            points = np.concatenate([rows[:, None], columns], axis=1)
            return points, patch(_tangents(gram.centered(points), n_components))

        return _stack(over_neighborhoods(work, graph.neighborhoods, gram, n_jobs), m, weights)


def tangent_factor(
    gram: LocalGram, neighborhoods: sparse.csr_array, n_components: int, n_jobs: int | None = None
) -> sparse.csr_array:
    """Return the factor ``F`` of local tangent space alignment for given neighbourhoods.

    The pattern of each row of ``neighborhoods`` (n, m) selects the points of one of them, which need not
    contain the point that it belongs to.
    """

    def work(_: np.ndarray, points: np.ndarray) -> Patch:
        return points, _tangent(_tangents(gram.centered(points), n_components))

    patches = over_neighborhoods(work, neighborhoods, gram, n_jobs)
    return _stack(patches, neighborhoods.shape[1])


def alignment_matrix(factor: sparse.csr_array) -> sparse.csr_array:
    """Return ``M = F'F``, which is exactly symmetric: both halves sum the same products in the same order."""
    matrix = sparse.csr_array(factor.T.tocsr() @ factor)
    matrix.sort_indices()
    return matrix


#: Points of a batch of neighbourhoods (b, p) and the vectors on them (b, s, p).
Patch = tuple[np.ndarray, np.ndarray]


def _stack(patches: list[Patch], m: int, weights: np.ndarray | None = None) -> sparse.csr_array:
    """Return a sparse matrix of ``m`` columns with a row for each vector of each neighbourhood."""
    columns, values, lengths = [], [], []
    for points, vectors in patches:
        if weights is not None:  # the first point is the one that the neighbourhood belongs to
            vectors = vectors * np.sqrt(weights[points[:, :1]] / weights[points])[:, None]
        b, s, p = vectors.shape
        columns.append(np.repeat(points, s, axis=0).ravel())
        values.append(vectors.ravel())
        lengths.append(np.full(b * s, p))
    ends = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    stack = sparse.csr_array(
        (np.concatenate(values), np.concatenate(columns), ends), shape=(len(ends) - 1, m)
    )
    stack.sort_indices()
    return stack


def _tangent(tangent: np.ndarray) -> np.ndarray:
    """Local tangent space alignment (Zhang and Zha): the map without its affine part on the tangent plane."""
    b, p, d = tangent.shape
    basis, _ = np.linalg.qr(np.concatenate([np.ones((b, p, 1)), tangent], axis=2), mode="complete")
    return basis[:, :, 1 + d :].transpose(0, 2, 1)


def _hessian(tangent: np.ndarray) -> np.ndarray:
    """Hessian eigenmaps (Donoho and Grimes): the quadratic part of the map, ``d (d + 1) / 2`` rows."""
    b, p, d = tangent.shape
    first, second = np.triu_indices(d)
    squares = tangent[:, :, first] * tangent[:, :, second]
    basis, _ = np.linalg.qr(np.concatenate([np.ones((b, p, 1)), tangent, squares], axis=2))
    return basis[:, :, 1 + d :].transpose(0, 2, 1)


def _tangents(centered: np.ndarray, d: int) -> np.ndarray:
    """Return orthonormal tangent coordinates (b, p, d) of neighbourhoods, given centred Gram matrices."""
    _, vectors = np.linalg.eigh(centered)
    return vectors[:, :, : -d - 1 : -1]


def _modified(
    gram: LocalGram, neighbors: sparse.csr_array, d: int, reg: float, n_jobs: int | None
) -> list[Patch]:
    """Modified LLE (Zhang and Wang): several weight vectors per neighbourhood instead of one."""

    def solve(rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, ...]:
        local = gram.around(rows, columns)
        return rows, columns, local_weights(local, reg), *_local_spectrum(local)

    batches = over_neighborhoods(solve, neighbors, gram, n_jobs)
    # Ratio of the variance off and on the tangent plane; its median separates noise from curvature.
    ratios = np.concatenate(
        [_ratio(values[:, d:].sum(axis=1), values[:, :d].sum(axis=1)) for _, _, _, values, _ in batches]
    )
    typical = float(np.median(ratios))
    patches = []
    for rows, columns, weights, values, vectors in batches:
        k = columns.shape[1]
        tails = np.cumsum(values[:, ::-1], axis=1)[:, : k - d]  # sums of the 1, 2, ... k - d smallest
        heads = values.sum(axis=1, keepdims=True) - tails
        slack = 1e-12 * values.sum(axis=1, keepdims=True)  # an exact plane has ratios of 0 up to rounding
        counts = np.maximum((tails <= typical * heads + slack).sum(axis=1), 1)
        for s in np.unique(counts):
            pick = np.flatnonzero(counts == s)
            points = np.concatenate([rows[pick, None], columns[pick]], axis=1)
            patches.append((points, _multiple_weights(vectors[pick][:, :, k - s :], weights[pick])))
    return patches


def _local_spectrum(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues (b, k), largest first, and eigenvectors of the local Gram matrices."""
    values, vectors = np.linalg.eigh(gram)
    return np.maximum(values[:, ::-1], 0.0), vectors[:, :, ::-1]


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def _multiple_weights(V: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return rows (-1, weights) for ``s`` weight vectors.

    ``V`` (b, k, s) spans the near-null space of the local Gram matrix."""
    b, _, s = V.shape
    sums = V.sum(axis=1)  # V' 1, (b, s)
    alpha = np.linalg.norm(sums, axis=1) / np.sqrt(s)
    h = alpha[:, None] - sums
    norm = np.linalg.norm(h, axis=1, keepdims=True)
    h = np.divide(h, norm, out=np.zeros_like(h), where=norm > 1e-12)
    reflected = V - 2 * (V @ h[:, :, None]) @ h[:, None, :]  # V (I - 2 h h')
    many = (1 - alpha)[:, None, None] * weights[:, :, None] + reflected  # (b, k, s), columns sum to one
    return np.concatenate([np.full((b, 1, s), -1.0), many], axis=1).transpose(0, 2, 1)


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
    ``gram`` are the local Gram matrices; by default of the rows or of the precomputed distances. ``weights``
    are the weights of the points in the sum of squared errors and in the constraints: the map minimises
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
