"""Density images of many points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigenscape._palette import VALUES
from eigenscape.plot._categories import Categories
from eigenscape.plot._figure import matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Number of cells along each side.
_CELLS = 500
#: Opacity of a cell with a single point.
_MIN_OPACITY = 0.45

Extent = tuple[float, float, float, float]


def draw_density(
    ax: Axes,
    points: np.ndarray,
    values: np.ndarray | None,
    categories: Categories | None,
    limits: tuple[float, float],
) -> Any:
    """Draw an image of the density, and return it.

    The counts are shown by colour on a logarithmic scale or, if there are values or categories, by opacity,
    with the mean value or the mean colour of the categories. ``limits`` are the values at the ends of the
    colour map.
    """
    extent = _extent(points)
    cell = _cells(points, extent)
    shape = (_CELLS, _CELLS)
    counts = np.bincount(cell, minlength=_CELLS**2).astype(np.float64).reshape(shape)
    options: dict[str, Any] = {
        "origin": "lower",
        "extent": extent,
        "aspect": "auto",
        "interpolation": "nearest",
    }
    colors = matplotlib("colors")
    if values is None and categories is None:
        # from light blue to almost black, so that single points are visible on white
        colormap = colors.LinearSegmentedColormap.from_list("density", ["#A6CEE3", "#0072B2", "#08193A"])
        norm = colors.LogNorm(1, max(counts.max(), 2))
        return ax.imshow(np.where(counts > 0, counts, np.nan), cmap=colormap, norm=norm, **options)

    def cell_sums(weights: np.ndarray, which: Any = slice(None)) -> np.ndarray:
        return np.bincount(cell[which], weights=weights, minlength=_CELLS**2).reshape(shape)

    norm = None
    if categories is not None:
        rgb = np.array([colors.to_rgb(color) for color in categories.colors])[categories.codes]
        hue = np.stack([cell_sums(channel) for channel in rgb.T], axis=2) / np.maximum(counts, 1)[..., None]
    else:
        assert values is not None
        known = np.isfinite(values)
        norm = colors.Normalize(*limits)
        number = cell_sums(known.astype(np.float64))
        mean = cell_sums(values[known], known) / np.maximum(number, 1)
        hue = matplotlib("").colormaps[VALUES](norm(mean))[..., :3]
        hue[number == 0] = 0.6
    opacity = _MIN_OPACITY + (1 - _MIN_OPACITY) * np.log1p(counts) / np.log1p(counts.max())
    rgba = np.concatenate([hue, np.where(counts > 0, opacity, 0.0)[..., None]], axis=2)
    image = ax.imshow(rgba, **options)
    if norm is not None:
        image.set_cmap(VALUES)
        image.set_norm(norm)
    return image


def _extent(points: np.ndarray) -> Extent:
    """Return (left, right, bottom, top) with a margin of 1 %."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    low, high = low - 0.01 * width, high + 0.01 * width
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def _cells(points: np.ndarray, extent: Extent) -> np.ndarray:
    """Return the flat index of the cell of each point, in rows from the bottom."""
    left, right, bottom, top = extent
    column = ((points[:, 0] - left) * (_CELLS / (right - left))).astype(np.intp)
    row = ((points[:, 1] - bottom) * (_CELLS / (top - bottom))).astype(np.intp)
    return np.minimum(row, _CELLS - 1) * _CELLS + np.minimum(column, _CELLS - 1)
