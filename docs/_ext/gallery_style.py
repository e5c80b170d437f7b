"""The look of all pictures of the site."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

STYLE: dict[str, Any] = {
    "figure.dpi": 80,
    "savefig.dpi": 80,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "image.cmap": "viridis",
    "lines.markersize": 4,
}


def reset(gallery_conf: dict[str, Any], fname: str) -> None:
    """Set the style before each example."""
    mpl.rcParams.update(STYLE)
