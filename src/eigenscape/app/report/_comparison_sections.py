"""Sections of a comparison of several maps."""

from __future__ import annotations

from collections.abc import Callable

from eigenscape._format import format_bytes
from eigenscape._memory import peak_memory
from eigenscape.app.report._charts import Charts
from eigenscape.app.report._conclusion import ComparedModel, conclude, indistinguishable
from eigenscape.app.report._details import data_details, parameter_details, version_details
from eigenscape.app.report._formatting import (
    format_count,
    format_number,
    format_percent,
    format_score,
    format_seconds,
)
from eigenscape.app.report._html import (
    bullets,
    class_attribute,
    columns,
    command_block,
    details_table,
    figure,
    interval,
    map_block,
    note,
    omitted_section,
    parameters_block,
    section,
    table,
    text,
)
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points
from eigenscape.quality import Estimate

Value = Estimate | float | None


def _residual(one: ComparedModel) -> float | None:
    residual = one.measures.residual
    return None if residual is None else residual.at(one.embedding.shape[1])


def _loss_ratio(one: ComparedModel) -> float | None:
    return None if one.measures.loss is None else one.measures.loss.ratio


def _movement(one: ComparedModel) -> float | None:
    return None if one.measures.movement is None else one.measures.movement.median


def _purity(one: ComparedModel) -> float | None:
    return None if one.measures.purity is None else one.measures.purity.value


def _seconds(one: ComparedModel) -> float | None:
    return one.seconds


def _memory(one: ComparedModel) -> float | None:
    return one.memory


#: Measures of the computation, not of the map.
_COSTS = (_seconds, _memory)
#: Title, value of a model, whether larger is better (None: neither), and format.
_MEASURES: list[tuple[str, Callable[[ComparedModel], Value], bool | None, Callable[[float], str]]] = [
    ("Neighbours kept", lambda one: one.kept, True, format_percent),
    ("Trustworthiness", lambda one: one.measures.trust, True, format_score),
    ("Continuity", lambda one: one.measures.continuity, True, format_score),
    ("Residual variance", _residual, None, format_number),
    ("Median movement", _movement, False, format_percent),
    ("Held-out ÷ training loss", _loss_ratio, None, format_number),
    ("Neighbours with equal label", _purity, True, format_percent),
    ("Fit", _seconds, False, format_seconds),
    ("Peak memory", _memory, False, format_bytes),
]


def _measures_table(models: list[ComparedModel]) -> str:
    """Return a table of models and measures; the best values are in bold."""
    head, cells = ["method", "coordinates"], []
    for title, get, larger_is_better, write in _MEASURES:
        values = [get(one) for one in models]
        if any(value is not None for value in values):
            head.append(title)
            is_cost = get in _COSTS
            may_win = [
                value is not None and (is_cost or one.is_sound)
                for value, one in zip(values, models, strict=True)
            ]
            cells.append(_cells(values, may_win, larger_is_better, write))
    rows = [
        [text(one.name), str(one.embedding.shape[1]), *(column[i] for column in cells)]
        for i, one in enumerate(models)
    ]
    return table(head, rows)


def _cells(
    values: list[Value], may_win: list[bool], larger_is_better: bool | None, write: Callable[[float], str]
) -> list[str]:
    """Return the cells of a measure. Values of models that may not win are never in bold."""
    known = [value for value, may in zip(values, may_win, strict=True) if may and value is not None]
    best = (max if larger_is_better else min)(known, key=float) if known else None
    cells = []
    for value, may in zip(values, may_win, strict=True):
        if value is None:
            cells.append("<td>–</td>")
            continue
        if isinstance(value, Estimate):
            shown = interval(value, write)
            bold = isinstance(best, Estimate) and indistinguishable(value, best)
        else:
            shown = text(write(float(value)))
            bold = best is not None and larger_is_better is not None and shown == text(write(float(best)))
        cells.append(f"<td{class_attribute('best' if bold and may else '')}>{shown}</td>")
    return cells


def _chance(measures: Measures) -> str:
    """Return the share of neighbours that a random map keeps."""
    if measures.kept is None:
        return ""
    return f" By chance, {format_percent(measures.kept.chance)} of the neighbours are kept."


def comparison_body(
    models: list[ComparedModel],
    points: Points,
    remark: str,
    command: str | None,
    memory: float | None,
    charts: Charts,
) -> str:
    """Return the body of the page."""
    first = models[0].measures
    explanation = (
        f"Neighbours kept, trustworthiness and continuity: for {first.n_neighbors} neighbours, with 95 %"
        f" intervals from a sample of {format_count(first.n_sampled)} points;"
        f" {first.reference or 'not computed'}.{_chance(first)} Bold: the best value, and values not"
        " significantly different from it, among the maps that are ranked. Residual variances refer to the"
        " distances that each method approximates, and losses to different kernels, so they are not"
        " comparable between methods. Median movement: half of the points move by more than this when"
        " training points are exchanged, relative to the spread of the map."
    )
    curve = timing = ""
    if any(one.measures.curve is not None for one in models):
        curve = section(
            "Neighbourhood preservation by size",
            figure(charts, "chart-curve", "share of neighbours preserved, by method"),
            note("Left: nearest neighbours. Right: large neighbourhoods, the global structure of the map."),
        )
    if any(one.seconds is not None for one in models):
        timing = section(
            "Duration of each fit",
            figure(charts, "chart-timing", "seconds by method"),
            note(
                "One run, in this order: the first fit also loads code, and the command line uses"
                " neighbours that earlier methods have found. Differences of a second mean little."
            ),
        )
    usage = "<p>Select points in one map to highlight them in all. Hover over a point to mark it in all.</p>"
    reasons = [
        (f"{one.name}, {name}", reason) for one in models for name, reason in one.measures.omitted.items()
    ]
    parts = [
        section("The maps", usage, map_block(2, True, remark), place="map-section"),
        section("Conclusion", bullets(conclude(models, points)), place="summary", kind="summary"),
        section("Measures", _measures_table(models), note(explanation), place="measures"),
        columns(curve, timing),
        omitted_section(reasons),
        _computation_section(models, points, command, memory),
    ]
    return "\n".join(part for part in parts if part)


def _computation_section(
    models: list[ComparedModel], points: Points, command: str | None, memory: float | None
) -> str:
    blocks = [
        parameters_block(f"{one.name} ({type(one.model).__name__})", *parameter_details(one.model))
        for one in models
    ]
    peak = peak_memory() if memory is None else memory
    costs = [("Peak memory of the process", format_bytes(peak))] if peak is not None else []
    data = f"<div><h3>Data</h3>{details_table([*data_details(points, models[0].model), *costs])}</div>"
    versions = f"<div><h3>Versions</h3>{details_table(version_details())}</div>"
    parts = command_block(command), columns(*blocks), columns(data, versions)
    return section("Computation", *parts, place="making")
