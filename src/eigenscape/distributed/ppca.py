"""Probabilistic PCA of a dask collection: one reduction per EM step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.dispatch import check_weight, validate_blocks, weight_blocks
from eigenscape.distributed.pca import block_moments
from eigenscape.distributed.reduce import merged, reduce_blocks
from eigenscape.distributed.signs import LargestEntries, largest_entries
from eigenscape.methods.observed_data import ObservedData, check_observed, observed_data
from eigenscape.methods.pca import PrincipalAxes, ScatterMoments, axes_of_scatter
from eigenscape.methods.ppca_fit import pairwise_sums
from eigenscape.methods.probabilistic_pca import (
    ExpectationSums,
    LatentGaussian,
    compute_posterior,
    expectation_sums,
    expected_covariance,
)
from eigenscape.solvers import SolverConfig


def fit(estimator: Any, _: str, X: Any, y: object = None, sample_weight: Any = None) -> None:  # noqa: ARG001
    """Fit probabilistic PCA to a collection."""
    estimator._fit(training_rows(estimator, X, sample_weight))


def training_rows(estimator: Any, X: Any, sample_weight: Any) -> BlockRows:
    """Return the validated rows and weights of a collection."""
    rows = BlockRows(validate_blocks(estimator, X, reset=True), weight_blocks(sample_weight))
    check_weight(rows.weight, sample_weight)
    return rows


class ColumnSummary(NamedTuple):
    """Number, weight and column sums of the rows with a positive weight.

    ``moments`` is None if a value is missing.
    """

    n_rows: int
    weight: float
    sums: np.ndarray  # (d,)
    counts: np.ndarray  # (d,)
    moments: ScatterMoments | None

    def merge(self, other: ColumnSummary) -> ColumnSummary:
        both = ColumnSummary(*map(merged, self, other))
        return both._replace(moments=None) if self.moments is None or other.moments is None else both


@dataclass(frozen=True, eq=False)
class BlockRows:
    """Rows of a collection for probabilistic PCA (:class:`eigenscape.methods.ppca_fit.PPCASamples`).

    Nothing is kept between passes: a collection that is not persisted is read or computed again in each.
    """

    blocks: Blocks
    weights: Sequence[Blocks] = ()

    def reduce(self, function: Callable[..., Any], *shared: Any) -> Any:
        """Merge the results of ``function(data, weights, *shared)`` over blocks; weights are positive."""
        return reduce_blocks(
            _PositiveWeights(function, len(self.weights)), self.blocks, *shared, aligned=self.weights
        )

    @cached_property
    def summary(self) -> ColumnSummary:
        summary = self.reduce(_column_summary)
        check_observed("column", np.flatnonzero(summary.counts == 0), len(summary.counts))
        return summary

    @property
    def shape(self) -> tuple[int, int]:
        return self.summary.n_rows, self.blocks.n_features

    @property
    def weight(self) -> float:
        return self.summary.weight

    @property
    def complete(self) -> bool:
        return self.summary.moments is not None

    @property
    def means(self) -> np.ndarray:
        return self.summary.sums / self.summary.counts

    @cached_property
    def moments(self) -> ScatterMoments:
        """Moments of the rows, with missing values replaced by the column means."""
        if self.summary.moments is not None:
            return self.summary.moments
        return self.reduce(_filled_moments, self.means)

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        return self.reduce(pairwise_sums, self.means)

    @property
    def variance(self) -> float:
        squares = self.moments.scatter if self.complete else self._pairs[0]
        return float(np.trace(squares)) / float(self.summary.counts.sum())

    def axes(self, count: int, solver: SolverConfig) -> PrincipalAxes:
        return axes_of_scatter(self.moments, count, solver)

    def pairwise_covariance(self) -> np.ndarray:
        squares, together = self._pairs
        return squares / np.where(together > 0, together, 1.0)

    def expected_covariance(self, model: LatentGaussian) -> np.ndarray:
        return self.reduce(_expected_scatter, model) / self.weight

    def expectation(self, model: LatentGaussian) -> ExpectationSums:
        return self.reduce(_expectation, model)

    def likelihood_and_signs(self, model: LatentGaussian) -> tuple[float, np.ndarray]:
        likelihood, entries = self.reduce(_likelihood_and_entries, model)
        return likelihood, entries.signs


class _PositiveWeights:
    """A function of the rows with a positive weight and of their weights; None for a block without any."""

    def __init__(self, function: Callable[..., Any], weighted: int) -> None:
        self.function, self.weighted = function, weighted

    def __call__(self, X: np.ndarray, *others: Any) -> Any:
        weights = others[0] if self.weighted else np.ones(len(X))
        if not weights.min() >= 0:
            raise ValueError(
                f"Negative values in data: sample_weight must not be negative, got {weights.min():g}"
            )
        X, weights = X[weights > 0], weights[weights > 0]
        if len(X) == 0:
            return None
        return self.function(observed_data(X, training=False), weights, *others[self.weighted :])


def _column_summary(data: ObservedData, weights: np.ndarray) -> ColumnSummary:
    moments = block_moments(data.values, weights) if data.complete else None
    sums, counts = weights @ data.values, weights @ data.mask
    return ColumnSummary(len(weights), float(weights.sum()), sums, counts, moments)


def _filled_moments(data: ObservedData, weights: np.ndarray, means: np.ndarray) -> ScatterMoments | None:
    return block_moments(data.filled(means), weights)


def _expected_scatter(data: ObservedData, weights: np.ndarray, model: LatentGaussian) -> np.ndarray:
    return expected_covariance(model, data, weights) * weights.sum()


def _expectation(data: ObservedData, weights: np.ndarray, model: LatentGaussian) -> ExpectationSums:
    return expectation_sums(model, compute_posterior(model, data), data, weights)


def _likelihood_and_entries(
    data: ObservedData, weights: np.ndarray, model: LatentGaussian
) -> tuple[float, LargestEntries]:
    posterior = compute_posterior(model, data)
    entries = largest_entries(posterior.means)
    assert entries is not None
    return float(weights @ posterior.log_likelihood), entries
