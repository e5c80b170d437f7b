"""Projection pursuit density estimation (Burges sec. 1; Friedman, Stuetzle and Schroeder 1984).

The density is a normal density with the mean and covariance of the data, times a function of one projection
for each direction ``w_m``:

    ``p(x) = p_0(x) prod_m f_m(w_m'z) / phi(w_m'z)``,

where ``z`` are the whitened data, ``phi`` the standard normal density, and ``f_m`` the density of the
projected data. The directions are orthogonal, so that the marginal of the model along a new direction is
``phi`` and the product has the integral one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import gaussian_kde


@dataclass(frozen=True, eq=False)
class Marginal:
    """A density that is linear between the points of a grid, mixed with a standard normal one."""

    _shapes: ClassVar = {"grid": "g", "density": "g"}
    grid: np.ndarray
    density: np.ndarray
    normal_share: float

    def log_ratio(self, P: np.ndarray) -> np.ndarray:
        """Return ``log f(p) - log phi(p)``."""
        values = np.interp(P, self.grid, self.density, left=0.0, right=0.0)
        log_values = np.log(np.maximum(values, np.finfo(float).tiny)) + np.log1p(-self.normal_share)
        log_phi = -(np.square(P) + np.log(2 * np.pi)) / 2
        return np.logaddexp(log_values - log_phi, np.log(self.normal_share))

    def sample(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw values (count,) by the inverse of the distribution function."""
        steps = np.diff(self.grid) * (self.density[1:] + self.density[:-1]) / 2
        distribution = np.concatenate([[0.0], np.cumsum(steps)])
        drawn = np.interp(rng.random(count) * distribution[-1], distribution, self.grid)
        return np.where(rng.random(count) < self.normal_share, rng.standard_normal(count), drawn)


@dataclass(frozen=True, eq=False)
class PursuitDensity:
    """The density of ``x = z dewhitener + mean`` with independent ``w_m'z``, all others normal."""

    _shapes: ClassVar = {"mean": "d", "whitener": "d d", "dewhitener": "d d", "directions": "k d"}
    mean: np.ndarray  # (d,)
    whitener: np.ndarray  # (d, d)
    dewhitener: np.ndarray  # (d, d)
    directions: np.ndarray  # (k, d), orthonormal, of z
    marginals: list[Marginal]

    def log_density(self, X: np.ndarray) -> np.ndarray:
        """Return ``log p(x)`` (n,)."""
        Z = (X - self.mean) @ self.whitener
        log_volume = np.linalg.slogdet(self.whitener)[1]
        values = log_volume - (np.square(Z).sum(axis=1) + Z.shape[1] * np.log(2 * np.pi)) / 2
        for direction, marginal in zip(self.directions, self.marginals, strict=True):
            values += marginal.log_ratio(Z @ direction)
        return values

    def sample(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw points (count, d)."""
        Z = rng.standard_normal((count, len(self.mean)))
        for direction, marginal in zip(self.directions, self.marginals, strict=True):
            Z += np.outer(marginal.sample(count, rng) - Z @ direction, direction)
        return Z @ self.dewhitener + self.mean


def fit_marginal(P: np.ndarray, rng: np.random.Generator) -> tuple[Marginal, float]:
    """Estimate the density of projections (n,), and its gain over the normal density.

    The bandwidth, a multiple of the normal reference rule, has the largest mean log density of points that
    are left out, one at a time; the gain is its difference to the normal density. At most 5000 samples are
    used.
    """
    subset = P if len(P) <= 5000 else rng.choice(P, 5000, replace=False)
    trials = [_kernel_marginal(subset, factor) for factor in (0.25, 0.4, 0.6, 0.8, 1.0)]
    best = int(np.argmax([gain for _, gain in trials]))
    return trials[best]


def _kernel_marginal(P: np.ndarray, factor: float) -> tuple[Marginal, float]:
    """Return the kernel density estimate for a bandwidth, and its gain on points left out."""
    n = len(P)
    estimate = gaussian_kde(P, bw_method=factor * n**-0.2)
    width = float(np.sqrt(estimate.covariance[0, 0]))
    grid = np.linspace(P.min() - 6 * width, P.max() + 6 * width, 1024)
    density = estimate(grid)
    density /= np.sum(np.diff(grid) * (density[1:] + density[:-1]) / 2)
    share = n**-0.5
    at_points = np.interp(P, grid, density)
    left_out = np.maximum((n * at_points - 1 / (width * np.sqrt(2 * np.pi))) / (n - 1), 0.0)
    phi = np.exp(-np.square(P) / 2) / np.sqrt(2 * np.pi)
    gain = float(np.mean(np.log((1 - share) * left_out / phi + share)))
    return Marginal(grid, density, share), gain
