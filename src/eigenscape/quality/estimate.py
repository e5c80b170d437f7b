"""A number with the interval it is known to lie in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from eigenscape.quality.arguments import check_seed, check_whole


class Estimate(NamedTuple):
    """A value and its 95 % interval. ``float(estimate)`` is the value.

    Examples
    --------
    >>> from eigenscape.quality import Estimate
    >>> float(Estimate(0.9, 0.88, 0.92))
    0.9
    """

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value


def mean_estimate(values: np.ndarray, population: int | None = None) -> Estimate:
    """The mean of a sample with Student's 95 % interval, from the sample itself.

    A sample without replacement from ``population`` values leaves only the others unknown: the standard error
    shrinks by ``sqrt(1 - s / n)``, and the whole population has an interval of width zero. One value alone
    has an infinite interval."""
    s = len(values)
    mean = float(np.mean(values))
    unknown = 1.0 if population is None else 1.0 - s / population
    if unknown <= 0:
        return Estimate(mean, mean, mean)
    if s < 2:
        return Estimate(mean, -np.inf, np.inf)
    half = float(stats.t.ppf(0.975, s - 1) * np.std(values, ddof=1) * np.sqrt(unknown / s))
    return Estimate(mean, mean - half, mean + half)


def share_estimate(values: np.ndarray, population: int) -> Estimate:
    """The mean of a sample of values between 0 and 1, of which most are small and some may be large, with a
    95 % interval.

    Student's interval trusts the spread of the sample, which says nothing of rare large values that it has
    missed. A share ``1 - 0.025^(1/s)`` of the population (about ``3.7 / s``) is missed by a sample of ``s``
    with a probability of 2.5 %, and its values may all be 1: the upper end leaves room for that much."""
    found = mean_estimate(values, population)
    s = len(values)
    if s >= population:
        return found
    rare = (1 - 0.025 ** (1 / s)) * (1 - found.value) * np.sqrt(1 - s / population)
    return found._replace(high=max(found.high, found.value + float(rare)))


def sample_points(
    n: int, n_samples: int | None, random_state: int | np.random.Generator | None
) -> np.ndarray:
    """Numbers of ``n_samples`` points of ``n``, ascending, without replacement; all of them for None or for
    as many as there are."""
    if n_samples is not None:
        check_whole("n_samples", n_samples)
    if not isinstance(random_state, np.random.Generator):
        check_seed(random_state)
    if n_samples is None or n_samples >= n:
        return np.arange(n)
    if n_samples < 2:
        raise ValueError(
            f"n_samples={n_samples} must be at least 2: one point says nothing about the spread of the others"
        )
    return np.sort(np.random.default_rng(random_state).choice(n, n_samples, replace=False))
