"""Eigenpairs with canonical signs and measured residuals.

See docs/decisions/solvers-residuals.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eigenscape._display import short_repr
from eigenscape.operators import Operator


@dataclass(frozen=True, eq=False)
class EigenPairs:
    """Eigenvalues, eigenvectors and residual norms of a symmetric operator.

    Attributes
    ----------
    values : ndarray of shape (r,)
    vectors : ndarray of shape (m, r)
        Orthonormal columns, each with its largest entry positive.
    residuals : ndarray of shape (r,)
        ``|K v - l v|`` of each pair.
    solver : str
        Name of the solver that computed the pairs.
    n_iter : int
        Number of block iterations; 1 for direct methods.
    """

    _shapes: ClassVar = {"values": "r", "vectors": "n r", "residuals": "r"}
    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    solver: str
    n_iter: int = 1
    next_value: float | None = None  # lowest eigenvalue that was computed and left out, if any

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.values)

    def take(self, which: slice | np.ndarray) -> EigenPairs:
        """Return the selected pairs."""
        # Products with few rows of a sparse kernel would otherwise copy all vectors.
        vectors = np.ascontiguousarray(self.vectors[:, which])
        return EigenPairs(self.values[which], vectors, self.residuals[which], self.solver, self.n_iter)


def canonical_signs(vectors: np.ndarray) -> np.ndarray:
    """Flip the sign of each column so that its entry of largest magnitude is positive."""
    return vectors * column_signs(vectors)


def column_signs(vectors: np.ndarray) -> np.ndarray:
    """Return the sign of the entry of largest magnitude of each column; 1 for a column of zeros.

    If several entries have the largest magnitude up to rounding, the first one decides, so that the signs
    for symmetric data do not depend on rounding errors.
    """
    size = np.abs(vectors)
    decisive = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    sign = np.sign(vectors[decisive, np.arange(vectors.shape[1])])
    return np.where(sign == 0, 1.0, sign)


def with_residuals(
    operator: Operator, values: np.ndarray, vectors: np.ndarray, solver: str, n_iter: int = 1
) -> EigenPairs:
    """Return the pairs in the given order, with canonical signs and residual norms."""
    vectors = vectors * column_signs(vectors)
    residuals = np.linalg.norm(operator.matmat(vectors) - vectors * values, axis=0)
    return EigenPairs(values, vectors, residuals, solver, n_iter)


def angles(pairs: EigenPairs, following: float | None, tol: float, rounding: float) -> np.ndarray:
    """Estimate the angle between each eigenvector and the exact one: its residual divided by the gap.

    The gap is the distance to the nearest eigenvalue that differs. Eigenvalues within the residuals of each
    other are not distinguished: their eigenvectors are determined up to a rotation.

    Parameters
    ----------
    pairs : EigenPairs
    following : float or None
        The next eigenvalue, if known.
    tol : float
        Residuals of at most ``tol`` times the eigenvalue count as ``tol`` at most: they are accurate if the
        gap is as large as the eigenvalue, and an eigenvalue with closer ones has no more digits.
    rounding : float
        Residuals of at most this size are zero.
    """
    values, residuals = pairs.values, pairs.residuals
    others = values if following is None else np.append(values, following)
    errors = residuals if following is None else np.append(residuals, residuals[-1:])
    distance = np.abs(values[:, None] - others)
    differs = distance > residuals[:, None] + errors
    gap = np.where(differs, distance, np.inf).min(axis=1)
    gap = np.where(np.isfinite(gap), gap, np.abs(values))
    if following is not None:  # a subspace that is cut through equal eigenvalues is not determined
        gap = np.where(differs[:, -1], gap, 0.0)
    angle = residuals / np.maximum(gap, np.finfo(np.float64).tiny)
    angle = np.where(residuals <= tol * np.abs(values), np.minimum(angle, tol), angle)
    angle = np.where(residuals <= rounding, 0.0, angle)
    return np.where(np.isfinite(angle), angle, np.inf)
