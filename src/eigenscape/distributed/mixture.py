"""Mixtures of probabilistic PCA of a dask collection: one reduction per EM step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eigenscape.distributed.pca import block_moments
from eigenscape.distributed.ppca import BlockRows, training_rows
from eigenscape.distributed.reduce import count_rows, sample_rows, take_rows
from eigenscape.distributed.signs import LargestEntries, largest_entries
from eigenscape.methods.mixture_ppca import (
    Mixture,
    MixtureExpectation,
    MixtureOptions,
    PartSummary,
    coordinates_by_model,
    membership,
    mixture_from_parts,
    nearest_center,
    summarize_parts,
)
from eigenscape.methods.observed_data import ObservedData, observed_data
from eigenscape.methods.pca import ScatterMoments, axes_of_scatter
from eigenscape.methods.probabilistic_pca import (
    ExpectationSums,
    LatentGaussian,
    expectation_sums,
    maximize,
    model_from_axes,
)

#: Number of samples that k-means clusters to find where EM starts; up to this many, all of them.
START_ROWS = 20_000


def fit(estimator: Any, _: str, X: Any, y: object = None, sample_weight: Any = None) -> None:  # noqa: ARG001
    """Fit a mixture of probabilistic PCA to a collection."""
    rows = training_rows(estimator, X, sample_weight)
    estimator._fit(rows, BlockMembers(rows))


class MixtureSums(NamedTuple):
    """Sums of an E-step over samples: likelihood, responsibilities, and statistics of each model."""

    log_likelihood: float
    responsibilities: np.ndarray  # (k,)
    statistics: tuple[ScatterMoments | ExpectationSums | None, ...]


@dataclass(frozen=True, eq=False)
class BlockMembers:
    """Samples of a collection (:class:`eigenscape.methods.mixture_ppca.MixtureSamples`)."""

    rows: BlockRows

    def starting_rows(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return at most ``START_ROWS`` random samples, missing values set to column means, and weights."""
        blocks, weights = self.rows.blocks, self.rows.weights
        lengths = count_rows(blocks)
        X, indices = sample_rows(blocks, START_ROWS, seed, lengths)
        sample_weights = take_rows(weights[0], indices, lengths) if weights else np.ones(len(X))
        used = sample_weights > 0
        return observed_data(X[used], training=False).filled(self.rows.means), sample_weights[used]

    def start(self, centers: np.ndarray, n_components: int, options: MixtureOptions) -> Mixture:
        """Return a mixture from the partition by the nearest centre, in two passes."""
        means = self.rows.means
        axes = self.rows.axes(n_components, options.solver)
        common = model_from_axes(axes, n_components, options.min_noise)
        parts = self.rows.reduce(_part_summaries, centers, means)
        part_means = [part.means(means) for part in parts]
        moments = self.rows.reduce(_part_moments, centers, means, part_means)
        own_models = [
            _closed_form(scatter, n_components, options)
            if part.determines_plane(n_components, options)
            else None
            for part, scatter in zip(parts, moments, strict=True)
        ]
        return mixture_from_parts(parts, own_models, common, means)

    def expectation(self, mixture: Mixture) -> MixtureExpectation:
        sums = self.rows.reduce(_mixture_sums, mixture, self.rows.complete)
        return MixtureExpectation(sums.log_likelihood, float(self.rows.summary.counts.sum()), sums)

    def maximization(self, mixture: Mixture, statistics: MixtureSums, options: MixtureOptions) -> Mixture:
        """Perform the M-step. A model whose responsibilities are all nearly zero is not updated."""
        models, totals = [], statistics.responsibilities
        for model, sums, total in zip(mixture.models, statistics.statistics, totals, strict=True):
            if total < options.min_weight or sums is None:
                models.append(model)
            elif isinstance(sums, ScatterMoments):
                models.append(_closed_form(sums, model.loadings.shape[1], options))
            else:
                models.append(maximize(model, sums, options.min_noise))
        return Mixture(totals / totals.sum(), tuple(models))

    def signs(self, mixture: Mixture) -> list[np.ndarray]:
        entries = self.rows.reduce(_largest_by_model, mixture)
        n_components = mixture.models[0].loadings.shape[1]
        return [np.ones(n_components) if part is None else part.signs for part in entries]


def _closed_form(moments: ScatterMoments, n_components: int, options: MixtureOptions) -> LatentGaussian:
    axes = axes_of_scatter(moments, n_components, options.solver)
    return model_from_axes(axes, n_components, options.min_noise)


def _mixture_sums(data: ObservedData, weights: np.ndarray, mixture: Mixture, complete: bool) -> MixtureSums:
    result = membership(mixture, data)
    responsibilities = np.exp(result.log_responsibilities) * weights[:, None]  # (n, k)
    statistics: list[Any] = []
    for model, posterior, responsibility in zip(
        mixture.models, result.posteriors, responsibilities.T, strict=True
    ):
        if complete:
            statistics.append(block_moments(data.values, responsibility))
        else:
            statistics.append(expectation_sums(model, posterior, data, responsibility))
    return MixtureSums(
        float(weights @ result.log_likelihood), responsibilities.sum(axis=0), tuple(statistics)
    )


def _largest_by_model(data: ObservedData, _: np.ndarray, mixture: Mixture) -> list[LargestEntries | None]:
    return [largest_entries(means) for _, means in coordinates_by_model(mixture, data)]


def _part_summaries(
    data: ObservedData, weights: np.ndarray, centers: np.ndarray, means: np.ndarray
) -> list[PartSummary]:
    return summarize_parts(data, weights, nearest_center(data.filled(means), centers), len(centers))


def _part_moments(
    data: ObservedData,
    weights: np.ndarray,
    centers: np.ndarray,
    means: np.ndarray,
    part_means: list[np.ndarray],
) -> list[ScatterMoments | None]:
    labels = nearest_center(data.filled(means), centers)
    return [
        block_moments(data.filled(fill), weights * (labels == part)) for part, fill in enumerate(part_means)
    ]
