"""Point estimates with confidence intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from eigenscape._parameters import check_count, check_random_state


class Estimate(NamedTuple):
    """An estimated value and its 95 % confidence interval.

    ``float(estimate)`` is the value.

    Attributes
    ----------
    value : float
        The estimate.
    low, high : float
        Ends of the interval.

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
    """Estimate a mean from a sample, with Student's 95 % interval.

    For a sample of size s drawn without replacement from ``population`` values the standard error is
    multiplied by ``sqrt(1 - s / population)``; the interval of the whole population has width zero, the
    interval of a single value is infinite. The mean of no values is NaN.
    """
    s = len(values)
    if s == 0:
        return Estimate(np.nan, np.nan, np.nan)
    mean = float(np.mean(values))
    unknown = 1.0 if population is None else 1.0 - s / population
    if unknown <= 0:
        return Estimate(mean, mean, mean)
    if s < 2:
        return Estimate(mean, -np.inf, np.inf)
    half = float(stats.t.ppf(0.975, s - 1) * np.std(values, ddof=1) * np.sqrt(unknown / s))
    return Estimate(mean, mean - half, mean + half)


def interval_estimate(value: float, variances: list[tuple[float, int]]) -> Estimate:
    """Return a value with Student's 95 % interval for a sum of independent errors.

    ``variances`` are pairs (estimated variance of the error, its degrees of freedom); the degrees of freedom
    of the sum follow from the formula of Welch and Satterthwaite. The interval is infinite if a variance is.
    """
    if np.isnan(value):
        return Estimate(value, np.nan, np.nan)
    total = sum(variance for variance, _ in variances)
    if not np.isfinite(total):
        return Estimate(value, -np.inf, np.inf)
    if total == 0.0:
        return Estimate(value, value, value)
    freedom = total**2 / sum(variance**2 / df for variance, df in variances)
    half = float(stats.t.ppf(0.975, freedom) * np.sqrt(total))
    return Estimate(value, value - half, value + half)


def share_estimate(values: np.ndarray, population: int) -> Estimate:
    """Estimate the mean of values between 0 and 1 with a 95 % interval, if few of them are large.

    Student's interval does not cover rare large values that are absent from the sample. With probability
    2.5 % a sample of size s contains none of a share ``1 - 0.025^(1/s)`` (about ``3.7 / s``) of the
    population, and these values may all be 1: the upper end is raised accordingly.
    """
    estimate = mean_estimate(values, population)
    s = len(values)
    if s >= population:
        return estimate
    rare = (1 - 0.025 ** (1 / s)) * (1 - estimate.value) * np.sqrt(1 - s / population)
    return estimate._replace(high=max(estimate.high, estimate.value + float(rare)))


def sample_indices(
    n: int, n_samples: int | None, random_state: int | np.random.Generator | None
) -> np.ndarray:
    """Draw ``n_samples`` of ``n`` indices without replacement, in ascending order.

    All indices are returned if ``n_samples`` is None or at least ``n``.
    """
    if n_samples is not None:
        check_count("n_samples", n_samples)
    if not isinstance(random_state, np.random.Generator):
        check_random_state(random_state)
    if n_samples is None or n_samples >= n:
        return np.arange(n)
    if n_samples < 2:
        raise ValueError(f"n_samples={n_samples} must be at least 2, to estimate the variance")
    return np.sort(np.random.default_rng(random_state).choice(n, n_samples, replace=False))
