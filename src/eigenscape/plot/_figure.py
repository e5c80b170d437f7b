"""Axes, figures and colours shared by all plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenscape._extras import optional_import
from eigenscape._palette import OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from sklearn.base import BaseEstimator

#: Colours of lines and bars.
PALETTE = OKABE_ITO
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
INK = "#333333"
FAINT = "#BBBBBB"


def matplotlib(module: str) -> Any:
    """Import a module of matplotlib, an optional dependency."""
    return optional_import(f"matplotlib.{module}" if module else "matplotlib", "drawing a figure")


def new_axes(ax: Axes | None, size: tuple[float, float] = (6.4, 5.2)) -> Axes:
    """Return ``ax``, or the axes of a new figure of pyplot."""
    return new_figure(None, size).add_subplot() if ax is None else ax


def new_figure(figure: Figure | None, size: tuple[float, float]) -> Figure:
    """Return ``figure``, or a new one of pyplot, which notebooks display once."""
    if figure is not None:
        return figure
    pyplot = matplotlib("pyplot")  # the error names the extra
    from eigenscape.plot._displayed import DisplayedFigure

    made: Figure = pyplot.figure(figsize=size, layout="constrained", FigureClass=DisplayedFigure)
    return made


def coordinates_of(model: BaseEstimator) -> np.ndarray:
    """Return the coordinates (n, d) of a fitted model's training points, or a given array, validated."""
    embedding = getattr(model, "embedding_", model)
    if hasattr(embedding, "fit"):
        raise TypeError(f"{type(model).__name__} has no embedding_; fit it first, or pass coordinates")
    Y = np.asarray(embedding)
    if Y.dtype.kind not in "fiub":
        raise TypeError(f"coordinates must be numbers, got {type(model).__name__} of dtype {Y.dtype}")
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or not Y.size:
        raise ValueError(f"coordinates must have shape (n, d) with n and d of at least 1, got {Y.shape}")
    Y = Y.astype(np.float64, copy=False)
    bad = np.flatnonzero(~np.isfinite(Y).all(axis=1))
    if len(bad):
        raise ValueError(
            f"{len(bad)} of {len(Y)} points have coordinates that are NaN or infinite, the first at index"
            f" {bad[0]}; remove them"
        )
    return Y


def select_columns(Y: np.ndarray, components: tuple[int, int]) -> tuple[np.ndarray, tuple[str, str]]:
    """Return two columns and their names; a single coordinate is drawn against the index of the point."""
    if Y.shape[1] == 1:
        return np.column_stack([np.arange(len(Y)), Y[:, 0]]), ("point", "coordinate 1")
    columns = np.asarray(components)
    integers = columns.shape == (2,) and columns.dtype.kind in "iu"
    if not integers or columns.min() < 0 or columns.max() >= Y.shape[1]:
        raise ValueError(f"components={components!r} must be two of the coordinates 0 to {Y.shape[1] - 1}")
    return Y[:, columns], (f"coordinate {columns[0] + 1}", f"coordinate {columns[1] + 1}")


def style_axes(ax: Axes, names: tuple[str, ...] = (), equal: bool = False) -> None:
    """Apply the common style; with ``equal`` both axes have the same unit."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(color=FAINT, labelcolor=INK, labelsize=8)
    if names:
        ax.set_xlabel(names[0], color=INK, parse_math=False)
        ax.set_ylabel(names[1], color=INK, parse_math=False)
    if equal:
        ax.set_aspect("equal", adjustable="datalim")


def draw_points(ax: Axes, points: np.ndarray, **style: Any) -> Any:
    """Draw points of shape (n, 2)."""
    return ax.scatter(points[:, 0], points[:, 1], **style)


def set_title(ax: Axes, title: str, size: float = 11) -> None:
    """Set a title as plain text, without parsing ``$`` as mathematics."""
    ax.set_title(title, color=INK, fontsize=size, parse_math=False)


def figure_of(ax: Axes) -> Any:
    """Return the figure or subfigure of the axes."""
    figure = ax.figure  # get_figure(root=False) needs matplotlib 3.10
    if figure is None:
        raise ValueError("ax belongs to no figure; it may have been removed")
    return figure


def color_bar(ax: Axes | list[Axes], mappable: Any, label: str = "", extend: str = "neither") -> None:
    """Draw a thin colour bar next to one or several axes."""
    options: dict[str, Any] = {"ax": ax, "shrink": 0.8, "aspect": 30, "pad": 0.02, "extend": extend}
    bar = figure_of(ax[0] if isinstance(ax, list) else ax).colorbar(mappable, **options)
    bar.set_label(label, color=INK, fontsize=9)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, color=FAINT, labelcolor=INK)


def add_legend(ax: Axes, handles: Sequence[Any], names: Sequence[str], **options: Any) -> None:
    """Draw a legend. Handles without a name keep their own label.

    Names are set afterwards: matplotlib skips labels that begin with _ and parses $ as mathematics.
    """
    labels = [handle.get_label() if i >= len(names) else str(i) for i, handle in enumerate(handles)]
    legend = ax.legend(handles, labels, frameon=False, fontsize=8, labelcolor=INK, **options)
    for text, name in zip(legend.get_texts(), names, strict=False):
        text.set_parse_math(False)
        text.set_text(name)
