"""Neighbours before and after: trustworthiness and continuity (Venna and Kaski)."""

from __future__ import annotations

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.kernels.pairwise import squared_euclidean


def trustworthiness(X: np.ndarray, embedding: np.ndarray, n_neighbors: int = 10) -> float:
    """How far neighbours on the map are neighbours in the data: 1 is perfect, 0 the worst possible.

    Every point among the ``n_neighbors`` nearest on the map that is not among those in the data is charged by how far down
    the data's ranking it stands. Points equally far share the better rank, and the sum is divided by the largest it can
    be for this ``n_neighbors``, so the result stays within 0 and 1 for ties and for ``n_neighbors`` beyond ``n / 2`` too.
    """
    return 1.0 - _intrusions(np.asarray(X, dtype=np.float64), np.asarray(embedding, dtype=np.float64), n_neighbors)


def continuity(X: np.ndarray, embedding: np.ndarray, n_neighbors: int = 10) -> float:
    """How far neighbours in the data are neighbours on the map: trustworthiness with the two exchanged."""
    return 1.0 - _intrusions(np.asarray(embedding, dtype=np.float64), np.asarray(X, dtype=np.float64), n_neighbors)


def _intrusions(truth: np.ndarray, claim: np.ndarray, k: int) -> float:
    n = len(truth)
    if len(claim) != n:
        raise ValueError(f"data and embedding must have the same number of rows, got {n} and {len(claim)}")
    if not 1 <= k <= n - 2:
        raise ValueError(f"n_neighbors={k} must lie between 1 and n_samples - 2 = {n - 2}")
    claimed = _others(neighbor_index(claim).nearest(claim, k + 1)[1], k)
    total = 0.0
    for rows in row_blocks(n, 24 * n):
        distance = squared_euclidean(truth[rows], truth)
        np.put_along_axis(distance, np.arange(n)[rows, None], -1.0, axis=1)  # a point is not its own neighbour
        ranked = np.sort(distance, axis=1)
        chosen = np.take_along_axis(distance, claimed[rows], axis=1)
        for own, values in zip(ranked, chosen, strict=True):
            rank = np.searchsorted(own, values, side="left")  # 1 for the nearest; equals share the better rank
            total += float(np.maximum(rank - k, 0).sum())
    intruders = min(k, n - 1 - k)  # at worst these ranks are n - 1, n - 2, ...
    worst = intruders * (n - 1 - k) - intruders * (intruders - 1) / 2
    return total / (n * worst)


def _others(number: np.ndarray, k: int) -> np.ndarray:
    """Neighbour lists without the point itself."""
    other = number != np.arange(len(number))[:, None]
    other[other.all(axis=1), -1] = False
    return number[other].reshape(len(number), k)
