"""The figure of bengio-4: delta by the fraction exchanged, and crossings by bandwidth."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eigenscape.quality.stability import Stability
from experiments._style import COLORS, new_figure

#: Fractions exchanged between which delta crosses zero in the paper.
PRINTED = (0.01, 0.05)


def draw_stability(stability: dict[str, dict[str, Stability]], scan: dict[str, dict[str, Any]]) -> Figure:
    """Draw delta against the fraction exchanged for each data set and method, and the scan."""
    rows = len(stability)
    figure = new_figure(
        "Displacement by exchanging training points minus error of new points", 13, 2.7 * rows + 2.4
    )
    grid = figure.add_gridspec(rows + 1, 4, height_ratios=[1] * rows + [0.75])
    for i, (name, methods) in enumerate(stability.items()):
        for j, (method, one) in enumerate(methods.items()):
            axes = figure.add_subplot(grid[i, j])
            _draw_delta(axes, one)
            axes.set(title=f"{name}: {method}")
            if i == rows - 1:
                axes.set_xlabel("training points exchanged, %")
            if j == 0:
                axes.set_ylabel("delta, % of the map's spread")
    axes = figure.add_subplot(grid[rows, :])
    _draw_scan(axes, scan)
    axes.set(title=f"{next(iter(stability))}: crossing of spectral clustering with other bandwidths")
    return figure


def _draw_delta(axes: Axes, one: Stability) -> None:
    """Draw delta with its intervals; the printed range of the crossing is shaded."""
    low, value, high = (
        100 / one.spread * np.array([getattr(d, key) for d in one.delta]) for key in ("low", "value", "high")
    )
    axes.axvspan(100 * PRINTED[0], 100 * PRINTED[1], color="#e8edf3", zorder=0)
    axes.axhline(0, color="#555555", lw=0.8)
    axes.errorbar(
        100 * one.fractions,
        value,
        np.nan_to_num([value - low, high - value], posinf=0.0),
        color=COLORS[0],
        marker="o",
        ms=4,
        capsize=3,
        lw=1.4,
    )
    axes.set(xscale="log", xticks=[0.3, 1, 2, 5, 10, 20], xticklabels=["0.3", "1", "2", "5", "10", "20"])
    axes.minorticks_off()


def _draw_scan(axes: Axes, scan: dict[str, dict[str, Any]]) -> None:
    """Draw the crossings with their intervals, which are cut at the smallest and largest fraction."""
    axes.axvspan(100 * PRINTED[0], 100 * PRINTED[1], color="#e8edf3", zorder=0)
    for row, one in enumerate(scan.values()):
        limits = one["fractions"][0], one["fractions"][-1]
        low, value, high = 100 * np.clip(one["crossing"], *limits)
        axes.plot([low, high], [row, row], color=COLORS[0], lw=1.4)
        axes.plot(value, row, "o", color=COLORS[0], ms=5)
    axes.set(
        xscale="log",
        xticks=[0.3, 1, 2, 5, 10, 20],
        xticklabels=["0.3", "1", "2", "5", "10", "20"],
        xlabel="crossing, % of the training points exchanged (shaded: printed range)",
        yticks=range(len(scan)),
        yticklabels=[f"bandwidth {variant}" for variant in scan],
        ylim=(len(scan) - 0.5, -0.5),
    )
    axes.minorticks_off()
