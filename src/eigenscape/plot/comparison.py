"""Maps of the same points side by side."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from eigenscape.plot._common import color_bar, coordinates_of, new_figure, titled
from eigenscape.plot.maps import draw_legend, draw_map
from eigenscape.quality.alignment import procrustes


def compare(
    models: Any,
    labels: Any = None,
    *,
    values: Any = None,
    components: tuple[int, int] = (0, 1),
    n_columns: int | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw several maps of the same points as small multiples, each shifted, turned, reflected and scaled to
    lie over the first.

    Each title says how far the map is from the first after that, relative to the spread of the first: 0 is
    the same map.

    Parameters
    ----------
    models : dict of name to fitted estimator or coordinates, or a sequence of them
        The first is left as it is.
    labels, values, components
        As for :func:`scatter`, for all maps.
    n_columns : int, optional
        Maps in a row; by default as many as make the figure about as high as wide, at most four.
    figure : matplotlib Figure, optional
        Where to draw; by default a new one.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA, KernelPCA, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> figure = plot.compare({"PCA": PCA(2).fit(X), "kernel PCA": KernelPCA().fit(X)}, y)
    >>> figure.axes[0].get_title()
    'PCA'
    """
    if n_columns is not None and (not isinstance(n_columns, numbers.Integral) or n_columns < 1):
        raise ValueError(f"n_columns={n_columns!r} must be a whole number, at least 1")
    maps = _named(models)
    names = list(maps)
    first = coordinates_of(maps[names[0]])
    aligned = {}
    for name in names:
        Y = coordinates_of(maps[name])
        if len(Y) != len(first):
            raise ValueError(
                f"all maps must be of the same points, but {name!r} has {len(Y)} and {names[0]!r} {len(first)}"
            )
        aligned[name] = _aligned(Y, first)
    columns = n_columns or min(4, int(np.ceil(np.sqrt(len(names)))))
    rows = -(-len(names) // columns)
    figure = new_figure(figure, (3.4 * columns + 0.8, 3.2 * rows))
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax, name in zip(axes.flat, names, strict=False):
        Y, error = aligned[name]
        key = draw_map(ax, Y, labels, values, components)
        ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
        titled(ax, name if error is None else f"{name}\n{error:.2f} from {names[0]}", 10)
    for ax in axes.flat[len(names) :]:
        ax.remove()
    if key.named is not None:
        draw_legend(axes[0, min(columns, len(names)) - 1], key)  # at the end of the first row
    elif values is not None or labels is not None:
        color_bar(list(axes.flat[: len(names)]), key.mappable, extend=key.extend)
    return figure


def _named(models: Any) -> dict[str, Any]:
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    else:
        named = {}
        for number, model in enumerate(models, 1):
            kind = type(model).__name__ if hasattr(model, "embedding_") else "map"
            named[kind if kind != "map" and kind not in named else f"{kind} {number}"] = model
    if not named:
        raise ValueError("there is nothing to compare; give at least one map")
    return named


def _aligned(Y: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, float | None]:
    """A map over the first one, and how far from it; a map of other dimension is compared by the coordinates
    both have."""
    if Y is first or (Y.shape == first.shape and np.array_equal(Y, first)):
        return Y, None
    d = min(Y.shape[1], first.shape[1])
    return procrustes(Y[:, :d], first[:, :d])
