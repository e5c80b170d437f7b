"""Scales taken from the data when the user gives none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape.kernels.base import n_points

#: Medians are taken over at most this many evenly spaced rows.
_SAMPLE = 1000


def sample_rows(X: Any) -> Any:
    """At most 1000 rows, evenly spaced: the same rows every time."""
    n = n_points(X)
    return X if n <= _SAMPLE else X[np.linspace(0, n - 1, _SAMPLE).astype(np.intp)]


def median_distance(X: Any, distance: Callable[[Any, Any], np.ndarray]) -> float:
    """Median of the pairwise distances between distinct sampled points."""
    rows = sample_rows(X)
    if n_points(rows) < 2:
        raise ValueError("gamma=None takes a scale from the data, and there is one row; set gamma, or begin with more rows")
    values = distance(rows, rows)[np.triu_indices(n_points(rows), 1)]
    return _positive(float(np.median(values)), values)


def local_distance(X: Any, distance: Callable[[Any, Any], np.ndarray], n_neighbors: int = 10) -> float:
    """Median over sampled points of the distance to their ``n_neighbors``-th nearest among all points."""
    rows = sample_rows(X)
    rank = min(n_neighbors, n_points(X) - 1)
    blocks = row_blocks(n_points(rows), 24 * n_points(X))
    values = np.concatenate([np.partition(distance(rows[some], X), rank, axis=1)[:, rank] for some in blocks])  # rank 0 is the point itself
    return _positive(float(np.median(values)), values)


def _positive(value: float, values: np.ndarray) -> float:
    """``value``, or where ties made it 0 the smallest distance that is not."""
    if value > 0:
        return value
    rest = values[values > 0]
    if len(rest) == 0:
        raise ValueError("all rows are equal, so no scale can be taken from them; there is nothing to embed")
    return float(rest.min())
