"""How far the points of a map move when it is learnt from others."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape.app.report._refits import REFIT_POINTS, REFUSALS, Smaller, fitted_again, quiet_clone, refused
from eigenscape.app.report._subject import Points, is_pairwise
from eigenscape.quality import linear_alignment, perturbation_stability


@dataclass(frozen=True, eq=False)
class Movement:
    """How far points move when the training points change, as a share of the map's spread; NaN where not
    known."""

    per_point: np.ndarray
    words: str

    @property
    def median(self) -> float:
        known = self.per_point[np.isfinite(self.per_point)]
        return float(np.median(known)) if len(known) else float("nan")


def movement(
    model: Any, points: Points, some: Smaller | str, shown: np.ndarray, seed: int, n_repeats: int = 3
) -> Movement | str:
    """How far points move when training points are exchanged (Bengio sec. 5.3); beyond some thousand points,
    between maps of samples."""
    if isinstance(some, str):
        return some
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if len(some.rows) == points.n:
                found = perturbation_stability(
                    quiet_clone(model),
                    some.X,
                    fraction=0.1,
                    n_repeats=n_repeats,
                    n_left_out=0,
                    random_state=seed,
                )
                words = f"in {n_repeats} trials a tenth of the training points was exchanged and the maps laid over each other"
                return Movement(found.per_point, words)
            return _between_samples(model, points, shown, seed)
    except REFUSALS as error:
        return refused(error)


def _between_samples(model: Any, points: Points, shown: np.ndarray, seed: int) -> Movement | str:
    """Two maps of samples without a common point, on which all points shown are placed."""
    order = np.random.default_rng(seed).permutation(points.n)[: 2 * REFIT_POINTS]
    halves = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    if is_pairwise(model):
        pairs = [(points.X[rows][:, rows], points.X[shown][:, rows]) for rows in halves]
    else:
        placed = points.take(shown)
        pairs = [(points.take(rows), placed) for rows in halves]
    first, second = (
        np.asarray(fitted_again(model, own).transform(others), dtype=np.float64) for own, others in pairs
    )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return "maps of samples have no finite coordinates for some points"
    moved = np.linalg.norm(linear_alignment(second, first).aligned - first, axis=1)
    spread = np.sqrt(np.mean(np.square(first - first.mean(axis=0)).sum(axis=1)))
    per_point = np.full(points.n, np.nan)
    per_point[shown] = moved / spread
    words = f"all points drawn were placed on two maps, each learnt from {len(halves[0])} other points, and the maps laid over each other"
    return Movement(per_point, words)
