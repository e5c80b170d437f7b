"""Result of the stability experiment of Bengio sec. 5.3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from eigenscape.quality.estimate import Estimate


@dataclass(frozen=True, eq=False)
class Stability:
    """Result of :func:`perturbation_stability`.

    Attributes
    ----------
    fractions : ndarray of shape (n_fractions,)
        Fractions of the points that were exchanged, ``|R1| / m``.
    delta : tuple of Estimate
        For each fraction, the mean perturbation error minus the pooled induction error, with its 95 %
        interval. If it is negative, placing a new point by the Nyström formula has a larger error than
        exchanging that fraction of the training points.
    perturbation : tuple of Estimate
        For each fraction, the mean distance of step 1 over all common points and all splits, in the units of
        the embedding. The interval is computed from the means of the splits: infinite for a single split.
    induction : tuple of Estimate
        For each fraction, the mean distance of step 2 over the points left out in its splits.
    pooled_induction : Estimate
        Mean distance of step 2 over the points left out in all splits of all fractions, which is subtracted
        in ``delta``.
    per_point : ndarray of shape (n_samples,)
        Movement of each point when training points are exchanged: root mean square over the splits that
        keep the point, relative to the spread of the embedding, averaged over the fractions. 0: no movement;
        1: as large as the spread of the embedding. NaN for a point that no split keeps.
    by_split : ndarray of shape (n_fractions, n_repeats)
        Mean perturbation error of each split minus the pooled induction error; their mean is ``delta``.
    movement_by_split : ndarray of shape (n_fractions, n_repeats)
        Root mean square movement of all points of each split, relative to the spread.
    spread : float
        Root mean square distance of the points from their mean, averaged over the embeddings: the unit of
        ``per_point``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA
    >>> from eigenscape.quality import perturbation_stability
    >>> X = load_iris().data
    >>> stability = perturbation_stability(PCA(n_components=2), X, fraction=[0.1], n_repeats=3)
    >>> stability.movement_by_split.shape, bool(stability.per_point.max() < 0.5)
    ((1, 3), True)
    """

    fractions: np.ndarray
    delta: tuple[Estimate, ...]
    perturbation: tuple[Estimate, ...]
    induction: tuple[Estimate, ...]
    pooled_induction: Estimate
    per_point: np.ndarray
    by_split: np.ndarray
    movement_by_split: np.ndarray
    spread: float

    @property
    def crossing(self) -> float:
        """Fraction exchanged at which the perturbation error equals the induction error.

        The zero of the increasing function of the fraction that is nearest to ``delta`` in least squares,
        interpolated between the fractions: Bengio sec. 5.3 expects ``delta`` to increase, and to be above
        zero where the error of new points is the smaller one.

        - 0 if this function is positive at every fraction: the error of new points is smaller than the effect
          of the smallest exchange tried.
        - infinity if it is negative at every fraction: the error of new points is larger than the effect of
          the largest exchange tried.
        - NaN if the induction error was not measured (``n_left_out=0``).
        """
        return zero_crossing(self.fractions, np.array([estimate.value for estimate in self.delta]))

    @property
    def crossing_interval(self) -> tuple[float, float]:
        """Crossings of the upper and of the lower ends of the intervals of ``delta``, as in :attr:`crossing`.

        0 to infinity for a single split, whose intervals are infinite.
        """
        ends = np.array([(estimate.high, estimate.low) for estimate in self.delta])
        low, high = (zero_crossing(self.fractions, end) for end in ends.T)
        return low, high

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{f:.3g}: {d.value:.3g} ({d.low:.3g} to {d.high:.3g})"
            for f, d in zip(self.fractions, self.delta, strict=True)
        )
        median = np.nanmedian(self.per_point)
        return f"Stability(delta by fraction {{{parts}}}, median movement {median:.3g} of the spread)"


def zero_crossing(fractions: np.ndarray, values: np.ndarray) -> float:
    """Return the zero of the isotonic regression of ``values``, the nearest increasing values.

    0 if it is positive everywhere, infinity if it is negative everywhere, NaN if a value is NaN. The zero
    is interpolated between the fractions; of an interval of zeros it is the smallest.
    """
    if np.isnan(values).any():
        return float("nan")
    if np.isinf(values).any():  # the ends of unknown intervals: all have the same sign
        return 0.0 if values[0] > 0 else float("inf")
    order = np.argsort(fractions, kind="stable")
    rising, fractions = isotonic_regression(values[order]).x, fractions[order]
    if rising[0] > 0:
        return 0.0
    reached = np.flatnonzero(rising >= 0)
    if not len(reached):
        return float("inf")
    i = int(reached[0])
    if rising[i] == 0:
        return float(fractions[i])
    return float(np.interp(0.0, rising[i - 1 : i + 1], fractions[i - 1 : i + 1]))
