"""Scatter plots of embeddings, and cells that count the points of large ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._palette import DENSE, VALUES
from eigenscape.plot import _figure
from eigenscape.plot._categories import Categories, find_categories
from eigenscape.plot._figure import FAINT, MARKERS, PALETTE, draw_points, matplotlib, style_axes
from eigenscape.plot.density import draw_density
from eigenscape.plot.thumbnails import draw_thumbnails

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

#: Identifier of the markers of new points, which differs from every category name.
_NEW_POINTS = "eigenscape-new"


def scatter(
    model: BaseEstimator,
    labels: ArrayLike | None = None,
    *,
    values: ArrayLike | None = None,
    images: ArrayLike | None = None,
    new: ArrayLike | None = None,
    components: tuple[int, int] = (0, 1),
    density: bool | None = None,
    thumbnail_size: float = 28,
    n_thumbnails: int = 60,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw an embedding.

    Parameters
    ----------
    model : fitted estimator or array-like of shape (n_samples, n_components)
        The embedding. If it has one coordinate, it is drawn against ``values``, or against the index of the
        point if there are no values or if there are ``new`` points.
    labels : array-like of shape (n_samples,), optional
        Categories, drawn in colours with a legend. Of more than 20, the most frequent have their own colours
        and the rest share one grey; missing labels (None, NaN) have another. Numbers that are not integers,
        or more than 20 different integers, are treated as ``values``.
    values : array-like of shape (n_samples,), optional
        Numbers, drawn in colours with a colour bar; non-finite values are grey. Of many points the
        colour is the mean value of a cell, and the colour map ends at the 1st and 99th percentile.
    images : array-like of shape (n_samples, height, width[, channels]), optional
        Images of the samples, drawn as thumbnails without overlap.
    new : array-like of shape (n_new, n_components), optional
        Coordinates of new points (``model.transform(X_new)``), drawn as rings, which the legend explains.
    components : tuple of two int, default=(0, 1)
        Indices of the coordinates to draw.
    density : bool, optional
        Whether to draw cells instead of points, coloured by their number of points, their mean value or their
        most frequent label. By default above 50 000 points.
    thumbnail_size : float, default=28
        Longer side of a thumbnail in points (1/72 inch).
    n_thumbnails : int, default=60
        Maximum number of thumbnails.
    title : str, optional
        Title of the axes.
    ax : matplotlib Axes, optional
        Axes to draw on. By default the axes of a new figure (``ax.figure``).

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot.scatter(PCA(2).fit(X), y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0', '1', '2']
    """
    Y = _figure.coordinates_of(model)
    ax = _figure.new_axes(ax)
    key = draw_map(ax, Y, labels, values, components, density, new)
    if key.mappable is not None:
        _figure.color_bar(ax, key.mappable, key.unit, key.extend)
    if key.categories is not None or new is not None:
        draw_legend(ax, key)
    if images is not None:
        ax.margins(0.08)
        _figure.figure_of(ax).figure.draw_without_rendering()  # lays out colour bar and legend first
        draw_thumbnails(ax, key.points, images, thumbnail_size, n_thumbnails)
    if title:
        _figure.set_title(ax, title)
    return ax


class ColorKey(NamedTuple):
    """Meaning of the colours of a map, and the positions of its points."""

    points: np.ndarray  # (n, 2)
    categories: Categories | None = None
    mappable: Any = None  # of the values or the counts
    unit: str = ""
    extend: str = "neither"
    dense: bool = False


def draw_map(
    ax: Axes,
    Y: np.ndarray,
    labels: ArrayLike | None,
    values: ArrayLike | None,
    components: tuple[int, int],
    density: bool | None = None,
    new: ArrayLike | None = None,
) -> ColorKey:
    """Draw the points without a legend or a colour bar."""
    labels, numbers = _one_per_point(labels, len(Y), "labels"), _one_per_point(values, len(Y), "values")
    categories = None if labels is None else find_categories(labels)
    numbers = labels if numbers is None and categories is None else numbers
    numbers = None if numbers is None else numbers.astype(np.float64)
    points, names = _figure.select_columns(Y, components)
    single = Y.shape[1] == 1
    if single and numbers is not None and new is None:
        points, names = np.column_stack([numbers, Y[:, 0]]), ("value", "coordinate 1")
    dense = len(Y) > DENSE if density is None else density
    style_axes(ax, names, equal=not single)
    limits = (0.0, 1.0) if numbers is None else _color_limits(numbers, 0.01 if dense else 0.0)
    _draw_new(ax, new, Y, components)
    if dense:
        drawn = draw_density(ax, points, numbers if categories is None else None, categories, limits)
    elif categories is None:
        _draw_dots(ax, points, numbers, limits)
    else:
        _draw_categories(ax, points, categories)
    if categories is not None:
        return ColorKey(points, categories, dense=dense)
    if numbers is not None:
        mappable = matplotlib("cm").ScalarMappable(matplotlib("colors").Normalize(*limits), VALUES)
        return ColorKey(points, None, mappable, extend="both" if dense else "neither", dense=dense)
    return ColorKey(points, None, drawn if dense else None, "points", dense=dense)


def dot_area(n: int) -> float:
    """Return the area of a dot, smaller for more points."""
    return float(np.clip(9000 / n, 1.5, 30))


def _dot_style(n: int) -> dict[str, Any]:
    return {"s": dot_area(n), "linewidths": 0, "alpha": 0.85}


def _one_per_point(given: ArrayLike | None, n: int, name: str) -> np.ndarray | None:
    """Return labels or values as an array of shape (n,), values as numbers."""
    if given is None:
        return None
    array = np.asarray(given)
    if array.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one per point, got {array.shape}")
    if name == "values" and array.dtype.kind not in "fiub":
        raise ValueError(f"values must be numbers, got dtype {array.dtype}; pass categories as labels")
    return array


def _color_limits(values: np.ndarray, tail: float) -> tuple[float, float]:
    """Return the values at the ends of the colour map; the share ``tail`` lies beyond each."""
    known = values[np.isfinite(values)]
    if not len(known):
        raise ValueError("values contains no finite number")
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)


def _draw_dots(ax: Axes, points: np.ndarray, values: np.ndarray | None, limits: tuple[float, float]) -> None:
    style = _dot_style(len(points))
    if values is None:
        draw_points(ax, points, color=PALETTE[0], **style)
        return
    known = np.isfinite(values)
    if not known.all():
        draw_points(ax, points[~known], color=FAINT, **style)
    low, high = limits
    draw_points(ax, points[known], c=values[known], cmap=VALUES, vmin=low, vmax=high, **style)


def _markers(categories: Categories, dense: bool) -> list[str]:
    """Return a marker for each category: different ones if there are few."""
    few = categories.n_own <= len(MARKERS) and not dense
    own = MARKERS[: categories.n_own] if few else ()
    return [*own, *["o"] * (len(categories.names) - len(own))]


def _draw_categories(ax: Axes, points: np.ndarray, categories: Categories) -> None:
    """Draw one collection for each category, the grey ones below."""
    styles = zip(categories.names, categories.colors, _markers(categories, False), strict=True)
    for code, (name, color, marker) in enumerate(styles):
        style = {**_dot_style(len(points)), "zorder": 1 if code < categories.n_own else 0.9}
        draw_points(ax, points[categories.codes == code], color=color, marker=marker, label=name, **style)


def draw_legend(ax: Axes, key: ColorKey) -> None:
    """Draw a legend of the categories, if any, and of new points, right of the axes or, without categories,
    on them."""
    handles, names = [], list[str]()
    if key.categories is not None:
        line, style = matplotlib("lines").Line2D, {"linestyle": "", "markersize": 6, "markeredgewidth": 0}
        styles = zip(key.categories.colors, _markers(key.categories, key.dense), strict=True)
        handles = [line([], [], marker=marker, color=color, **style) for color, marker in styles]
        names = [_shorten(name) for name in key.categories.names]
    outside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0}
    new = [handle for handle in ax.get_legend_handles_labels()[0] if handle.get_gid() == _NEW_POINTS]
    options: dict[str, Any] = outside if names else {"loc": "best"}
    columns = 1 + max(0, len(names) - 1) // 22
    _figure.add_legend(ax, handles + new, names, handletextpad=0.3, ncols=columns, **options)


def _shorten(name: str) -> str:
    """Return a name on one line of at most 40 characters."""
    line = " ".join(name.split())
    return line if len(line) <= 40 else f"{line[:39]}…"


def _draw_new(ax: Axes, new: ArrayLike | None, Y: np.ndarray, components: tuple[int, int]) -> None:
    """Draw new points as rings; if there is one coordinate, their indices follow the indices of ``Y``."""
    if new is None:
        return
    Z = _figure.coordinates_of(new)
    if Z.shape[1] != Y.shape[1]:
        raise ValueError(f"new has {Z.shape[1]} coordinates, but the embedding has {Y.shape[1]}")
    points = _figure.select_columns(np.concatenate([Y, Z]), components)[0][len(Y) :]
    area = max(36.0, 2 * dot_area(len(points)))
    name = "1 new point" if len(points) == 1 else f"{len(points)} new points"
    ring: dict[str, Any] = {"facecolors": "none", "edgecolors": "#000000", "linewidths": 1.2}
    draw_points(ax, points, s=area, zorder=3, label=name, gid=_NEW_POINTS, **ring)
