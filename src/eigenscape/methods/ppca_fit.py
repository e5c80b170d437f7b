"""Fit of probabilistic PCA: the number of components, closed form or EM, starting points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

import numpy as np

from eigenscape.methods.component_count import count_by_evidence, count_by_relevance
from eigenscape.methods.observed_data import ObservedData
from eigenscape.methods.pca import PrincipalAxes, leading_axes
from eigenscape.methods.probabilistic_pca import (
    EMResult,
    ExpectationSums,
    LatentGaussian,
    compute_posterior,
    expectation_sums,
    expected_covariance,
    maximize,
    maximize_likelihood,
    model_from_axes,
)
from eigenscape.methods.tuning import TUNING
from eigenscape.operators import CenteredRows, weighted_mean
from eigenscape.solvers import SolverConfig
from eigenscape.solvers.pairs import column_signs


@dataclass(frozen=True)
class PPCAOptions:
    """Options of a fit of probabilistic PCA."""

    n_components: int | Literal["bayes", "mle"]
    method: Literal["closed", "em"]
    tol: float
    max_iter: int
    seed: int


class PPCAResult(NamedTuple):
    """Fitted model in canonical form, and details of the fit."""

    model: LatentGaussian
    log_likelihoods: list[float]
    converged: bool
    noise_at_floor: bool


class PPCASamples(Protocol):
    """Training samples of probabilistic PCA, in one array or in blocks, accessed through sums over them."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of features."""

    @property
    def weight(self) -> float:
        """Sum of the sample weights."""

    @property
    def complete(self) -> bool:
        """Whether no value is missing."""

    @property
    def means(self) -> np.ndarray:
        """Mean of the observed values of each column (d,)."""

    @property
    def variance(self) -> float:
        """Mean squared difference of the observed values to the column means."""

    def axes(self, count: int, solver: SolverConfig) -> PrincipalAxes:
        """Return leading axes of the samples, missing values replaced by column means."""

    def pairwise_covariance(self) -> np.ndarray:
        """Return the covariance (d, d), each entry from the samples in which both features were observed.

        Zero for features never observed together. The matrix may be indefinite.
        """

    def expected_covariance(self, model: LatentGaussian) -> np.ndarray:
        """Return the covariance (d, d) of the complete samples expected under the model."""

    def expectation(self, model: LatentGaussian) -> ExpectationSums:
        """Return the sums of the E-step."""

    def likelihood_and_signs(self, model: LatentGaussian) -> tuple[float, np.ndarray]:
        """Return the log-likelihood and the signs (q,) that make the largest coordinates positive."""


@dataclass(frozen=True, eq=False)
class WeightedSamples:
    """Samples in one array with their weights; implements :class:`PPCASamples`."""

    data: ObservedData
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
        centered = self.data.centered(self.means)
        squares = float(self.weights @ np.einsum("ij,ij->i", centered, centered))
        return squares / float(self.weights @ self.data.mask.sum(axis=1))

    def axes(self, count: int, solver: SolverConfig) -> PrincipalAxes:
        X = self.data.values if self.complete else self.data.filled(self.means)
        return leading_axes(CenteredRows(X, weighted_mean(X, self.weights), self.weights), count, solver)

    def pairwise_covariance(self) -> np.ndarray:
        products, weights = pairwise_sums(self.data, self.weights, self.means)
        return products / np.where(weights > 0, weights, 1.0)

    def expected_covariance(self, model: LatentGaussian) -> np.ndarray:
        return expected_covariance(model, self.data, self.weights)

    def expectation(self, model: LatentGaussian) -> ExpectationSums:
        return expectation_sums(model, compute_posterior(model, self.data), self.data, self.weights)

    def likelihood_and_signs(self, model: LatentGaussian) -> tuple[float, np.ndarray]:
        posterior = compute_posterior(model, self.data)
        signs = column_signs(posterior.means[self.weights > 0])
        return float(self.weights @ posterior.log_likelihood), signs


def pairwise_sums(
    data: ObservedData, weights: np.ndarray, means: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return sums (d, d) of centred products and of weights over the samples with both features observed."""
    centered = data.centered(means)
    return (centered * weights[:, None]).T @ centered, (data.mask * weights[:, None]).T @ data.mask


def fit_ppca(samples: PPCASamples, options: PPCAOptions) -> PPCAResult:
    """Return the maximum-likelihood model."""
    min_noise = noise_floor(samples.variance, TUNING.ppca_noise)
    if options.method == "closed":
        result = EMResult(_closed_form(samples, options.n_components, min_noise, options.seed), [], True)
    else:
        result = _fit_by_em(samples, options, min_noise)
    model = result.model.canonical()
    log_likelihood, signs = samples.likelihood_and_signs(model)
    return PPCAResult(
        replace(model, loadings=model.loadings * signs),
        result.log_likelihoods or [log_likelihood],
        result.converged,
        model.noise <= min_noise,
    )


def noise_floor(variance: float, ratio: float) -> float:
    """Return ``ratio`` times the mean variance of the features; raise an error if that variance is zero."""
    if variance == 0:
        raise ValueError("all observed values of each column are equal; there is nothing to embed")
    return ratio * variance


def run_em(
    model: LatentGaussian, samples: PPCASamples, min_noise: float, tol: float, max_iter: int
) -> EMResult[LatentGaussian]:
    """Run EM from ``model`` until a step raises the log-likelihood by at most ``tol`` per observed value."""
    return maximize_likelihood(
        model, samples.expectation, lambda one, sums: maximize(one, sums, min_noise), tol, max_iter
    )


def _closed_form(
    samples: PPCASamples, n_components: int | str, min_noise: float, seed: int
) -> LatentGaussian:
    """Return the closed-form model, missing values replaced by column means."""
    count = n_components if isinstance(n_components, int) else min(samples.shape)
    axes = samples.axes(count, SolverConfig(seed=seed))
    if isinstance(n_components, str):
        variances = np.zeros(samples.shape[1])
        variances[: len(axes.eigenvalues)] = axes.eigenvalues / axes.weight
        select = count_by_evidence if n_components == "mle" else count_by_relevance
        count = min(select(variances, axes.weight), len(axes.eigenvalues))  # no component without variance
    return model_from_axes(axes, count, min_noise)


def _fit_by_em(samples: PPCASamples, options: PPCAOptions, min_noise: float) -> EMResult[LatentGaussian]:
    """Run EM from random loadings, or with missing values from several starts; keep the best."""
    growing = isinstance(options.n_components, str) and not samples.complete
    model = _closed_form(samples, 1 if growing else options.n_components, min_noise, options.seed)
    results = [
        run_em(start, samples, min_noise, options.tol, options.max_iter)
        for start in _starting_models(model, samples, min_noise, options.seed)
    ]
    best = max(results, key=lambda result: result.log_likelihoods[-1])
    while growing:
        larger = _add_component(best.model, samples, min_noise)
        if larger is None:
            break
        best = run_em(larger, samples, min_noise, options.tol, options.max_iter)
    return best


def _starting_models(
    filled: LatentGaussian, samples: PPCASamples, min_noise: float, seed: int
) -> list[LatentGaussian]:
    """Return starting points of EM.

    With missing values: the models of the filled samples and of the pairwise covariance, and random ones.
    Blocks of missing values cause saddle points at which a feature or a component has no loadings, so no
    start has loadings of exactly zero.
    """
    variance = min_noise / TUNING.ppca_noise  # mean variance of the features
    rng = np.random.default_rng(seed)
    random = [
        LatentGaussian(filled.mean, np.sqrt(variance) * rng.standard_normal(filled.loadings.shape), variance)
        for _ in range(2)
    ]
    if samples.complete:
        return random[:1]
    perturbation = 1e-3 * random[0].loadings
    starts = [replace(filled, loadings=filled.loadings + perturbation)]
    if samples.shape[1] <= TUNING.dense_size:
        covariance, count = samples.pairwise_covariance(), filled.loadings.shape[1]
        pairwise = _model_from_covariance(covariance, filled.mean, count, min_noise)
        starts.append(replace(pairwise, loadings=pairwise.loadings + perturbation))
    return starts + random


def _model_from_covariance(
    covariance: np.ndarray, mean: np.ndarray, count: int, min_noise: float
) -> LatentGaussian:
    """Return the model of a covariance matrix, which may be indefinite (Burges eq. 1.8, 1.9)."""
    values, vectors = np.linalg.eigh(covariance)
    discarded, leading = values[:-count], values[-count:]
    noise = max(float(discarded.mean()), min_noise) if len(discarded) else min_noise
    return LatentGaussian(mean, vectors[:, -count:] * np.sqrt(np.maximum(leading - noise, min_noise)), noise)


def _add_component(model: LatentGaussian, samples: PPCASamples, min_noise: float) -> LatentGaussian | None:
    """Return a model with one more component, or None if that component is not relevant.

    Covariance of the observed values that the model does not explain appears in the expected covariance of
    the complete samples. So do errors of imputed values if the model has too few components. Components are
    therefore added one at a time.
    """
    covariance = samples.expected_covariance(model)
    values = np.linalg.eigvalsh(covariance)
    count = model.loadings.shape[1] + 1
    if count_by_relevance(np.maximum(values[::-1], 0.0), samples.weight) < count:
        return None
    return _model_from_covariance(covariance, model.mean, count, min_noise)
