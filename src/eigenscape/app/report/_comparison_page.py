"""The sections of a comparison: maps, measures in a table, curves, and how the maps were made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenscape._format import format_bytes
from eigenscape._memory import peak_memory
from eigenscape.app.report._facts import (
    counted,
    data_facts,
    number,
    of_seconds,
    parameter_facts,
    version_facts,
)
from eigenscape.app.report._page import (
    bullets,
    facts_table,
    figure,
    interval,
    map_block,
    of_class,
    pair,
    paragraph,
    section,
    table,
    text,
)
from eigenscape.app.report._subject import Points
from eigenscape.app.report._verdict import Entry, overlap, verdict
from eigenscape.app.report._words import percent
from eigenscape.quality import Estimate


def _residual(entry: Entry) -> float | None:
    residual = entry.measures.residual
    if residual is None:
        return None
    place = np.flatnonzero(residual.counts == entry.embedding.shape[1])
    return float(residual.values[place[0] if len(place) else -1])


def _ratio(entry: Entry) -> float | None:
    return None if entry.measures.loss is None else entry.measures.loss.ratio


def _moved(entry: Entry) -> float | None:
    return None if entry.measures.movement is None else entry.measures.movement.median


def _purity(entry: Entry) -> float | None:
    return None if entry.measures.purity is None else float(entry.measures.purity.value)


#: Column title, value of an entry, whether more is better (None: neither), and how it is written.
_MEASURES: list[tuple[str, Callable[[Entry], Any], bool | None, Callable[[float], str]]] = [
    ("Trustworthiness", lambda entry: entry.measures.trust, True, number),
    ("Continuity", lambda entry: entry.measures.continuity, True, number),
    ("Residual variance", _residual, None, number),
    ("Movement, median", _moved, False, percent),
    ("Held-out ÷ training loss", _ratio, None, number),
    ("Neighbours of one label", _purity, True, percent),
    ("Fit", lambda entry: entry.seconds, False, of_seconds),
    ("Peak memory", lambda entry: entry.memory, False, format_bytes),
]


def measures_table(entries: list[Entry]) -> str:
    """Methods down, measures across; the best and what cannot be told from it in bold."""
    head, columns = ["method", "coordinates"], []
    for title, get, more, write in _MEASURES:
        values = [get(entry) for entry in entries]
        if any(value is not None for value in values):
            head.append(title)
            columns.append(_cells(values, more, write))
    rows = []
    for i, entry in enumerate(entries):
        rows.append([text(entry.name), str(entry.embedding.shape[1]), *(column[i] for column in columns)])
    return table(head, rows)


def _cells(values: list[Any], more: bool | None, write: Callable[[float], str]) -> list[str]:
    known = [value for value in values if value is not None]
    leader = max(known, key=float) if more else min(known, key=float)
    cells = []
    for value in values:
        if value is None:
            cells.append("<td>–</td>")
        elif isinstance(value, Estimate):
            cells.append(f"<td{of_class('best' if overlap(value, leader) else '')}>{interval(*value)}</td>")
        else:
            shown = write(float(value))
            best = more is not None and shown == write(float(leader))
            cells.append(f"<td{of_class('best' if best else '')}>{text(shown)}</td>")
    return cells


# --- the page -----------------------------------------------------------------------------------------------


def comparison_body(
    entries: list[Entry], points: Points, note: str, command: str | None, memory: float | None
) -> str:
    """The body of the page."""
    first = entries[0].measures
    words = (
        f"Trustworthiness and continuity: for {first.n_neighbors} neighbours, {first.nearness or 'not measured'}; 95 % intervals from"
        f" a sample of {counted(first.n_asked)} points. In bold: the best, and what cannot be told from it. Residual variance compares"
        " each map with the distances that its method is about, and losses of different kernels have no common scale, so neither has"
        " a best. Movement: how far half of the points move at least when training points are exchanged."
    )
    curve = section(
        "Neighbours kept, by how many are looked at",
        figure("chart-curve", "share of neighbours kept, by method"),
        paragraph(
            "A curve above the others at the left keeps the nearest neighbours; at the right, the map at large.",
            "note",
        ),
    )
    timed = any(entry.seconds is not None for entry in entries)
    timing = section("Seconds of each fit", figure("chart-timing", "seconds by method")) if timed else ""
    parts = [
        section("Which fits, and why", bullets(verdict(entries)), place="summary", kind="summary"),
        section(
            "The maps",
            paragraph("Draw around points in one map to see them in all. Point at one to see it everywhere."),
            map_block(2, True, note),
            place="map-section",
        ),
        section("Measures", measures_table(entries), paragraph(words, "note"), place="measures"),
        pair(curve if any(entry.measures.curve is not None for entry in entries) else "", timing),
        _left_out(entries),
        _making(entries, points, command, memory),
    ]
    return "\n".join(part for part in parts if part)


def _left_out(entries: list[Entry]) -> str:
    lines = [
        f"<li><strong>{text(entry.name)}, {text(name)}</strong>: {text(why)}</li>"
        for entry in entries
        for name, why in entry.measures.left_out.items()
    ]
    inside = "\n".join(lines)
    return section("Left out", f'<ul class="left-out">{inside}</ul>', place="left-out") if lines else ""


def _making(entries: list[Entry], points: Points, command: str | None, memory: float | None) -> str:
    blocks = []
    for entry in entries:
        changed, usual = parameter_facts(entry.model)
        others = f"<details><summary>{len(usual)} parameters at their defaults</summary>{facts_table(usual)}</details>"
        title = f"{text(entry.name)} ({text(type(entry.model).__name__)})"
        blocks.append(f"<div><h3>{title}</h3>{facts_table(changed) if changed else ''}{others}</div>")
    shown = f"<h3>Command</h3><pre>{text(command)}</pre>" if command else ""
    peak = memory if memory is not None else peak_memory()
    costs = [("Peak memory of the whole process", format_bytes(peak))] if peak is not None else []
    data = f"<div><h3>Data</h3>{facts_table([*data_facts(points, entries[0].model), *costs])}</div>"
    versions = f"<div><h3>Versions</h3>{facts_table(version_facts())}</div>"
    return section(
        f"How {counted(len(entries))} maps were made",
        shown,
        pair(*blocks),
        pair(data, versions),
        place="making",
    )
