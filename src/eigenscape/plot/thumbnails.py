"""Thumbnails of selected points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from eigenscape.plot._figure import figure_of, matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_thumbnails(
    ax: Axes, points: np.ndarray, images: ArrayLike, size: float, n_thumbnails: int
) -> list[int]:
    """Draw images at their points without overlap, and return the indices of the points.

    The longer side of an image is ``size`` points (1/72 inch).
    """
    pictures = check_images(images, len(points))
    box_module = matplotlib("offsetbox")
    pixels = ax.transData.transform(points)
    height, width = pictures.shape[1:3]
    zoom = size / max(width, height)
    box = zoom * figure_of(ax).dpi / 72 * np.array([width, height])
    shown = select_apart(pixels, 1.15 * box, n_thumbnails)
    frame = {"edgecolor": "#888888", "linewidth": 0.4, "boxstyle": "square,pad=0"}
    options = {"zoom": zoom, "interpolation": "bilinear", "resample": True}
    for i in shown:
        picture = box_module.OffsetImage(pictures[i], cmap="gray", **options)
        ax.add_artist(box_module.AnnotationBbox(picture, points[i], pad=0, bboxprops=frame, zorder=4))
    return shown


def check_images(images: ArrayLike, n: int, channels: tuple[int, ...] = (1, 3, 4)) -> np.ndarray:
    """Return images (n, height, width[, channels]) of all points; raise ValueError if they are not."""
    pictures = np.asarray(images)
    allowed = [(), *((count,) for count in channels)]
    if pictures.ndim not in (3, 4) or len(pictures) != n or pictures.shape[3:] not in allowed:
        raise ValueError(
            f"images must have shape ({n}, height, width), one per point, or ({n}, height, width, channels)"
            f" with {' or '.join(map(str, channels))} channels, got {pictures.shape}"
        )
    if pictures.dtype.kind not in "fiub":
        raise ValueError(f"images must contain numbers, got dtype {pictures.dtype}")
    return pictures[..., 0] if pictures.shape[3:] == (1,) else pictures


def select_apart(pixels: np.ndarray, gap: np.ndarray, max_points: int) -> list[int]:
    """Select at most ``max_points`` points whose boxes of size ``gap`` do not overlap.

    The first point is the most central one, the next always the farthest from all selected.
    """
    scaled = pixels / gap  # two boxes overlap if both coordinates differ by less than one
    nearest = np.full(len(pixels), np.inf)
    chosen: list[int] = []
    candidate = int(np.argmin(np.abs(scaled - np.median(scaled, axis=0)).max(axis=1)))
    while len(chosen) < max_points and nearest[candidate] >= 1:
        chosen.append(candidate)
        nearest = np.minimum(nearest, np.abs(scaled - scaled[candidate]).max(axis=1))
        candidate = int(np.argmax(nearest))
    return chosen
