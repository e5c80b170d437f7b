"""The plot of the eigenvalues of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eigenscape.plot import _figure
from eigenscape.plot._figure import FAINT, INK, PALETTE, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator


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
