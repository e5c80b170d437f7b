"""Measure of folds and plots for the experiments on Brand's twisted roll."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection

#: Limits of the colour map: its lightest colours are hard to see on white.
_LIMITS = (0.0, 1.12)


def fold_fraction(Y: np.ndarray, side: int) -> float:
    """Return the fraction of grid triangles with the less frequent orientation, 0 for a map without folds.

    ``Y`` (side ** 2, 2) contains the embedded points of a grid, row after row.
    """
    Z = Y.reshape(side, side, 2)
    corner, right, up, far = Z[:-1, :-1], Z[1:, :-1], Z[:-1, 1:], Z[1:, 1:]
    areas = np.concatenate([_signed_area(corner, right, up), _signed_area(far, up, right)])
    share = float(np.mean(areas > 0))
    return min(share, 1 - share)


def _signed_area(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return twice the signed areas of triangles."""
    first, second = b - a, c - a
    return (first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]).ravel()


def draw_grid(axes: Any, Y: np.ndarray, side: int, title: str) -> None:
    """Draw the embedded grid as lines, coloured by their position."""
    Z = Y.reshape(side, side, 2)
    segments = np.concatenate(
        [
            np.stack([Z[:-1], Z[1:]], axis=2).reshape(-1, 2, 2),
            np.stack([Z[:, :-1], Z[:, 1:]], axis=2).reshape(-1, 2, 2),
        ]
    )
    positions = np.repeat(np.linspace(0, 1, side - 1), side)
    values = np.concatenate([positions, np.repeat(np.linspace(0, 1, side), side - 1)])
    axes.add_collection(
        LineCollection(list(segments), array=values, cmap="viridis", clim=_LIMITS, linewidth=0.8)
    )
    axes.autoscale()
    axes.set(title=title, xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def draw_roll(axes: Any, X: np.ndarray, side: int) -> None:
    """Draw the points of the roll in three dimensions."""
    colors = np.repeat(np.linspace(0, 1, side), side)
    axes.scatter(*X.T, c=colors, cmap="viridis", vmin=_LIMITS[0], vmax=_LIMITS[1], s=5)
    axes.set(title=f"{len(X)} points", xticks=[], yticks=[], zticks=[])
    axes.view_init(15, -70)
