"""How much a map owes to the points that happened to be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from eigenscape.plot._common import (
    FAINT,
    INK,
    PALETTE,
    chosen_columns,
    color_bar,
    coordinates_of,
    new_figure,
    plain,
)
from eigenscape.plot.maps import DENSE, dot_area, scatter
from eigenscape.quality.stability import Stability

_COLORS = "cividis"


def stability(
    model: Any, found: Stability, *, components: tuple[int, int] = (0, 1), figure: Figure | None = None
) -> Figure:
    """Draw the map with points that move large and bright, and the curve of ``delta`` (Bengio fig. 4) beside
    it.

    Parameters
    ----------
    model : fitted estimator, or array of shape (n, d)
        The map of all points.
    found : Stability
        From :func:`eigenscape.quality.perturbation_stability`, of the same points. Without step 2
        (``n_left_out=0``) the right panel is a histogram of the movements.
    components : pair of int, default=(0, 1)
        The coordinates drawn, counted from 0.
    figure : matplotlib Figure, optional
        Where to draw; by default a new one.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA, plot
    >>> from eigenscape.quality import perturbation_stability
    >>> X = load_iris().data
    >>> found = perturbation_stability(PCA(2), X, fraction=[0.02, 0.1], n_repeats=2, n_left_out=5)
    >>> figure = plot.stability(PCA(2).fit(X), found)
    >>> [ax.get_xlabel() for ax in figure.axes[:2]]
    ['coordinate 1', 'training points exchanged']
    """
    Y = coordinates_of(model)
    if len(Y) != len(found.per_point):
        raise ValueError(
            f"the map has {len(Y)} points, the stability {len(found.per_point)}; they must be the same points"
        )
    figure = new_figure(figure, (10.4, 4.4))
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    _draw_map(left, Y, found.per_point, components)
    if np.isfinite([estimate.value for estimate in found.delta]).any():
        _draw_delta(right, found)
    else:
        plain(right, ("movement, share of the spread", "points"))
        right.hist(found.per_point[np.isfinite(found.per_point)], bins=30, color=PALETTE[0])
    return figure


def _draw_map(ax: Axes, Y: np.ndarray, movement: np.ndarray, components: tuple[int, int]) -> None:
    if len(Y) > DENSE:
        scatter(Y, values=movement, components=components, ax=ax)
        return
    points, names = chosen_columns(Y, components)
    plain(ax, names, equal=Y.shape[1] > 1)
    known = np.isfinite(movement)
    ax.scatter(points[~known, 0], points[~known, 1], s=dot_area(len(Y)), color=FAINT, linewidths=0)
    top = float(np.quantile(movement[known], 0.99))
    norm = Normalize(0, top if top > 0 else 1.0)
    order = np.flatnonzero(known)[np.argsort(movement[known], kind="stable")]  # the restless on top
    share = np.clip(movement[order] / norm.vmax, 0, 1)
    ax.scatter(
        points[order, 0],
        points[order, 1],
        s=dot_area(len(Y)) * (0.6 + 2.4 * share),
        c=movement[order],
        cmap=_COLORS,
        norm=norm,
        linewidths=0.3,
        edgecolors="#FFFFFF",
    )
    color_bar(ax, ScalarMappable(norm, _COLORS), "movement, share of the spread", extend="max")


def _draw_delta(ax: Axes, found: Stability) -> None:
    plain(ax, ("training points exchanged", "perturbation error less induction error"))
    order = np.argsort(found.fractions)
    x = found.fractions[order]
    value, low, high = np.array(found.delta)[order].T
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.errorbar(
        x,
        value,
        [value - low, high - value],
        color=PALETTE[0],
        marker="o",
        markersize=4,
        linewidth=1.4,
        capsize=3,
        elinewidth=1,
    )
    if np.isfinite(found.crossing):
        ax.axvline(found.crossing, color=PALETTE[3], linewidth=1, linestyle=(0, (4, 3)))
        text = f"{found.crossing:.1%}"
        ax.annotate(
            text,
            (found.crossing, 0.03),
            (4, 0),
            ("data", "axes fraction"),
            "offset points",
            color=PALETTE[3],
            fontsize=9,
        )
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
