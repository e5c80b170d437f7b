"""Locality preserving projections: eq. 8 of Brand with the data themselves for a description (He and
Niyogi)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenscape.exceptions import RankError
from eigenscape.methods.graph_embedding import feature_map, solve_reduced
from eigenscape.methods.quadratic_forms import FeatureBasis, quadratic_forms

#: A coordinate whose D-variance is below this share of its mean square is constant.
CONSTANT = 1e-12


class Projection(NamedTuple):
    """``y = directions'(x - mean)`` with its eigenvalues ``1 - gaps``; ``patterns`` (d, D) lead back."""

    directions: np.ndarray
    mean: np.ndarray
    patterns: np.ndarray
    gaps: np.ndarray
    residuals: np.ndarray


def locality_preserving(
    X: np.ndarray, W: sparse.csr_array, degree: np.ndarray, n_components: int, affine: bool
) -> Projection:
    """Directions with ``Y'DY = n``, after the D-mean if ``affine``, else around the origin without what is
    constant on the data."""
    if affine:
        found = feature_map(X, W, degree, n_components, "affine")
        assert found.origin is not None
        directions, mean, gaps, residuals = (
            found.transformation.coefficients,
            found.origin,
            found.transformation.gaps,
            found.transformation.residuals,
        )
    else:
        directions, gaps, residuals = _around_origin(X, W, degree, n_components)
        mean = np.zeros(X.shape[1])
    centered = X - mean
    patterns = directions.T @ (centered.T @ (degree[:, None] * centered)) / len(X)
    return Projection(directions, mean, patterns, gaps, residuals)


def _around_origin(
    X: np.ndarray, W: sparse.csr_array, degree: np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    basis = FeatureBasis(X)
    forms = quadratic_forms(basis, W, degree)
    pairs = solve_reduced(basis, W, degree, forms, n_components + 1)
    Y = basis.apply(pairs.vectors)
    mean_square = degree @ np.square(Y)
    variance = mean_square - np.square(degree @ Y) / forms.volume
    pick = np.flatnonzero(variance > CONSTANT * mean_square)[:n_components]
    if len(pick) < n_components:
        raise RankError(
            f"n_components={n_components}, but the features span only {len(pick)} that are not constant, as seen from the origin; centre X"
            " or use affine=True if it is far from there, or lower n_components"
        )
    return np.sqrt(len(X)) * pairs.vectors[:, pick], pairs.values[pick], pairs.residuals[pick]
