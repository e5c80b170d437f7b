"""Sections of a report on one map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape._format import format_bytes
from eigenscape._memory import peak_memory
from eigenscape.app.report._charts import Charts
from eigenscape.app.report._columns import shorten
from eigenscape.app.report._details import (
    Details,
    GraphDetails,
    data_details,
    fitted_details,
    parameter_details,
    version_details,
)
from eigenscape.app.report._formatting import (
    format_count,
    format_number,
    format_percent,
    format_score,
    format_seconds,
)
from eigenscape.app.report._grades import kept_grade, score_grade, stability_grade
from eigenscape.app.report._html import (
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
    summary_block,
    table,
    text,
    tile,
)
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points
from eigenscape.app.report._summary import Summary
from eigenscape.app.report._tuning import TUNING
from eigenscape.app.report.few_points import carried_coordinates, point_name


@dataclass(frozen=True, eq=False)
class ReportContent:
    """Everything that a report shows."""

    model: BaseEstimator
    points: Points
    embedding: np.ndarray
    measures: Measures
    graph: GraphDetails | str
    summary: Summary
    charts: Charts
    placing: bool  # whether the page places rows
    remark: str  # on the points and columns drawn
    command: str | None
    timings: dict[str, float]
    memory: float | None


def report_body(content: ReportContent, seconds: float) -> str:
    """Return the body of the page."""
    measures = content.measures
    omitted = dict(measures.omitted)
    if isinstance(content.graph, str):
        omitted["graph"] = content.graph
    the_map = map_block(min(12, content.embedding.shape[1]), False, content.remark, content.placing)
    parts = [
        section("The map", the_map, place="map-section"),
        section("Summary", summary_block(content.summary), _tiles(measures), place="summary", kind="summary"),
        columns(_neighbors_section(measures, content.charts), _spectrum_section(measures, content.charts)),
        columns(_residual_section(content), _loss_section(measures, content.charts)),
        columns(_stability_section(content), _graph_section(content.graph, content.charts)),
        omitted_section((name[:1].upper() + name[1:], reason) for name, reason in omitted.items()),
        _computation_section(content, seconds),
    ]
    return "\n".join(part for part in parts if part)


def _tiles(measures: Measures) -> str:
    """Return the main numbers in large print."""
    tiles = [*_fault_tiles(measures), *_neighbor_tiles(measures)]
    if measures.movement is not None and np.isfinite(measures.movement.median):
        share = format_percent(measures.movement.median)
        more = "of the spread, with other training points"
        if measures.localized:
            more = f"of the spread; few points carry {carried_coordinates(measures.localized)}"
        tiles.append(tile("Median movement", share, more, stability_grade(measures) or ""))
    if measures.loss is not None and measures.loss.ratio is not None:
        tiles.append(tile("Held-out loss", f"{format_number(measures.loss.ratio)} ×", "the training loss"))
    if measures.reconstruction is not None:
        error = format_percent(measures.reconstruction)
        tiles.append(tile("Reconstruction error", error, "of the spread of the rows"))
    if measures.purity is not None:
        value, chance = format_percent(measures.purity.value), format_percent(measures.purity.chance)
        tiles.append(tile("Neighbours with equal label", value, f"by chance {chance}"))
    content = "\n".join(tiles)
    return f'<ul class="tiles">{content}</ul>' if tiles else ""


def _fault_tiles(measures: Measures) -> list[str]:
    """Return the share of dominating columns, and the number of points that carry a coordinate."""
    tiles = []
    dominance = measures.dominance
    if dominance is not None:
        count = len(dominance.names)
        name = f"Variance of {shorten(dominance.names[0])}" if count == 1 else f"Variance of {count} columns"
        more = f"of the total of {format_count(dominance.n_columns)} columns"
        tiles.append(tile(name, format_percent(dominance.share), more, "poor"))
    if measures.localized:
        fewest = min(measures.localized, key=lambda found: found.ratio)
        count = len(fewest.points)
        name = f"Points that carry {carried_coordinates([fewest])}"
        more = f"with {format_percent(fewest.share)} of its variance"
        tiles.append(tile(name, format_count(count), more, "poor"))
    return tiles


def _neighbor_tiles(measures: Measures) -> list[str]:
    """Return the neighbours kept, trustworthiness and continuity."""
    kept = measures.kept
    if kept is None:
        return []
    more = f"of the {kept.n_neighbors} nearest; by chance {format_percent(kept.chance)}"
    graded = measures.reference_dominance is None
    grade = kept_grade(kept) if graded else ""
    tiles = [tile("Neighbours kept", format_percent(kept.share.value), more, grade)]
    for name, estimate in (("Trustworthiness", measures.trust), ("Continuity", measures.continuity)):
        if estimate is not None:
            value, low, high = (format_score(number) for number in estimate)
            more = "exact" if estimate.low == estimate.high else f"{low} to {high}, 95 % interval"
            grade = (score_grade(estimate, kept) if graded else None) or ""
            tiles.append(tile(name, value, more, grade))
    return tiles


def _neighbors_section(measures: Measures, charts: Charts) -> str:
    """Return trustworthiness, continuity and the co-ranking curve."""
    if measures.trust is None or measures.continuity is None:
        return ""
    rows = [("Trustworthiness", interval(measures.trust)), ("Continuity", interval(measures.continuity))]
    if measures.kept is not None:
        rows.insert(0, ("Neighbours kept", interval(measures.kept.share, format_percent)))
        rows.append(("Neighbours kept by chance", format_percent(measures.kept.chance)))
    remark = (
        f"For {measures.n_neighbors} neighbours of {format_count(measures.n_sampled)} points, each compared"
        f" with all {format_count(measures.n_compared)} points; {measures.reference}. The curve shows the"
        " share of the k nearest neighbours in the data that are among the k nearest on the map."
    )
    return section(
        "Neighbourhood preservation",
        table(("", "value, 95 % interval"), rows),
        figure(charts, "chart-curve", "share of neighbours preserved, by size of the neighbourhood"),
        note(remark),
        place="neighbours",
    )


def _spectrum_section(measures: Measures, charts: Charts) -> str:
    """Return the eigenvalues, their largest gap and their negative part."""
    spectrum = measures.spectrum
    if spectrum is None:
        return ""
    shown = spectrum.values[: spectrum.n_kept][:8]
    details: Details = [("Eigenvalues of the map", ", ".join(format_number(value, 4) for value in shown))]
    gap = spectrum.gap_after
    if gap is not None:
        before, after = (format_number(value, 4) for value in spectrum.values[gap - 1 : gap + 1])
        details.append(("Largest gap", f"after coordinate {gap} (from {before} to {after})"))
    if spectrum.negative is not None:
        details.append(("Negative share of the whole spectrum", format_percent(spectrum.negative)))
    elif (spectrum.values < 0).any():
        details.append(("Negative eigenvalues shown", str(int((spectrum.values < 0).sum()))))
    remark = f"{spectrum.text} A map is well determined if there is a large gap after its last eigenvalue."
    chart = figure(charts, "chart-spectrum", "eigenvalues by coordinate")
    return section("Spectrum", details_table(details), chart, note(remark.strip()), place="spectrum")


def _residual_section(content: ReportContent) -> str:
    """Return the residual variance by number of coordinates, and the reconstruction error."""
    residual, reconstruction = content.measures.residual, content.measures.reconstruction
    if residual is None and reconstruction is None:
        return ""
    n_coordinates = content.embedding.shape[1]
    details: Details = []
    chart, remarks = "", []
    if residual is not None:
        value = format_number(residual.at(n_coordinates))
        details.append((f"Residual variance with {n_coordinates} coordinates", value))
        remarks.append(
            "Residual variance: 1 - R² between distances in the data and distances on the map;"
            f" {residual.text}."
        )
        if len(residual.counts) > 1:
            chart = figure(content.charts, "chart-residual", "residual variance by number of coordinates")
    if reconstruction is not None:
        details.append(("Reconstruction error", format_number(reconstruction)))
        remarks.append(
            "Reconstruction error: root mean square distance between the rows and their reconstruction by"
            " inverse_transform, relative to the spread of the rows."
        )
    return section(
        "Unexplained distances", details_table(details), chart, note(" ".join(remarks)), place="residual"
    )


def _loss_section(measures: Measures, charts: Charts) -> str:
    """Return the training and the held-out loss."""
    loss = measures.loss
    if loss is None:
        return ""
    details: Details = [("Training points", format_number(loss.training, 4))]
    if loss.held_out is not None:
        details.append(("Held-out points", format_number(loss.held_out, 4)))
    if loss.likelihood:
        title, chart = "Log likelihood", "log likelihood of training and held-out rows"
        remark = (
            f"Mean log likelihood per row, {loss.text}. A much smaller value for held-out points indicates"
            " overfitting."
        )
    else:
        title, chart = "Loss", "training and held-out loss"
        remark = (
            "Mean squared error of the kernel's reconstruction from the eigenfunctions (Bengio et al. 2004),"
            f" {loss.text}: over all pairs of training points, and over all pairs of different held-out"
            " points. A much larger value for held-out points indicates overfitting."
        )
    return section(
        title, details_table(details), figure(charts, "chart-loss", chart), note(remark), place="loss"
    )


def _stability_section(content: ReportContent) -> str:
    """Return the distribution of the movements, and the points that move most."""
    movement, ids = content.measures.movement, content.points.ids
    if movement is None or not np.isfinite(movement.per_point).any():
        return ""
    known = np.where(np.isfinite(movement.per_point), -movement.per_point, np.inf)
    rows = []
    for i in np.argsort(known, kind="stable")[: TUNING.listed]:
        rows.append((text(point_name(int(i), ids)), format_percent(float(movement.per_point[i]))))
    remark = (
        f"Movement of each point, relative to the spread of the map: {movement.text}. Colour the map by"
        " “movement (stability)” to see it (in %)."
    )
    listed = table(("point", "movement"), rows)
    return section(
        "Stability of each point",
        figure(content.charts, "chart-movement", "histogram of movements"),
        note(remark),
        f"<details><summary>Points that move most</summary>{listed}</details>",
        place="stability",
    )


def _graph_section(graph: GraphDetails | str, charts: Charts) -> str:
    """Return the components and the degrees of the graph."""
    if isinstance(graph, str):
        return ""
    chart = figure(charts, "chart-degree", "number of edges per point")
    return section("Neighbourhood graph", details_table(graph.details), chart, place="graph")


def _computation_section(content: ReportContent, seconds: float) -> str:
    """Return the parameters, timings, data, versions and the command."""
    memory = peak_memory() if content.memory is None else content.memory
    costs: Details = []
    if content.timings:
        costs.append(("Fit, all stages", format_seconds(sum(content.timings.values()))))
    costs.append(("Measures of this report", format_seconds(seconds)))
    if memory is not None:
        name = "Peak memory" if content.memory is not None else "Peak memory of the process"
        costs.append((name, format_bytes(memory)))
    chart = note("The stages of the fit were not timed.")
    if content.timings:
        chart = figure(content.charts, "chart-timing", "seconds by stage of the fit")
    fitted = fitted_details(content.model)
    data = details_table(data_details(content.points, content.model))
    blocks = [
        parameters_block(f"Parameters of {type(content.model).__name__}", *parameter_details(content.model)),
        f"<div><h3>Fitted values</h3>{details_table(fitted)}</div>" if fitted else "",
        f"<div><h3>Data</h3>{data}</div>",
        f"<div><h3>Versions</h3>{details_table(version_details())}</div>",
    ]
    return section(
        "Computation",
        command_block(content.command),
        columns(*blocks),
        "<h3>Time and memory</h3>",
        details_table(costs),
        chart,
        place="making",
    )
