"""Laplacian eigenmaps by anchors: the eigenproblem of functions that are linear in anchor weights.

Every point is a combination ``a(x)`` of ``m`` anchors, as in the landmarks of Vladymyrov and
Carreira-Perpinan 2013. With the weights ``A`` (n, m) of all vertices, the map is ``A U``, and the
eigenproblem of the graph becomes ``A'(D - W)A u = s A'DA u``, m x m: the problem of Brand eq. 8 with
``Z = A'``. The graph contains all points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.dictionary.anchored import AnchoredEigenfunctions, AnchoredKernel, AnchorWeights
from eigenscape.eigenfunctions import Embedding
from eigenscape.exceptions import RankError
from eigenscape.kernels.affinity import GraphAffinity, LocalAffinity
from eigenscape.methods.kernel_centers import place_centers
from eigenscape.solvers import EigenPairs, SolverConfig, generalized_eigh, whiten
from eigenscape.solvers.generalized import relative_residuals
from eigenscape.solvers.pairs import column_signs

#: Directions of A'DA (unit diagonal) with eigenvalues below this multiple of the largest are left out.
_SMALLEST = 1e-3


def place_anchors(X: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return ``count`` distinct centres of k-means of (at most 20 000 of) the distinct rows ``X``."""
    return np.unique(place_centers(X, count, "kmeans", None, seed), axis=0)


def anchored_laplacian_eigenmaps(
    affinity: GraphAffinity | LocalAffinity, n_components: int, n_anchors: int, solver: SolverConfig
) -> Embedding:
    """Return the solutions of ``A'(D - W)A u = s A'DA u`` with the smallest nonzero ``s``.

    Coordinates are ``sqrt(n) a(x) . u``. Functions ``a(x) . u`` that need large coefficients ``u`` are left
    out: with nearly as many anchors as points they fit the training points and vary wildly between them."""
    points = np.asarray(affinity.X, dtype=np.float64)
    weights = AnchorWeights(place_anchors(points, n_anchors, solver.seed), solver.n_jobs)
    edges = affinity.edges()
    degree = np.asarray(edges.sum(axis=1)).ravel()
    A = weights(points)
    forms = _Forms(_laplacian_form(A, edges, degree), _moment(A, degree), float(degree.sum()))
    functions = _solve(forms, weights, A, affinity.X, n_components)
    return Embedding(functions, MeasureScale(float(np.sqrt(len(degree) / degree.sum()))), trivial=1)


@dataclass(frozen=True)
class MeasureScale:
    """A multiple of the functions without the first, the constant."""

    factor: float

    def __call__(self, values: np.ndarray, Y: Any) -> np.ndarray:
        return values[:, 1:] * self.factor

    def invert(self, coordinates: np.ndarray, values: np.ndarray, Y: Any) -> np.ndarray:
        return coordinates / self.factor


@dataclass(frozen=True, eq=False)
class _Forms:
    """The matrices of the reduced eigenproblem."""

    rough: np.ndarray  # A'(D - W)A (m, m)
    moment: np.ndarray  # Q = A'DA (m, m)
    mass: float  # sum of D


def _solve(
    forms: _Forms, weights: AnchorWeights, A: sparse.csr_array, X: Any, n_components: int
) -> AnchoredEigenfunctions:
    """Return the constant eigenfunction and the next ``n_components``.

    The weights sum to 1, so the constant is ``u = 1``; its mean is removed from all others."""
    means = forms.moment.sum(axis=1) / forms.mass  # Q 1 / M
    centred = forms.moment - forms.mass * np.outer(means, means)
    size = np.sqrt(np.diagonal(forms.moment))
    size = np.where(size > 0, size, 1.0)[:, None]  # anchors that no point uses
    whitener = whiten(centred / size / size.T, _SMALLEST, np.ones(len(size))).whitener / size
    with stage("eigen-solve"):
        pairs = generalized_eigh(forms.rough, centred, None, "smallest", whitener)
    if pairs.rank < n_components:
        raise RankError(
            f"n_components={n_components}, but the weights on {len(means)} distinct anchors span only"
            f" {pairs.rank} dimensions; raise the number of anchors or lower n_components"
        )
    everything = 1 - pairs.values
    U = pairs.vectors - means @ pairs.vectors  # of mean zero
    inner = (U * everything) @ U.T + 1 / forms.mass  # H, on the span of the whitened directions
    U = np.column_stack([np.full(len(U), forms.mass**-0.5), U[:, :n_components]])
    values = np.sqrt(forms.mass) * (A @ U)
    signs = column_signs(values)
    signs[0] = 1.0
    gaps = np.append(0.0, pairs.values[:n_components])
    # Of the problem on the functions that are not left out.
    basis = np.column_stack([U[:, :1], whitener - means @ whitener])
    within = np.linalg.lstsq(basis, U, rcond=None)[0]
    rough, moment = (basis.T @ form @ basis for form in (forms.rough, forms.moment))
    residuals = relative_residuals(rough, moment, gaps, within)
    return AnchoredEigenfunctions(
        AnchoredKernel(weights, inner, X),
        EigenPairs(1 - gaps, U * signs, residuals, "anchors"),
        values * signs,
        forms.mass,
        float(np.square(everything).sum()) + 1.0,
    )


def _laplacian_form(A: sparse.csr_array, W: sparse.csr_array, degree: np.ndarray) -> np.ndarray:
    """Return ``A'(D - W)A``."""

    def block(rows: slice) -> sparse.csr_array:
        return A[rows].T @ (sparse.diags_array(degree[rows]) @ A[rows] - W[rows] @ A)

    total = _assemble(block, A.shape[0], A.shape[1])
    return (total + total.T) / 2


def _assemble(block: Callable[[slice], sparse.csr_array], n: int, m: int) -> np.ndarray:
    """Return the sum (m, m) of ``block`` over ``n`` rows; a row of a product has about 100 entries."""
    total = np.zeros((m, m))
    with stage("assembly", total=n) as advance:
        for rows in row_blocks(n, 12 * 100):
            total += block(rows).toarray()
            advance(rows.stop - rows.start)
    return total


def _moment(A: sparse.csr_array, degree: np.ndarray) -> np.ndarray:
    """Return ``A'DA``."""
    return (A.T @ (sparse.diags_array(degree) @ A)).toarray()
