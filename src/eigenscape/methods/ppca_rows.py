"""Rows in one array, with gaps or without, as probabilistic PCA looks at them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigenscape.methods.missing import Observed
from eigenscape.methods.pca import PrincipalAxes, leading_axes
from eigenscape.methods.probabilistic_pca import (
    LatentGaussian,
    StepSums,
    expected_covariance,
    infer,
    step_sums,
)
from eigenscape.operators import CenteredRows, weighted_mean
from eigenscape.solvers import SolverConfig
from eigenscape.solvers.pairs import canonical_signs


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows and how often each stands: what :class:`eigenscape.methods.ppca_choice.Rows` asks for."""

    data: Observed
    weights: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.data.shape

    @property
    def complete(self) -> bool:
        return self.data.complete

    @property
    def weight(self) -> float:
        return float(self.weights.sum())

    @cached_property
    def means(self) -> np.ndarray:
        return self.data.column_means(self.weights)

    @cached_property
    def variance(self) -> float:
        rest = self.data.centered(self.means)
        return float(self.weights @ np.einsum("ij,ij->i", rest, rest)) / float(
            self.weights @ self.data.mask.sum(axis=1)
        )

    def axes(self, count: int, solver: SolverConfig) -> PrincipalAxes:
        X = self.data.values if self.complete else self.data.filled(self.means)
        return leading_axes(CenteredRows(X, weighted_mean(X, self.weights), self.weights), count, solver)

    def pairwise_covariance(self) -> np.ndarray:
        squares, together = pairwise_sums(self.data, self.weights, self.means)
        return squares / np.where(together > 0, together, 1.0)

    def expected_covariance(self, model: LatentGaussian) -> np.ndarray:
        return expected_covariance(model, self.data, self.weights)

    def step(self, model: LatentGaussian) -> StepSums:
        return step_sums(model, infer(model, self.data), self.data, self.weights)

    def ending(self, model: LatentGaussian) -> tuple[float, np.ndarray]:
        found = infer(model, self.data)
        standing = found.means[self.weights > 0]
        signs = np.where((canonical_signs(standing) == standing).all(axis=0), 1.0, -1.0)
        return float(self.weights @ found.log_likelihood), signs


def pairwise_sums(data: Observed, weights: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Products of features around ``means`` and how often they were observed together, each summed over the
    rows (d, d)."""
    centred = data.centered(means)
    return (centred * weights[:, None]).T @ centred, (data.mask * weights[:, None]).T @ data.mask
