"""Maps of many points: cells that count them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigenscape._palette import VALUES
from eigenscape.plot._categories import Categories
from eigenscape.plot._figure import matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Number of cells along the horizontal axis.
_CELLS = 300


def draw_density(
    ax: Axes,
    points: np.ndarray,
    values: np.ndarray | None,
    categories: Categories | None,
    limits: tuple[float, float],
) -> Any:
    """Draw hexagonal cells, and return them.

    The colour is the number of points on a logarithmic scale or, if there are values or categories, the mean
    value or the most frequent category of a cell. ``limits`` are the values at the ends of the colour map.
    """
    colors = matplotlib("colors")
    options: dict[str, Any] = {"gridsize": _CELLS, "linewidths": 0.2, "mincnt": 1}
    if categories is not None:
        options |= {"cmap": colors.ListedColormap(categories.colors), "norm": colors.NoNorm()}
        options |= {"C": categories.codes, "reduce_C_function": _most_frequent}
    elif values is not None:
        known = np.isfinite(values)
        points, (low, high) = points[known], limits
        options |= {"cmap": VALUES, "vmin": low, "vmax": high, "C": values[known]}
    else:  # from light blue to almost black, so that single points are visible on white
        shades = ["#A6CEE3", "#0072B2", "#08193A"]
        options |= {"cmap": colors.LinearSegmentedColormap.from_list("density", shades), "bins": "log"}
    return ax.hexbin(points[:, 0], points[:, 1], **options)


def _most_frequent(codes: list[int]) -> int:
    return int(np.bincount(np.asarray(codes, dtype=np.intp)).argmax())
