"""Conclusion of a comparison in sentences: which map preserves neighbourhoods best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.app.report._details import Timings, seconds_by_stage
from eigenscape.app.report._formatting import format_percent, format_score, format_seconds
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points
from eigenscape.app.report._verdicts import neighborhood_grade
from eigenscape.app.report.few_points import few_points_sentences
from eigenscape.quality import Estimate

#: Differences of neighbours kept, and of mean trustworthiness and continuity, that are ignored even if
#: significant.
_MIN_KEPT, _MIN_SCORE = 0.01, 0.005


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
    def kept(self) -> Estimate | None:
        """Share of the nearest neighbours that are kept."""
        return None if self.measures.kept is None else self.measures.kept.share

    @property
    def score(self) -> Estimate | None:
        """Mean of trustworthiness and continuity, and of the ends of their intervals."""
        trust, continuity = self.measures.trust, self.measures.continuity
        if trust is None or continuity is None:
            return None
        return Estimate(*((first + second) / 2 for first, second in zip(trust, continuity, strict=True)))


def total_seconds(timing: float | Timings | None) -> float | None:
    """Return the seconds of a fit from a number or from the seconds of its stages."""
    if timing is None:
        return None
    return float(timing) if isinstance(timing, (int, float)) else sum(seconds_by_stage(timing).values())


def conclude(models: list[ComparedModel], points: Points) -> list[str]:
    """Return sentences on which map preserves neighbourhoods best, and why.

    The best map keeps the most neighbours, and no other has a better mean of trustworthiness and continuity.
    A map with a coordinate that a handful of points determine is not ranked.
    """
    measured = [one for one in models if one.kept is not None and one.score is not None]
    sentences = _dominance(models)
    if len(measured) < 2:
        reasons = {one.measures.omitted.get("neighbours") for one in models}
        reason = "; ".join(sorted(filter(None, reasons))) or "fewer than two maps were measured"
        sentences.append(f"The maps could not be compared by their neighbourhoods: {reason}.")
        return sentences + _not_ranked(models, points)
    ranked = sorted((one for one in measured if one.is_sound), key=lambda one: -_value(one.kept))
    if not ranked:
        return [*sentences, "No map can be recommended.", *_not_ranked(models, points)]
    best = _best(ranked)
    if len(ranked) == 1:
        sentences.append(f"Only {ranked[0].name} can be ranked ({_scores(ranked[0])}).")
    elif not best:
        sentences.append(_disagreement(ranked))
    else:
        sentences.append(_winner(best, ranked))
        others = [one for one in ranked if one is not best[0]]
        sentences += _tie_breakers(best) if len(best) > 1 else _margin(best[0], others[0])
    sentences += _by_labels(ranked, best)
    lowest = min(ranked, key=lambda one: _value(one.score))
    if best and ranked[-1] not in best and lowest is ranked[-1]:
        sentences.append(f"{ranked[-1].name} preserves neighbourhoods worst ({_scores(ranked[-1])}).")
    return sentences + _not_ranked(models, points)


def _value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def _best(ranked: list[ComparedModel]) -> list[ComparedModel]:
    """Return the maps that no other exceeds, neither in neighbours kept nor in the mean score."""
    most = max((one.kept for one in ranked), key=_value)
    highest = max((one.score for one in ranked), key=_value)
    assert most is not None
    assert highest is not None
    return [
        one
        for one in ranked
        if one.kept is not None
        and one.score is not None
        and indistinguishable(one.kept, most, _MIN_KEPT)
        and indistinguishable(one.score, highest, _MIN_SCORE)
    ]


def indistinguishable(first: Estimate, second: Estimate, least_difference: float = _MIN_SCORE) -> bool:
    """Return whether the intervals of two estimates overlap, or their difference is negligible."""
    overlap = first.low <= second.high and second.low <= first.high
    return overlap or abs(first.value - second.value) < least_difference


def _dominance(models: list[ComparedModel]) -> list[str]:
    """Return a sentence on the columns that dominate the maps."""
    dominated = [one for one in models if one.measures.dominance is not None]
    if not dominated:
        return []
    found = dominated[0].measures.dominance
    assert found is not None
    which = "all maps" if len(dominated) == len(models) else f"the maps of {_names(dominated)}"
    return [
        f"{found.subject}: {which} show {found.extent}. Standardise the columns (--standardize)"
        " and compare again, unless their units are comparable."
    ]


def _not_ranked(models: list[ComparedModel], points: Points) -> list[str]:
    """Return sentences on the maps of a handful of points, and on those that distances do not measure."""
    sentences = [
        f"{one.name} is not ranked. {found.subject}: distances in the data show {found.extent}, but this map"
        " is not computed from them. Standardise the columns (--standardize) and compare again."
        for one in models
        if (found := one.measures.reference_dominance) is not None
    ]
    return sentences + [
        f"{one.name} is not ranked. {sentence}"
        for one in models
        for sentence in few_points_sentences(one.measures.localized, points.n, points.ids, points.labels)[:1]
    ]


def _names(models: list[ComparedModel]) -> str:
    names = [one.name for one in models]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _scores(one: ComparedModel) -> str:
    kept, trust, continuity = one.measures.kept, one.measures.trust, one.measures.continuity
    assert kept is not None
    assert trust is not None
    assert continuity is not None
    return (
        f"{format_percent(kept.share.value)} of the {kept.n_neighbors} nearest neighbours kept,"
        f" trustworthiness {format_score(trust.value)}, continuity {format_score(continuity.value)}"
    )


def _winner(best: list[ComparedModel], ranked: list[ComparedModel]) -> str:
    first = best[0]
    grade = neighborhood_grade(first.measures)
    but = "" if grade != "poor" else "; no map preserves them well"
    if len(best) == 1:
        return (
            f"{first.name} preserves neighbourhoods best ({_scores(first)}); the difference is larger than"
            f" the 95 % intervals{but}."
        )
    every = "all of " if len(best) == len(ranked) and len(best) > 2 else ""
    return (
        f"No map is clearly best: {every}{_names(best)} preserve neighbourhoods equally well within their"
        f" 95 % intervals ({first.name}: {_scores(first)}){but}."
    )


def _disagreement(ranked: list[ComparedModel]) -> str:
    """Return a sentence if one map keeps most neighbours and another map has the better score."""
    closest = max(ranked, key=lambda one: _value(one.score))
    return (
        f"No map is clearly best: {ranked[0].name} keeps the most nearest neighbours ({_scores(ranked[0])}),"
        f" but the other neighbours are less far away on the map of {closest.name} ({_scores(closest)})."
    )


def _margin(best: ComparedModel, second: ComparedModel) -> list[str]:
    """Compare the best map with the second."""
    first, other = best.measures, second.measures
    assert first.trust is not None
    assert first.continuity is not None
    assert other.trust is not None
    assert other.continuity is not None
    by_trust = first.trust.value - other.trust.value >= first.continuity.value - other.continuity.value
    reason = "shows fewer false neighbours" if by_trust else "separates fewer neighbours"
    sentences = [
        f"{second.name} is second ({_scores(second)}); compared with it, {best.name} mainly {reason}."
    ]
    if first.movement is not None and other.movement is not None:
        movement, other_movement = first.movement.median, other.movement.median
        if movement > 2 * other_movement + 0.02:
            sentences.append(
                f"However, {best.name} is less stable: with other training points, half of its points move by"
                f" more than {format_percent(movement)} of the spread ({second.name}:"
                f" {format_percent(other_movement)})."
            )
    return sentences


def _tie_breakers(tied: list[ComparedModel]) -> list[str]:
    """Compare the stability and the time of maps that preserve neighbourhoods equally well."""
    sentences = []
    medians = {one.name: one.measures.movement.median for one in tied if one.measures.movement is not None}
    stable = sorted((median, name) for name, median in medians.items() if np.isfinite(median))
    if len(stable) > 1:
        (low, most), (high, next_most) = stable[:2]
        if high > 2 * low and high > 0.02:
            sentences.append(
                f"Of these, {most} is the most stable: with other training points, half of its points move by"
                f" less than {format_percent(low)} of the spread ({next_most}: {format_percent(high)})."
            )
        else:
            sentences.append("They are about equally stable.")
    timed = sorted((one.seconds, one.name) for one in tied if one.seconds is not None)
    if len(timed) > 1 and timed[-1][0] > 2 * timed[0][0]:
        (fast, fastest), (slow, slowest) = timed[0], timed[-1]
        sentences.append(
            f"{fastest} was the fastest ({format_seconds(fast)}; {slowest}: {format_seconds(slow)})."
        )
    sentences.append("If nothing else distinguishes them, prefer the simpler method.")
    return sentences


def _by_labels(ranked: list[ComparedModel], winners: list[ComparedModel]) -> list[str]:
    """Compare the label purity of the maps."""
    purities = [(float(one.measures.purity), one) for one in ranked if one.measures.purity is not None]
    if len(purities) < 2:
        return []
    purities.sort(key=lambda pair: -pair[0])
    (first, best), (second, other) = purities[:2]
    if first - second < 2 * _MIN_SCORE:
        return [
            f"{best.name} and {other.name} keep equal labels together about equally well"
            f" ({format_percent(first)} of neighbours share a label)."
        ]
    also = "also " if winners == [best] else ""
    share = format_percent(first)
    return [f"{best.name} {also}keeps equal labels together best ({share} of neighbours share a label)."]
