"""Locality preserving projections (He and Niyogi): Brand eq. 8 with the data themselves as features.

For many samples the graph is one of anchors, and every sample is joined to the anchors by the rule of their
graph. With weights ``w(x_i, a_j)`` the two quadratic forms are

    ``Z'(D - W)Z = 1/2 sum_ij w_ij (x_i - a_j)(x_i - a_j)'``,
    ``Z'DZ = 1/2 sum_ij w_ij (x_i x_i' + a_j a_j')``,

which are the forms of the graph itself if all samples are anchors.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._warnings import warn
from eigenscape.exceptions import DegenerateSpectrumWarning, RankError
from eigenscape.kernels.affinity import GraphAffinity
from eigenscape.methods.graph_embedding import feature_map, row_span, solve_reduced
from eigenscape.methods.quadratic_forms import FeatureBasis, QuadraticForms, quadratic_forms
from eigenscape.solvers import generalized_eigh, whiten


class LocalityProjection(NamedTuple):
    """The map ``y = directions'(x - mean)`` with eigenvalues ``1 - gaps``."""

    directions: np.ndarray  # (D, d)
    mean: np.ndarray  # (D,)
    patterns: np.ndarray  # (d, D), regression of the data on the coordinates
    gaps: np.ndarray  # (d,)
    residuals: np.ndarray  # (d,)

    def with_signs(self, signs: np.ndarray) -> LocalityProjection:
        """Return the projection with directions multiplied by ``signs`` (d,)."""
        return self._replace(directions=self.directions * signs, patterns=self.patterns * signs[:, None])


def locality_preserving(
    X: np.ndarray, W: sparse.csr_array, degree: np.ndarray, n_components: int, affine: bool
) -> LocalityProjection:
    """Return the directions with ``Y'DY = n`` of smallest ``1 - lambda``.

    If ``affine`` the D-mean is removed first; otherwise coordinates constant on the data are omitted. If the
    features span fewer dimensions, the last directions are zero, with a warning.
    """
    try:
        return _projection(X, W, degree, n_components, affine)
    except RankError as error:
        if error.rank < 1:
            raise
        found, n_missing = _projection(X, W, degree, error.rank, affine), n_components - error.rank
        warn(f"{error}; the coordinates without a direction are zero", DegenerateSpectrumWarning)
    return LocalityProjection(
        np.pad(found.directions, ((0, 0), (0, n_missing))),
        found.mean,
        np.pad(found.patterns, ((0, n_missing), (0, 0))),
        np.pad(found.gaps, (0, n_missing), constant_values=1.0),
        np.pad(found.residuals, (0, n_missing)),
    )


def _projection(
    X: np.ndarray, W: sparse.csr_array, degree: np.ndarray, n_components: int, affine: bool
) -> LocalityProjection:
    """Return ``n_components`` directions, or raise RankError."""
    if affine:
        fitted = feature_map(X, W, degree, n_components, "affine")
        assert fitted.origin is not None
        mean, directions = fitted.origin, fitted.transformation.coefficients
        gaps, residuals = fitted.transformation.gaps, fitted.transformation.residuals
    else:
        directions, gaps, residuals = _linear_directions(X, W, degree, n_components)
        mean = np.zeros(X.shape[1])
    centered = X - mean
    patterns = (centered @ directions).T @ (degree[:, None] * centered) / len(X)
    return LocalityProjection(directions, mean, patterns, gaps, residuals)


def _linear_directions(
    X: np.ndarray, W: sparse.csr_array, degree: np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return directions, gaps and residuals of the problem without a constant term."""
    span = row_span(FeatureBasis(X), len(X)) if X.shape[1] > len(X) else None
    basis = FeatureBasis(X if span is None else span.vectors)
    forms = quadratic_forms(basis, W, degree)
    pairs = solve_reduced(basis, W, degree, forms, n_components + 1)
    Y = basis.apply(pairs.vectors)
    mean_square = degree @ np.square(Y)
    variance = mean_square - np.square(degree @ Y) / forms.volume
    remedy = ", or use affine=True (or centre X) if X is far from the origin"
    kept = _varying(variance, mean_square, n_components, remedy)
    directions = pairs.vectors[:, kept] if span is None else span.coefficients(pairs.vectors[:, kept])
    return np.sqrt(len(X)) * directions, pairs.values[kept], pairs.residuals[kept]


def _varying(
    variance: np.ndarray, mean_square: np.ndarray, n_components: int, remedy: str = ""
) -> np.ndarray:
    """Return the first ``n_components`` coordinates whose D-variance is not zero up to rounding."""
    kept = np.flatnonzero(variance > 1e-12 * mean_square)[:n_components]
    if len(kept) < n_components:
        raise RankError(
            f"n_components={n_components}, but the features span only {len(kept)} coordinates that are not"
            f" constant; lower n_components{remedy}",
            len(kept),
        )
    return kept


@dataclass(frozen=True, eq=False)
class EdgeSums:
    """Sums over the edges between samples and anchors, around a fixed origin."""

    laplacian: np.ndarray  # Z'(D - W)Z, (d, d)
    degree: np.ndarray  # Z'DZ, (d, d)
    first: np.ndarray  # Z'D1, (d,)
    volume: float  # 1'D1
    n_rows: int

    def merge(self, other: EdgeSums) -> EdgeSums:
        """Return the sums over both sets of samples."""
        return EdgeSums(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def forms(self) -> QuadraticForms:
        """Quadratic forms of the generalised eigenproblem."""
        size = np.sqrt(np.diagonal(self.degree))
        return QuadraticForms(self.laplacian, self.degree, self.first / self.volume, self.volume, size)


def edge_sums(X: np.ndarray, affinity: GraphAffinity, origin: np.ndarray, loops: float) -> EdgeSums:
    """Compute the sums over the edges of samples ``X`` (n, d) to the anchors.

    ``loops`` is the weight of an edge from a sample to itself.
    """
    weights = affinity(X)
    Z, A = np.asarray(X, dtype=np.float64) - origin, np.asarray(affinity.X, dtype=np.float64) - origin
    row = np.repeat(np.arange(len(Z)), np.diff(weights.indptr))
    laplacian = np.zeros((Z.shape[1], Z.shape[1]))
    for edges in row_blocks(weights.nnz, 8 * Z.shape[1]):
        differences = Z[row[edges]] - A[weights.indices[edges]]
        differences *= np.sqrt(weights.data[edges] / 2)[:, None]
        laplacian += differences.T @ differences
    sample_degree = np.asarray(weights.sum(axis=1)).ravel() / 2 + loops
    anchor_degree = np.asarray(weights.sum(axis=0)).ravel() / 2
    degree = (Z * sample_degree[:, None]).T @ Z + (A * anchor_degree[:, None]).T @ A
    volume = float(sample_degree.sum() + anchor_degree.sum())
    return EdgeSums(laplacian, degree, sample_degree @ Z + anchor_degree @ A, volume, len(Z))


def projection_from_sums(
    sums: EdgeSums, origin: np.ndarray, n_components: int, affine: bool
) -> LocalityProjection:
    """Solve the problem of :func:`locality_preserving` (Brand eq. 8), given the sums over all edges.

    ``origin`` is the origin of the sums: any point if ``affine``, otherwise zero.
    """
    forms = sums.forms.centered() if affine else sums.forms
    whitener = whiten(forms.degree, 1e-12, forms.size).whitener
    pairs = generalized_eigh(forms.laplacian, forms.degree, n_components + (not affine), "smallest", whitener)
    mean_square = np.einsum("ir,ij,jr->r", pairs.vectors, forms.degree, pairs.vectors, optimize=True)
    variance = mean_square - forms.volume * np.square(forms.mean @ pairs.vectors)
    kept = _varying(variance, mean_square, n_components)
    directions = np.sqrt(sums.n_rows) * pairs.vectors[:, kept]
    mean = origin + sums.first / sums.volume if affine else np.zeros(len(origin))
    patterns = directions.T @ forms.degree / sums.n_rows
    return LocalityProjection(directions, mean, patterns, pairs.values[kept], pairs.residuals[kept])


def distortion_from_sums(sums: EdgeSums, directions: np.ndarray) -> float:
    """Compute :func:`eigenscape.quality.distortion` of the map with these directions."""
    forms = sums.forms.centered()
    stretch, size = (directions.T @ form @ directions for form in (forms.laplacian, forms.degree))
    return float(generalized_eigh(stretch, size, order="smallest").values.sum())
