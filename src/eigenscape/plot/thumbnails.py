"""Small pictures of some points, where they hide nobody."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from eigenscape.plot._common import figure_of


def draw_thumbnails(ax: Axes, points: np.ndarray, images: Any, side: float, most: int) -> list[int]:
    """Pictures of ``side`` points (1/72 inch) at their points, none over another; returns whose they are.

    Points are taken in an order spread over the map: each next one is the farthest from those that have a
    picture."""
    pictures = as_images(images, len(points))
    pixels = ax.transData.transform(points)
    scale = figure_of(ax).dpi / 72
    height, width = pictures.shape[1:3]
    box = side * scale * np.array([width, height]) / max(width, height)
    gap = 1.15 * box
    shown = places_apart(pixels, gap, most)
    for i in shown:
        zoom = side / max(width, height)
        picture = OffsetImage(pictures[i], zoom=zoom, cmap="gray", interpolation="bilinear", resample=True)
        frame = {"edgecolor": "#888888", "linewidth": 0.4, "boxstyle": "square,pad=0"}
        ax.add_artist(AnnotationBbox(picture, points[i], pad=0, bboxprops=frame, zorder=4))
    return shown


def as_images(images: Any, n: int) -> np.ndarray:
    """Pictures (n, height, width) or (n, height, width, channels)."""
    pictures = np.asarray(images)
    if pictures.ndim not in (3, 4) or len(pictures) != n:
        raise ValueError(
            f"images must have shape (n, height, width) for the {n} points, got {pictures.shape}"
        )
    if pictures.ndim == 4 and pictures.shape[3] not in (1, 3, 4):
        raise ValueError(
            f"the last axis of images must be 1 (grey), 3 or 4 colours, got {pictures.shape[3]} of shape {pictures.shape}"
        )
    return pictures[..., 0] if pictures.ndim == 4 and pictures.shape[3] == 1 else pictures


def places_apart(pixels: np.ndarray, gap: np.ndarray, most: int) -> list[int]:
    """Points whose boxes of size ``gap`` do not overlap, the next always the farthest from all before, at
    most ``most``."""
    scaled = pixels / gap  # two boxes overlap where both coordinates differ by less than one
    nearest = np.full(len(pixels), np.inf)
    chosen: list[int] = []
    candidate = int(np.argmin(np.abs(scaled - np.median(scaled, axis=0)).max(axis=1)))
    while len(chosen) < most and nearest[candidate] >= 1:
        chosen.append(candidate)
        nearest = np.minimum(nearest, np.abs(scaled - scaled[candidate]).max(axis=1))
        candidate = int(np.argmax(nearest))
    return chosen
