"""Conclusion of a comparison in sentences: which map preserves neighbourhoods best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.app.report._details import Timings, seconds_by_stage
from eigenscape.app.report._formatting import format_percent, format_score, format_seconds
from eigenscape.app.report._measures import Measures
from eigenscape.quality import Estimate

#: Differences of the neighbourhood score below this are ignored, even if significant.
_MIN_DIFFERENCE = 0.005


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


def conclude(models: list[ComparedModel]) -> list[str]:
    """Return sentences on which map preserves neighbourhoods best, and why."""
    scored = [(one, one.score) for one in models if one.score is not None]
    if len(scored) < 2:
        reasons = {one.measures.omitted.get("neighbours") for one in models}
        reason = "; ".join(sorted(filter(None, reasons))) or "fewer than two maps were measured"
        return [f"The maps could not be compared by their neighbourhoods: {reason}."]
    scored.sort(key=lambda pair: -float(pair[1]))
    ranked = [one for one, _ in scored]
    best = ranked[0]
    tied = [one for one, score in scored if one is best or indistinguishable(score, scored[0][1])]
    sentences = [_winner(best, ranked, tied)]
    sentences += _tie_breakers(tied) if len(tied) > 1 else _margin(best, ranked[1])
    sentences += _by_labels(ranked)
    if ranked[-1] not in tied:
        sentences.append(f"{ranked[-1].name} preserves neighbourhoods worst ({_scores(ranked[-1])}).")
    return sentences


def indistinguishable(first: Estimate, second: Estimate) -> bool:
    """Return whether the intervals of two estimates overlap, or their difference is negligible."""
    overlap = first.low <= second.high and second.low <= first.high
    return overlap or abs(first.value - second.value) < _MIN_DIFFERENCE


def _scores(one: ComparedModel) -> str:
    trust, continuity = one.measures.trust, one.measures.continuity
    assert trust is not None
    assert continuity is not None
    return f"trustworthiness {format_score(trust.value)}, continuity {format_score(continuity.value)}"


def _winner(best: ComparedModel, ranked: list[ComparedModel], tied: list[ComparedModel]) -> str:
    if len(tied) == 1:
        return (
            f"{best.name} preserves neighbourhoods best ({_scores(best)}); the difference is larger than the"
            " 95 % intervals."
        )
    names = ", ".join(one.name for one in tied[:-1]) + f" and {tied[-1].name}"
    every = "all of " if len(tied) == len(ranked) and len(tied) > 2 else ""
    return (
        f"No map is clearly best: {every}{names} preserve neighbourhoods equally well within their 95 %"
        f" intervals ({best.name}: {_scores(best)})."
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


def _by_labels(ranked: list[ComparedModel]) -> list[str]:
    """Compare the label purity of the maps."""
    purities = [(float(one.measures.purity), one) for one in ranked if one.measures.purity is not None]
    if len(purities) < 2:
        return []
    purities.sort(key=lambda pair: -pair[0])
    (first, best), (second, other) = purities[:2]
    if first - second < 2 * _MIN_DIFFERENCE:
        return [
            f"{best.name} and {other.name} keep equal labels together about equally well"
            f" ({format_percent(first)} of neighbours share a label)."
        ]
    also = "also " if best is ranked[0] else ""
    share = format_percent(first)
    return [f"{best.name} {also}keeps equal labels together best ({share} of neighbours share a label)."]
