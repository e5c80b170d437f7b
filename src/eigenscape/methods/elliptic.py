"""Kernels of a kernel eigenmap with covariances of their own (Brand sec. 3: ``N(x | mu_k, Sigma_k)``)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import linalg, sparse

from eigenscape._memory import row_blocks
from eigenscape.exceptions import UndefinedMapError
from eigenscape.methods.kernel_centers import MAX_DISTANCE
from eigenscape.methods.mixture import EllipticKernels, IsotropicKernels, kernel_weights

CovarianceType = Literal["spherical", "full"]

#: Smallest width of a kernel, relative to its largest.
FLOOR = 0.2


def local_ellipses(X: np.ndarray, kernels: IsotropicKernels, fixed_width: bool) -> EllipticKernels:
    """Return kernels with the shapes of the points around them.

    The points of a kernel are weighted by its posteriors. The largest width is that of ``kernels``, the
    others are in proportion to the standard deviations of the points, but at least :data:`FLOOR` times the
    largest. All are raised if necessary such that every point belongs to a kernel; with ``fixed_width`` that
    is an error.
    """
    columns = sparse.csc_array(kernel_weights(kernels, X).matrix)
    axes = [
        _relative_axes(columns.data[column], X[columns.indices[column]])
        for column in map(slice, columns.indptr[:-1], columns.indptr[1:])
    ]
    K, D = kernels.centers.shape
    q = max(len(widths) for widths, _ in axes)
    directions, spreads = np.zeros((K, q, D)), np.full((K, q), FLOOR)
    for k, (widths, vectors) in enumerate(axes):
        spreads[k, : len(widths)], directions[k, : len(widths)] = widths, vectors
    scale = kernels.sigma
    ellipses = EllipticKernels(kernels.centers, directions, scale * spreads, np.full(K, scale * FLOOR))
    distance = max_mahalanobis(X, ellipses)
    if distance <= MAX_DISTANCE:
        return ellipses
    if fixed_width:
        raise UndefinedMapError(
            f"sigma={scale:g} is so small that some training points belong to no kernel: one is"
            f" {distance:.3g} standard deviations from its nearest centre; set sigma to at least"
            f" {scale * distance / MAX_DISTANCE:.3g}, or use more kernels or covariances='spherical'"
        )
    factor = 1.01 * distance / MAX_DISTANCE
    return EllipticKernels(kernels.centers, directions, factor * ellipses.spreads, factor * ellipses.rest)


def _relative_axes(weight: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return widths relative to the largest (q,), those above the floor, and their directions (q, D)."""
    if len(weight) == 0:
        return np.zeros(0), np.zeros((0, points.shape[1]))
    spread = np.sqrt(weight)[:, None] * (points - weight @ points / weight.sum())
    widths, directions = linalg.svd(spread, full_matrices=False)[1:]
    kept = widths > FLOOR * widths[0]
    return widths[kept] / widths[0] if kept.any() else widths[:0], directions[kept]


def given_ellipses(X: np.ndarray, centers: np.ndarray, covariances: np.ndarray) -> EllipticKernels:
    """Return kernels with the given covariances (K, D, D), or (D, D) shared by all."""
    K, D = centers.shape
    if covariances.shape not in ((K, D, D), (D, D)):
        raise ValueError(
            f"covariances has shape {covariances.shape}; {K} kernels in {D} features need (n_kernels,"
            f" n_features, n_features) = {(K, D, D)} or {(D, D)}"
        )
    if not np.allclose(covariances, np.swapaxes(covariances, -1, -2), rtol=1e-8, atol=0):
        raise ValueError("covariances must be symmetric; use (C + C.T) / 2")
    values, vectors = np.linalg.eigh(np.broadcast_to(covariances, (K, D, D)))
    if (values <= np.finfo(float).eps * values[:, -1:]).any():
        k = int(np.argmin(values[:, 0]))
        raise ValueError(
            f"covariances must be positive definite, but that of kernel {k} has the eigenvalue"
            f" {values[k, 0]:.3g}; add a small multiple of the identity"
        )
    directions = np.ascontiguousarray(vectors.transpose(0, 2, 1))
    ellipses = EllipticKernels(centers, directions, np.sqrt(values), np.sqrt(values[:, -1]))
    distance = max_mahalanobis(X, ellipses)
    if distance > MAX_DISTANCE:
        raise UndefinedMapError(
            f"covariances are so small that some training points belong to no kernel: one is {distance:.3g}"
            f" standard deviations from its nearest centre; multiply them by at least"
            f" {(distance / MAX_DISTANCE) ** 2:.3g}, or use more kernels"
        )
    return ellipses


def max_mahalanobis(X: np.ndarray, kernels: EllipticKernels) -> float:
    """Return the largest distance of a point to its nearest kernel, in standard deviations."""
    blocks = row_blocks(len(X), 24 * len(kernels.centers) + 16 * X.shape[1])
    return float(np.sqrt(max(kernels.squared_distances(X[rows]).min(axis=1).max() for rows in blocks)))
