"""Points chosen from a part of the rows to stand for it, and the choice among those of several parts.

Parts are consecutive: the rows of the left one come first. What is chosen from parts, joined in their order,
does not depend on who looked at which part, or when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape.dictionary.landmarks import farthest_first, greedy_pivots
from eigenscape.dictionary.source import joined
from eigenscape.graph.row_index import distinct_rows
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import HalfSquaredDistance, squared_distance_rows


@dataclass(frozen=True, eq=False)
class Candidates:
    """Points that stand for ``count`` rows, with their places among these."""

    points: Any  # (m, n_features)
    numbers: np.ndarray  # (m,)
    count: int

    @staticmethod
    def all_of(Y: Any) -> Candidates:
        """Every row of a part."""
        return Candidates(Y, np.arange(n_points(Y)), n_points(Y))

    def take(self, which: np.ndarray) -> Candidates:
        """Some of them; they stand for as many rows."""
        return Candidates(self.points[which], self.numbers[which], self.count)

    def beside(self, other: Candidates) -> Candidates:
        """Those of two parts, the other one's rows counted after these."""
        points = joined(self.points, other.points)
        return Candidates(
            points, np.concatenate([self.numbers, other.numbers + self.count]), self.count + other.count
        )


def spread_out(
    candidates: Candidates, size: int, distance: HalfSquaredDistance, how: str = "maxmin"
) -> Candidates:
    """At most ``size`` different candidates, farthest first, or with ``how="greedy"`` least explained first;
    the first begins.

    No row of a part is farther than ``r`` from those chosen there, where ``r`` is the distance between the
    two nearest of one more, and so at most twice the radius of the best ``size`` balls that hold all rows
    (Gonzalez). Each further choice among what parts have chosen adds as much again: with ``h`` rounds in all
    every row is within ``2 h`` times that radius."""
    candidates = candidates.take(np.sort(distinct_rows(candidates.points)[0]))
    n = n_points(candidates.points)
    if n <= 1:
        return candidates
    bound = distance.bind(candidates.points)
    pick = farthest_first if how == "maxmin" else greedy_pivots
    return candidates.take(pick(squared_distance_rows(bound), n, min(size, n), 0))
