"""Landmark candidates selected in each part of the rows, merged and reduced in the order of the parts.

Parts are consecutive: the rows of the left part come first. The result does not depend on the order in which
the parts are processed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eigenscape.dictionary.landmarks import farthest_first, greedy_pivots
from eigenscape.dictionary.source import PointArray, stack_rows
from eigenscape.graph.row_index import distinct_rows
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import HalfSquaredDistance, squared_distance_rows


@dataclass(frozen=True, eq=False)
class Candidates:
    """Points selected from ``n_rows`` rows, with their row indices."""

    points: PointArray  # (m, n_features)
    indices: np.ndarray  # (m,)
    n_rows: int

    @staticmethod
    def from_rows(Y: PointArray) -> Candidates:
        """Return every row of ``Y`` as a candidate."""
        return Candidates(Y, np.arange(n_points(Y)), n_points(Y))

    def take(self, which: np.ndarray) -> Candidates:
        """Return the candidates at the positions ``which``; ``n_rows`` is unchanged."""
        return Candidates(self.points[which], self.indices[which], self.n_rows)

    def merge(self, later: Candidates) -> Candidates:
        """Concatenate with the candidates of the rows that follow."""
        return Candidates(
            stack_rows(self.points, later.points),
            np.concatenate([self.indices, later.indices + self.n_rows]),
            self.n_rows + later.n_rows,
        )


def select_candidates(
    candidates: Candidates,
    size: int,
    distance: HalfSquaredDistance,
    method: Literal["maxmin", "greedy"] = "maxmin",
) -> Candidates:
    """Select at most ``size`` distinct candidates, beginning with the first one.

    ``method="maxmin"`` takes the candidate farthest from those already selected; ``"greedy"`` takes the one
    with the largest residual (:func:`eigenscape.dictionary.landmarks.greedy_pivots`).

    With "maxmin", every row of a part is within ``2 r`` of a selected one, where ``r`` is the smallest radius
    of ``size`` balls that cover all rows (Gonzalez 1985). Each further selection among selected rows adds
    ``2 r``: after ``h`` rounds every row is within ``2 h r``.
    """
    candidates = candidates.take(np.sort(distinct_rows(candidates.points)[0]))
    n = n_points(candidates.points)
    if n <= 1:
        return candidates
    bound = distance.bind(candidates.points)
    select = farthest_first if method == "maxmin" else greedy_pivots
    return candidates.take(select(squared_distance_rows(bound), n, min(size, n), 0))
