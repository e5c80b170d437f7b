"""Features and solvers of brand-3 that are not in the library: a guarded denominator, plain Cholesky."""

from __future__ import annotations

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


def cholesky_maps(Z: np.ndarray, W: sparse.csr_array) -> dict[str, np.ndarray | None]:
    """Return the four maps by a plain Cholesky factor of ``Z D Z'`` (Brand eq. 9-11), None without a factor.

    A factor does not exist if a pivot is not positive.
    """
    plain = _cholesky_eigenvectors(Z, W)
    augmented = np.column_stack([Z, np.ones(len(Z))])
    affine = _cholesky_eigenvectors(augmented, W)
    if plain is None:
        raw = reweighted = stochastic = None
    else:
        first = Z @ plain[:, :1]
        raw, reweighted = Z @ plain[:, 1:], Z @ plain[:, 1:] / first
        again = _cholesky_eigenvectors(Z / first, W)
        stochastic = None if again is None else Z / first @ again[:, 1:]
    return {
        "raw": raw,
        "affine": None if affine is None else augmented @ affine[:, 1:],
        "reweighted": reweighted,
        "stochastic": stochastic,
    }


def _cholesky_eigenvectors(Z: np.ndarray, W: sparse.csr_array) -> np.ndarray | None:
    """Return the first three eigenvectors (p, 3) of Brand eq. 8, or None if ``Z D Z'`` has no factor."""
    try:
        R = linalg.cholesky(Z.T @ (degrees(W)[:, None] * Z))
    except linalg.LinAlgError:
        return None
    half = linalg.solve_triangular(R, Z.T @ (W @ Z), trans="T")
    B = linalg.solve_triangular(R, half.T, trans="T")  # eq. 9
    vectors = linalg.eigh((B + B.T) / 2)[1][:, ::-1][:, :3]  # eq. 10
    return linalg.solve_triangular(R, vectors)  # eq. 11


def smallest_eigenvalue(Z: np.ndarray, W: sparse.csr_array) -> float:
    """Return the smallest eigenvalue of ``Z D Z'``, scaled to a unit diagonal."""
    scaled = Z * np.sqrt(degrees(W))[:, None]
    scaled = scaled / np.linalg.norm(scaled, axis=0)
    return float(linalg.eigvalsh(scaled.T @ scaled, subset_by_index=(0, 0))[0])
