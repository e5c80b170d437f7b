"""Charts of a report as plotly figures. Text from users is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from eigenscape.app.report._formatting import format_number
from eigenscape.app.report._measures import Measures, Residual, Spectrum
from eigenscape.app.report._refits import Loss
from eigenscape.app.report._stability import Movement

Chart = dict[str, Any]

_BLUE, _GREY, _RED, _ORANGE = "#0072b2", "#b4bec6", "#cc3311", "#e07b00"


def _rounded(values: Iterable[float]) -> list[float | None]:
    """Return values with six significant digits; None if not finite."""
    return [float(f"{float(value):.6g}") if np.isfinite(value) else None for value in values]


def _chart(place: str, data: list[Chart], x: Chart, y: Chart, **layout: Any) -> Chart:
    """Return a chart for the element with the id ``place``; ``x`` and ``y`` describe the axes."""
    axes = {}
    for name, axis in (("xaxis", x), ("yaxis", y)):
        axes[name] = {**axis, "title": {"text": axis["title"]}} if "title" in axis else axis
    return {"id": place, "data": data, "layout": {**axes, "showlegend": len(data) > 1, **layout}}


def _bars(x: list[Any], y: list[Any], color: str | list[str] = _BLUE, **options: Any) -> Chart:
    return {"type": "bar", "x": x, "y": y, "marker": {"color": color}, **options}


def _spectrum_chart(spectrum: Spectrum) -> Chart:
    values = spectrum.values[:30]
    colors = np.where(np.arange(len(values)) < spectrum.n_kept, _BLUE, _GREY)
    colors = np.where(values < 0, _RED, colors)
    bars = _bars(list(range(1, len(values) + 1)), _rounded(values), colors.tolist(), name="eigenvalue")
    x = {"title": "coordinate", "dtick": 1 if len(values) <= 15 else 5, "showgrid": False}
    y: Chart = {"title": "eigenvalue"}
    low, high = float(values.min()), float(values.max())
    if len(values) > 1 and low > 0.5 * high > 0:  # bars from zero would look equal
        margin = 0.15 * (high - low) or 0.01 * high
        y["range"] = [low - margin, high + margin]
    return _chart("chart-spectrum", [bars], x, y)


def _residual_chart(residual: Residual, n_coordinates: int) -> Chart:
    colors = [_BLUE if count == n_coordinates else "#ffffff" for count in residual.counts]
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": residual.counts.tolist(),
        "y": _rounded(residual.values),
        "line": {"color": _BLUE},
        "marker": {"color": colors, "size": 10, "line": {"color": _BLUE, "width": 2}},
    }
    y = {"title": "residual variance", "rangemode": "tozero"}
    return _chart("chart-residual", [line], {"title": "number of coordinates", "dtick": 1}, y)


def curve_chart(curves: dict[str, tuple[np.ndarray, np.ndarray]], n: int) -> Chart:
    """Return the co-ranking curves of one or several maps, and their expectation for a random map."""
    sizes = next(iter(curves.values()))[0]
    lines: list[Chart] = [
        {"name": escape(name, quote=False), "x": x.tolist(), "y": _rounded(y)}
        for name, (x, y) in curves.items()
    ]
    expected = {"name": "random map", "x": sizes.tolist(), "y": _rounded(sizes / (n - 1))}
    lines.append({**expected, "line": {"color": _GREY, "dash": "dash"}})
    lines = [{"type": "scatter", "mode": "lines", **line} for line in lines]
    x = {"title": "size of the neighbourhood", "type": "log", "dtick": 1}
    return _chart("chart-curve", lines, x, {"title": "share preserved", "range": [0, 1.02]})


def _loss_chart(loss: Loss) -> Chart:
    values = {"training points": loss.training}
    if loss.held_out is not None:
        values["held-out points"] = loss.held_out
    text = [format_number(value) for value in values.values()]
    labels: Chart = {"text": text, "textposition": "auto", "textangle": 0}
    bars = _bars(list(values), _rounded(values.values()), [_BLUE, _ORANGE], **labels)
    title = "log likelihood per row" if loss.likelihood else "loss"
    y = {"title": title, "exponentformat": "power"}
    return _chart("chart-loss", [bars], {"showgrid": False}, y, bargap=0.5)


def _movement_chart(movement: Movement) -> Chart:
    known = movement.per_point[np.isfinite(movement.per_point)]
    top = float(np.quantile(known, 0.995)) * 1.05 or 1.0
    counts, edges = np.histogram(np.minimum(known, top), bins=40, range=(0.0, top))
    width = 100 * float(edges[1] - edges[0])
    bars = _bars(_rounded(50 * (edges[1:] + edges[:-1])), counts.tolist(), width=width)
    x = {"title": "movement, % of the spread of the map", "rangemode": "tozero"}
    return _chart("chart-movement", [bars], x, {"title": "points"}, bargap=0.02)


def _degree_chart(degrees: np.ndarray) -> Chart:
    step = max(1, (int(degrees.max()) + 1) // 60)
    counts = np.bincount(degrees // step)
    bars = _bars((np.arange(len(counts)) * step).tolist(), counts.tolist())
    return _chart("chart-degree", [bars], {"title": "edges per point"}, {"title": "points"}, bargap=0.05)


def timing_chart(seconds: dict[str, float]) -> Chart:
    """Return a bar for each name, with its seconds."""
    names = [escape(name, quote=False) for name in seconds]
    labels = [f"{value:.2f} s" for value in seconds.values()]
    bars = _bars(_rounded(seconds.values()), names, orientation="h", text=labels)
    y = {"autorange": "reversed", "showgrid": False}
    return _chart("chart-timing", [bars], {"title": "seconds"}, y, height=90 + 34 * len(names))


def report_charts(
    measures: Measures, n_coordinates: int, degrees: np.ndarray | None, seconds: dict[str, float]
) -> list[Chart]:
    """Return the charts of all measures that were computed."""
    charts = []
    if measures.curve is not None:
        charts.append(curve_chart({"this map": measures.curve}, measures.n_compared))
    if measures.spectrum is not None:
        charts.append(_spectrum_chart(measures.spectrum))
    if measures.residual is not None and len(measures.residual.counts) > 1:
        charts.append(_residual_chart(measures.residual, n_coordinates))
    if measures.loss is not None:
        charts.append(_loss_chart(measures.loss))
    if measures.movement is not None and np.isfinite(measures.movement.per_point).any():
        charts.append(_movement_chart(measures.movement))
    if degrees is not None:
        charts.append(_degree_chart(degrees))
    if seconds:
        charts.append(timing_chart(seconds))
    return charts
