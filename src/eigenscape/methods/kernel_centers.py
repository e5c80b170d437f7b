"""Centres, widths and covariances of the kernels of a kernel eigenmap (Brand sec. 3)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.dictionary.landmarks import farthest_first, greedy_pivots
from eigenscape.exceptions import RankError, UndefinedMapError
from eigenscape.graph.row_index import distinct_rows
from eigenscape.kernels.pairwise import squared_euclidean
from eigenscape.methods.mixture import (
    EllipticKernels,
    IsotropicKernels,
    ellipses_of,
    kernel_weights,
    weighted_axes,
)
from eigenscape.methods.tuning import TUNING

Placement = Literal["random", "kmeans", "maxmin", "greedy"]


def place_kernels(
    X: np.ndarray, n_kernels: int, centers: Placement | np.ndarray, sigma: float | None, seed: int
) -> IsotropicKernels:
    """Return kernels centred among the points ``X``; equal rows count once.

    ``centers`` may be the centres themselves. With ``sigma=None`` the width is :func:`default_sigma`.
    """
    n_rows, X = len(X), X[distinct_rows(X)[0]]
    if len(X) == 1:
        raise RankError(f"all {n_rows} rows are equal; there is nothing to embed")
    if isinstance(centers, str):
        if n_kernels > len(X):
            raise RankError(
                f"n_kernels={n_kernels} needs as many distinct samples, got n_samples={len(X)};"
                " lower n_kernels"
            )
        centers = place_centers(X, n_kernels, centers, sigma, seed)
    elif centers.shape[1] != X.shape[1]:
        raise ValueError(f"centers has {centers.shape[1]} features, but X has {X.shape[1]}")
    if sigma is None:
        return IsotropicKernels(centers, default_sigma(X, centers))
    distance = max_distance(X, centers)
    if distance > TUNING.center_distance * sigma:
        raise UndefinedMapError(
            f"sigma={sigma:g} is so small that some training points belong to no kernel: one is"
            f" {distance / sigma:.3g} sigma from its nearest centre; set sigma to at least"
            f" {distance / TUNING.center_distance:.3g}, or use more kernels"
        )
    return IsotropicKernels(centers, sigma)


def place_centers(
    X: np.ndarray, n_kernels: int, placement: Placement, sigma: float | None, seed: int
) -> np.ndarray:
    """Choose centres (n_kernels, D) among the distinct points ``X`` (k-means: means of clusters).

    ``"random"`` is Brand's choice. ``"maxmin"`` adds the point farthest from the centres so far. ``"greedy"``
    adds the point whose Gaussian the Gaussians of the centres so far represent worst (:func:`greedy_pivots`;
    with ``sigma=None`` the width is the default of random centres).
    """
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(X))
    if placement == "random" or n_kernels == len(X):
        return X[shuffled[:n_kernels]]
    with stage("centres"):
        if placement == "maxmin":
            return X[farthest_first(_FeatureDistances(X), len(X), n_kernels, int(shuffled[0]))]
        candidates = X[shuffled[: max(20_000, n_kernels)]]  # arrays are (candidates, kernels)
        if placement == "kmeans":
            from scipy.cluster.vq import kmeans2  # loads the whole of scipy.cluster

            with warnings.catch_warnings():  # the centre of an empty cluster stays where it was
                warnings.filterwarnings("ignore", "One of the clusters is empty")
                start = candidates[:n_kernels].copy()
                return kmeans2(candidates, start, iter=25, minit="matrix", missing="warn")[0]
        width = default_sigma(X, candidates[:n_kernels]) if sigma is None else sigma
        return candidates[greedy_pivots(_FeatureDistances(candidates, width), len(candidates), n_kernels, 0)]


@dataclass(frozen=True, eq=False)
class _FeatureDistances:
    """Squared distances (n,) of a point to all points, Euclidean or in the feature space of a Gaussian."""

    X: np.ndarray
    sigma: float | None = None

    def __call__(self, i: int) -> np.ndarray:
        if self.sigma is None:
            return squared_euclidean(self.X, self.X[i : i + 1])[:, 0]
        return 2 - 2 * np.exp(squared_euclidean(self.X, self.X[i : i + 1], -0.5 / self.sigma**2)[:, 0])


def default_sigma(X: np.ndarray, centers: np.ndarray) -> float:
    """Return half the median distance of a centre to its third nearest other centre.

    The result is raised if necessary such that every point belongs to a kernel.
    """
    centers = np.unique(centers, axis=0)
    if len(centers) == 1:
        return float(np.sqrt(squared_euclidean(X, centers).mean()))
    rank = min(3, len(centers) - 1)  # on a surface a centre has about six others around it
    between = np.partition(squared_euclidean(centers, centers), rank, axis=1)[:, rank]
    spacing = 0.5 * float(np.sqrt(np.median(between)))
    return max(spacing, max_distance(X, centers) / TUNING.center_distance * 1.01)


def max_distance(X: np.ndarray, centers: np.ndarray) -> float:
    """Return the largest distance of a point to its nearest centre."""
    blocks = row_blocks(len(X), 24 * len(centers))
    return float(np.sqrt(max(squared_euclidean(X[rows], centers).min(axis=1).max() for rows in blocks)))


CovarianceType = Literal["spherical", "full"]


def local_ellipses(X: np.ndarray, kernels: IsotropicKernels, fixed_width: bool) -> EllipticKernels:
    """Return kernels with the shapes of the points around them.

    The points of a kernel are weighted by its posteriors. The largest width is the width of ``kernels``, the
    others are in proportion to the standard deviations of the points, but at least ``width_floor`` times the
    largest. All are raised if necessary such that every point belongs to a kernel; with ``fixed_width`` that
    is an error.
    """
    axes = [_relative_axes(weight, X[rows]) for rows, weight in kernel_weights(kernels, X).members()]
    K, D = kernels.centers.shape
    q = max(len(widths) for widths, _ in axes)
    directions, spreads = np.zeros((K, q, D)), np.full((K, q), TUNING.width_floor)
    for k, (widths, vectors) in enumerate(axes):
        spreads[k, : len(widths)], directions[k, : len(widths)] = widths, vectors
    scale = kernels.sigma
    ellipses = EllipticKernels(
        kernels.centers, directions, scale * spreads, np.full(K, scale * TUNING.width_floor)
    )
    distance = max_mahalanobis(X, ellipses)
    if distance <= TUNING.center_distance:
        return ellipses
    if fixed_width:
        raise UndefinedMapError(
            f"sigma={scale:g} is so small that some training points belong to no kernel: one is"
            f" {distance:.3g} standard deviations from its nearest centre; set sigma to at least"
            f" {scale * distance / TUNING.center_distance:.3g}, or use more kernels or"
            " covariances='spherical'"
        )
    factor = 1.01 * distance / TUNING.center_distance
    return EllipticKernels(kernels.centers, directions, factor * ellipses.spreads, factor * ellipses.rest)


def _relative_axes(weight: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the widths (q,) above the floor, relative to the largest, and their directions (q, D)."""
    widths, directions = weighted_axes(weight, points)
    kept = widths > TUNING.width_floor * widths.max(initial=0.0)
    return widths[kept] / widths.max(initial=1e-300), directions[kept]


def check_covariances(covariances: np.ndarray, K: int, D: int) -> np.ndarray:
    """Return the covariances (K, D, D) of K kernels in D features, or raise ValueError."""
    if covariances.shape not in ((K, D, D), (D, D)):
        raise ValueError(
            f"covariances has shape {covariances.shape}; {K} kernels in {D} features need (n_kernels,"
            f" n_features, n_features) = {(K, D, D)} or {(D, D)}"
        )
    if not np.allclose(covariances, np.swapaxes(covariances, -1, -2), rtol=1e-8, atol=0):
        raise ValueError("covariances must be symmetric; use (C + C.T) / 2")
    covariances = np.broadcast_to(covariances, (K, D, D))
    values = np.linalg.eigvalsh(covariances)
    if (values <= np.finfo(float).eps * values[:, -1:]).any():
        k = int(np.argmin(values[:, 0]))
        raise ValueError(
            f"covariances must be positive definite, but the matrix of kernel {k} has the eigenvalue"
            f" {values[k, 0]:.3g}; add a small multiple of the identity"
        )
    return covariances


def given_ellipses(X: np.ndarray, centers: np.ndarray, covariances: np.ndarray) -> EllipticKernels:
    """Return kernels with the given covariances (K, D, D), or (D, D) shared by all."""
    ellipses = ellipses_of(centers, check_covariances(covariances, *centers.shape))
    distance = max_mahalanobis(X, ellipses)
    if distance > TUNING.center_distance:
        raise UndefinedMapError(
            f"covariances are so small that some training points belong to no kernel: one is {distance:.3g}"
            f" standard deviations from its nearest centre; multiply them by at least"
            f" {(distance / TUNING.center_distance) ** 2:.3g}, or use more kernels"
        )
    return ellipses


def max_mahalanobis(X: np.ndarray, kernels: EllipticKernels) -> float:
    """Return the largest distance of a point to its nearest kernel, in standard deviations."""
    blocks = row_blocks(len(X), 24 * len(kernels.centers) + 16 * X.shape[1])
    return float(np.sqrt(max(kernels.squared_distances(X[rows]).min(axis=1).max() for rows in blocks)))
