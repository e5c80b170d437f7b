"""Conclusion of a comparison in sentences: which map preserves neighbourhoods best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points
from eigenscape.app.report._texts import FORMATS, LIMITS, TABLES, evaluate, fill
from eigenscape.app.report._verdicts import neighborhood_grade
from eigenscape.app.report.few_points import few_points_sentences
from eigenscape.quality import Estimate


@dataclass(frozen=True, eq=False)
class ComparedModel:
    """One of the compared models."""

    name: str
    model: BaseEstimator
    embedding: np.ndarray
    new: np.ndarray | None  # coordinates of the new points
    m: Measures
    seconds: float | None
    memory: float | None

    @property
    def is_sound(self) -> bool:
        """Whether every coordinate describes more than a handful of points, and distances are comparable."""
        return not self.m.localized and self.m.reference_dominance is None

    @property
    def kept(self) -> Any:
        """Share of the nearest neighbours that are kept, an estimate; None if it is not measured."""
        return None if self.m.kept is None else self.m.kept.share

    @property
    def score(self) -> Any:
        """Mean of trustworthiness and continuity, and of the ends of their intervals; None if unknown."""
        trust, continuity = self.m.trust, self.m.continuity
        if trust is None or continuity is None:
            return None
        return Estimate(*((first + second) / 2 for first, second in zip(trust, continuity, strict=True)))

    @property
    def scores(self) -> str:
        """The measures of the neighbourhoods, for sentences."""
        return fill(TABLES["scores"], {"m": self.m})

    @property
    def moved(self) -> float:
        """Median movement; NaN if it is unknown."""
        median = None if self.m.movement is None else self.m.movement.median
        return float("nan") if median is None else median

    @property
    def purity(self) -> float | None:
        """Share of neighbours with an equal label."""
        return None if self.m.purity is None else self.m.purity.value


def conclude(models: list[ComparedModel], points: Points) -> list[str]:
    """Return sentences on which map preserves neighbourhoods best, and why.

    The best map keeps the most neighbours, and no other has a better mean of trustworthiness and continuity.
    A map with a coordinate that a handful of points determine is not ranked.
    """
    measured = [one for one in models if one.kept is not None and one.score is not None]
    ranked = sorted((one for one in measured if one.is_sound), key=lambda one: -one.kept.value)
    best = _best(ranked) if ranked else []
    reasons = {one.m.omitted.get("neighbours") for one in models}
    moved = [one for one in best if np.isfinite(one.moved)]
    timed = [one for one in best if one.seconds is not None]
    names: dict[str, Any] = {
        "dominated": [one for one in models if one.m.dominance is not None],
        "reason": "; ".join(sorted(filter(None, reasons))) or "fewer than two maps were measured",
        "poor": bool(best) and neighborhood_grade(best[0].m) == "poor",
        "closest": max(ranked, key=attrgetter("score.value"), default=None),
        "lowest": min(ranked, key=attrgetter("score.value"), default=None),
        "stable": sorted(moved, key=attrgetter("moved", "name")),
        "timed": sorted(timed, key=attrgetter("seconds", "name")),
        "labelled": sorted((one for one in ranked if one.purity is not None), key=lambda one: -one.purity),
    }
    names |= {"models": models, "measured": measured, "ranked": ranked, "best": best, "n": len(models)}
    names |= {"points": points, "limits": LIMITS, "few_points": few_points_sentences}
    return [line for line in fill(TABLES["conclusion"], names).splitlines() if line.strip()]


def _best(ranked: list[ComparedModel]) -> list[ComparedModel]:
    """Return the maps that no other exceeds, neither in neighbours kept nor in the mean score."""
    most = max((one.kept for one in ranked), key=float)
    near = [one for one in ranked if indistinguishable(one.kept, most, LIMITS.least_kept)]
    highest = max((one.score for one in ranked), key=float)
    return [one for one in near if indistinguishable(one.score, highest)]


def indistinguishable(first: Estimate, second: Estimate, least: float = LIMITS.least_score) -> bool:
    """Return whether the intervals of two estimates overlap, or their difference is below ``least``."""
    overlap = first.low <= second.high and second.low <= first.high
    return overlap or abs(first.value - second.value) < least


# --- the table ----------------------------------------------------------------------------------------------


def measures_table(models: list[ComparedModel]) -> list[dict[str, Any]]:
    """Return title, values, format and best values of each measure that is known for a model."""
    columns = []
    for row in TABLES["comparison"]:
        write, best = FORMATS[row["format"]], None
        values = [evaluate(row["value"], {"one": one, "m": one.m}) for one in models]
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
