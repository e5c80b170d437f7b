"""Conclusion of a comparison in sentences: which map preserves neighbourhoods best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.app.report._details import SECTIONS
from eigenscape.app.report._formatting import FORMATS
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points
from eigenscape.app.report._tables import TABLES
from eigenscape.app.report._texts import evaluate, fill
from eigenscape.app.report._verdicts import neighborhood_grade
from eigenscape.app.report.few_points import few_points_sentences
from eigenscape.quality import Estimate

_CONCLUSION = TABLES["conclusion"]


@dataclass(frozen=True, eq=False)
class ComparedModel:
    """One of the compared models."""

    name: str
    model: BaseEstimator
    embedding: np.ndarray
    new: np.ndarray | None  # coordinates of the new points
    measures: Measures
    seconds: float | None
    memory: float | None

    @property
    def is_sound(self) -> bool:
        """Whether every coordinate describes more than a handful of points, and distances are comparable."""
        return not self.measures.localized and self.measures.reference_dominance is None

    @property
    def kept(self) -> Any:
        """Share of the nearest neighbours that are kept, an estimate; None if it is not measured."""
        return None if self.measures.kept is None else self.measures.kept.share

    @property
    def score(self) -> Any:
        """Mean of trustworthiness and continuity, and of the ends of their intervals; None if unknown."""
        trust, continuity = self.measures.trust, self.measures.continuity
        if trust is None or continuity is None:
            return None
        return Estimate(*((first + second) / 2 for first, second in zip(trust, continuity, strict=True)))

    @property
    def scores(self) -> str:
        """The measures of the neighbourhoods, for sentences."""
        return _say("scores", m=self.measures)

    @property
    def moved(self) -> float:
        """Median movement; NaN if it is unknown."""
        median = None if self.measures.movement is None else self.measures.movement.median
        return float("nan") if median is None else median

    @property
    def purity(self) -> float | None:
        """Share of neighbours with an equal label."""
        return None if self.measures.purity is None else self.measures.purity.value


def _say(name: str, **given: Any) -> str:
    return fill(_CONCLUSION[name], given)


def conclude(models: list[ComparedModel], points: Points) -> list[str]:
    """Return sentences on which map preserves neighbourhoods best, and why.

    The best map keeps the most neighbours, and no other has a better mean of trustworthiness and continuity.
    A map with a coordinate that a handful of points determine is not ranked.
    """
    return [*_dominance(models), *_ranking(models), *_not_ranked(models, points)]


def _ranking(models: list[ComparedModel]) -> list[str]:
    measured = [one for one in models if one.kept is not None and one.score is not None]
    if len(measured) < 2:
        reasons = {one.measures.omitted.get("neighbours") for one in models}
        reason = "; ".join(sorted(filter(None, reasons))) or "fewer than two maps were measured"
        return [_say("not_compared", reason=reason)]
    ranked = sorted((one for one in measured if one.is_sound), key=lambda one: -one.kept.value)
    if not ranked:
        return [_say("none")]
    best, lowest = _best(ranked), min(ranked, key=lambda one: one.score.value)
    if len(ranked) == 1:
        sentences = [_say("only", first=ranked[0])]
    elif not best:
        closest = max(ranked, key=lambda one: one.score.value)
        sentences = [_say("disagreement", first=ranked[0], closest=closest)]
    else:
        sentences = _winner(best, ranked)
    sentences += _by_labels(ranked, best)
    if best and ranked[-1] not in best and lowest is ranked[-1]:
        sentences.append(_say("worst", last=ranked[-1]))
    return sentences


def _best(ranked: list[ComparedModel]) -> list[ComparedModel]:
    """Return the maps that no other exceeds, neither in neighbours kept nor in the mean score."""
    most = max((one.kept for one in ranked), key=float)
    highest = max((one.score for one in ranked), key=float)
    return [
        one
        for one in ranked
        if indistinguishable(one.kept, most, _CONCLUSION["least_kept"])
        and indistinguishable(one.score, highest)
    ]


def indistinguishable(
    first: Estimate, second: Estimate, least_difference: float = _CONCLUSION["least_score"]
) -> bool:
    """Return whether the intervals of two estimates overlap, or their difference is negligible."""
    overlap = first.low <= second.high and second.low <= first.high
    return overlap or abs(first.value - second.value) < least_difference


def _dominance(models: list[ComparedModel]) -> list[str]:
    """Return a sentence on the columns that dominate the maps."""
    dominated = [one for one in models if one.measures.dominance is not None]
    if not dominated:
        return []
    which = "all maps" if len(dominated) == len(models) else f"the maps of {_names(dominated)}"
    return [_say("columns", found=dominated[0].measures.dominance, which=which)]


def _not_ranked(models: list[ComparedModel], points: Points) -> list[str]:
    """Return sentences on the maps of a handful of points, and on those that distances do not measure."""
    sentences = [
        _say("other_distances", one=one, found=found)
        for one in models
        if (found := one.measures.reference_dominance) is not None
    ]
    return sentences + [
        _say("few_points", one=one, sentence=sentence)
        for one in models
        for sentence in few_points_sentences(one.measures.localized, *points.named)[:1]
    ]


def _names(models: list[ComparedModel]) -> str:
    names = [one.name for one in models]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _winner(best: list[ComparedModel], ranked: list[ComparedModel]) -> list[str]:
    first = best[0]
    but = "; no map preserves them well" if neighborhood_grade(first.measures) == "poor" else ""
    if len(best) > 1:
        every = "all of " if len(best) == len(ranked) and len(best) > 2 else ""
        tied = _say("tied", every=every, names=_names(best), first=first, but=but)
        return [tied, *_tie_breakers(best)]
    second = next(one for one in ranked if one is not first)
    trust, continuity = (
        getattr(first.measures, name).value - getattr(second.measures, name).value
        for name in ("trust", "continuity")
    )
    reason = "shows fewer false neighbours" if trust >= continuity else "separates fewer neighbours"
    sentences = [
        _say("best", first=first, but=but),
        _say("second", first=first, second=second, reason=reason),
    ]
    if first.moved > 2 * second.moved + 0.02:
        sentences.append(_say("less_stable", first=first, second=second))
    return sentences


def _tie_breakers(tied: list[ComparedModel]) -> list[str]:
    """Compare the stability and the time of maps that preserve neighbourhoods equally well."""
    sentences = []
    stable = sorted((one for one in tied if np.isfinite(one.moved)), key=lambda one: (one.moved, one.name))
    if len(stable) > 1:
        first, second = stable[:2]
        differ = second.moved > max(2 * first.moved, 0.02)
        sentences.append(_say("most_stable" if differ else "equally_stable", first=first, second=second))
    timed = sorted((one.seconds, one.name, one) for one in tied if one.seconds is not None)
    if len(timed) > 1 and timed[-1][0] > 2 * timed[0][0]:
        sentences.append(_say("fastest", first=timed[0][2], slowest=timed[-1][2]))
    return [*sentences, _say("simpler")]


def _by_labels(ranked: list[ComparedModel], winners: list[ComparedModel]) -> list[str]:
    """Compare the label purity of the maps."""
    purities = sorted(((-one.purity, i) for i, one in enumerate(ranked) if one.purity is not None))
    if len(purities) < 2:
        return []
    first, second = (ranked[i] for _, i in purities[:2])
    if purities[1][0] - purities[0][0] < 2 * _CONCLUSION["least_score"]:
        return [_say("equal_labels", first=first, second=second)]
    return [_say("best_labels", first=first, also="also " if winners == [first] else "")]


# --- the table ----------------------------------------------------------------------------------------------


def measures_table(models: list[ComparedModel]) -> list[dict[str, Any]]:
    """Return title, values, format and best values of each measure that is known for a model."""
    columns = []
    for row in SECTIONS["comparison"]:
        write, best = FORMATS[row["format"]], None
        values = [evaluate(row["value"], {"one": one, "m": one.measures}) for one in models]
        ranked = [row.get("cost") or one.is_sound for one in models]
        known = [value for value, may in zip(values, ranked, strict=True) if may and value is not None]
        if known and "best" in row:
            best = (max if row["best"] == "largest" else min)(known, key=float)
        bold = [may and _equals(value, best, write) for value, may in zip(values, ranked, strict=True)]
        if any(value is not None for value in values):
            columns.append({"title": row["title"], "cells": values, "write": write, "best": bold})
    return columns


def _equals(value: Any, best: Any, write: Callable[[float], str]) -> bool:
    """Return whether a value does not differ from the best: its interval overlaps, or it reads the same."""
    if value is None or best is None:
        return False
    return indistinguishable(value, best) if isinstance(value, Estimate) else write(value) == write(best)
