"""Features and solvers of brand-3 that are not in the library: a guarded denominator, plain Cholesky."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from eigenscape.methods.graph_embedding import affine_transformation, raw_transformation
from eigenscape.methods.quadratic_forms import FeatureBasis


def kernel_features(X: np.ndarray, centers: np.ndarray, sigma: float, delta: float = 0.0) -> np.ndarray:
    """Return ``z(x)`` (n, K * (D + 1)) of Brand eq. 15 with the weights ``p_k / (sum p + delta)``.

    ``delta = 0`` are the posteriors of eq. 14. ``p_k`` is 1 at the centre of the kernel.
    """
    local = X[:, None] - centers
    weights = np.exp(-np.square(local).sum(axis=2) / (2 * sigma**2))
    weights /= weights.sum(axis=1, keepdims=True) + delta
    homogeneous = np.concatenate([local, np.ones((*weights.shape, 1))], axis=2)
    return (homogeneous * weights[:, :, None]).reshape(len(X), -1)


def degrees(W: sparse.csr_array) -> np.ndarray:
    """Return the sums of the rows of ``W`` (n,)."""
    return np.asarray(W.sum(axis=1)).ravel()


def accurate_maps(Z: np.ndarray, W: sparse.csr_array) -> dict[str, np.ndarray]:
    """Return the four corrected maps (n, 2) of the features ``Z`` (n, p), by the solver of the library."""
    degree = degrees(W)
    raw, uniform = raw_transformation(FeatureBasis(Z), W, degree, 2)
    first = (Z @ uniform)[:, None]
    stochastic = affine_transformation(FeatureBasis(Z / first), W, degree, 2)  # Brand eq. 12
    affine = affine_transformation(FeatureBasis(Z), W, degree, 2)
    return {
        "raw": Z @ raw.coefficients,
        "affine": Z @ affine.coefficients,
        "reweighted": Z @ raw.coefficients / first,
        "stochastic": Z / first @ stochastic.coefficients,
    }


class PlainMap(NamedTuple):
    """A map by a solver that does not guard against singular matrices; whether there is a factor."""

    Y: np.ndarray
    factor: bool


def cholesky_maps(Z: np.ndarray, W: sparse.csr_array) -> dict[str, PlainMap]:
    """Return the four maps by a plain Cholesky factor of ``Z D Z'`` (Brand eq. 9-11).

    A factor does not exist if a pivot is not positive. Then the QZ algorithm is used for eq. 8, as by the
    ``eig(A, B)`` of MATLAB.
    """
    plain, factor = _plain_eigenvectors(Z, W)
    first = Z @ plain[:, :1]
    again, again_factor = _plain_eigenvectors(Z / first, W)
    augmented = np.column_stack([Z, np.ones(len(Z))])
    affine, affine_factor = _plain_eigenvectors(augmented, W)
    return {
        "raw": PlainMap(Z @ plain[:, 1:], factor),
        "affine": PlainMap(augmented @ affine[:, 1:], affine_factor),
        "reweighted": PlainMap(Z @ plain[:, 1:] / first, factor),
        "stochastic": PlainMap(Z / first @ again[:, 1:], again_factor),
    }


def _plain_eigenvectors(Z: np.ndarray, W: sparse.csr_array) -> tuple[np.ndarray, bool]:
    """Return the first three eigenvectors (p, 3) of Brand eq. 8, and whether ``Z D Z'`` has a factor."""
    left, right = Z.T @ (W @ Z), Z.T @ (degrees(W)[:, None] * Z)
    try:
        R = linalg.cholesky(right)
    except linalg.LinAlgError:
        values, vectors = linalg.eig(left, right)
        finite = np.where(np.isfinite(values), values.real, -np.inf)
        return vectors[:, np.argsort(-finite)[:3]].real, False
    half = linalg.solve_triangular(R, left, trans="T")
    B = linalg.solve_triangular(R, half.T, trans="T")  # eq. 9
    vectors = linalg.eigh((B + B.T) / 2)[1][:, ::-1][:, :3]  # eq. 10
    return linalg.solve_triangular(R, vectors), True  # eq. 11


def smallest_eigenvalue(Z: np.ndarray, W: sparse.csr_array) -> float:
    """Return the smallest eigenvalue of ``Z D Z'``, scaled to a unit diagonal."""
    scaled = Z * np.sqrt(degrees(W))[:, None]
    scaled = scaled / np.linalg.norm(scaled, axis=0)
    return float(linalg.eigvalsh(scaled.T @ scaled, subset_by_index=(0, 0))[0])
