"""Factor analysis (Burges eq. 1.7): a Gaussian model with latent coordinates and noise of each feature.

Divided by the standard deviations ``s`` of the noise, the features have the noise of probabilistic PCA with
variance 1. Probabilistic PCA of scaled data therefore gives the posterior distributions and the sums of the
E-step; only the noise is estimated feature by feature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from eigenscape._progress import stage
from eigenscape.methods.observed_data import ObservedData
from eigenscape.methods.probabilistic_pca import (
    ExpectationSums,
    LatentGaussian,
    Posterior,
    compute_posterior,
    expand_latent,
    expectation_sums,
    regression_change,
)
from eigenscape.methods.tuning import TUNING
from eigenscape.solvers.pairs import column_signs


@dataclass(frozen=True, eq=False)
class FactorModel:
    """``y = W x + mu + e``, ``x ~ N(0, I)``, ``e ~ N(0, Psi)`` with diagonal ``Psi`` (Burges eq. 1.7)."""

    _shapes: ClassVar = {"mean": "d", "loadings": "d q", "noise": "d"}
    mean: np.ndarray  # mu, (d,)
    loadings: np.ndarray  # W, (d, q)
    noise: np.ndarray  # the diagonal of Psi, (d,)

    def covariance(self) -> np.ndarray:
        """Compute ``W W' + Psi`` (d, d)."""
        return self.loadings @ self.loadings.T + np.diag(self.noise)

    def scaled(self) -> LatentGaussian:
        """Return the model of ``Psi^-1/2 y``, whose noise has variance 1."""
        s = np.sqrt(self.noise)
        return LatentGaussian(self.mean / s, self.loadings / s[:, None], 1.0)

    def canonical(self) -> FactorModel:
        """Return the same distribution with diagonal ``W' Psi^-1 W``, largest first: the rotation is
        arbitrary, and in this one the latent coordinates are independent given ``y``."""
        s = np.sqrt(self.noise)
        return replace(self, loadings=s[:, None] * self.scaled().canonical().loadings)


class FactorResult(NamedTuple):
    """Fitted model in canonical form, the log-likelihood after each step, and whether it stopped rising."""

    model: FactorModel
    log_likelihoods: list[float]
    converged: bool
    at_floor: np.ndarray  # features whose noise is the smallest allowed


def factor_posterior(model: FactorModel, data: ObservedData) -> Posterior:
    """Compute the posterior of ``x`` and the log-likelihood of the observed values of each sample."""
    posterior = compute_posterior(model.scaled(), _scaled(data, model))
    log_scale = data.patterns @ np.log(model.noise) / 2  # of y, from the density of the scaled values
    return posterior._replace(log_likelihood=posterior.log_likelihood - log_scale[data.group])


def fit_factors(
    data: ObservedData, weights: np.ndarray, n_components: int, tol: float, max_iter: int, seed: int
) -> FactorResult:
    """Return the maximum-likelihood model of weighted samples: by ECM, or by EM if values are missing."""
    means = data.column_means(weights)
    variances = weights @ np.square(data.centered(means)) / (weights @ data.mask)
    if not variances.any():
        raise ValueError("all observed values of each column are equal; there is nothing to embed")
    floor = TUNING.factor_noise * np.where(variances > 0, variances, variances.mean())
    filled = data.values if data.complete else data.filled(means)
    model, history, converged = _conditional_maximization(
        filled, weights, n_components, np.maximum(variances, floor), floor, tol, max_iter
    )
    if not data.complete:
        runs = [
            _expectation_maximization(start, data, weights, floor, tol, max_iter)
            for start in _starts(model, np.maximum(variances, floor), seed)
        ]
        model, history, converged = max(runs, key=lambda run: run[1][-1])
    model = model.canonical()
    signs = column_signs(factor_posterior(model, data).means[weights > 0])
    model = replace(model, loadings=model.loadings * signs)
    return FactorResult(model, history, converged, np.flatnonzero(model.noise <= floor * (1 + 1e-9)))


_Run = tuple[FactorModel, list[float], bool]


def _conditional_maximization(
    X: np.ndarray,
    weights: np.ndarray,
    n_components: int,
    noise: np.ndarray,
    floor: np.ndarray,
    tol: float,
    max_iter: int,
) -> _Run:
    """Maximise the likelihood of complete samples in turn over ``W`` and, by a step of EM, over ``Psi``.

    Given ``Psi``, probabilistic PCA of scaled rows with noise 1 has the best ``W`` (Burges eq. 1.8). There
    the expected second moments of EM equal the moments of the model, so that the step for ``Psi`` is the
    diagonal of ``S - W W'``. The likelihood never falls.
    """
    weight, mean = float(weights.sum()), weights @ X / weights.sum()
    root = np.linalg.qr((X - mean) * np.sqrt(weights / weight)[:, None], mode="r")  # S = root' root
    variances = np.square(root).sum(axis=0)

    def best_loadings(noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        s = np.sqrt(noise)
        _, lengths, directions = np.linalg.svd(root / s, full_matrices=False)
        values = np.square(lengths[:n_components])
        kept = values[values > 1]
        loadings = np.zeros((len(mean), n_components))
        loadings[:, : len(kept)] = s[:, None] * directions[: len(kept)].T * np.sqrt(kept - 1)
        return loadings, kept

    def step(log_noise: np.ndarray) -> tuple[np.ndarray, float]:
        noise = np.exp(log_noise)
        loadings, kept = best_loadings(noise)
        squares = (variances / noise).sum() - (kept - 1).sum()
        constant = len(mean) * np.log(2 * np.pi) + log_noise.sum() + np.log(kept).sum()
        rest = np.maximum(variances - np.square(loadings).sum(axis=1), floor)
        return np.log(rest), float(-0.5 * weight * (constant + squares))

    limit = np.log(floor), np.log(np.maximum(variances, floor))
    log_noise, history, converged = _accelerated(
        step, np.log(noise), limit, tol * weight * len(mean), max_iter
    )
    noise = np.exp(log_noise)
    return FactorModel(mean, best_loadings(noise)[0], noise), history, converged


def _expectation_maximization(
    model: FactorModel,
    data: ObservedData,
    weights: np.ndarray,
    floor: np.ndarray,
    tol: float,
    max_iter: int,
) -> _Run:
    """Maximise the likelihood of the observed values by parameter-expanded EM.

    Parameters are accelerated in units of the noise, so that the steps do not depend on the units of the
    data.
    """
    d, q = model.loadings.shape
    unit = np.sqrt(model.noise)

    def unpack(state: np.ndarray) -> FactorModel:
        mean, loadings, log_noise = np.split(state, [d, d + d * q])
        return FactorModel(mean * unit, loadings.reshape(d, q) * unit[:, None], np.exp(log_noise))

    def pack(model: FactorModel) -> np.ndarray:
        scaled = model.mean / unit, (model.loadings / unit[:, None]).ravel()
        return np.concatenate([*scaled, np.log(model.noise)])

    def step(state: np.ndarray) -> tuple[np.ndarray, float]:
        current = unpack(state)
        sums = _expectation(current, data, weights)
        return pack(_maximize(current, sums, floor)), sums.log_likelihood

    free = np.full(d + d * q, np.inf)
    limit = np.concatenate([-free, np.log(floor)]), np.concatenate([free, np.full(d, np.inf)])
    n_observed = float(weights @ data.mask.sum(axis=1))
    state, history, converged = _accelerated(step, pack(model), limit, tol * n_observed, max_iter)
    return unpack(state), history, converged


def _accelerated(
    step: Callable[[np.ndarray], tuple[np.ndarray, float]],
    state: np.ndarray,
    limit: tuple[np.ndarray, np.ndarray],
    tol: float,
    max_iter: int,
) -> tuple[np.ndarray, list[float], bool]:
    """Repeat steps of EM until one raises the log-likelihood by at most ``tol``.

    ``step`` returns the next state and the log-likelihood of the current one. After two steps the state is
    extrapolated (Varadhan and Roland 2008), since EM is slow where the noise of a feature is small; if the
    log-likelihood falls, the extrapolated state is dropped. Returns the state, the log-likelihood of all
    states kept, and whether it converged.
    """
    history: list[float] = []
    with stage("expectation maximisation", total=max_iter, bound=True) as advance:
        first, value = step(state)
        for n_steps in range(0, max_iter, 2):
            history.append(value)
            second, next_value = step(first)
            history.append(next_value)
            if next_value - value <= tol:
                return first, history, True
            change, bend = first - state, second - 2 * first + state
            length = float(np.linalg.norm(change)) / max(float(np.linalg.norm(bend)), 1e-300)
            length = min(max(1.0, length), 1e8)  # in steps of EM
            far = np.clip(state + 2 * length * change + length**2 * bend, *limit)
            after, far_value = step(far)
            if np.isfinite(far_value) and far_value >= next_value:
                state, first, value = far, after, far_value
            else:
                state, (first, value) = second, step(second)
            advance(min(2, max_iter - n_steps))
    return state, [*history, value], False


def _expectation(model: FactorModel, data: ObservedData, weights: np.ndarray) -> ExpectationSums:
    """Compute the sums of the E-step, in units of the noise of each feature."""
    scaled, rows = model.scaled(), _scaled(data, model)
    sums = expectation_sums(scaled, compute_posterior(scaled, rows), rows, weights)
    log_scale = float(weights @ data.mask @ np.log(model.noise)) / 2
    return replace(sums, log_likelihood=sums.log_likelihood - log_scale)


def _maximize(model: FactorModel, sums: ExpectationSums, floor: np.ndarray) -> FactorModel:
    """Perform the M-step: regress each feature on the expected ``x``; its noise is the mean squared rest."""
    scaled, q = model.scaled(), model.loadings.shape[1]
    change = regression_change(scaled, sums)
    loadings = scaled.loadings + change[:, :q]
    rest = (
        sums.squares
        - 2 * np.einsum("jp,jp->j", change, sums.cross)
        + np.einsum("jp,jpr,jr->j", change, sums.second, change)
        + np.einsum("jp,jpr,jr->j", loadings, sums.covariances, loadings)
    )
    counts = sums.second[:, q, q]  # weight of the samples in which each feature was observed
    noise = model.noise * rest / np.where(counts > 0, counts, 1.0)
    mean, loadings = expand_latent(scaled, sums, change)
    s = np.sqrt(model.noise)
    return FactorModel(s * mean, s[:, None] * loadings, np.maximum(noise, floor))


def _starts(filled: FactorModel, variances: np.ndarray, seed: int) -> list[FactorModel]:
    """Return starting points of EM: the model of samples filled by column means, and a random one.

    No start has loadings of exactly zero, which could be a saddle point."""
    rng, s = np.random.default_rng(seed), np.sqrt(variances)[:, None]
    random = s * rng.standard_normal(filled.loadings.shape)
    return [
        replace(filled, loadings=filled.loadings + 1e-2 * random),
        FactorModel(filled.mean, random, variances),
    ]


def _scaled(data: ObservedData, model: FactorModel) -> ObservedData:
    """Return the data in units of the noise of each feature."""
    return replace(data, values=data.values / np.sqrt(model.noise))
