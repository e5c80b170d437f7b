"""Inverse of a kernel eigenmap: from coordinates back to the space of the data (Brand eq. 19)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from eigenscape import _memory
from eigenscape._memory import row_blocks
from eigenscape._numbers import as_contiguous_float64
from eigenscape.methods.kernel_eigenmap import KernelBasis
from eigenscape.methods.mixture import AffineMixture, ellipses_of, kernel_weights
from eigenscape.methods.tuning import TUNING
from eigenscape.solvers import whiten


def rows_to_invert(X: Any, Y: np.ndarray, n_kernels: int) -> tuple[Any, np.ndarray]:
    """Return evenly spaced rows and their coordinates, enough to fit an inverse of ``n_kernels``."""
    count = max(5000, 8 * (Y.shape[1] + 1) * n_kernels)
    rows = np.linspace(0, len(Y) - 1, min(len(Y), count)).astype(np.intp)
    return X[rows], Y[rows]


def fit_inverse(
    forward: AffineMixture | None, X: Any, Y: np.ndarray, refine: bool
) -> tuple[AffineMixture, float]:
    """Return the inverse of a map from the rows ``X`` to ``Y``, and its round-trip error on these rows.

    If the map is not a mixture (None), the inverse is an affine regression.
    """
    X = X if isinstance(X, np.ndarray) else X.toarray()
    inverse = constant_inverse(X, Y) if forward is None else inverse_by_blocks(forward)
    if refine or forward is None:
        inverse = refine_inverse(inverse, X, Y)
    return inverse, round_trip_error(inverse, X, Y)


def inverse_by_blocks(forward: AffineMixture) -> AffineMixture:
    """Map the mean and covariance of each kernel and pseudo-invert its affine map (Brand eq. 19).

    Brand uses the blocks ``G_k`` of ``G``. But the division of a slope between overlapping kernels is
    arbitrary, and only their mixture is meaningful. So the affine map of a kernel is the tangent of the
    mixture at its centre: mean ``y(mu_k)``, covariance ``J_k Sigma_k J_k'``, and inverse
    ``mu_k + J_k^+ (y - y(mu_k))``. The factor ``v_1' G^+ z^+(y)`` of eq. 19 is dropped: it undoes the
    division by ``v_1' z(x)`` of the reweighted map (eq. 18), and ``J_k`` is the tangent of the divided map.
    """
    kernels = forward.kernels
    means, tangents = forward(kernels.centers), forward.jacobian(kernels.centers)  # (K, d), (K, d, D)
    covariances = kernels.mapped_covariances(tangents)
    floor = max(TUNING.flat**2 * float(np.trace(covariances, axis1=1, axis2=2).mean()), np.finfo(float).tiny)
    inverses = np.array([linalg.pinv(tangent, rtol=TUNING.flat) for tangent in tangents])  # (K, D, d)
    slopes = np.ascontiguousarray(inverses.transpose(0, 2, 1))
    constant = np.zeros(kernels.centers.shape[1])
    return AffineMixture(ellipses_of(means, covariances, floor), slopes, kernels.centers, constant)


def constant_inverse(X: np.ndarray, Y: np.ndarray) -> AffineMixture:
    """Return a mixture of one kernel with the mean of ``X`` as value: the start of an affine regression."""
    covariance, D = np.cov(Y.T).reshape(1, Y.shape[1], -1), X.shape[1]
    kernels = ellipses_of(Y.mean(axis=0)[None], covariance, np.finfo(float).tiny)
    return AffineMixture(kernels, np.zeros((1, Y.shape[1], D)), X.mean(axis=0)[None], np.zeros(D))


def refine_inverse(inverse: AffineMixture, X: np.ndarray, Y: np.ndarray) -> AffineMixture:
    """Add the least-squares fit of the residuals to the slopes and offsets of the mixture.

    The mean squared error on the given rows cannot rise; directions that they do not determine are unchanged.
    """
    Y = as_contiguous_float64(Y)
    weights = kernel_weights(inverse.kernels, Y)
    basis = KernelBasis(Y, inverse.kernels, weights)
    n, p = len(Y), basis.n_columns
    _memory.require(
        8.0 * min(n * (p + 3.0 * n), 4.0 * p * p), f"an inverse of {p} coefficients", "set inverse='blocks'"
    )
    residual = X - inverse.mix(Y, weights)
    solution = _solve_by_rows(basis, residual) if p > n else _solve_by_columns(basis, residual)
    change = basis.mixture(solution)
    return replace(inverse, slopes=inverse.slopes + change.slopes, offsets=inverse.offsets + change.offsets)


def _solve_by_columns(basis: KernelBasis, residual: np.ndarray) -> np.ndarray:
    """Return ``(Z'Z)^+ Z' residual`` (p, D), the columns of ``Z`` scaled to unit length."""
    p, order = basis.n_columns, basis.order
    gram, moment = np.zeros((p, p)), np.zeros((p, residual.shape[1]))
    for rows in row_blocks(len(residual), 1, 768):
        Z, columns = basis.block(order[rows])
        gram[np.ix_(columns, columns)] += Z.T @ Z
        moment[columns] += Z.T @ residual[order[rows]]
    whitener = whiten(gram, TUNING.coefficient_rank).whitener
    return whitener @ (whitener.T @ moment)


def _solve_by_rows(basis: KernelBasis, residual: np.ndarray) -> np.ndarray:
    """Return the same as ``Z' (Z Z')^+ residual``, the smaller problem if ``p > n``."""
    Z = np.zeros((len(residual), basis.n_columns))
    values, columns = basis.block(np.arange(len(residual)))
    Z[:, columns] = values
    size = np.linalg.norm(Z, axis=0)
    size = np.where(size > np.finfo(float).eps * size.max(), size, 1.0)
    Z /= size
    values, vectors = linalg.eigh(Z @ Z.T)
    kept = values > TUNING.coefficient_rank * values[-1]
    weights = vectors[:, kept] @ ((vectors[:, kept].T @ residual) / values[kept][:, None])
    return (Z.T @ weights) / size[:, None]


def round_trip_error(inverse: AffineMixture, X: np.ndarray, Y: np.ndarray) -> float:
    """Return the median distance of ``X`` and the inverse of ``Y``, relative to the diameter of the data.

    The diameter is the largest distance from the point farthest from the mean.
    """
    error = np.linalg.norm(inverse(Y) - X, axis=1)
    diameter = np.linalg.norm(X - X[np.argmax(np.linalg.norm(X - X.mean(axis=0), axis=1))], axis=1).max()
    return float(np.median(error) / diameter)
