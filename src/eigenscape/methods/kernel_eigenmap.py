"""Kernel eigenmaps: a reduced eigenproblem for a smooth map from the space of the data (Brand sec. 3)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from eigenscape import _memory
from eigenscape._native.loops import local_coordinates, mark_members
from eigenscape._numbers import as_contiguous_float64
from eigenscape.exceptions import PoleWarning, RankError, UndefinedMapError
from eigenscape.methods.graph_embedding import (
    Correction,
    Transformation,
    affine_transformation,
    solve_by_rows,
    solve_transformation,
)
from eigenscape.methods.iterative_reduction import IterativeOptions, is_sparse
from eigenscape.methods.kernel_centers import (
    CovarianceType,
    Placement,
    given_ellipses,
    local_ellipses,
    place_kernels,
)
from eigenscape.methods.mixture import (
    AffineMixture,
    KernelWeights,
    MixtureKernels,
    kernel_weights,
    weighted_axes,
)
from eigenscape.methods.tuning import TUNING
from eigenscape.quality.edge_distortion import distortion


class KernelEigenmapOptions(NamedTuple):
    """Parameters of a kernel eigenmap other than the numbers of components and kernels."""

    centers: Placement | np.ndarray
    sigma: float | None  # None: see kernel_centers.default_sigma
    local_components: int | None  # None: all features
    posterior: bool
    correction: Correction
    seed: int
    covariances: CovarianceType | np.ndarray = "spherical"
    solver: Literal["auto", "dense", "iterative"] = "auto"
    iterative: IterativeOptions = IterativeOptions()


@dataclass(frozen=True, eq=False)
class KernelBasis:
    """``z(x)`` of Brand eq. 15: local homogeneous coordinates around each kernel, times its weight at ``x``.

    ``X`` is in double precision and C-contiguous.
    ``projections`` (K, q, D) are the ``K_k`` of eq. 14 (they belong to the kernels); with None the local
    coordinates are ``x - mu_k``. ``scale`` (n,) multiplies each row. ``unit`` is the length in which local
    coordinates are measured in inner products of rows, where they are added to the constant of each kernel.
    """

    X: np.ndarray
    kernels: MixtureKernels
    weights: KernelWeights
    projections: np.ndarray | None = None
    scale: np.ndarray | None = None
    unit: float = 1.0

    @property
    def n_local(self) -> int:
        """Number of columns of one kernel: its local coordinates and the constant."""
        return 1 + (self.X.shape[1] if self.projections is None else self.projections.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns of ``Z``."""
        return len(self.kernels.centers) * self.n_local

    @property
    def order(self) -> np.ndarray:
        """Row indices, ordered by the nearest kernel, with overlapping kernels close to each other."""
        M = self.weights.matrix
        largest = np.maximum.reduceat(M.data, M.indptr[:-1])
        is_largest = np.flatnonzero(M.data == np.repeat(largest, np.diff(M.indptr)))
        row = np.searchsorted(M.indptr, is_largest, side="right") - 1
        nearest = np.zeros(len(self.X), dtype=np.intp)
        nearest[row] = M.indices[is_largest]
        return np.argsort(_path_rank(self.kernels.centers)[nearest], kind="stable")

    def block(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dense rows (b, c) and the indices (c,) of their nonzero columns."""
        M, centers = self.weights.matrix, as_contiguous_float64(self.kernels.centers)
        marked = np.zeros(len(centers), dtype=bool)
        mark_members(rows, M.indptr, M.indices, marked)
        active = np.flatnonzero(marked)
        slot = np.cumsum(marked) - 1
        Z = np.empty((len(rows), len(active), self.n_local))
        plain = self.projections is None
        projections = np.empty((0, 0, 0)) if self.projections is None else self.projections
        local_coordinates(rows, self.X, M.indptr, M.indices, M.data, centers, projections, plain, slot, Z)
        if self.scale is not None:
            Z *= self.scale[rows, None, None]
        return Z.reshape(len(rows), -1), (active[:, None] * self.n_local + np.arange(self.n_local)).ravel()

    def apply(self, V: np.ndarray) -> np.ndarray:
        """Return ``Z V`` (n, c)."""
        values = self.mixture(V).mix(self.X, self.weights)
        return values if self.scale is None else values * self.scale[:, None]

    def apply_transpose(self, A: np.ndarray) -> np.ndarray:
        """Return ``Z' A`` (p, c), the coefficients of local coordinates in units of ``unit``."""
        V = np.zeros((len(self.kernels.centers), self.n_local, A.shape[1]))
        for k, rows, weight, local in self._members():
            weighted = weight[:, None] * A[rows]
            V[k, :-1], V[k, -1] = local.T @ weighted / self.unit**2, weighted.sum(axis=0)
        return V.reshape(self.n_columns, -1)

    @property
    def n_entries(self) -> int:
        """Number of entries of ``Z`` that are not zero by construction."""
        return self.weights.matrix.nnz * self.n_local

    def n_overlaps(self, W: sparse.csr_array) -> float:
        """Return the number of entries of ``Z'WZ``, from pairs of kernels that share a vertex or edge."""
        M = self.weights.matrix
        members = sparse.csr_array((np.ones(M.nnz, dtype=np.float32), M.indices, M.indptr), shape=M.shape)
        edges = W.astype(np.float32) + sparse.eye_array(len(self.X), dtype=np.float32, format="csr")
        return float((members.T @ (edges @ members)).nnz) * self.n_local**2

    def matrix(self) -> sparse.csr_array:
        """Return ``Z`` (n, p)."""
        counts = np.zeros((len(self.kernels.centers), self.n_local), dtype=np.int64)
        indices, data = [], []
        for k, rows, weight, local in self._members():
            counts[k] = len(rows)
            indices.append(np.tile(rows, self.n_local))
            data.append((weight[:, None] * np.column_stack([local, np.ones(len(rows))])).T.ravel())
        indptr = np.concatenate([[0], np.cumsum(counts)])
        entries = np.concatenate(data), np.concatenate(indices), indptr
        return sparse.csr_array(sparse.csc_array(entries, shape=(len(self.X), self.n_columns)))

    def row_gram(self) -> np.ndarray:
        """Return ``Z Z'`` (n, n), local coordinates in units of ``unit``."""
        gram = np.zeros((len(self.X), len(self.X)))
        for _, rows, weight, local in self._members():
            weighted = weight[:, None] * local / self.unit
            gram[np.ix_(rows, rows)] += weighted @ weighted.T + np.outer(weight, weight)
        return gram

    def _members(self) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield each kernel, its rows, their factors (m,) and their local coordinates (m, q)."""
        for k, (rows, weight) in enumerate(self.weights.members()):
            local = self.X[rows] - self.kernels.centers[k]
            if self.projections is not None:
                local = local @ self.projections[k].T
            yield k, rows, weight if self.scale is None else weight * self.scale[rows], local

    def mixture(self, V: np.ndarray) -> AffineMixture:
        """Return the mixture of affine maps ``V'z(x)`` (Brand eq. 17), in coordinates of the whole space."""
        V = V.reshape(len(self.kernels.centers), self.n_local, -1)
        slopes = V[:, :-1]
        if self.projections is not None:
            slopes = np.einsum("kqd,kqc->kdc", self.projections, slopes)
        offsets, constant = np.ascontiguousarray(V[:, -1]), np.zeros(V.shape[2])
        return AffineMixture(self.kernels, np.ascontiguousarray(slopes), offsets, constant)


def _path_rank(centers: np.ndarray) -> np.ndarray:
    """Return the rank of each centre on a path that always goes to the nearest centre not yet visited."""
    rank = np.full(len(centers), -1)
    current = 0
    for step in range(len(centers)):
        rank[current] = step
        distances = np.square(centers - centers[current]).sum(axis=1)
        distances[rank >= 0] = np.inf
        current = int(np.argmin(distances))
    return rank


def local_projections(
    X: np.ndarray, kernels: MixtureKernels, weights: KernelWeights, local_components: int
) -> np.ndarray:
    """Return weighted principal directions (K, q, D) of the points of each kernel (Brand sec. 6)."""
    K, D = kernels.centers.shape
    projections = np.zeros((K, local_components, D))
    for k, (rows, weight) in enumerate(weights.members()):
        directions = weighted_axes(weight, X[rows])[1][:local_components]
        projections[k, : len(directions)] = directions
    return projections


def forward_kernels(X: np.ndarray, n_kernels: int, options: KernelEigenmapOptions) -> MixtureKernels:
    """Return the kernels ``N(x | mu_k, Sigma_k)`` of Brand sec. 3."""
    covariances = options.covariances
    if not isinstance(covariances, str):
        centers = place_kernels(X, n_kernels, options.centers, None, options.seed).centers
        return given_ellipses(X, centers, covariances)
    kernels = place_kernels(X, n_kernels, options.centers, options.sigma, options.seed)
    return kernels if covariances == "spherical" else local_ellipses(X, kernels, options.sigma is not None)


class KernelMap(NamedTuple):
    """A fitted map, the coordinates (n, d) of its training points, and the solution of the eigenproblem."""

    mixture: AffineMixture
    coordinates: np.ndarray
    transformation: Transformation


def kernel_eigenmap(
    X: np.ndarray,
    W: sparse.csr_array,
    degree: np.ndarray,
    n_components: int,
    n_kernels: int,
    options: KernelEigenmapOptions,
) -> KernelMap:
    """Return the smoothest functions ``G'z(x)`` on the graph ``W`` of the points ``X`` (Brand eq. 16).

    They are scaled to ``Y'DY = n``, approximately if the correction divides.
    """
    X = as_contiguous_float64(X)
    kernels = forward_kernels(X, n_kernels, options)
    weights = kernel_weights(kernels, X)
    projections = None
    if options.local_components is not None and options.local_components < X.shape[1]:
        projections = local_projections(X, kernels, weights, options.local_components)
    basis = KernelBasis(X, kernels, weights, projections, unit=kernels.sigma)
    solution = _solve(basis, W, degree, n_components, options)
    unsigned = _corrected_mixture(basis, solution, not options.posterior)
    solution = solution.with_signs_of(unsigned.values(X, weights))
    mixture = _corrected_mixture(basis, solution, not options.posterior)
    return KernelMap(mixture, mixture.values(X, weights), solution)


def _solve(
    basis: KernelBasis,
    W: sparse.csr_array,
    degree: np.ndarray,
    n_components: int,
    options: KernelEigenmapOptions,
) -> Transformation:
    """Solve the eigenproblem, in the span of the rows if ``Z`` has more columns than rows."""
    weights, p = basis.weights, basis.n_columns
    # with posteriors the constant is in the span of Z, and all corrections are equivalent
    correction: Correction = "affine" if options.posterior else options.correction
    scale = None if options.posterior else weights.kept * np.exp(weights.log_total)
    large = options.solver == "auto" and options.posterior and min(p, len(basis.X)) > TUNING.dense_kernels
    if options.solver == "iterative" or (large and is_sparse(basis, W, p)):
        return affine_transformation(basis, W, degree, n_components, options.iterative)
    if p > len(basis.X):
        return solve_by_rows(basis, W, degree, n_components, correction, scale)
    _memory.require(
        6 * 8.0 * p**2,
        f"the eigenproblem of {p} local coordinates",
        "lower n_kernels, set local_components or use eigen_solver='iterative'",
    )
    return solve_transformation(
        replace(basis, scale=scale), W, degree, n_components, correction, divisor=basis
    )


def _corrected_mixture(basis: KernelBasis, solution: Transformation, density: bool) -> AffineMixture:
    """Return the mixture with the coefficients and the correction of ``solution``."""
    V, divide = solution.coefficients, solution.uniform is not None
    if solution.uniform is not None:
        V = np.column_stack([V, solution.uniform])
    return replace(
        basis.mixture(V), constant=solution.constant, divide=divide, density=density and not divide
    )


def wide_kernels(n: int, n_components: int, n_kernels: int | None) -> tuple[int, int]:
    """Return numbers of kernels ``K`` and local coordinates ``q`` for at least as many features as samples.

    ``K (q + 1)`` is at most ``n / 2``, so that the map does not interpolate, unless more are needed for
    ``n_components``. If ``n_kernels`` is None, the two numbers are about equal.
    """
    entries = max(n // 2, n_components + 1)
    K = max(1, math.isqrt(entries)) if n_kernels is None else n_kernels
    q = max(entries // K - 1, -(-(n_components + 1) // K) - 1, 0)
    return K, min(q, n - 1)


def choose_n_kernels(
    X: np.ndarray,
    W: sparse.csr_array,
    n_components: int,
    max_kernels: int,
    options: KernelEigenmapOptions,
) -> tuple[int, dict[int, float]]:
    """Return the smallest number of kernels that is nearly best on held-out edges, and all distortions.

    The number doubles from 4 to at most ``max_kernels``, and a distortion may exceed the least by 5 %. A
    number that is too small for a map has infinite distortion; if all are, the last error is raised.
    """
    counts = [2**power for power in range(2, 9) if 2**power <= max_kernels] or [max(1, max_kernels)]
    distortions: dict[int, float] = {}
    failure: Exception | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoleWarning)  # relevant for the final map only
        for count in counts:
            try:  # all points must be within reach of the kernels, held-out ones too
                forward_kernels(X, count, options)
                distortions[count] = held_out_distortion(X, W, n_components, count, options)
            except (RankError, UndefinedMapError) as error:  # too few kernels for a map
                distortions[count], failure = np.inf, error
    smallest = min(distortions.values())
    if failure is not None and np.isinf(smallest):
        raise failure
    return min(count for count in counts if distortions[count] <= 1.05 * smallest), distortions


def held_out_distortion(
    X: np.ndarray,
    W: sparse.csr_array,
    n_components: int,
    n_kernels: int,
    options: KernelEigenmapOptions,
) -> float:
    """Return the distortion of the edges at a random tenth of the vertices, left out of the fit."""
    n = len(X)
    held_out = np.zeros(n, dtype=bool)
    held_out[np.random.default_rng(options.seed).permutation(n)[: max(1, round(0.1 * n))]] = True
    kept = np.flatnonzero(~held_out)
    inside = sparse.csr_array(W[kept][:, kept])
    degree = np.asarray(inside.sum(axis=1)).ravel()
    fitted = kernel_eigenmap(X[kept], inside, degree, n_components, n_kernels, options)
    edges = sparse.coo_array(W)
    at_held_out = held_out[edges.row] | held_out[edges.col]
    entries = edges.data[at_held_out], (edges.row[at_held_out], edges.col[at_held_out])
    return distortion(fitted.mixture(X), sparse.csr_array(entries, shape=W.shape))
