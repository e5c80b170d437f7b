"""What all figures share: axes to draw on, coordinates out of a model, colours that everyone can tell
apart."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

#: Okabe and Ito's colours, which people with any colour vision can tell apart; the pale yellow last.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
#: Tol's muted colours and black, for nine or ten categories.
MUTED = (
    "#332288",
    "#DDCC77",
    "#117733",
    "#CC6677",
    "#88CCEE",
    "#882255",
    "#44AA99",
    "#999933",
    "#AA4499",
    "#000000",
)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
#: From dark to light evenly, the same in grey.
VALUES = "viridis"
INK = "#333333"
FAINT = "#BBBBBB"


def new_axes(ax: Axes | None, size: tuple[float, float] = (6.4, 5.2)) -> Axes:
    """``ax``, or axes of a new figure of its own that pyplot knows nothing of."""
    return new_figure(None, size).add_subplot() if ax is None else ax


def new_figure(figure: Figure | None, size: tuple[float, float]) -> Figure:
    """``figure``, or a new one."""
    if figure is not None:
        return figure
    made = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(made)
    return made


def coordinates_of(model: Any) -> np.ndarray:
    """Coordinates (n, d) of a fitted model's training points, or of an array given as it is."""
    embedding = getattr(model, "embedding_", model)
    if hasattr(embedding, "fit"):
        raise TypeError(f"{type(model).__name__} has no embedding_; fit it first, or pass coordinates")
    Y = np.asarray(embedding)
    if Y.dtype.kind not in "fiub":
        raise TypeError(f"coordinates must be numbers, got {type(model).__name__} of dtype {Y.dtype}")
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or not Y.size:
        raise ValueError(f"coordinates must have shape (n, d) with at least one of each, got {Y.shape}")
    Y = Y.astype(np.float64, copy=False)
    lost = np.flatnonzero(~np.isfinite(Y).all(axis=1))
    if len(lost):
        raise ValueError(
            f"{len(lost)} of {len(Y)} points have coordinates that are NaN or infinite, the first of them point {lost[0]} (counted from 0);"
            " leave them out"
        )
    return Y


def chosen_columns(Y: np.ndarray, components: tuple[int, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Two columns to draw and their names; a map of one coordinate is drawn over the number of the point."""
    if Y.shape[1] == 1:
        return np.column_stack([np.arange(len(Y)), Y[:, 0]]), ("point", "coordinate 1")
    if len(components) != 2 or not all(
        isinstance(c, numbers.Integral) and 0 <= c < Y.shape[1] for c in components
    ):
        raise ValueError(f"components={components!r} must be two of the coordinates 0 to {Y.shape[1] - 1}")
    return Y[:, list(components)], tuple(f"coordinate {c + 1}" for c in components)


def plain(ax: Axes, names: tuple[str, ...] = (), equal: bool = False) -> None:
    """Axes with little ink; ``equal`` units both ways, where distances mean something."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(color=FAINT, labelcolor=INK, labelsize=8)
    if names:
        ax.set_xlabel(names[0], color=INK, parse_math=False)
        ax.set_ylabel(names[1], color=INK, parse_math=False)
    if equal:
        ax.set_aspect("equal", adjustable="datalim")


def titled(ax: Axes, title: str, size: float = 11) -> None:
    """A title as it is written: a dollar sign in it begins no formula."""
    ax.set_title(title, color=INK, fontsize=size, parse_math=False)


def figure_of(ax: Axes) -> Any:
    """The figure that axes belong to, or the part of one."""
    figure = ax.get_figure(root=False)
    if figure is None:
        raise ValueError("ax belongs to no figure; it may have been removed")
    return figure


def color_bar(ax: Axes | list[Axes], mappable: Any, label: str = "", **options: Any) -> None:
    """A slender colour bar beside the axes, or beside several."""
    bar = figure_of(ax[0] if isinstance(ax, list) else ax).colorbar(
        mappable, ax=ax, shrink=0.8, aspect=30, pad=0.02, **options
    )
    bar.set_label(label, color=INK, fontsize=9)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, color=FAINT, labelcolor=INK)
