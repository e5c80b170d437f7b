"""Which of several maps fits, and why: in words that do not claim more than the numbers do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape.app.report._facts import kept_number, of_seconds, timing_facts
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._words import percent
from eigenscape.quality import Estimate

#: Differences of neighbours kept below this mean nothing to a reader of the map, however small the intervals
#: are.
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
        """Neighbours kept both ways: the mean of trustworthiness and continuity, with an interval no narrower
        than theirs together."""
        trust, continuity = self.measures.trust, self.measures.continuity
        if trust is None or continuity is None:
            return None
        return Estimate(*((first + second) / 2 for first, second in zip(trust, continuity, strict=True)))


def total_seconds(timing: Any) -> float | None:
    """Seconds of a fit, from a number or from stages."""
    if timing is None:
        return None
    return float(timing) if isinstance(timing, (int, float)) else sum(timing_facts(timing).values())


# --- in words -----------------------------------------------------------------------------------------------


def verdict(entries: list[Entry]) -> list[str]:
    """Sentences that say which map fits and why."""
    judged = [entry for entry in entries if entry.kept is not None]
    if len(judged) < 2:
        reasons = {
            why for entry in entries for name, why in entry.measures.left_out.items() if name == "neighbours"
        }
        why = "; ".join(sorted(reasons)) or "too few were measured"
        return [f"The maps could not be compared by the neighbours they keep: {why}."]
    ranked = sorted(judged, key=lambda entry: -_value(entry.kept))
    best = ranked[0]
    level = [entry for entry in ranked if entry is best or overlap(entry.kept, best.kept)]
    said = [_leader(best, ranked, level)]
    said += _told_apart(level) if len(level) > 1 else _why(best, ranked)
    said += _by_labels(judged, best)
    worst = ranked[-1]
    if worst not in level:
        said.append(f"{worst.name} keeps neighbours least well ({_kept(worst)}).")
    return said


def _by_labels(judged: list[Entry], best: Entry) -> list[str]:
    """Which map keeps labels together, a question of its own."""
    labelled = [entry for entry in judged if entry.measures.purity is not None]
    if len(labelled) < 2:
        return []
    ranked = sorted(labelled, key=lambda entry: -float(entry.measures.purity))
    first, second = float(ranked[0].measures.purity), float(ranked[1].measures.purity)
    if first - second < 2 * _NOTICED:
        return [
            f"Labels are kept together about equally well by {ranked[0].name} and {ranked[1].name} ({percent(first)} of neighbours)."
        ]
    also = "also " if ranked[0] is best else ""
    return [
        f"Points of one label are {also}kept together best by {ranked[0].name}: {percent(first)} of neighbours share a label."
    ]


def _value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def overlap(first: Estimate | None, second: Estimate | None) -> bool:
    """Whether two estimates cannot be told apart, or differ by less than anyone would notice."""
    assert first is not None
    assert second is not None
    return (first.low <= second.high and second.low <= first.high) or abs(
        first.value - second.value
    ) < _NOTICED


def _kept(entry: Entry) -> str:
    assert entry.measures.trust is not None
    assert entry.measures.continuity is not None
    return f"trustworthiness {kept_number(entry.measures.trust.value)}, continuity {kept_number(entry.measures.continuity.value)}"


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
    more_trust, more_continuity = (
        own.trust.value - other.trust.value,
        own.continuity.value - other.continuity.value,
    )
    if more_trust >= more_continuity:
        why = "it lays fewer far points over each other"
    else:
        why = "it tears fewer neighbours apart"
    said = [f"Next is {second.name} ({_kept(second)}); what tells {best.name} from it most is that {why}."]
    if (
        own.movement is not None
        and other.movement is not None
        and own.movement.median > 2 * other.movement.median + 0.02
    ):
        said.append(
            f"But {best.name} depends more on which points it saw: half of them move by {percent(own.movement.median)} of the spread, with"
            f" {second.name} by {percent(other.movement.median)}."
        )
    return said


def _told_apart(level: list[Entry]) -> list[str]:
    """What else tells maps apart that keep neighbours equally well."""
    said = []
    moving = [
        entry
        for entry in level
        if entry.measures.movement is not None and np.isfinite(entry.measures.movement.median)
    ]
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
            said.append(
                f"{quick.name} was the quickest ({of_seconds(_seconds(quick))}; {slow.name} took {of_seconds(_seconds(slow))})."
            )
    said.append("Choose by what you want to see: a simpler method that does as well is easier to explain.")
    return said


def _median(entry: Entry) -> float:
    assert entry.measures.movement is not None
    return entry.measures.movement.median


def _seconds(entry: Entry) -> float:
    assert entry.seconds is not None
    return entry.seconds
