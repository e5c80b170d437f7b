"""Panels in which all pictures of the site are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from gallery_style import STYLE

Figure = Callable[[], None]
FIGURES: dict[str, Figure] = {}


def figure(name: str) -> Callable[[Figure], Figure]:
    """Register a function that draws the picture of this name."""

    def register(draw: Figure) -> Figure:
        FIGURES[name] = draw
        return draw

    return register


def axes(n: int, width: float = 2.6, height: float = 2.4) -> Any:
    """Return n axes in a row."""
    found = plt.subplots(1, n, figsize=(width * n, height), squeeze=False)[1]
    return found[0]


def dots(ax: Any, points: Any, color: Any = None, title: str = "", size: float = 6, **options: Any) -> None:
    """Draw points without ticks; of three columns the first and the last are shown."""
    points = np.asarray(points)
    if points.shape[1] == 1:
        points = np.column_stack([points[:, 0], np.zeros(len(points))])
    x, y = points[:, 0], points[:, 2 if points.shape[1] == 3 else 1]
    options = {"cmap": "viridis", "linewidths": 0, **options}
    if color is None:
        options.pop("cmap")
        color = "#30638e"
    ax.scatter(x, y, c=color, s=size, **options)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=9)


def four(*panels: tuple[Any, Any, str]) -> None:
    """Draw (points, color, title) for data and map where a method is right, then where it fails."""
    for ax, (points, color, title) in zip(axes(len(panels), 2.35, 2.2), panels, strict=True):
        dots(ax, points, color, title)


@contextmanager
def style() -> Iterator[None]:
    """Draw within the look of the site."""
    with plt.rc_context({**STYLE, "savefig.dpi": 100}):
        yield


def draw_all(folder: Path, newest: float) -> None:
    """Draw the pictures that are missing or older than a time."""
    import warnings

    folder.mkdir(parents=True, exist_ok=True)
    with style(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the failures that are shown
        for name, draw in FIGURES.items():
            path = folder / f"{name}.png"
            if path.exists() and path.stat().st_mtime > newest:
                continue
            draw()
            plt.savefig(path)
            plt.close("all")
