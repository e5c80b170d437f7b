"""Kernel eigenmaps: a small eigenproblem for a smooth map from the space of the data (Brand sec. 3)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from eigenscape import _memory
from eigenscape._compiled.mixtures import local_coordinates, mark_members
from eigenscape.exceptions import PoleWarning, RankError, UndefinedMapError
from eigenscape.methods.graph_embedding import (
    Correction,
    Transformation,
    affine_transformation,
    transformation,
)
from eigenscape.methods.mixture import AffineMixture, MixtureKernels, RoundKernels, Shares, shares
from eigenscape.quality.edge_distortion import distortion

#: Numbers of kernels that are tried, and the factor of the least held-out distortion within which the
#: smallest is taken.
_COUNTS = (4, 8, 16, 32, 64, 128, 256)
_NEARLY = 1.05


@dataclass(frozen=True, eq=False)
class KernelBasis:
    """``z(x)`` of eq. 15 for the points ``X``: for each kernel its local homogeneous coordinates, times the
    point's share in it.

    ``projections`` (K, q, D) are the ``K_k`` of eq. 14 (they belong to the kernel); None takes the
    coordinates as they are. ``scale`` (n,) multiplies each row."""

    X: np.ndarray
    kernels: MixtureKernels
    members: Shares
    projections: np.ndarray | None = None
    scale: np.ndarray | None = None

    @property
    def local(self) -> int:
        """Columns of one kernel: its local coordinates and the constant."""
        return 1 + (self.X.shape[1] if self.projections is None else self.projections.shape[1])

    @property
    def n_columns(self) -> int:
        return len(self.kernels.centers) * self.local

    @property
    def order(self) -> np.ndarray:
        """Points of one kernel together, kernels that overlap near one another."""
        M = self.members.matrix
        largest = np.maximum.reduceat(M.data, M.indptr[:-1])
        is_largest = np.flatnonzero(M.data == np.repeat(largest, np.diff(M.indptr)))
        row = np.searchsorted(M.indptr, is_largest, side="right") - 1
        nearest = np.zeros(len(self.X), dtype=np.intp)
        nearest[row] = M.indices[is_largest]
        return np.argsort(_chain(self.kernels.centers)[nearest], kind="stable")

    def block(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        M, centers = self.members.matrix, self.kernels.centers
        marked = np.zeros(len(centers), dtype=bool)
        mark_members(rows, M.indptr, M.indices, marked)
        active = np.flatnonzero(marked)
        slot = np.cumsum(marked) - 1
        Z = np.empty((len(rows), len(active), self.local))
        plain = self.projections is None
        projections = np.empty((0, 0, 0)) if self.projections is None else self.projections
        local_coordinates(rows, self.X, M.indptr, M.indices, M.data, centers, projections, plain, slot, Z)
        if self.scale is not None:
            Z *= self.scale[rows, None, None]
        return Z.reshape(len(rows), -1), (active[:, None] * self.local + np.arange(self.local)).ravel()

    def apply(self, V: np.ndarray) -> np.ndarray:
        values = self.mixture(V).mix(self.X, self.members)
        return values if self.scale is None else values * self.scale[:, None]

    def mixture(self, V: np.ndarray) -> AffineMixture:
        """The mixture of affine maps ``V'z(x)`` (eq. 17), in coordinates of the whole space."""
        V = V.reshape(len(self.kernels.centers), self.local, -1)
        slopes = (
            V[:, :-1] if self.projections is None else np.einsum("kqd,kqc->kdc", self.projections, V[:, :-1])
        )
        return AffineMixture(
            self.kernels, np.ascontiguousarray(slopes), np.ascontiguousarray(V[:, -1]), np.zeros(V.shape[2])
        )


def _chain(centers: np.ndarray) -> np.ndarray:
    """The rank of each centre on a walk from one to the nearest not yet visited."""
    rank = np.full(len(centers), -1)
    here = 0
    distances = np.empty(len(centers))
    for step in range(len(centers)):
        rank[here] = step
        distances = np.square(centers - centers[here]).sum(axis=1)
        distances[rank >= 0] = np.inf
        here = int(np.argmin(distances))
    return rank


def local_projections(X: np.ndarray, kernels: RoundKernels, members: Shares, n_local: int) -> np.ndarray:
    """Principal directions (K, n_local, D) of the points around each kernel, weighted by their shares (Brand
    sec. 6)."""
    K, D = kernels.centers.shape
    projections = np.zeros((K, n_local, D))
    columns = sparse.csc_array(members.matrix)
    for k in range(K if n_local else 0):
        some = slice(columns.indptr[k], columns.indptr[k + 1])
        weight, points = columns.data[some], X[columns.indices[some]]
        if len(weight) == 0:
            continue
        spread = np.sqrt(weight)[:, None] * (points - weight @ points / weight.sum())
        directions = linalg.svd(spread, full_matrices=False)[2][:n_local]
        projections[k, : len(directions)] = directions
    return projections


class KernelMap(NamedTuple):
    """The map, the coordinates (n, d) of the points it was learnt on, and the small problem's answer."""

    mixture: AffineMixture
    coordinates: np.ndarray
    answer: Transformation


class Description(NamedTuple):
    """What a kernel eigenmap is asked to be: how kernels are placed, the local coordinates, posteriors or
    not, the correction."""

    place: Callable[[np.ndarray, int], RoundKernels]
    n_local: int | None
    posterior: bool
    correction: Correction


def kernel_eigenmap(
    X: np.ndarray,
    W: sparse.csr_array,
    degree: np.ndarray,
    n_components: int,
    n_kernels: int,
    wish: Description,
) -> KernelMap:
    """The smoothest functions ``G'z(x)`` on the graph ``W`` of the points ``X`` (eq. 16), scaled to ``Y'DY =
    n`` (reweighted: nearly)."""
    kernels = wish.place(X, n_kernels)
    columns = len(kernels.centers) * (1 + (X.shape[1] if wish.n_local is None else wish.n_local))
    _memory.require(
        6 * 8.0 * columns**2,
        f"the eigen-problem of {columns} local coordinates",
        "lower n_kernels or set local_components",
    )
    members = shares(kernels, X)
    projections = None if wish.n_local is None else local_projections(X, kernels, members, wish.n_local)
    basis = KernelBasis(X, kernels, members, projections)
    if (
        wish.posterior
    ):  # shares sum to one, so that the uniform row is in the span of Z and every correction comes to this
        answer = affine_transformation(basis, W, degree, n_components)
    else:
        density = replace(basis, scale=members.kept * np.exp(members.log_total))
        answer = transformation(density, W, degree, n_components, wish.correction, plain=basis)
    answer = answer.turned(_finished(basis, answer, not wish.posterior).values(X, members))
    mixture = _finished(basis, answer, not wish.posterior)
    return KernelMap(mixture, mixture.values(X, members), answer)


def _finished(basis: KernelBasis, answer: Transformation, density: bool) -> AffineMixture:
    V, divide = answer.coefficients, answer.uniform is not None
    if answer.uniform is not None:
        V = np.column_stack([V, answer.uniform])
    return replace(basis.mixture(V), constant=answer.constant, divide=divide, density=density and not divide)


def choose_n_kernels(
    X: np.ndarray, W: sparse.csr_array, n_components: int, most: int, wish: Description, seed: int
) -> tuple[int, dict[int, float]]:
    """The smallest number of kernels, doubled from 4 to at most ``most``, that is nearly best on held-out
    edges; and what each gave.

    A number that cannot carry the map has infinite distortion; if none can, the error of the last is raised.
    """
    counts = [count for count in _COUNTS if count <= most] or [max(1, most)]
    tried: dict[int, float] = {}
    failure: Exception | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoleWarning)  # what matters is the map that is chosen
        for count in counts:
            try:
                wish.place(X, count)  # all points must be within reach, also those that are held out
                tried[count] = held_out_distortion(X, W, n_components, count, wish, seed)
            except (RankError, UndefinedMapError) as error:  # so few kernels need not carry the map
                tried[count], failure = np.inf, error
    if failure is not None and np.isinf(min(tried.values())):
        raise failure
    return min(count for count in counts if tried[count] <= _NEARLY * min(tried.values())), tried


def held_out_distortion(
    X: np.ndarray,
    W: sparse.csr_array,
    n_components: int,
    n_kernels: int,
    wish: Description,
    seed: int,
    share: float = 0.1,
) -> float:
    """Distortion of the edges at vertices that took no part in the fit: a share of all vertices, drawn at
    random."""
    n = len(X)
    out = np.zeros(n, dtype=bool)
    out[np.random.default_rng(seed).permutation(n)[: max(1, round(share * n))]] = True
    kept = np.flatnonzero(~out)
    inside = sparse.csr_array(W[kept][:, kept])
    found = kernel_eigenmap(
        X[kept], inside, np.asarray(inside.sum(axis=1)).ravel(), n_components, n_kernels, wish
    )
    edges = sparse.coo_array(W)
    touched = out[edges.row] | out[edges.col]
    held_out = sparse.csr_array(
        (edges.data[touched], (edges.row[touched], edges.col[touched])), shape=W.shape
    )
    return distortion(found.mixture(X), held_out)
