"""Very many points: a picture of how many lie where, and of what colour."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize, to_rgb
from matplotlib.image import AxesImage

from eigenscape.plot._categories import Categories
from eigenscape.plot._common import VALUES

#: Cells along the longer side.
_CELLS = 500
#: A cell with a single point is this dark, so that it can be seen.
_FAINTEST = 0.45


def draw_density(
    ax: Axes, points: np.ndarray, values: np.ndarray | None, named: Categories | None, limits: Any
) -> AxesImage:
    """Counts on a logarithmic scale as darkness; the mean of the values, or the mean colour of the
    categories, as hue.

    Returns the image; ``limits`` are those of the values' colours, or None.
    """
    from matplotlib import colormaps

    extent, shape = _grid(points)
    place = _cells(points, extent, shape)
    size = shape[0] * shape[1]
    counts = np.bincount(place, minlength=size).astype(np.float64).reshape(shape)
    if values is None and named is None:
        shades = np.where(counts > 0, counts, np.nan)
        norm = LogNorm(1, max(counts.max(), 2))
        return ax.imshow(
            shades,
            origin="lower",
            extent=extent,
            cmap=_ramp(),
            norm=norm,
            aspect="auto",
            interpolation="nearest",
        )
    if named is not None:
        colors, codes = np.array([to_rgb(color) for color in named.colors]), named.codes
        sums = [
            np.bincount(place, weights=colors[codes, channel], minlength=size).reshape(shape)
            for channel in range(3)
        ]
        hue = np.stack(sums, axis=2) / np.maximum(counts, 1)[..., None]
        mapping = None
    else:
        assert values is not None
        known = np.isfinite(values)
        mapping = Normalize(*limits)
        total = np.bincount(place[known], weights=values[known], minlength=size).reshape(shape)
        number = np.bincount(place[known], minlength=size).reshape(shape)
        hue = colormaps[VALUES](mapping(total / np.maximum(number, 1)))[..., :3]
        hue[number == 0] = 0.6
    darkness = _FAINTEST + (1 - _FAINTEST) * np.log1p(counts) / np.log1p(counts.max())
    picture = np.concatenate([hue, np.where(counts > 0, darkness, 0.0)[..., None]], axis=2)
    image = ax.imshow(picture, origin="lower", extent=extent, aspect="auto", interpolation="nearest")
    if mapping is not None:
        image.set_cmap(VALUES)
        image.set_norm(mapping)
    return image


def _ramp() -> Any:
    """Light blue to nearly black: the rare is visible on white."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("density", ["#A6CEE3", "#0072B2", "#08193A"])


def _grid(points: np.ndarray) -> tuple[tuple[float, float, float, float], tuple[int, int]]:
    """Extent of the picture, a little beyond the points, and its numbers of rows and columns."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    low, high = low - 0.01 * width, high + 0.01 * width
    return (float(low[0]), float(high[0]), float(low[1]), float(high[1])), (_CELLS, _CELLS)


def _cells(
    points: np.ndarray, extent: tuple[float, float, float, float], shape: tuple[int, int]
) -> np.ndarray:
    """Number of the cell of each point, row by row from below."""
    column = ((points[:, 0] - extent[0]) * (shape[1] / (extent[1] - extent[0]))).astype(np.intp)
    row = ((points[:, 1] - extent[2]) * (shape[0] / (extent[3] - extent[2]))).astype(np.intp)
    return np.minimum(row, shape[0] - 1) * shape[1] + np.minimum(column, shape[1] - 1)
