"""Charts of a report: drawings by matplotlib, as SVG images by the id of their place."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from eigenscape._format import escape_controls
from eigenscape._palette import category_colors
from eigenscape.app.report._measures import Measures, Residual, Spectrum
from eigenscape.app.report._refits import Movement
from eigenscape.app.report._texts import LIMITS, shorten
from eigenscape.plot._figure import FAINT, INK, PALETTE, add_legend, matplotlib, style_axes

_BLUE, _GREY, _RED = PALETTE[0], "#9AA5AE", PALETTE[3]
_SIZE = (5.6, 3.1)

#: Options of matplotlib: text remains text, and equal figures give equal files.
_OPTIONS = {"svg.fonttype": "none", "svg.hashsalt": "eigenscape"}


def _axes(x: str, y: str, height: float = _SIZE[1], above: float = 0.2) -> Any:
    """Return the axes of a new chart, with a grid along the vertical axis and margins in inches.

    Margins are fixed, since computing them takes most of the time of a chart.
    """
    width, left, below = _SIZE[0], 0.85, 0.5
    figure = matplotlib("figure").Figure(figsize=(width, height))
    frame = (left / width, below / height, (width - left - 0.1) / width, (height - below - above) / height)
    ax = figure.add_axes(frame)
    style_axes(ax, (x, y))
    ax.tick_params(labelsize=9)
    ax.grid(axis="y", color=FAINT, linewidth=0.5, alpha=0.5)
    ax.set_axisbelow(True)
    return ax


def _name(text: str) -> str:
    """Return a name of limited length."""
    short = escape_controls(shorten(text))
    return short if len(short) <= LIMITS.name_length else f"{short[: LIMITS.name_length - 1]}…"


def _spectrum_chart(spectrum: Spectrum) -> Any:
    values = spectrum.values[:30]
    colors = np.where(np.arange(len(values)) < spectrum.n_kept, _BLUE, _GREY)
    colors = np.where(values < 0, _RED, colors)
    ax = _axes("coordinate", "eigenvalue")
    ax.bar(np.arange(1, len(values) + 1), values, color=colors.tolist(), width=0.75)
    ax.xaxis.set_major_locator(matplotlib("ticker").MaxNLocator(integer=True))
    low, high = float(values.min()), float(values.max())
    if len(values) > 1 and low > 0.5 * high > 0:  # bars from zero would look equal
        margin = 0.15 * (high - low) or 0.01 * high
        ax.set_ylim(low - margin, high + margin)
    elif low < 0:
        ax.axhline(0, color=INK, linewidth=0.8)
    return ax


def _residual_chart(residual: Residual, n_coordinates: int) -> Any:
    ax = _axes("number of coordinates", "residual variance")
    ax.plot(residual.counts, residual.values, color=_BLUE, marker="o", markersize=5)
    here = residual.counts == n_coordinates
    ax.plot(residual.counts[here], residual.values[here], color=_BLUE, marker="o", markersize=10)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(matplotlib("ticker").MaxNLocator(integer=True))
    return ax


def curve_chart(curves: dict[str, tuple[np.ndarray, np.ndarray]], n: int) -> Any:
    """Draw the co-ranking curves of one or several maps, and their expectation for a random map."""
    above = 0.15 + 0.2 * -(-(len(curves) + 1) // LIMITS.names_across)
    ax = _axes("size of the neighbourhood", "share preserved", _SIZE[1] + above - 0.2, above=above)
    colors = category_colors(min(20, len(curves))) * 9
    for color, (sizes, shares) in zip(colors, curves.values(), strict=False):
        ax.plot(sizes, shares, color=color)
    sizes = next(iter(curves.values()))[0]
    ax.plot(sizes, sizes / (n - 1), color=_GREY, linestyle="--")
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(matplotlib("ticker").StrMethodFormatter("{x:g}"))
    ax.set_ylim(0, 1.02)
    place = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1.0), "ncols": LIMITS.names_across}
    add_legend(ax, ax.lines, [_name(name) for name in [*curves, "random map"]], **place)
    return ax


def _movement_chart(movement: Movement) -> Any:
    known = movement.per_point[np.isfinite(movement.per_point)]
    top = float(np.quantile(known, 0.995)) * 1.05 or 1.0
    ax = _axes("movement, % of the spread of the map", "points")
    ax.hist(100 * np.minimum(known, top), bins=40, range=(0.0, 100 * top), color=_BLUE, rwidth=0.95)
    ax.set_xlim(left=0)
    return ax


def report_charts(m: Measures, n_coordinates: int) -> dict[str, str]:
    """Return the charts of all measures that were computed: addresses of images by the id of their place."""
    residual = m.residual if m.residual is not None and len(m.residual.counts) > 1 else None
    movement = m.movement if m.movement is not None and m.movement.median is not None else None
    charts: dict[str, tuple[Any, Callable[..., Any]]] = {
        "chart-curve": (m.curve, lambda curve: curve_chart({"this map": curve}, m.n_compared)),
        "chart-spectrum": (m.spectrum, _spectrum_chart),
        "chart-residual": (residual, lambda found: _residual_chart(found, n_coordinates)),
        "chart-movement": (movement, _movement_chart),
    }
    return {place: image(draw(value)) for place, (value, draw) in charts.items() if value is not None}


def image(ax: Any) -> str:
    """Return the figure of the axes as an SVG image, which a dark page inverts."""
    file = io.BytesIO()
    with warnings.catch_warnings(), matplotlib("").rc_context(_OPTIONS):
        warnings.filterwarnings("ignore", message="Glyph")  # the fonts of the browser are used
        ax.figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
