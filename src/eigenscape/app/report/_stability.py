"""Movement of the points of a map when the training points change."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.app.report._points import Points, is_pairwise
from eigenscape.app.report._refits import EXPECTED_ERRORS, Subset, refit, refit_failed
from eigenscape.app.report._tuning import TUNING
from eigenscape.quality import linear_alignment, perturbation_stability
from eigenscape.quality.stability import quiet_clone


@dataclass(frozen=True, eq=False)
class Movement:
    """Movement of each point, relative to the spread of the map; NaN if unknown."""

    per_point: np.ndarray
    text: str  # how it was measured

    @property
    def median(self) -> float:
        known = self.per_point[np.isfinite(self.per_point)]
        return float(np.median(known)) if len(known) else float("nan")


def movement(
    model: BaseEstimator, points: Points, subset: Subset | str, shown: np.ndarray, seed: int
) -> Movement | str:
    """Measure the movement of the points, or return the reason why it cannot be measured.

    Up to ``TUNING.refit_rows`` points a tenth of the training points is exchanged (Bengio sec. 5.3). Beyond,
    two maps fitted to disjoint samples are compared at the points ``shown``.
    """
    if isinstance(subset, str):
        return subset
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if len(subset.rows) < points.n:
                return _between_samples(model, points, shown, seed)
            options: dict[str, Any] = {"fraction": 0.1, "n_repeats": TUNING.n_repeats, "random_state": seed}
            result = perturbation_stability(quiet_clone(model), subset.X, n_left_out=0, **options)
    except EXPECTED_ERRORS as error:
        return refit_failed(error)
    text = (
        f"in {TUNING.n_repeats} repetitions, a tenth of the training points was exchanged, and the maps"
        " aligned"
    )
    return Movement(result.per_point, text)


def _between_samples(model: BaseEstimator, points: Points, shown: np.ndarray, seed: int) -> Movement | str:
    """Compare two maps of disjoint samples at the points ``shown``."""
    order = np.random.default_rng(seed).permutation(points.n)[: 2 * TUNING.refit_rows]
    halves = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    if is_pairwise(model):
        pairs = [(points.X[rows][:, rows], points.X[shown][:, rows]) for rows in halves]
    else:
        others = points.take(shown)
        pairs = [(points.take(rows), others) for rows in halves]
    first, second = (
        np.asarray(refit(model, training).transform(others), dtype=np.float64) for training, others in pairs
    )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return "some points have no finite coordinates on the maps of the samples"
    distance = np.linalg.norm(linear_alignment(second, first).aligned - first, axis=1)
    spread = np.sqrt(np.mean(np.square(first - first.mean(axis=0)).sum(axis=1)))
    per_point = np.full(points.n, np.nan)
    per_point[shown] = distance / spread
    return Movement(
        per_point,
        f"two maps were fitted to disjoint samples of {len(halves[0])} points, the points drawn were"
        " transformed by both, and the maps were aligned",
    )
