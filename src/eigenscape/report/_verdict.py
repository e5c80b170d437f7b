"""Which of several maps fits, and why: in a table, and in words that do not claim more than the numbers do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape.quality import Estimate
from eigenscape.report._facts import counted, data_facts, number, of_bytes, of_seconds, parameter_facts, peak_memory, version_facts
from eigenscape.report._measures import Measures
from eigenscape.report._page import bullets, facts_table, figure, interval, map_block, of_class, pair, paragraph, section, table, text
from eigenscape.report._subject import Points
from eigenscape.report._words import percent

#: Differences of neighbours kept below this mean nothing to a reader of the map, however small the intervals are.
_NOTICED = 0.005


@dataclass(frozen=True, eq=False)
class Entry:
    """One of the models compared."""

    name: str
    model: Any
    embedding: np.ndarray
    placed: np.ndarray | None
    measures: Measures
    seconds: float | None
    memory: float | None

    @property
    def kept(self) -> Estimate | None:
        """Neighbours kept both ways: the mean of trustworthiness and continuity, with an interval no narrower than theirs together."""
        trust, continuity = self.measures.trust, self.measures.continuity
        if trust is None or continuity is None:
            return None
        return Estimate(*((first + second) / 2 for first, second in zip(trust, continuity, strict=True)))


def total_seconds(timing: Any) -> float | None:
    """Seconds of a fit, from a number or from stages."""
    if timing is None:
        return None
    return float(sum(timing.values())) if isinstance(timing, Mapping) else float(timing)


# --- in words -----------------------------------------------------------------------------------------------------------------


def verdict(entries: list[Entry]) -> list[str]:
    """Sentences that say which map fits and why."""
    judged = [entry for entry in entries if entry.kept is not None]
    if len(judged) < 2:
        reasons = {why for entry in entries for name, why in entry.measures.left_out.items() if name == "neighbours"}
        why = "; ".join(sorted(reasons)) or "too few were measured"
        return [f"The maps could not be compared by the neighbours they keep: {why}."]
    ranked = sorted(judged, key=lambda entry: -_value(entry.kept))
    best = ranked[0]
    level = [entry for entry in ranked if entry is best or _overlap(entry.kept, best.kept)]
    said = [_leader(best, ranked, level)]
    said += _told_apart(level) if len(level) > 1 else _why(best, ranked)
    worst = ranked[-1]
    if worst not in level:
        said.append(f"{worst.name} keeps neighbours least well ({_kept(worst)}).")
    return said


def _value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def _overlap(first: Estimate | None, second: Estimate | None) -> bool:
    """Whether two estimates cannot be told apart, or differ by less than anyone would notice."""
    assert first is not None
    assert second is not None
    return (first.low <= second.high and second.low <= first.high) or abs(first.value - second.value) < _NOTICED


def _kept(entry: Entry) -> str:
    assert entry.measures.trust is not None
    assert entry.measures.continuity is not None
    return f"trustworthiness {number(entry.measures.trust.value)}, continuity {number(entry.measures.continuity.value)}"


def _leader(best: Entry, ranked: list[Entry], level: list[Entry]) -> str:
    if len(level) == 1:
        return f"{best.name} fits these data best: it keeps the most neighbours ({_kept(best)}), by more than the intervals leave open."
    names = ", ".join(entry.name for entry in level[:-1]) + f" and {level[-1].name}"
    all_of_them = "all " if len(level) == len(ranked) and len(level) > 2 else ""
    return (
        f"There is no clear winner: {all_of_them}{names} keep neighbours equally well within their 95 % intervals"
        f" ({best.name}: {_kept(best)})."
    )


def _why(best: Entry, ranked: list[Entry]) -> list[str]:
    second = ranked[1]
    own, other = best.measures, second.measures
    assert own.trust is not None
    assert own.continuity is not None
    assert other.trust is not None
    assert other.continuity is not None
    more_trust, more_continuity = own.trust.value - other.trust.value, own.continuity.value - other.continuity.value
    if more_trust >= more_continuity:
        why = "it lays fewer far points over each other"
    else:
        why = "it tears fewer neighbours apart"
    said = [f"Next is {second.name} ({_kept(second)}); what tells {best.name} from it most is that {why}."]
    if own.movement is not None and other.movement is not None and own.movement.median > 2 * other.movement.median + 0.02:
        said.append(
            f"But {best.name} depends more on which points it saw: half of them move by {percent(own.movement.median)} of the spread, with"
            f" {second.name} by {percent(other.movement.median)}."
        )
    return said


def _told_apart(level: list[Entry]) -> list[str]:
    """What else tells maps apart that keep neighbours equally well."""
    said = []
    moving = [entry for entry in level if entry.measures.movement is not None and np.isfinite(entry.measures.movement.median)]
    if len(moving) > 1:
        ranked = sorted(moving, key=_median)
        if _median(ranked[1]) > 2 * _median(ranked[0]) and _median(ranked[1]) > 0.02:
            said.append(
                f"Of these {ranked[0].name} is the most stable: half of its points move by {percent(_median(ranked[0]))} of the spread with"
                f" other training points, with {ranked[1].name} by {percent(_median(ranked[1]))}."
            )
        else:
            said.append("They are about equally stable.")
    timed = [entry for entry in level if entry.seconds is not None]
    if len(timed) > 1:
        quick, slow = min(timed, key=_seconds), max(timed, key=_seconds)
        if _seconds(slow) > 2 * _seconds(quick):
            said.append(f"{quick.name} was the quickest ({of_seconds(_seconds(quick))}; {slow.name} took {of_seconds(_seconds(slow))}).")
    said.append("Choose by what you want to see: a simpler method that does as well is easier to explain.")
    return said


def _median(entry: Entry) -> float:
    assert entry.measures.movement is not None
    return entry.measures.movement.median


def _seconds(entry: Entry) -> float:
    assert entry.seconds is not None
    return entry.seconds


# --- in a table ---------------------------------------------------------------------------------------------------------------


def _residual(entry: Entry) -> float | None:
    residual = entry.measures.residual
    if residual is None:
        return None
    place = np.flatnonzero(residual.counts == entry.embedding.shape[1])
    return float(residual.values[place[0] if len(place) else -1])


def _ratio(entry: Entry) -> float | None:
    loss = entry.measures.loss
    return None if loss is None or loss.held_out is None or loss.training <= 0 else loss.held_out / loss.training


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
    ("Peak memory", lambda entry: entry.memory, False, of_bytes),
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
    known = [float(value) for value in values if value is not None]
    cells = []
    best = max(known) if more else min(known)
    leader = next((value for value in values if value is not None and float(value) == best), None)
    for value in values:
        if value is None:
            cells.append("<td>–</td>")
            continue
        if isinstance(value, Estimate):
            cells.append(f"<td{of_class('best' if _overlap(value, leader) else '')}>{interval(*value)}</td>")
        else:
            good = more is not None and float(value) == best
            cells.append(f"<td{of_class('best' if good else '')}>{text(write(float(value)))}</td>")
    return cells


# --- the page -----------------------------------------------------------------------------------------------------------------


def comparison_body(entries: list[Entry], points: Points, note: str, command: str | None, memory: float | None) -> str:
    """The body of the page."""
    first = entries[0].measures
    words = (
        f"Trustworthiness and continuity: for {first.n_neighbors} neighbours, {first.nearness or 'not measured'}; 95 % intervals from a"
        " sample of at most 1000 points. In bold: the best, and what cannot be told from it. Residual variance compares each map with the"
        " distances that its method is about, and losses of different kernels have no common scale, so neither has a best. Movement: how"
        " far half of the points move at least when training points are exchanged."
    )
    curve = section(
        "Neighbours kept, by how many are looked at",
        figure("chart-curve", "share of neighbours kept, by method"),
        paragraph("A curve above the others at the left keeps the nearest neighbours; at the right, the map at large.", "note"),
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
    costs = [("Peak memory of the whole process", of_bytes(peak))] if peak is not None else []
    data = f"<div><h3>Data</h3>{facts_table([*data_facts(points, entries[0].model), *costs])}</div>"
    versions = f"<div><h3>Versions</h3>{facts_table(version_facts())}</div>"
    return section(f"How {counted(len(entries))} maps were made", shown, pair(*blocks), pair(data, versions), place="making")
