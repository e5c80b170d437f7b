"""Scales taken from the data when the user gives none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape.kernels.base import n_points

#: Medians are taken over at most this many evenly spaced rows.
_SAMPLE = 1000


def sample_indices(n: int, most: int = _SAMPLE) -> np.ndarray:
    """The numbers of at most ``most`` of ``n`` rows, evenly spaced: the same rows every time."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)


def sample_rows(X: Any) -> Any:
    """These rows of ``X``."""
    return X if n_points(X) <= _SAMPLE else X[sample_indices(n_points(X))]


def median_distance(X: Any, distance: Callable[[Any, Any], np.ndarray]) -> float:
    """Median of the pairwise distances between distinct sampled points."""
    rows = sample_rows(X)
    if n_points(rows) < 2:
        raise ValueError(
            "gamma=None takes a scale from the data, and there is one row; set gamma, or begin with more rows"
        )
    values = distance(rows, rows)[np.triu_indices(n_points(rows), 1)]
    return _positive(float(np.median(values)), values)


def local_distance(X: Any, distance: Callable[[Any, Any], np.ndarray], n_neighbors: int = 10) -> float:
    """Median over sampled points of the distance to their ``n_neighbors``-th nearest among all points."""
    return local_median(nearest_distances(sample_rows(X), X, distance, min(n_neighbors + 1, n_points(X))))


def nearest_distances(
    rows: Any, X: Any, distance: Callable[[Any, Any], np.ndarray], count: int
) -> np.ndarray:
    """Each row's ``count`` smallest distances to points of ``X`` (fewer where there are no more), in no
    order; its own counts."""
    blocks = row_blocks(n_points(rows), 24 * n_points(X))
    return np.concatenate([smallest_values(distance(rows[some], X), count) for some in blocks])


def smallest_values(values: np.ndarray, count: int) -> np.ndarray:
    """The ``count`` smallest values of each row, in no order."""
    return values if values.shape[1] <= count else np.partition(values, count - 1, axis=1)[:, :count]


def local_median(nearest: np.ndarray) -> float:
    """Median over rows of the largest of their smallest distances."""
    values = nearest.max(axis=1)
    return _positive(float(np.median(values)), values)


def _positive(value: float, values: np.ndarray) -> float:
    """``value``, or where ties made it 0 the smallest distance that is not."""
    if value > 0:
        return value
    rest = values[values > 0]
    if len(rest) == 0:
        raise ValueError("all rows are equal, so no scale can be taken from them; there is nothing to embed")
    return float(rest.min())
