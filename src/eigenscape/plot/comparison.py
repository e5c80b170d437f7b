"""Several embeddings of the same points side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._parameters import check_count
from eigenscape.plot._figure import color_bar, coordinates_of, new_figure, set_title
from eigenscape.plot.maps import draw_legend, draw_map
from eigenscape.quality.alignment import procrustes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def compare(
    models: Mapping[str, Any] | Iterable[Any],
    labels: ArrayLike | None = None,
    *,
    values: ArrayLike | None = None,
    components: tuple[int, int] = (0, 1),
    n_columns: int | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw several embeddings of the same points as small multiples.

    Each embedding is aligned to the first by :func:`eigenscape.quality.procrustes`; its title shows the
    remaining error relative to the spread of the first, 0 for the same embedding.

    Parameters
    ----------
    models : dict of name to fitted estimator or coordinates, or sequence of them
        The embeddings. The first is the reference.
    labels : array-like of shape (n_samples,), optional
        Categories, drawn in colours with a legend.
    values : array-like of shape (n_samples,), optional
        Numbers, drawn in colours with a colour bar.
    components : tuple of two int, default=(0, 1)
        Indices of the coordinates to draw.
    n_columns : int, optional
        Number of columns. By default the grid is about square, with at most four columns.
    figure : matplotlib Figure, optional
        Figure to draw on. By default a new one.

    Returns
    -------
    matplotlib Figure
        The figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA, KernelPCA, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> figure = plot.compare({"PCA": PCA(2).fit(X), "kernel PCA": KernelPCA().fit(X)}, y)
    >>> figure.axes[0].get_title()
    'PCA'
    """
    if n_columns is not None:
        check_count("n_columns", n_columns, 1)
    coordinates = {name: coordinates_of(model) for name, model in _named(models).items()}
    names = list(coordinates)
    first = coordinates[names[0]]
    for name, Y in coordinates.items():
        if len(Y) != len(first):
            raise ValueError(
                f"all embeddings must have the same points, but {name!r} has {len(Y)} and {names[0]!r}"
                f" {len(first)}"
            )
    columns = min(4, int(np.ceil(np.sqrt(len(names))))) if n_columns is None else n_columns
    rows = -(-len(names) // columns)
    figure = new_figure(figure, (3.4 * columns + 0.8, 3.2 * rows))
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax, (name, Y) in zip(axes.flat, coordinates.items(), strict=False):
        aligned, error = _align(Y, first)
        key = draw_map(ax, aligned, labels, values, components)
        ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
        set_title(ax, name if error is None else f"{name}\n{error:.2f} from {names[0]}", 10)
    for ax in axes.flat[len(names) :]:
        ax.remove()
    if key.categories is not None:
        draw_legend(axes[0, min(columns, len(names)) - 1], key)  # at the end of the first row
    elif values is not None or labels is not None:
        color_bar(list(axes.flat[: len(names)]), key.mappable, extend=key.extend)
    return figure


def _named(models: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    """Return the models by name; models of a sequence are named by their class."""
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    else:
        named = {}
        for number, model in enumerate(models, 1):
            kind = type(model).__name__ if hasattr(model, "embedding_") else "map"
            named[kind if kind != "map" and kind not in named else f"{kind} {number}"] = model
    if not named:
        raise ValueError("models is empty; pass at least one embedding")
    return named


def _align(Y: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, float | None]:
    """Align an embedding to the first, on the coordinates both have; the error is None if they are equal."""
    if np.array_equal(Y, first):
        return Y, None
    d = min(Y.shape[1], first.shape[1])
    return procrustes(Y[:, :d], first[:, :d])
