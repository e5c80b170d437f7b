"""Where the kernels of a kernel eigenmap stand, and how wide they are."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.cluster.vq import kmeans2

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
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


def placed_kernels(X: np.ndarray, n_kernels: int, centers: Placement | np.ndarray, sigma: float | None, seed: int) -> RoundKernels:
    """Kernels among the points ``X``, of the given width or (None) of one that their centres suggest."""
    if not isinstance(centers, str):
        if centers.shape[1] != X.shape[1]:
            raise ValueError(f"centers has {centers.shape[1]} features, but X has {X.shape[1]}; centres live in the space of X")
        placed = centers
    else:
        placed = place_centers(X, n_kernels, centers, sigma, seed)
    if sigma is None:
        return RoundKernels(placed, default_sigma(X, placed))
    reach = farthest_point(X, placed)
    if reach > FARTHEST * sigma:
        raise ValueError(
            f"sigma={sigma:g} is so small that some training points belong to no kernel: one is {reach / sigma:.3g} sigma from its nearest"
            f" centre; set sigma to at least {reach / FARTHEST:.3g}, or use more kernels"
        )
    return RoundKernels(placed, sigma)


def place_centers(X: np.ndarray, n_kernels: int, placement: Placement, sigma: float | None, seed: int) -> np.ndarray:
    """Centres (n_kernels, D) among the distinct points ``X`` (k-means: among their means).

    ``"random"`` is the paper's. ``"maxmin"`` adds the point farthest from the centres so far. ``"greedy"`` adds the point whose Gaussian
    is worst represented by those of the centres so far (a pivoted Cholesky factorisation; ``sigma=None`` takes the width that random
    centres would get).
    """
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(X))
    if placement == "random" or n_kernels == len(X):
        return X[shuffled[:n_kernels]]
    with stage("centres"):
        if placement == "maxmin":
            return X[_farthest(X, n_kernels, int(shuffled[0]))]
        some = X[shuffled[: max(_CANDIDATES, n_kernels)]]
        if placement == "kmeans":
            return kmeans2(some, some[:n_kernels].copy(), iter=25, minit="matrix", missing="warn")[0]
        width = default_sigma(X, some[:n_kernels]) if sigma is None else sigma
        return some[_worst_represented(some, n_kernels, width)]


def _farthest(X: np.ndarray, count: int, first: int) -> np.ndarray:
    chosen = [first]
    nearest = squared_euclidean(X, X[first][None])[:, 0]
    while len(chosen) < count:
        chosen.append(int(np.argmax(nearest)))
        np.minimum(nearest, squared_euclidean(X, X[chosen[-1]][None])[:, 0], out=nearest)
    return np.array(chosen)


def _worst_represented(X: np.ndarray, count: int, sigma: float) -> np.ndarray:
    """Pivots of the Gaussian Gram matrix: each has the largest squared distance, in feature space, from the span of those before."""
    rest = np.ones(len(X))
    factor = np.empty((count, len(X)))
    chosen: list[int] = []
    for step in range(count):
        pivot = int(np.argmax(rest))
        if rest[pivot] <= 0:  # all is represented to rounding: any other point will do
            pivot = int(np.setdiff1d(np.arange(len(X)), chosen)[0])
        column = np.exp(squared_euclidean(X, X[pivot][None])[:, 0] / (-2 * sigma**2)) - factor[:step].T @ factor[:step, pivot]
        factor[step] = column / np.sqrt(max(rest[pivot], np.finfo(float).tiny))
        rest -= np.square(factor[step])
        chosen.append(pivot)
        rest[chosen] = -np.inf
    return np.array(chosen)


def default_sigma(X: np.ndarray, centers: np.ndarray) -> float:
    """Half the median distance of a centre to its third nearest other one, or more where a point would belong to no kernel."""
    if len(centers) == 1:
        return float(np.sqrt(squared_euclidean(X, centers).mean()))
    rank = min(_NEIGHBOR, len(centers) - 1)
    between = np.partition(squared_euclidean(centers, centers), rank, axis=1)[:, rank]
    spacing = _WIDTH * float(np.sqrt(np.median(between)))
    return max(spacing, farthest_point(X, centers) / FARTHEST * 1.01)


def farthest_point(X: np.ndarray, centers: np.ndarray) -> float:
    """The largest distance of a point to its nearest centre."""
    worst = (squared_euclidean(X[rows], centers).min(axis=1).max() for rows in row_blocks(len(X), 24 * len(centers)))
    return float(np.sqrt(max(worst)))
