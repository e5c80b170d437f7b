"""Densities of coordinates, and tail probabilities of what is unusual.

See docs/decisions/estimators-density.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaincc, gammaln, logsumexp

from eigenscape._display import short_repr


@dataclass(frozen=True, eq=False)
class GaussianDensity:
    """A mixture of Gaussians for coordinates ``z`` in units of ``scale``.

    ``log p(z) = log sum_k w_k N(z / s; mu_k, (R_k R_k')^-1) - sum_r log s_r``.
    """

    _shapes: ClassVar = {"weights": "k", "means": "k d", "roots": "k d d", "scale": "d"}
    weights: np.ndarray  # (K,)
    means: np.ndarray  # (K, d)
    roots: np.ndarray  # (K, d, d) Cholesky factors R_k of the inverse covariances
    scale: np.ndarray  # (d,)

    __repr__ = short_repr

    def log_density(self, Z: np.ndarray) -> np.ndarray:
        """Return the logarithm of the density (n,) at coordinates (n, d)."""
        return self.log_density_of_scaled(Z / self.scale) - float(np.log(self.scale).sum())

    def log_density_of_scaled(self, Z: np.ndarray) -> np.ndarray:
        """Return the logarithm of the density (n,) of coordinates that are divided by the scale."""
        values = np.empty((len(Z), len(self.weights)))
        for k, (mean, root) in enumerate(zip(self.means, self.roots, strict=True)):
            height = np.log(np.diagonal(root)).sum() - 0.5 * len(mean) * np.log(2 * np.pi)
            values[:, k] = height - 0.5 * np.square((Z - mean) @ root).sum(axis=1)
        with np.errstate(divide="ignore"):
            return np.asarray(logsumexp(values + np.log(self.weights), axis=1))

    def covariances(self) -> np.ndarray:
        """Return the covariances (K, d, d) of the coordinates."""
        halves = np.stack([np.linalg.inv(root) for root in self.roots]) * self.scale  # (K, d, d)
        return np.einsum("kir,kis->krs", halves, halves)

    def draw(self, n_samples: int, rng: np.random.Generator) -> np.ndarray:
        """Return random coordinates (n_samples, d)."""
        counts = rng.multinomial(n_samples, self.weights / self.weights.sum())
        parts = []
        for mean, root, count in zip(self.means, self.roots, counts, strict=True):
            normal = rng.standard_normal((len(mean), count))
            parts.append(mean + solve_triangular(root, normal, lower=False, trans="T").T)
        return np.concatenate(parts)[rng.permutation(n_samples)] * self.scale


@dataclass(frozen=True)
class GammaTail:
    """Probability of a value at least as large, by a gamma distribution of the same mean and variance.

    A sum of squares of normal variables of different variances, such as a squared distance, is nearly of this
    distribution (Satterthwaite 1946). Beyond the largest values seen it decreases exponentially, so that
    unusual values remain ordered, which ranks among the values seen would not achieve.
    """

    start: float
    shape: float
    scale: float

    @staticmethod
    def of(values: np.ndarray, rounding: float = 0.0) -> GammaTail:
        """Return the tail of a sample, of a standard deviation of at least ``rounding``."""
        spread = max(float(values.std()), rounding)
        if not spread > 0:
            spread = max(abs(float(values[0])), 1.0) * 1e-6
        start = float(values.min()) - spread
        mean = float(values.mean()) - start
        return GammaTail(start, mean**2 / spread**2, spread**2 / mean)

    def log_probability(self, values: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of a value at least as large."""
        x = np.maximum(values - self.start, 0.0) / self.scale
        probability = gammaincc(self.shape, x)
        with np.errstate(divide="ignore"):
            exact = np.log(probability)
            # x^(a-1) e^-x / Gamma(a), times 1 + (a-1)/x + ... for large x
            far = (self.shape - 1) * np.log(x) - x - gammaln(self.shape)
        return np.asarray(np.where(probability > 1e-280, exact, far))
