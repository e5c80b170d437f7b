"""Maps: one dot a point, or shades where there are too many."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D

from eigenscape.plot._categories import Categories, categories
from eigenscape.plot._common import (
    FAINT,
    INK,
    MARKERS,
    PALETTE,
    VALUES,
    chosen_columns,
    color_bar,
    coordinates_of,
    figure_of,
    new_axes,
    plain,
    titled,
)
from eigenscape.plot.density import draw_density
from eigenscape.plot.thumbnails import draw_thumbnails

#: Above this many points dots hide one another, and density is drawn.
DENSE = 50_000
#: By this the rings of new points are known, whatever the categories are called.
_RINGS = "eigenscape-new"


def scatter(
    model: Any,
    labels: Any = None,
    *,
    values: Any = None,
    images: Any = None,
    new: Any = None,
    components: tuple[int, int] = (0, 1),
    density: bool | None = None,
    thumbnail_size: float = 28,
    n_thumbnails: int = 60,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a map.

    Parameters
    ----------
    model : fitted estimator, or array of shape (n, d)
        What to draw. Of more than two coordinates ``components`` are shown; a single one is drawn over
        ``values``, or without them (or with ``new`` points, which have none) over the numbers of the points.
    labels : array-like of shape (n,), optional
        Categories, with a legend. Of more than 20 the most frequent have colours, the others one grey, and so
        have missing ones (None, NaN). Numbers that are no categories (not whole, or more than 20 different
        ones) are taken for ``values``.
    values : array-like of shape (n,), optional
        Numbers, shown by colour with a colour bar; not finite ones are grey. Where density is drawn the hue
        is the mean value, and colours end at the first and last hundredth of the values.
    images : array-like of shape (n, height, width), optional
        Pictures of the points (grey, or with a last axis of colours), shown for some of them, never over one
        another.
    new : array-like of shape (n_new, d), optional
        Points placed later (``model.transform(X_new)``), marked by rings.
    components : pair of int, default=(0, 1)
        The coordinates drawn, counted from 0.
    density : bool, optional
        Shades instead of dots. By default above 50 000 points: darkness says how many (logarithmically), hue
        their mean colour.
    thumbnail_size, n_thumbnails : float, int
        Longer side of a picture in points (1/72 inch), and the most pictures shown.
    title : str, optional
        Above the map.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure (``ax.figure``).

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot.scatter(PCA(2).fit(X), y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0', '1', '2']
    """
    Y = coordinates_of(model)
    ax = new_axes(ax)
    key = draw_map(ax, Y, labels, values, components, density, new)
    if key.mappable is not None:
        color_bar(ax, key.mappable, key.unit, extend=key.extend)
    if key.named is not None:
        draw_legend(ax, key)
    if images is not None:
        ax.margins(0.08)
        figure_of(ax).get_figure(root=True).draw_without_rendering()  # bars and legends take their room first
        draw_thumbnails(ax, key.points, images, thumbnail_size, n_thumbnails)
    if title:
        titled(ax, title)
    return ax


class Key(NamedTuple):
    """What explains the colours of a map, and where its points are drawn."""

    points: np.ndarray  # (n, 2)
    named: Categories | None = None
    mappable: Any = None  # colours of the values, or of the counts
    unit: str = ""
    extend: str = "neither"
    dense: bool = False


def draw_map(
    ax: Axes,
    Y: np.ndarray,
    labels: Any,
    values: Any,
    components: tuple[int, int],
    density: bool | None = None,
    new: Any = None,
) -> Key:
    """Draw the points themselves, without what explains their colours."""
    labels, values = _checked("labels", labels, len(Y)), _checked("values", values, len(Y))
    named = None if labels is None else categories(labels)
    if labels is not None and named is None and values is None:
        values = labels.astype(np.float64)
    points, axis_names = chosen_columns(Y, components)
    one = Y.shape[1] == 1
    if one and values is not None and new is None:
        points, axis_names = np.column_stack([values, Y[:, 0]]), ("value", "coordinate 1")
    dense = len(Y) > DENSE if density is None else density
    plain(ax, axis_names, equal=not one)
    limits = (0.0, 1.0) if values is None else _limits(values, 0.01 if dense else 0.0)
    _mark_new(ax, new, Y, components)
    if named is not None:
        if dense:
            draw_density(ax, points, None, named, limits)
        else:
            _draw_categories(ax, points, named)
        return Key(points, named, dense=dense)
    drawn = (
        draw_density(ax, points, values, None, limits) if dense else _draw_dots(ax, points, values, limits)
    )
    if values is not None:
        return Key(
            points,
            None,
            ScalarMappable(Normalize(*limits), VALUES),
            extend="both" if dense else "neither",
            dense=dense,
        )
    return Key(points, None, drawn if dense else None, "points", dense=dense)


def dot_area(n: int) -> float:
    """Smaller dots for more points."""
    return float(np.clip(9000 / n, 1.5, 30))


def _checked(name: str, given: Any, n: int) -> np.ndarray | None:
    if given is None:
        return None
    given = np.asarray(given)
    if given.shape != (n,):
        raise ValueError(f"{name} must be one for each of the {n} points, got shape {given.shape}")
    if name == "values" and given.dtype.kind not in "fiub":
        raise ValueError(f"values must be numbers, got dtype {given.dtype}; pass categories as labels")
    return given.astype(np.float64) if name == "values" else given


def _limits(values: np.ndarray, beyond: float) -> tuple[float, float]:
    """Ends of the colours, with the share ``beyond`` of the values past each: of very many, some are far
    out."""
    known = values[np.isfinite(values)]
    if not len(known):
        raise ValueError("values has no finite number to colour by")
    low, high = np.quantile(known, [beyond, 1 - beyond])
    return float(low), float(high)


def _draw_dots(ax: Axes, points: np.ndarray, values: np.ndarray | None, limits: Any) -> Any:
    look: dict[str, Any] = {"s": dot_area(len(points)), "linewidths": 0, "alpha": 0.85}
    if values is None:
        return ax.scatter(points[:, 0], points[:, 1], color=PALETTE[0], **look)
    known = np.isfinite(values)
    if not known.all():
        ax.scatter(points[~known, 0], points[~known, 1], color=FAINT, **look)
    return ax.scatter(
        points[known, 0],
        points[known, 1],
        c=values[known],
        cmap=VALUES,
        vmin=limits[0],
        vmax=limits[1],
        **look,
    )


def _shapes(named: Categories, dense: bool) -> list[str]:
    """Shapes as well as colours where there are few categories."""
    few = named.own <= len(MARKERS) and not dense
    return [MARKERS[code] if few and code < named.own else "o" for code in range(len(named.names))]


def _draw_categories(ax: Axes, points: np.ndarray, named: Categories) -> None:
    """One collection of points for each category; the grey ones lie below."""
    for code, (name, color, marker) in enumerate(
        zip(named.names, named.colors, _shapes(named, False), strict=True)
    ):
        mine = named.codes == code
        ax.scatter(
            points[mine, 0],
            points[mine, 1],
            s=dot_area(len(points)),
            color=color,
            marker=marker,
            linewidths=0,
            alpha=0.85,
            label=name,
            zorder=1 if code < named.own else 0.9,
        )


def draw_legend(ax: Axes, key: Key) -> None:
    """The names of the categories beside the axes, and the rings of new points."""
    assert key.named is not None
    names = key.named.names
    handles = [
        Line2D(
            [],
            [],
            linestyle="",
            marker=shape,
            markersize=6,
            markeredgewidth=0,
            color=color,
            label=str(number),
        )
        for number, (color, shape) in enumerate(
            zip(key.named.colors, _shapes(key.named, key.dense), strict=True)
        )
    ]
    old = [handle for handle in ax.get_legend_handles_labels()[0] if handle.get_gid() == _RINGS]
    legend = ax.legend(
        handles=handles + old,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        ncols=1 + (len(names) - 1) // 22,
        handletextpad=0.3,
    )
    for text, name in zip(
        legend.get_texts(), names, strict=False
    ):  # written afterwards, as they are: a name may begin with _ or hold $
        text.set_parse_math(False)
        text.set_text(_short(name))


def _short(name: str) -> str:
    """A name in one line that leaves room for the map."""
    line = " ".join(name.split())
    return line if len(line) <= 40 else f"{line[:39]}…"


def _mark_new(ax: Axes, new: Any, Y: np.ndarray, components: tuple[int, int]) -> None:
    """Rings around points placed later; on a map of one coordinate their numbers follow those of the
    others."""
    if new is None:
        return
    Z = coordinates_of(new)
    if Z.shape[1] != Y.shape[1]:
        raise ValueError(f"new points have {Z.shape[1]} coordinates, the map {Y.shape[1]}")
    points = chosen_columns(np.concatenate([Y, Z]), components)[0][len(Y) :]
    rings = ax.scatter(
        points[:, 0],
        points[:, 1],
        s=max(36.0, 2 * dot_area(len(points))),
        zorder=3,
        linewidths=1.2,
        label="new",
    )
    rings.set_gid(_RINGS)
    rings.set_facecolor("none")
    rings.set_edgecolor("#000000")
