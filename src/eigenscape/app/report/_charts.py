"""The small figures of a report, as plotly takes them. Nothing that users wrote goes in unescaped."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from eigenscape.app.report._facts import number
from eigenscape.app.report._measures import Measures, Residual, Spectrum
from eigenscape.app.report._movement import Movement
from eigenscape.app.report._refits import Loss

BLUE, GREY, RED, ORANGE = "#0072b2", "#b4bec6", "#cc3311", "#e07b00"


def _plain(values: Any, digits: int = 6) -> list[float | None]:
    return [float(f"{float(value):.{digits}g}") if np.isfinite(value) else None for value in values]


def chart(place: str, data: list[dict[str, Any]], layout: dict[str, Any]) -> dict[str, Any]:
    """One figure: where it goes, its traces and its layout."""
    return {"id": place, "data": data, "layout": layout}


def spectrum_chart(spectrum: Spectrum) -> dict[str, Any]:
    values = spectrum.values[:30]
    colors = [RED if value < 0 else BLUE if i < spectrum.kept else GREY for i, value in enumerate(values)]
    trace = {
        "type": "bar",
        "x": list(range(1, len(values) + 1)),
        "y": _plain(values),
        "marker": {"color": colors},
        "name": "eigenvalue",
    }
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": "coordinate"}, "dtick": 1 if len(values) <= 15 else 5, "showgrid": False},
        "yaxis": {"title": {"text": "eigenvalue"}},
        "showlegend": False,
    }
    positive = values[values > 0]
    if (
        len(positive) == len(values) and len(values) > 1 and values.min() > 0.5 * values.max()
    ):  # bars from zero would all look alike
        room = 0.15 * float(values.max() - values.min()) or 0.01 * float(values.max())
        layout["yaxis"]["range"] = [float(values.min()) - room, float(values.max()) + room]
    return chart("chart-spectrum", [trace], layout)


def residual_chart(residual: Residual, kept: int) -> dict[str, Any]:
    colors = [BLUE if count == kept else "#ffffff" for count in residual.counts]
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": residual.counts.tolist(),
        "y": _plain(residual.values),
        "line": {"color": BLUE},
        "marker": {"color": colors, "size": 10, "line": {"color": BLUE, "width": 2}},
    }
    layout = {
        "xaxis": {"title": {"text": "number of coordinates"}, "dtick": 1},
        "yaxis": {"title": {"text": "residual variance"}, "rangemode": "tozero"},
        "showlegend": False,
    }
    return chart("chart-residual", [trace], layout)


def curve_chart(curves: dict[str, tuple[np.ndarray, np.ndarray]], n: int) -> dict[str, Any]:
    """Shares of neighbours kept, for one map or several, with what chance would keep."""
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": escape(name, quote=False),
            "x": sizes.tolist(),
            "y": _plain(shares),
        }
        for name, (sizes, shares) in curves.items()
    ]
    sizes = next(iter(curves.values()))[0]
    chance = {
        "type": "scatter",
        "mode": "lines",
        "name": "chance",
        "x": sizes.tolist(),
        "y": _plain(sizes / (n - 1)),
    }
    traces.append({**chance, "line": {"color": GREY, "dash": "dash"}})
    layout = {
        "xaxis": {"title": {"text": "neighbours looked at"}, "type": "log", "dtick": 1},
        "yaxis": {"title": {"text": "share kept"}, "range": [0, 1.02]},
    }
    return chart("chart-curve", traces, layout)


def loss_chart(loss: Loss) -> dict[str, Any]:
    names, values = ["training points"], [loss.training]
    if loss.held_out is not None:
        names, values = [*names, "held-out points"], [*values, loss.held_out]
    trace: dict[str, Any] = {
        "type": "bar",
        "x": names,
        "y": _plain(values),
        "marker": {"color": [BLUE, ORANGE]},
    }
    trace |= {"text": [number(value) for value in values], "textposition": "auto", "textangle": 0}
    layout = {
        "yaxis": {
            "title": {"text": "log likelihood of a row" if loss.likelihood else "loss"},
            "exponentformat": "power",
        },
        "xaxis": {"showgrid": False},
        "showlegend": False,
    }
    return chart("chart-loss", [trace], {**layout, "bargap": 0.5})


def movement_chart(movement: Movement) -> dict[str, Any]:
    known = movement.per_point[np.isfinite(movement.per_point)]
    top = float(np.quantile(known, 0.995)) * 1.05 or 1.0
    counts, edges = np.histogram(np.minimum(known, top), bins=40, range=(0.0, top))
    middles, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
    trace = {
        "type": "bar",
        "x": _plain(100 * middles),
        "y": counts.tolist(),
        "width": 100 * width,
        "marker": {"color": BLUE},
    }
    layout = {
        "xaxis": {"title": {"text": "movement, % of the map's spread"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "points"}},
        "showlegend": False,
        "bargap": 0.02,
    }
    return chart("chart-movement", [trace], layout)


def degree_chart(degrees: np.ndarray) -> dict[str, Any]:
    top = int(degrees.max())
    step = max(1, (top + 1) // 60)
    counts = np.bincount(degrees // step)
    values = (np.arange(len(counts)) * step).tolist()
    trace = {"type": "bar", "x": values, "y": counts.tolist(), "marker": {"color": BLUE}}
    layout = {
        "xaxis": {"title": {"text": "edges of a point"}},
        "yaxis": {"title": {"text": "points"}},
        "showlegend": False,
        "bargap": 0.05,
    }
    return chart("chart-degree", [trace], layout)


def timing_chart(timings: dict[str, float]) -> dict[str, Any]:
    names = [escape(name, quote=False) for name in timings]
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": names,
        "x": _plain(timings.values()),
        "marker": {"color": BLUE},
    }
    trace["text"] = [f"{seconds:.2f} s" for seconds in timings.values()]
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": "seconds"}},
        "yaxis": {"autorange": "reversed", "showgrid": False},
    }
    return chart("chart-timing", [trace], {**layout, "showlegend": False, "height": 90 + 34 * len(names)})


def report_charts(
    measures: Measures, kept: int, degrees: np.ndarray | None, timings: dict[str, float]
) -> list[dict[str, Any]]:
    """Every figure for which there is something to show."""
    made = []
    if measures.curve is not None:
        made.append(curve_chart({"this map": measures.curve}, measures.n_compared))
    if measures.spectrum is not None:
        made.append(spectrum_chart(measures.spectrum))
    if measures.residual is not None and len(measures.residual.counts) > 1:
        made.append(residual_chart(measures.residual, kept))
    if measures.loss is not None:
        made.append(loss_chart(measures.loss))
    if measures.movement is not None and np.isfinite(measures.movement.per_point).any():
        made.append(movement_chart(measures.movement))
    if degrees is not None:
        made.append(degree_chart(degrees))
    if timings:
        made.append(timing_chart(timings))
    return made
