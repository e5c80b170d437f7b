"""Spectra: which eigenvalues stand out, and how much of the kernel is negative."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from eigenscape.plot._common import FAINT, INK, PALETTE, new_axes, plain, titled


def spectrum(model: Any, *, log: bool = False, title: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw eigenvalues in descending order, with the largest gap between two positive ones marked and
    negative ones in another colour.

    The gap says how many coordinates stand out, if it is large; fit with more components than you need to see
    it. Where eigenvalues are negative, the title says what share of the sum of all magnitudes shown they
    have.

    Parameters
    ----------
    model : fitted estimator, or array of shape (r,)
        ``eigenvalues_`` of the estimator are drawn. Where it has one spectrum for each connected component,
        the first is.
    log : bool, default=False
        Magnitudes on a logarithmic scale.
    title : str, optional
        Above the spectrum.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA, plot
    >>> ax = plot.spectrum(PCA(n_components=None).fit(load_iris().data))
    >>> len(ax.patches)
    4
    """
    values = _values_of(model)
    if log and not values.any():
        raise ValueError("all eigenvalues are 0, which a logarithmic scale cannot show; set log=False")
    order = np.argsort(-values, kind="stable")
    values = values[order]
    place = np.arange(1, len(values) + 1)
    ax = new_axes(ax, (6.4, 3.8))
    plain(ax, ("number", "magnitude of eigenvalue" if log else "eigenvalue"))
    negative = values < 0
    heights = np.abs(values) if log else values
    few = len(values) <= 60
    for which, color, name in ((~negative, PALETTE[0], "positive"), (negative, PALETTE[3], "negative")):
        if not which.any():
            continue
        if few:
            ax.bar(place[which], heights[which], color=color, width=0.72, label=name)
        else:
            ax.fill_between(
                place[which],
                0 if not log else heights[heights > 0].min(),
                heights[which],
                color=color,
                step="mid",
                label=name,
            )
    if log:
        ax.set_yscale("log")
    elif negative.any():
        ax.axhline(0, color=INK, linewidth=0.8)
    gap = eigengap(values)
    if gap is not None:
        ax.axvline(gap + 0.5, color=INK, linewidth=1, linestyle=(0, (4, 3)), label="largest gap")
        text = f"largest gap after {gap}"
        ax.annotate(
            text,
            (gap + 0.5, 0.97),
            (6, 0),
            ("data", "axes fraction"),
            "offset points",
            color=INK,
            fontsize=9,
            va="top",
        )
    if few:
        ax.set_xticks(place[:: 1 + (len(values) - 1) // 15])
    if negative.any():
        share = float(np.abs(values[negative]).sum() / np.abs(values).sum())
        ax.legend(frameon=False, fontsize=8, labelcolor=INK, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        title = f"{title}\n" if title else ""
        title += f"{negative.sum()} of {len(values)} negative, {share:.1%} of the magnitude"
    if title:
        titled(ax, title)
    ax.tick_params(axis="x", color=FAINT)
    return ax


def eigengap(values: np.ndarray) -> int | None:
    """How many values come before the largest fall from one positive value to the next; None for fewer than
    two."""
    positive = np.sort(values[values > 0])[::-1]
    return int(np.argmax(positive[:-1] - positive[1:])) + 1 if len(positive) > 1 else None


def _values_of(model: Any) -> np.ndarray:
    values = getattr(model, "eigenvalues_", model)
    if hasattr(values, "fit"):
        raise TypeError(
            f"{type(model).__name__} has no eigenvalues_: it is not fitted, or its map has no spectrum"
        )
    values = np.asarray(values, dtype=np.float64)
    values = values[0] if values.ndim == 2 else values
    values = values[np.isfinite(values)]
    if values.ndim != 1 or not len(values):
        raise ValueError(f"eigenvalues must be an array of shape (r,), got shape {values.shape}")
    return values
