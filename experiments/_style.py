"""Common style of the figures."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

#: Settings of ``matplotlib.rc_context`` while an experiment runs.
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

#: Colours of classes, distinguishable by colour-blind readers (after Okabe and Ito).
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
    """Return an empty figure with a title and constrained layout."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=13, fontweight="bold", x=0.01, ha="left")
    return figure
