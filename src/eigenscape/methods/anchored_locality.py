"""Locality preserving projections of many rows through few anchors: the matrices of Brand eq. 8 as sums over
rows.

Every row is joined to the anchors by the rule of their own graph. With weights ``w(x_i, a_j)`` the two
quadratic forms are

    ``Z'(D - W)Z = 1/2 sum_ij w_ij (x_i - a_j)(x_i - a_j)'``,    ``Z'DZ = 1/2 sum_ij w_ij (x_i x_i' + a_j
    a_j')``,

those of the graph itself where all rows are anchors.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape.exceptions import RankError
from eigenscape.kernels.affinity import GraphAffinity
from eigenscape.methods.locality import CONSTANT, Projection
from eigenscape.methods.quadratic_forms import QuadraticForms
from eigenscape.solvers import generalized_eigh, whiten


@dataclass(frozen=True, eq=False)
class EdgeSums:
    """Both forms (d, d) around a fixed origin, ``Z'D1`` (d,), ``1'D1``, and the number of rows."""

    laplacian: np.ndarray
    degree: np.ndarray
    first: np.ndarray
    volume: float
    n_rows: int

    def joined(self, other: EdgeSums) -> EdgeSums:
        """The sums over both sets of rows."""
        return EdgeSums(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def forms(self) -> QuadraticForms:
        return QuadraticForms(
            self.laplacian,
            self.degree,
            self.first / self.volume,
            self.volume,
            np.sqrt(np.diagonal(self.degree)),
        )


def edge_sums(X: np.ndarray, affinity: GraphAffinity, origin: np.ndarray, loops: float) -> EdgeSums:
    """The sums over the edges of rows ``X`` (n, d) to the anchors; ``loops`` is the weight of an edge from a
    row to itself."""
    weights = affinity(X)
    Z, A = np.asarray(X, dtype=np.float64) - origin, np.asarray(affinity.X, dtype=np.float64) - origin
    row = np.repeat(np.arange(len(Z)), np.diff(weights.indptr))
    laplacian = np.zeros((Z.shape[1], Z.shape[1]))
    for some in row_blocks(weights.nnz, 8 * Z.shape[1]):
        steps = (Z[row[some]] - A[weights.indices[some]]) * np.sqrt(weights.data[some] / 2)[:, None]
        laplacian += steps.T @ steps
    own = np.asarray(weights.sum(axis=1)).ravel() / 2 + loops  # degrees of the rows
    theirs = np.asarray(weights.sum(axis=0)).ravel() / 2
    degree = (Z * own[:, None]).T @ Z + (A * theirs[:, None]).T @ A
    return EdgeSums(laplacian, degree, own @ Z + theirs @ A, float(own.sum() + theirs.sum()), len(Z))


def locality_of_sums(
    sums: EdgeSums, origin: np.ndarray, n_components: int, affine: bool, rank_tol: float = 1e-12
) -> Projection:
    """Directions with ``Y'DY = n`` (Brand eq. 8), as :func:`eigenscape.methods.locality.locality_preserving`
    has them.

    ``origin`` is where the sums are taken around: any place if ``affine``, else zero.
    """
    forms = sums.forms.centered() if affine else sums.forms
    whitener = whiten(forms.degree, rank_tol, forms.size).whitener
    pairs = generalized_eigh(forms.laplacian, forms.degree, n_components + (not affine), "smallest", whitener)
    mean_square = np.einsum("ir,ij,jr->r", pairs.vectors, forms.degree, pairs.vectors, optimize=True)
    variance = mean_square - forms.volume * np.square(forms.mean @ pairs.vectors)
    pick = np.flatnonzero(variance > CONSTANT * mean_square)[:n_components]
    if len(pick) < n_components:
        raise RankError(
            f"n_components={n_components}, but the features span only {len(pick)} that are not constant; lower n_components"
        )
    directions = np.sqrt(sums.n_rows) * pairs.vectors[:, pick]
    mean = origin + sums.first / sums.volume if affine else np.zeros(len(origin))
    patterns = directions.T @ forms.degree / sums.n_rows
    return Projection(directions, mean, patterns, pairs.values[pick], pairs.residuals[pick])


def distortion_of_sums(sums: EdgeSums, directions: np.ndarray) -> float:
    """:func:`eigenscape.quality.distortion` of the map with these directions."""
    forms = sums.forms.centered()
    stretch, size = (directions.T @ each @ directions for each in (forms.laplacian, forms.degree))
    return float(generalized_eigh(stretch, size, order="smallest").values.sum())
