"""Mixtures of probabilistic PCA (Burges sec. 1.2; Tipping and Bishop 1999B): several planes with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from scipy.special import logsumexp

from eigenscape.methods.observed_data import ObservedData
from eigenscape.methods.ppca_fit import WeightedSamples
from eigenscape.methods.probabilistic_pca import (
    EMResult,
    LatentGaussian,
    Posterior,
    closed_form,
    compute_posterior,
    draw_samples,
    expectation_sums,
    maximize,
    maximize_likelihood,
)
from eigenscape.solvers import SolverConfig
from eigenscape.solvers.pairs import column_signs


@dataclass(frozen=True, eq=False)
class Mixture:
    """``p(y) = sum_k pi_k p(y | k)`` with every ``p(y | k)`` a :class:`LatentGaussian`."""

    _shapes: ClassVar = {"proportions": "k"}
    proportions: np.ndarray  # pi, (k,)
    models: tuple[LatentGaussian, ...]


@dataclass(frozen=True)
class MixtureOptions:
    """Options of EM for a mixture."""

    min_noise: float  # smallest noise variance
    min_weight: float  # a model with a smaller total responsibility is not updated
    tol: float  # EM stops when a step gains at most this log-likelihood per observed value
    max_iter: int
    solver: SolverConfig


class Membership(NamedTuple):
    """Responsibilities and log-likelihood of each sample, and the posterior of ``x`` in each model."""

    log_responsibilities: np.ndarray  # log p(k | y), (n, k)
    log_likelihood: np.ndarray  # (n,)
    posteriors: tuple[Posterior, ...]


class MixtureExpectation(NamedTuple):
    """Result of an E-step; ``statistics`` is what the M-step of the same samples requires."""

    log_likelihood: float
    n_observed: float  # weighted number of observed values
    statistics: Any


class MixtureSamples(Protocol):
    """Training samples of a mixture, in one array or in blocks."""

    def starting_rows(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return samples to be clustered, missing values filled, and their weights: all, or a subset."""

    def start(self, centers: np.ndarray, n_components: int, options: MixtureOptions) -> Mixture:
        """Return a mixture from the partition of all samples by their nearest centre (k, d)."""

    def expectation(self, mixture: Mixture) -> MixtureExpectation:
        """Perform the E-step."""

    def maximization(self, mixture: Mixture, statistics: Any, options: MixtureOptions) -> Mixture:
        """Perform the M-step with the statistics of :meth:`expectation`."""

    def signs(self, mixture: Mixture) -> list[np.ndarray]:
        """Return for each model the signs (q,) that make the largest coordinate of its samples positive."""


def membership(mixture: Mixture, data: ObservedData) -> Membership:
    """Compute responsibilities in logarithms: far from every plane densities underflow, ratios do not."""
    posteriors = tuple(compute_posterior(model, data) for model in mixture.models)
    densities = np.column_stack([posterior.log_likelihood for posterior in posteriors])
    with np.errstate(divide="ignore"):  # log 0 = -inf for a model of proportion zero
        joint = densities + np.log(mixture.proportions)
    total = np.asarray(logsumexp(joint, axis=1))
    return Membership(joint - total[:, None], total, posteriors)


def nearest_center(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the index (n,) of the nearest centre of each row."""
    return np.argmin(np.square(centers).sum(axis=1) - 2 * X @ centers.T, axis=1)


class PartSummary(NamedTuple):
    """Size of a part of a partition, and the sums and weights (d,) of its observed values."""

    n_rows: int
    weight: float
    sums: np.ndarray
    observed_weight: np.ndarray

    def means(self, default: np.ndarray) -> np.ndarray:
        """Return column means (d,), ``default`` for columns never observed."""
        divisor = np.maximum(self.observed_weight, np.finfo(np.float64).tiny)
        return np.where(self.observed_weight > 0, self.sums / divisor, default)

    def determines_plane(self, n_components: int, options: MixtureOptions) -> bool:
        """Return whether the part is large enough for a model of its own."""
        return self.n_rows > n_components and self.weight >= options.min_weight


def summarize_parts(
    data: ObservedData, weights: np.ndarray, labels: np.ndarray, n_parts: int
) -> list[PartSummary]:
    """Return the summary of each part of a partition."""
    each = [weights * (labels == part) for part in range(n_parts)]
    return [
        PartSummary(int(np.count_nonzero(w)), float(w.sum()), w @ data.values, w @ data.mask) for w in each
    ]


def mixture_from_parts(
    parts: Sequence[PartSummary],
    own_models: Sequence[LatentGaussian | None],
    common: LatentGaussian,
    means: np.ndarray,
) -> Mixture:
    """Return a mixture of ``own_models``; for None, of ``common`` around the mean of the part.

    ``means`` (d,) are the means of all samples, for columns never observed in a part.
    """
    models = tuple(
        replace(common, mean=part.means(means)) if own is None else own
        for part, own in zip(parts, own_models, strict=True)
    )
    weights = np.array([part.weight for part in parts])
    return Mixture(weights / weights.sum(), models)


def mixture_from_labels(
    samples: WeightedSamples, labels: np.ndarray, n_parts: int, n_components: int, options: MixtureOptions
) -> Mixture:
    """Return a mixture from a partition, missing values filled with the column means of the part."""
    data, weights, means = samples.data, samples.weights, samples.means
    min_noise, solver = options.min_noise, options.solver
    common = closed_form(data.filled(means), weights, n_components, min_noise, solver)
    parts = summarize_parts(data, weights, labels, n_parts)
    own_models = [
        closed_form(data.filled(part.means(means)), weights * (labels == k), n_components, min_noise, solver)
        if part.determines_plane(n_components, options)
        else None
        for k, part in enumerate(parts)
    ]
    return mixture_from_parts(parts, own_models, common, means)


@dataclass(frozen=True, eq=False)
class WeightedMixtureSamples:
    """Samples in one array with their weights; implements :class:`MixtureSamples`."""

    samples: WeightedSamples

    def starting_rows(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        return self.samples.data.filled(self.samples.means), self.samples.weights

    def start(self, centers: np.ndarray, n_components: int, options: MixtureOptions) -> Mixture:
        labels = nearest_center(self.samples.data.filled(self.samples.means), centers)
        return mixture_from_labels(self.samples, labels, len(centers), n_components, options)

    def expectation(self, mixture: Mixture) -> MixtureExpectation:
        data, weights = self.samples.data, self.samples.weights
        result = membership(mixture, data)
        n_observed = float(weights @ data.mask.sum(axis=1))
        return MixtureExpectation(float(weights @ result.log_likelihood), n_observed, result)

    def maximization(self, mixture: Mixture, statistics: Membership, options: MixtureOptions) -> Mixture:
        """Fit each model to the samples weighted by their responsibility, in closed form if complete.

        A model whose responsibilities are all nearly zero is not updated, which never lowers the likelihood.
        """
        data = self.samples.data
        responsibilities = np.exp(statistics.log_responsibilities) * self.samples.weights[:, None]  # (n, k)
        totals = responsibilities.sum(axis=0)
        models = []
        for model, posterior, weights, total in zip(
            mixture.models, statistics.posteriors, responsibilities.T, totals, strict=True
        ):
            if total < options.min_weight:
                models.append(model)
            elif data.complete:
                q = model.loadings.shape[1]
                models.append(closed_form(data.values, weights, q, options.min_noise, options.solver))
            else:
                sums = expectation_sums(model, posterior, data, weights)
                models.append(maximize(model, sums, options.min_noise))
        return Mixture(totals / totals.sum(), tuple(models))

    def signs(self, mixture: Mixture) -> list[np.ndarray]:
        each = [
            means[self.samples.weights[rows] > 0]
            for rows, means in coordinates_by_model(mixture, self.samples.data)
        ]
        return [column_signs(means) if len(means) else np.ones(means.shape[1]) for means in each]


def run_mixture_em(mixture: Mixture, samples: MixtureSamples, options: MixtureOptions) -> EMResult[Mixture]:
    """Run EM until a step raises the log-likelihood by at most ``tol`` per observed value."""
    return maximize_likelihood(
        mixture,
        samples.expectation,
        lambda one, result: samples.maximization(one, result.statistics, options),
        options.tol,
        options.max_iter,
    )


def coordinates_by_model(mixture: Mixture, data: ObservedData) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return for each model the indices of its most probable samples and their coordinates in it."""
    result = membership(mixture, data)
    labels = np.argmax(result.log_responsibilities, axis=1)
    each = [np.flatnonzero(labels == k) for k in range(len(mixture.models))]
    return [(rows, posterior.means[rows]) for rows, posterior in zip(each, result.posteriors, strict=True)]


def canonical_mixture(mixture: Mixture, samples: MixtureSamples) -> Mixture:
    """Return the mixture with models in canonical form, largest proportion first, and canonical signs."""
    order = np.argsort(-mixture.proportions, kind="stable")
    ordered = Mixture(mixture.proportions[order], tuple(mixture.models[k].canonical() for k in order))
    signed = [
        replace(model, loadings=model.loadings * signs)
        for model, signs in zip(ordered.models, samples.signs(ordered), strict=True)
    ]
    return replace(ordered, models=tuple(signed))


def n_parameters(mixture: Mixture) -> int:
    """Return the number of free parameters: proportions, means, planes (up to rotation), variances."""
    d, q = mixture.models[0].loadings.shape
    return len(mixture.models) * (d + d * q - q * (q - 1) // 2 + 1) + len(mixture.models) - 1


def draw_mixture_samples(
    mixture: Mixture, n: int, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Draw ``n`` samples; return them and the index of the model that each is from."""
    labels = np.sort(random.choice(len(mixture.models), size=n, p=mixture.proportions))
    rows = [draw_samples(model, int((labels == k).sum()), random) for k, model in enumerate(mixture.models)]
    return np.concatenate(rows), labels
