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
    colors = matplotlib("colors")
    options: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}

    low, high = np.reshape(extent, (2, 2)).T
    place = np.minimum((points - low) * (_CELLS / (high - low)), _CELLS - 1).astype(np.intp)  # column, row
    cell = place[:, 1] * _CELLS + place[:, 0]

    def cell_sums(*weights: np.ndarray | None) -> np.ndarray:
        """Return the sums (len(weights), rows, columns) over the points of each cell; None: their number."""
        sums = [np.bincount(cell, each, minlength=_CELLS**2) for each in weights]
        return np.reshape(sums, (-1, _CELLS, _CELLS)).astype(np.float64)

    if values is None and categories is None:
        (counts,) = cell_sums(None)
        # from light blue to almost black, so that single points are visible on white
        colormap = colors.LinearSegmentedColormap.from_list("density", ["#A6CEE3", "#0072B2", "#08193A"])
        norm = colors.LogNorm(1, max(counts.max(), 2))
        counts = np.where(counts > 0, counts, np.nan)
        return ax.imshow(counts, cmap=colormap, norm=norm, extent=extent, **options)
    if categories is not None:
        rgb = np.array([colors.to_rgb(color) for color in categories.colors])[categories.codes]
        counts, *channels = cell_sums(None, *rgb.T)
        hue = np.stack(channels, axis=2) / np.maximum(counts, 1)[..., None]
    else:
        assert values is not None
        known = np.isfinite(values)
        counts, number, total = cell_sums(None, known, np.where(known, values, 0.0))
        shade = colors.Normalize(*limits)(total / np.maximum(number, 1))
        hue = matplotlib("").colormaps[VALUES](shade)[..., :3]
        hue[number == 0] = 0.6
    opacity = 0.45 + 0.55 * np.log1p(counts) / np.log1p(counts.max())  # 0.45: a single point is visible
    rgba = np.concatenate([hue, np.where(counts > 0, opacity, 0.0)[..., None]], axis=2)
    return ax.imshow(rgba, extent=extent, **options)


def _extent(points: np.ndarray) -> tuple[float, float, float, float]:
    """Return (left, right, bottom, top) with a margin of 1 %."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    low, high = low - 0.01 * width, high + 0.01 * width
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])
