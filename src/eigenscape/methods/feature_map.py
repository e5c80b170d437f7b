"""Maps that are linear in the features of the vertices of a graph (Brand eq. 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from eigenscape.methods.graph_embedding import Correction, Transformation, solve_transformation
from eigenscape.methods.mixture import safe_divide
from eigenscape.methods.quadratic_forms import FeatureBasis
from eigenscape.methods.row_span import solve_by_rows


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """``y(x) = G'(x - origin) [/ u'x] + constant`` for features ``x``; ``origin`` is None for sparse ones."""

    _shapes: ClassVar = {"origin": "d", "transformation.coefficients": "d r"}
    transformation: Transformation
    origin: np.ndarray | None = None

    def __call__(self, X: Any) -> np.ndarray:
        """Return the coordinates (n, d) of the rows of ``X``."""
        values = (X if self.origin is None else X - self.origin) @ self.transformation.coefficients
        if self.transformation.uniform is not None:
            values = safe_divide(values, (X @ self.transformation.uniform)[:, None])
        return values + self.transformation.constant

    def jacobian(self, X: Any) -> np.ndarray:
        """Return ``dy/dx`` (n, d, D)."""
        G, uniform = self.transformation.coefficients, self.transformation.uniform
        slope = np.broadcast_to(G.T, (X.shape[0], *G.T.shape))
        if uniform is None:
            return slope.copy()
        value = self(X) - self.transformation.constant
        return safe_divide(slope - value[:, :, None] * uniform, (X @ uniform)[:, None, None])


def feature_map(
    Z: Any, W: sparse.csr_array, degree: np.ndarray, n_components: int, correction: Correction
) -> FeatureMap:
    """Return the transformational embedding of a graph with vertex features ``Z`` (Brand eq. 8)."""
    origin = None
    if correction == "affine" and not sparse.issparse(Z):  # same span, but less cancellation
        origin = degree @ Z / degree.sum()
        Z = Z - origin
    solve = solve_by_rows if Z.shape[1] > Z.shape[0] else solve_transformation
    transformation = solve(FeatureBasis(Z), W, degree, n_components, correction)
    return FeatureMap(transformation.with_signs_of(FeatureMap(transformation)(Z)), origin)
