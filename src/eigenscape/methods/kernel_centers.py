"""Where the kernels of a kernel eigenmap stand, and how wide they are."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from scipy.cluster.vq import kmeans2

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.dictionary.landmarks import farthest_first, greedy_pivots
from eigenscape.exceptions import RankError, UndefinedMapError
from eigenscape.graph.row_index import distinct_rows
from eigenscape.kernels.pairwise import squared_euclidean
from eigenscape.methods.mixture import RoundKernels

Placement = Literal["random", "kmeans", "maxmin", "greedy"]

#: The greedy choice and k-means look at no more than this many points: their arrays are (points, kernels).
_CANDIDATES = 20_000
#: Width in units of the typical distance between neighbouring centres.
_WIDTH = 0.5
#: Which of the nearest other centres is "neighbouring": on a surface a centre has some six around it.
_NEIGHBOR = 3
#: No training point may be farther than this many widths from its nearest centre.
FARTHEST = 30.0


def placed_kernels(
    X: np.ndarray, n_kernels: int, centers: Placement | np.ndarray, sigma: float | None, seed: int
) -> RoundKernels:
    """Kernels among the points ``X``, of the given width or (None) of one that their centres suggest. Equal
    rows count once."""
    rows, X = len(X), X[distinct_rows(X)[0]]
    if len(X) == 1:
        raise RankError(f"all {rows} rows are equal; there is nothing that kernels could tell apart")
    if not isinstance(centers, str):
        if centers.shape[1] != X.shape[1]:
            raise ValueError(
                f"centers has {centers.shape[1]} features, but X has {X.shape[1]}; centres live in the space of X"
            )
        placed = centers
    else:
        if n_kernels > len(X):
            raise RankError(
                f"n_kernels={n_kernels} needs as many distinct samples, got n_samples={len(X)}; lower n_kernels"
            )
        placed = place_centers(X, n_kernels, centers, sigma, seed)
    if sigma is None:
        return RoundKernels(placed, default_sigma(X, placed))
    reach = farthest_point(X, placed)
    if reach > FARTHEST * sigma:
        raise UndefinedMapError(
            f"sigma={sigma:g} is so small that some training points belong to no kernel: one is {reach / sigma:.3g} sigma from its nearest"
            f" centre; set sigma to at least {reach / FARTHEST:.3g}, or use more kernels"
        )
    return RoundKernels(placed, sigma)


def place_centers(
    X: np.ndarray, n_kernels: int, placement: Placement, sigma: float | None, seed: int
) -> np.ndarray:
    """Centres (n_kernels, D) among the distinct points ``X`` (k-means: among their means).

    ``"random"`` is the paper's. ``"maxmin"`` adds the point farthest from the centres so far. ``"greedy"``
    adds the point whose Gaussian is worst represented by those of the centres so far (:func:`greedy_pivots`;
    ``sigma=None`` takes the width that random centres would get)."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(X))
    if placement == "random" or n_kernels == len(X):
        return X[shuffled[:n_kernels]]
    with stage("centres"):
        if placement == "maxmin":
            first = int(shuffled[0])
            return X[
                farthest_first(lambda i: squared_euclidean(X, X[i : i + 1])[:, 0], len(X), n_kernels, first)
            ]
        some = X[shuffled[: max(_CANDIDATES, n_kernels)]]
        if placement == "kmeans":
            with warnings.catch_warnings():
                warnings.filterwarnings(
                    "ignore", "One of the clusters is empty"
                )  # its centre stays where it was, which serves
                return kmeans2(some, some[:n_kernels].copy(), iter=25, minit="matrix", missing="warn")[0]
        width = default_sigma(X, some[:n_kernels]) if sigma is None else sigma

        def apart(i: int) -> np.ndarray:  # squared distances in the feature space of the Gaussian
            return 2 - 2 * np.exp(squared_euclidean(some, some[i : i + 1], -0.5 / width**2)[:, 0])

        return some[greedy_pivots(apart, len(some), n_kernels, 0)]


def default_sigma(X: np.ndarray, centers: np.ndarray) -> float:
    """Half the median distance of a centre to its third nearest other one, or more where a point would belong
    to no kernel."""
    centers = np.unique(centers, axis=0)
    if len(centers) == 1:
        return float(np.sqrt(squared_euclidean(X, centers).mean()))
    rank = min(_NEIGHBOR, len(centers) - 1)
    between = np.partition(squared_euclidean(centers, centers), rank, axis=1)[:, rank]
    spacing = _WIDTH * float(np.sqrt(np.median(between)))
    return max(spacing, farthest_point(X, centers) / FARTHEST * 1.01)


def farthest_point(X: np.ndarray, centers: np.ndarray) -> float:
    """The largest distance of a point to its nearest centre."""
    worst = (
        squared_euclidean(X[rows], centers).min(axis=1).max()
        for rows in row_blocks(len(X), 24 * len(centers))
    )
    return float(np.sqrt(max(worst)))
