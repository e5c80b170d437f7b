"""Eigenfunctions of models of two features (Bengio fig. 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._parameters import check_count
from eigenscape.plot._figure import color_bar, new_axes, set_title, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator


def eigenfunction(
    model: BaseEstimator,
    component: int = 0,
    *,
    X: ArrayLike | None = None,
    limits: tuple[float, float, float, float] | None = None,
    resolution: int = 150,
    log: bool = False,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw an eigenfunction of a model of two features as a grey-level image.

    Black and white are the smallest and the largest value at the points, which are drawn as white dots; far
    from the points the function may exceed them.

    Parameters
    ----------
    model : fitted estimator
        A model of two features. Its ``eigenfunctions`` are evaluated (Bengio eq. 20), or its ``transform``
        if it has none.
    component : int, default=0
        Index of the eigenfunction.
    X : array-like of shape (n_samples, 2), optional
        Points to draw. By default the training points, if ``kernel_`` stores them.
    limits : tuple (left, right, bottom, top), optional
        Region to draw. By default the region of the points with a margin.
    resolution : int, default=150
        Number of cells along each side.
    log : bool, default=False
        Whether to draw ``sign(f) log(1 + 1000 |f| / max |f|)``, which shows small variations of a function
        with a large maximum.
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
    >>> from sklearn.datasets import make_moons
    >>> from eigenscape import KernelPCA, plot
    >>> X, _ = make_moons(100, noise=0.05, random_state=0)
    >>> ax = plot.eigenfunction(KernelPCA().fit(X), resolution=40)
    >>> ax.images[0].get_array().shape
    (40, 40)
    """
    n_features = getattr(model, "n_features_in_", None)
    if n_features != 2:
        raise ValueError(
            "an eigenfunction is drawn over the plane, so the model must be fitted to two features,"
            f" got {type(model).__name__} with n_features_in_={n_features}"
        )
    check_count("resolution", resolution, 2)
    check_count("component", component, 0)
    points = _points_of(model, X)
    if limits is None and points is None:
        raise ValueError(
            f"{type(model).__name__} does not store its training points; pass X, or limits of the region"
        )
    left, right, bottom, top = extent = _extent(limits, points)
    function = model.eigenfunctions if hasattr(model, "eigenfunctions") else model.transform
    values = np.asarray(function(_cell_centers(extent, resolution)))
    if not 0 <= component < values.shape[1]:
        raise ValueError(f"component={component} must lie between 0 and {values.shape[1] - 1}")
    field = values[:, component].reshape(resolution, resolution)
    at_points = field if points is None else np.asarray(function(points))[:, component]
    if log:
        unit = max(np.abs(field).max() / 1000, np.finfo(float).tiny)
        field, at_points = (np.sign(part) * np.log1p(np.abs(part) / unit) for part in (field, at_points))
    ax = new_axes(ax)
    style_axes(ax, tuple(getattr(model, "feature_names_in_", ("feature 1", "feature 2"))))
    ax.set_aspect("equal")
    low, high = float(at_points.min()), float(at_points.max())
    options: dict[str, Any] = {"origin": "lower", "extent": extent, "interpolation": "bilinear"}
    image = ax.imshow(field, cmap="gray", vmin=low, vmax=high, **options)
    if points is not None:
        ax.scatter(points[:, 0], points[:, 1], s=9, color="white", edgecolors="#222222", linewidths=0.4)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    color_bar(ax, image)
    set_title(ax, title or f"eigenfunction {component + 1}" + (" (logarithm)" if log else ""))
    return ax


def _cell_centers(extent: tuple[float, float, float, float], resolution: int) -> np.ndarray:
    """Return the centres of the cells of a grid, (resolution**2, 2), in rows from the bottom."""
    left, right, bottom, top = extent
    cells = (np.arange(resolution) + 0.5) / resolution
    across, up = left + (right - left) * cells, bottom + (top - bottom) * cells
    return np.stack(np.meshgrid(across, up), axis=2).reshape(-1, 2)


def _points_of(model: BaseEstimator, X: ArrayLike | None) -> np.ndarray | None:
    """Return the given points, or the training points if the model stores them."""
    points = getattr(getattr(model, "kernel_", None), "X", None) if X is None else X
    if points is None or np.ndim(points) != 2 or np.shape(points)[1] != 2:
        return None
    return np.asarray(points, dtype=np.float64)


def _extent(limits: Any, points: np.ndarray | None) -> tuple[float, float, float, float]:
    """Return the validated limits, or by default the limits of the points with a margin."""
    if limits is None:
        assert points is not None
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.1 * (high - low).max()
        limits = (low[0] - margin, high[0] + margin, low[1] - margin, high[1] + margin)
    given = np.asarray(limits, dtype=np.float64)
    if given.shape != (4,) or not np.isfinite(given).all() or given[0] >= given[1] or given[2] >= given[3]:
        raise ValueError(
            f"limits={limits!r} must be (left, right, bottom, top) with left < right and bottom < top"
        )
    left, right, bottom, top = given.tolist()
    return left, right, bottom, top
