"""The sections of a report on one map, in the order in which they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape._format import format_bytes
from eigenscape._memory import peak_memory
from eigenscape.app.report._columns import shortened
from eigenscape.app.report._facts import (
    Facts,
    GraphFacts,
    counted,
    data_facts,
    fitted_facts,
    kept_number,
    number,
    of_seconds,
    parameter_facts,
    version_facts,
)
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._page import (
    facts_table,
    figure,
    interval,
    left_out_block,
    map_block,
    pair,
    paragraph,
    section,
    table,
    text,
    tile,
    words_block,
)
from eigenscape.app.report._subject import Points
from eigenscape.app.report._words import Summary, kept_grade, movement_grade, percent

#: Points listed as the least stable.
_LISTED = 8


@dataclass(frozen=True, eq=False)
class Told:
    """Everything that a report tells."""

    model: Any
    points: Points
    embedding: np.ndarray
    measures: Measures
    graph: GraphFacts | str
    summary: Summary
    note: str
    command: str | None
    timings: dict[str, float]
    memory: float | None


def report_body(told: Told, seconds: float) -> str:
    """The body of the page."""
    left_out = dict(told.measures.left_out)
    if isinstance(told.graph, str):
        left_out["graph"] = told.graph
    parts = [
        section(
            "In plain words", words_block(told.summary), tiles(told.measures), place="summary", kind="summary"
        ),
        section(
            "The map", map_block(min(12, told.embedding.shape[1]), False, told.note), place="map-section"
        ),
        pair(neighbors_section(told.measures), spectrum_section(told.measures)),
        pair(residual_section(told), loss_section(told.measures)),
        pair(movement_section(told), graph_section(told.graph)),
        left_out_block(left_out),
        making_section(told, seconds),
    ]
    return "\n".join(part for part in parts if part)


def tiles(measures: Measures) -> str:
    """The main numbers in large print."""
    made = []
    for name, estimate in (("Trustworthiness", measures.trust), ("Continuity", measures.continuity)):
        if estimate is not None:
            more = (
                "exact"
                if estimate.low == estimate.high
                else f"{kept_number(estimate.low)} to {kept_number(estimate.high)}, 95 % interval"
            )
            made.append(tile(name, kept_number(estimate.value), more, kept_grade(estimate)))
    if measures.movement is not None and np.isfinite(measures.movement.median):
        share = measures.movement.median
        made.append(
            tile(
                "Median movement",
                percent(share),
                "of the spread, with other training points",
                movement_grade(share),
            )
        )
    loss = measures.loss
    if loss is not None and loss.ratio is not None:
        made.append(tile("Held-out loss", f"{number(loss.ratio)} ×", "the training loss"))
    if measures.reconstruction is not None:
        made.append(
            tile(
                "Reconstruction error",
                percent(measures.reconstruction),
                "of the rows' spread, from coordinates alone",
            )
        )
    if measures.purity is not None:
        made.append(
            tile(
                "Neighbours of one label",
                percent(measures.purity.value),
                f"by chance {percent(measures.purity.chance)}",
            )
        )
    inside = "\n".join(made)
    return f'<ul class="tiles">{inside}</ul>' if made else ""


def neighbors_section(measures: Measures) -> str:
    """Trustworthiness, continuity and the co-ranking curve."""
    if measures.trust is None or measures.continuity is None:
        return ""
    rows = [("Trustworthiness", interval(*measures.trust)), ("Continuity", interval(*measures.continuity))]
    words = (
        f"For {measures.n_neighbors} neighbours of {counted(measures.n_asked)} points, each ranked among all"
        f" {counted(measures.n_compared)}; {measures.nearness}."
        " The curve is the share of the nearest neighbours that the map keeps, for neighbourhoods of every size."
    )
    shown = figure("chart-curve", "share of neighbours kept by size of the neighbourhood")
    return section(
        "Neighbours kept",
        table(("", "value, 95 % interval"), rows),
        shown,
        paragraph(words, "note"),
        place="neighbours",
    )


def spectrum_section(measures: Measures) -> str:
    """Eigenvalues, their gap and their negative part."""
    spectrum = measures.spectrum
    if spectrum is None:
        return ""
    facts: Facts = [
        (
            "Eigenvalues of the map",
            ", ".join(number(value, 4) for value in spectrum.values[: spectrum.kept][:8]),
        )
    ]
    if spectrum.gap_after is not None:
        gap = spectrum.gap_after
        falls = f"{number(spectrum.values[gap - 1], 4)} to {number(spectrum.values[gap], 4)}"
        facts.append(("Largest gap", f"after coordinate {gap} ({falls})"))
    if spectrum.negative is not None:
        facts.append(("Negative part of the whole spectrum", percent(spectrum.negative)))
    elif (spectrum.values < 0).any():
        facts.append(("Negative eigenvalues here", str(int((spectrum.values < 0).sum()))))
    words = f"{spectrum.words} A map is well determined where the eigenvalues fall steeply after its last coordinate."
    return section(
        "Spectrum",
        facts_table(facts),
        figure("chart-spectrum", "eigenvalues by coordinate"),
        paragraph(words, "note"),
        place="spectrum",
    )


def residual_section(told: Told) -> str:
    """Residual variance by number of coordinates, and the error of going back."""
    residual, measures = told.measures.residual, told.measures
    if residual is None and measures.reconstruction is None:
        return ""
    kept = told.embedding.shape[1]
    facts: Facts = []
    chart, words = "", ""
    if residual is not None:
        place = np.flatnonzero(residual.counts == kept)
        value = residual.values[place[0] if len(place) else -1]
        facts.append((f"Residual variance with {kept} coordinates", number(float(value))))
        words = f"Share of the variance of distances that the map does not explain; {residual.words}."
        chart = (
            figure("chart-residual", "residual variance by number of coordinates")
            if len(residual.counts) > 1
            else ""
        )
    if measures.reconstruction is not None:
        facts.append(("Reconstruction error", number(measures.reconstruction)))
        words += " Reconstruction: root mean square distance of rows from those made again from their coordinates, over the rows' spread."
    return section(
        "What the map leaves out",
        facts_table(facts),
        chart,
        paragraph(words.strip(), "note"),
        place="residual",
    )


def loss_section(measures: Measures) -> str:
    """Training and held-out loss."""
    loss = measures.loss
    if loss is None:
        return ""
    facts: Facts = [("On training points", number(loss.training, 4))]
    if loss.held_out is not None:
        facts.append(("On held-out points", number(loss.held_out, 4)))
    if loss.likelihood:
        words = f"Mean log likelihood of a row, {loss.words}. Much less on held-out points means that the density fits its own rows only."
        chart = figure("chart-loss", "log likelihood of training and held-out rows")
        return section("Log likelihood", facts_table(facts), chart, paragraph(words, "note"), place="loss")
    words = (
        f"Mean squared error of the kernel against what the coordinates make of it, {loss.words}. Much more on held-out points than on"
        " training points means that the map fits its own points only."
    )
    return section(
        "Loss",
        facts_table(facts),
        figure("chart-loss", "training and held-out loss"),
        paragraph(words, "note"),
        place="loss",
    )


def movement_section(told: Told) -> str:
    """How far points move, and which most."""
    movement = told.measures.movement
    if movement is None or not np.isfinite(movement.per_point).any():
        return ""
    order = np.argsort(np.where(np.isfinite(movement.per_point), -movement.per_point, np.inf), kind="stable")[
        :_LISTED
    ]
    ids = told.points.ids
    rows = [
        (
            text(shortened(ids[i]) if ids is not None else f"row {i + 1}"),
            percent(float(movement.per_point[i])),
        )
        for i in order
    ]
    words = f"How far each point moves: {movement.words}. Colour the map by “movement” (in % of the spread) to see where."
    listed = (
        f"<details><summary>Points that move most</summary>{table(('point', 'movement'), rows)}</details>"
    )
    return section(
        "Stability of every point",
        figure("chart-movement", "histogram of movements"),
        paragraph(words, "note"),
        listed,
        place="stability",
    )


def graph_section(graph: GraphFacts | str) -> str:
    """Components and edges."""
    if isinstance(graph, str):
        return ""
    chart = figure("chart-degree", "number of edges of a point") if graph.degrees is not None else ""
    return section("Neighbourhood graph", facts_table(graph.facts), chart, place="graph")


def making_section(told: Told, seconds: float) -> str:
    """Parameters, timings, data, versions and the command."""
    changed, usual = parameter_facts(told.model)
    made = version_facts()
    memory = told.memory if told.memory is not None else peak_memory()
    costs: Facts = [("Fit, all stages", of_seconds(sum(told.timings.values())))] if told.timings else []
    costs.append(("Measures of this report", of_seconds(seconds)))
    if memory is not None:
        costs.append(
            (
                "Peak memory" if told.memory is not None else "Peak memory of the whole process",
                format_bytes(memory),
            )
        )
    chart = (
        figure("chart-timing", "seconds by stage of the fit")
        if told.timings
        else paragraph("Stages of the fit were not timed.", "note")
    )
    command = f"<h3>Command</h3><pre>{text(told.command)}</pre>" if told.command else ""
    others = (
        f"<details><summary>{len(usual)} parameters at their defaults</summary>{facts_table(usual)}</details>"
    )
    fitted = fitted_facts(told.model)
    blocks = [
        f"<div><h3>Parameters of {text(type(told.model).__name__)}</h3>{facts_table(changed) if changed else ''}{others}</div>",
        f"<div><h3>What the fit settled for</h3>{facts_table(fitted)}</div>" if fitted else "",
        f"<div><h3>Data</h3>{facts_table(data_facts(told.points, told.model))}</div>",
        f"<div><h3>Versions</h3>{facts_table(made)}</div>",
    ]
    return section(
        "How it was made",
        command,
        pair(*blocks),
        "<h3>Time and memory</h3>",
        facts_table(costs),
        chart,
        place="making",
    )
