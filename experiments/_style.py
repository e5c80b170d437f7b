"""One look for all figures."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

#: In force while an experiment runs (``matplotlib.rc_context``).
STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.grid": False,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "eigenscape",
    "svg.fonttype": "path",
}

#: Colours for classes, readable side by side and by the colour-blind (after Okabe and Ito).
COLORS = [
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#555555",
    "#b5a800",
    "#7b3294",
    "#8c510a",
]


def new_figure(title: str, width: float = 10.0, height: float = 4.5) -> Figure:
    """An empty figure with a title; panels are laid out so that nothing overlaps."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=13, fontweight="bold", x=0.01, ha="left")
    return figure
