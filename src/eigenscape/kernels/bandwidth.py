"""Scales estimated from the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import squareform

from eigenscape._memory import row_blocks
from eigenscape._typing import Rows
from eigenscape.kernels.base import n_points

Distance = Callable[[Rows, Rows], np.ndarray]


def sample_indices(n: int, max_rows: int = 1000) -> np.ndarray:
    """Return the indices of at most ``max_rows`` of ``n`` rows, evenly spaced."""
    return np.arange(n) if n <= max_rows else np.linspace(0, n - 1, max_rows).astype(np.intp)


def median_distance(X: Rows, distance: Distance) -> float:
    """Compute the median of the pairwise distances between sampled points."""
    rows = X[sample_indices(n_points(X))]
    if n_points(rows) < 2:
        raise ValueError(
            "gamma=None needs at least two rows to estimate a scale, got one; set gamma or pass more rows"
        )
    values = squareform(distance(rows, rows), checks=False)  # the upper half
    return _positive(_median(values), values)


def _median(values: np.ndarray) -> float:
    """Compute the median; ``np.median`` takes eight times as long, since it selects several values."""
    half = len(values) // 2
    ranked = np.partition(values, half)
    return float(ranked[half] if len(values) % 2 else (ranked[:half].max() + ranked[half]) / 2)


def local_distance(X: Rows, distance: Distance, n_neighbors: int = 10) -> float:
    """Compute the median, over sampled points, of the distance to the ``n_neighbors``-th nearest point."""
    rows = X[sample_indices(n_points(X))]
    return local_median(nearest_distances(rows, X, distance, min(n_neighbors + 1, n_points(X))))


def nearest_distances(rows: Rows, X: Rows, distance: Distance, count: int) -> np.ndarray:
    """Compute the ``count`` smallest distances of each row to points of ``X``, itself included, unsorted."""
    blocks = row_blocks(n_points(rows), 24 * n_points(X))
    return np.concatenate([smallest_values(distance(rows[some], X), count) for some in blocks])


def smallest_values(values: np.ndarray, count: int) -> np.ndarray:
    """Return the ``count`` smallest values of each row, unsorted."""
    return values if values.shape[1] <= count else np.partition(values, count - 1, axis=1)[:, :count]


def local_median(nearest: np.ndarray) -> float:
    """Compute the median, over rows, of the largest of their smallest distances."""
    values = nearest.max(axis=1)
    return _positive(float(np.median(values)), values)


def _positive(value: float, values: np.ndarray) -> float:
    """Return ``value`` if it is positive, and otherwise the smallest positive distance."""
    if value > 0:
        return value
    rest = values[values > 0]
    if len(rest) == 0:
        raise ValueError("all rows are equal, so no scale can be estimated; there is nothing to embed")
    return float(rest.min())
