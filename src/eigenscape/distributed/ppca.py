"""Probabilistic PCA over blocks of rows: one reduction for every step of EM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import add
from typing import Any

import numpy as np

from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.pca import block_moments
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.distributed.signs import Leaders, leaders
from eigenscape.methods.missing import Observed, check_observed, observed
from eigenscape.methods.pca import PrincipalAxes, axes_of_scatter
from eigenscape.methods.ppca_fit import pairwise_sums
from eigenscape.methods.probabilistic_pca import (
    ExpectationSums,
    LatentGaussian,
    expectation_sums,
    expected_covariance,
    infer,
)
from eigenscape.methods.scatter import ScatterMoments
from eigenscape.solvers import SolverConfig


@dataclass(frozen=True, eq=False)
class Survey:
    """What a first look tells: rows that stand, their weight, sums and counts of each column, moments where
    nothing is missing."""

    n_rows: int
    weight: float
    sums: np.ndarray  # (d,)
    counts: np.ndarray  # (d,)
    moments: ScatterMoments | None

    def joined(self, other: Survey) -> Survey:
        both = self.moments is not None and other.moments is not None
        moments = self.moments.joined(other.moments) if both else None  # type: ignore[union-attr, arg-type]
        return Survey(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.sums + other.sums,
            self.counts + other.counts,
            moments,
        )


@dataclass(frozen=True, eq=False)
class BlockRows:
    """Rows of a collection as probabilistic PCA looks at them (:class:`eigenscape.methods.ppca_fit.PPCASamples`).

    Nothing is kept between passes: a collection that is not persisted is read, or made, anew for each.
    """

    blocks: Blocks
    weights: Sequence[Blocks] = ()

    def total(self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], *shared: Any) -> Any:
        """``function(data, weights, *shared)`` over the standing rows of every block, combined."""
        return reduce_blocks(
            _Standing(function, len(self.weights)), self.blocks, combine, *shared, beside=self.weights
        )

    @cached_property
    def survey(self) -> Survey:
        found = self.total(_survey, Survey.joined)
        check_observed("column", np.flatnonzero(found.counts == 0), len(found.counts))
        return found

    @property
    def shape(self) -> tuple[int, int]:
        return self.survey.n_rows, self.blocks.n_features

    @property
    def weight(self) -> float:
        return self.survey.weight

    @property
    def complete(self) -> bool:
        return self.survey.moments is not None

    @property
    def means(self) -> np.ndarray:
        return self.survey.sums / self.survey.counts

    @cached_property
    def moments(self) -> ScatterMoments:
        """Of the rows, gaps filled."""
        return (
            self.total(_filled_moments, ScatterMoments.joined, self.means)
            if self.survey.moments is None
            else self.survey.moments
        )

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        return self.total(pairwise_sums, add_each, self.means)

    @property
    def variance(self) -> float:
        squares = self.moments.scatter if self.complete else self._pairs[0]
        return float(np.trace(squares)) / float(self.survey.counts.sum())

    def axes(self, count: int, solver: SolverConfig) -> PrincipalAxes:
        return axes_of_scatter(self.moments, count, solver)

    def pairwise_covariance(self) -> np.ndarray:
        squares, together = self._pairs
        return squares / np.where(together > 0, together, 1.0)

    def expected_covariance(self, model: LatentGaussian) -> np.ndarray:
        return self.total(_expected_scatter, add, model) / self.weight

    def expectation(self, model: LatentGaussian) -> ExpectationSums:
        return self.total(_expectation, ExpectationSums.joined, model)

    def likelihood_and_signs(self, model: LatentGaussian) -> tuple[float, np.ndarray]:
        likelihood, led = self.total(_likelihood_and_leaders, _joined_likelihood_and_leaders, model)
        return likelihood, led.signs


class _Standing:
    """A function of rows that stand and of their weights; nothing for a block without any."""

    def __init__(self, function: Callable[..., Any], weighted: int) -> None:
        self.function, self.weighted = function, weighted

    def __call__(self, X: np.ndarray, *others: Any) -> Any:
        weights = others[0] if self.weighted else np.ones(len(X))
        if not weights.min() >= 0:
            raise ValueError(
                f"Negative values in data: sample_weight must not be negative, got {weights.min():g}"
            )
        X, weights = X[weights > 0], weights[weights > 0]
        return (
            None
            if len(X) == 0
            else self.function(observed(X, training=False), weights, *others[self.weighted :])
        )


def add_each(first: Sequence[Any], second: Sequence[Any]) -> tuple[Any, ...]:
    """Sums of several things at once."""
    return tuple(map(add, first, second))


def _survey(data: Observed, weights: np.ndarray) -> Survey:
    found = block_moments(data.values, weights) if data.complete else None
    return Survey(len(weights), float(weights.sum()), weights @ data.values, weights @ data.mask, found)


def _filled_moments(data: Observed, weights: np.ndarray, means: np.ndarray) -> ScatterMoments | None:
    return block_moments(data.filled(means), weights)


def _expected_scatter(data: Observed, weights: np.ndarray, model: LatentGaussian) -> np.ndarray:
    return expected_covariance(model, data, weights) * weights.sum()


def _expectation(data: Observed, weights: np.ndarray, model: LatentGaussian) -> ExpectationSums:
    return expectation_sums(model, infer(model, data), data, weights)


def _likelihood_and_leaders(
    data: Observed, weights: np.ndarray, model: LatentGaussian
) -> tuple[float, Leaders]:
    found = infer(model, data)
    led = leaders(found.means)
    assert led is not None
    return float(weights @ found.log_likelihood), led


def _joined_likelihood_and_leaders(
    first: tuple[float, Leaders], second: tuple[float, Leaders]
) -> tuple[float, Leaders]:
    return first[0] + second[0], first[1].joined(second[1])
