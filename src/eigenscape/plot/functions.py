"""Eigenfunctions over the plane (Bengio fig. 2)."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from eigenscape.plot._common import color_bar, new_axes, plain, titled


def eigenfunction(
    model: Any,
    component: int = 0,
    *,
    X: Any = None,
    limits: tuple[float, float, float, float] | None = None,
    resolution: int = 150,
    log: bool = False,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw an eigenfunction of a model of points in the plane as grey levels, the training points as white
    dots.

    Black and white are the least and the largest value at the points: far from them a function may go on to
    rise.

    Parameters
    ----------
    model : fitted estimator
        Learnt on two features. ``eigenfunctions`` is evaluated (Bengio eq. 20), or ``transform`` for a model
        without a kernel.
    component : int, default=0
        Which one, counted from 0.
    X : array-like of shape (n, 2), optional
        Points to show; by default the training points where ``kernel_`` knows them.
    limits : (left, right, bottom, top), optional
        The part of the plane; by default a little more than the points take.
    resolution : int, default=150
        Cells along each side.
    log : bool, default=False
        Show ``sign(f) log(1 + 1000 |f| / max |f|)``, to see variations of functions that are large in one
        place.
    title : str, optional
        Above the picture.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigenscape import KernelPCA, plot
    >>> X, _ = make_moons(100, noise=0.05, random_state=0)
    >>> ax = plot.eigenfunction(KernelPCA().fit(X), resolution=40)
    >>> ax.images[0].get_array().shape
    (40, 40)
    """
    if getattr(model, "n_features_in_", None) != 2:
        raise ValueError(
            f"an eigenfunction is drawn over the plane, so the model must be fitted to two features, got {type(model).__name__} with"
            f" n_features_in_={getattr(model, 'n_features_in_', None)}"
        )
    if not isinstance(resolution, numbers.Integral) or resolution < 2:
        raise ValueError(f"resolution={resolution!r} must be a whole number of cells, at least 2")
    points = _points_of(model, X)
    if limits is None:
        if points is None:
            raise ValueError(
                f"{type(model).__name__} does not keep its training points; pass X, or limits of the plane to draw"
            )
        limits = _around(points)
    left, right, bottom, top = _checked(limits)
    step_x, step_y = (right - left) / resolution, (top - bottom) / resolution
    across = left + step_x * (np.arange(resolution) + 0.5)  # centres of the cells
    up = bottom + step_y * (np.arange(resolution) + 0.5)
    grid = np.stack(np.meshgrid(across, up), axis=2).reshape(-1, 2)
    function = model.eigenfunctions if hasattr(model, "eigenfunctions") else model.transform
    values = np.asarray(function(grid))
    if not isinstance(component, numbers.Integral) or not 0 <= component < values.shape[1]:
        raise ValueError(
            f"component={component} must lie between 0 and {values.shape[1] - 1}, the last one the model has"
        )
    field = values[:, component].reshape(resolution, resolution)
    shades = field if points is None else np.asarray(function(points))[:, component]
    if log:
        unit = max(np.abs(field).max() / 1000, np.finfo(float).tiny)
        field, shades = (np.sign(part) * np.log1p(np.abs(part) / unit) for part in (field, shades))
    ax = new_axes(ax)
    plain(ax, tuple(getattr(model, "feature_names_in_", ("feature 1", "feature 2"))))
    ax.set_aspect("equal")
    darkest, lightest = float(shades.min()), float(shades.max())
    picture = ax.imshow(
        field,
        origin="lower",
        extent=limits,
        cmap="gray",
        interpolation="bilinear",
        vmin=darkest,
        vmax=lightest,
    )
    if points is not None:
        ax.scatter(points[:, 0], points[:, 1], s=9, color="white", edgecolors="#222222", linewidths=0.4)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    color_bar(ax, picture)
    titled(ax, title or f"eigenfunction {component + 1}" + (" (logarithm)" if log else ""))
    return ax


def _points_of(model: Any, X: Any) -> np.ndarray | None:
    kept = getattr(getattr(model, "kernel_", None), "X", None) if X is None else X
    return (
        None
        if kept is None or np.ndim(kept) != 2 or np.shape(kept)[1] != 2
        else np.asarray(kept, dtype=np.float64)
    )


def _checked(limits: Any) -> tuple[float, float, float, float]:
    given = np.asarray(limits, dtype=np.float64)
    if given.shape != (4,) or not np.isfinite(given).all() or given[0] >= given[1] or given[2] >= given[3]:
        raise ValueError(
            f"limits={limits!r} must be (left, right, bottom, top), with left below right and bottom below top"
        )
    left, right, bottom, top = given.tolist()
    return left, right, bottom, top


def _around(points: np.ndarray) -> tuple[float, float, float, float]:
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.1 * float((high - low).max())
    return float(low[0] - margin), float(high[0] + margin), float(low[1] - margin), float(high[1] + margin)
