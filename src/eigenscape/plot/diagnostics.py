"""Plots of the eigenvalues of a model, and of the stability of an embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigenscape._palette import DENSE
from eigenscape.plot import _figure
from eigenscape.plot._figure import FAINT, INK, PALETTE, matplotlib, style_axes
from eigenscape.plot.maps import dot_area, scatter
from eigenscape.quality.stability import Stability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from sklearn.base import BaseEstimator

_MOVEMENT = "movement, relative to the spread"


def spectrum(
    model: BaseEstimator, *, log: bool = False, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the eigenvalues in descending order and mark the largest gap.

    A large gap suggests the number of components; fit the model with more components than needed to see it.
    Negative eigenvalues have another colour, and the title shows their share in the sum of the magnitudes.

    Parameters
    ----------
    model : fitted estimator or array-like of shape (n_eigenvalues,)
        The model, whose ``eigenvalues_`` are drawn (of the first connected component if there are
        several), or the eigenvalues.
    log : bool, default=False
        Whether to draw magnitudes on a logarithmic scale.
    title : str, optional
        Title of the axes.
    ax : matplotlib Axes, optional
        Axes to draw on. By default the axes of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA, plot
    >>> ax = plot.spectrum(PCA(n_components=None).fit(load_iris().data))
    >>> len(ax.patches)
    4
    """
    values = np.sort(_eigenvalues_of(model))[::-1]
    if log and not values.any():
        raise ValueError("all eigenvalues are 0, which a logarithmic scale cannot show; set log=False")
    index = np.arange(1, len(values) + 1)
    ax = _figure.new_axes(ax, (6.4, 3.8))
    style_axes(ax, ("number", "magnitude of eigenvalue" if log else "eigenvalue"))
    negative = values < 0
    heights = np.abs(values) if log else values
    few = len(values) <= 60
    base = heights[heights > 0].min() if log else 0
    for which, color, name in ((~negative, PALETTE[0], "positive"), (negative, PALETTE[3], "negative")):
        if which.any() and few:
            ax.bar(index[which], heights[which], color=color, width=0.72, label=name)
        elif which.any():
            ax.fill_between(index[which], base, heights[which], color=color, step="mid", label=name)
    if log:
        ax.set_yscale("log")
    elif negative.any():
        ax.axhline(0, color=INK, linewidth=0.8)
    gap = eigengap(values)
    if gap is not None:
        ax.axvline(gap + 0.5, color=INK, linewidth=1, linestyle=(0, (4, 3)), label="largest gap")
        place = ((gap + 0.5, 0.97), (6, 0), ("data", "axes fraction"), "offset points")
        ax.annotate(f"largest gap after {gap}", *place, color=INK, fontsize=9, va="top")
    if few:
        ax.set_xticks(index[:: 1 + (len(values) - 1) // 15])
    if negative.any():
        share = float(np.abs(values[negative]).sum() / np.abs(values).sum())
        ax.legend(frameon=False, fontsize=8, labelcolor=INK, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        title = f"{title}\n" if title else ""
        title += f"{negative.sum()} of {len(values)} negative, {share:.1%} of the magnitude"
    if title:
        _figure.set_title(ax, title)
    ax.tick_params(axis="x", color=FAINT)
    return ax


def eigengap(values: np.ndarray) -> int | None:
    """Return the number of values before the largest gap of the positive ones, or None if fewer than two."""
    positive = np.sort(values[values > 0])[::-1]
    return int(np.argmax(positive[:-1] - positive[1:])) + 1 if len(positive) > 1 else None


def _eigenvalues_of(model: BaseEstimator) -> np.ndarray:
    values = getattr(model, "eigenvalues_", model)
    if hasattr(values, "fit"):
        raise TypeError(
            f"{type(model).__name__} has no eigenvalues_: it is not fitted, or its method has no spectrum"
        )
    values = np.asarray(values, dtype=np.float64)
    values = values[0] if values.ndim == 2 else values
    values = values[np.isfinite(values)]
    if values.ndim != 1 or not len(values):
        raise ValueError(f"eigenvalues must have shape (n_eigenvalues,), got {values.shape}")
    return values


def stability(
    model: BaseEstimator,
    found: Stability,
    *,
    components: tuple[int, int] = (0, 1),
    figure: Figure | None = None,
) -> Figure:
    """Draw the movement of each point on the embedding, and ``delta`` by fraction (Bengio fig. 4).

    Parameters
    ----------
    model : fitted estimator or array-like of shape (n_samples, n_components)
        The embedding of all points. Points that move are drawn large and bright.
    found : Stability
        Result of :func:`eigenscape.quality.perturbation_stability` for the same points. If it was computed
        with ``n_left_out=0``, a histogram of the movements is drawn instead of ``delta``.
    components : tuple of two int, default=(0, 1)
        Indices of the coordinates to draw.
    figure : matplotlib Figure, optional
        Figure to draw on. By default a new one.

    Returns
    -------
    matplotlib Figure
        The figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA, plot
    >>> from eigenscape.quality import perturbation_stability
    >>> X = load_iris().data
    >>> result = perturbation_stability(PCA(2), X, fraction=[0.02, 0.1], n_repeats=2, n_left_out=5)
    >>> figure = plot.stability(PCA(2).fit(X), result)
    >>> [ax.get_xlabel() for ax in figure.axes[:2]]
    ['coordinate 1', 'fraction of training points exchanged']
    """
    Y = _figure.coordinates_of(model)
    if len(Y) != len(found.per_point):
        raise ValueError(
            f"the embedding has {len(Y)} points, but the stability {len(found.per_point)}; both must be"
            " computed from the same points"
        )
    figure = _figure.new_figure(figure, (10.4, 4.4))
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    order = np.argsort(found.per_point)  # large movements on top
    movement = found.per_point[order]
    scatter(Y[order], values=movement, components=components, title=_MOVEMENT, ax=left)
    known = movement[np.isfinite(movement)]
    if len(Y) <= DENSE:
        left.collections[-1].set_sizes(dot_area(len(Y)) * (0.6 + 2.4 * known / (known[-1] or 1.0)))
    if np.isfinite([estimate.value for estimate in found.delta]).any():
        _draw_delta(right, found)
    else:
        style_axes(right, (_MOVEMENT, "points"))
        right.hist(known, bins=30, color=PALETTE[0])
    return figure


def _draw_delta(ax: Axes, found: Stability) -> None:
    style_axes(ax, ("fraction of training points exchanged", "perturbation error minus induction error"))
    order = np.argsort(found.fractions)
    value, low, high = np.array(found.delta)[order].T
    ax.axhline(0, color=INK, linewidth=0.8)
    style: dict[str, Any] = {"marker": "o", "markersize": 4, "linewidth": 1.4, "capsize": 3, "elinewidth": 1}
    error = np.abs([value - low, high - value])
    error[~np.isfinite(error)] = 0.0  # a single split has no interval
    ax.errorbar(found.fractions[order], value, error, color=PALETTE[0], **style)
    crossing = found.crossing
    if 0 < crossing < np.inf:
        ax.axvline(crossing, color=PALETTE[3], linewidth=1, linestyle=(0, (4, 3)))
        place = ((crossing, 0.03), (4, 0), ("data", "axes fraction"), "offset points")
        ax.annotate(f"{crossing:.1%}", *place, color=PALETTE[3], fontsize=9)
    ax.xaxis.set_major_formatter(matplotlib("ticker").PercentFormatter(1.0, decimals=None))
