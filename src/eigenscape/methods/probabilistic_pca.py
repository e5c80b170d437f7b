"""Probabilistic PCA (Burges sec. 1.2): the model, its closed-form maximum likelihood and the steps of EM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.methods.observed_data import ObservedData
from eigenscape.methods.pca import PrincipalAxes, leading_axes
from eigenscape.operators import CenteredRows, weighted_mean
from eigenscape.solvers import SolverConfig

Model = TypeVar("Model")


@dataclass(frozen=True, eq=False)
class LatentGaussian:
    """``y = W x + mu + e``, ``x ~ N(0, I)``, ``e ~ N(0, s^2 I)`` (Burges eq. 1.7, ``Psi = s^2 I``)."""

    _shapes: ClassVar = {"mean": "d", "loadings": "d q"}
    mean: np.ndarray  # mu, (d,)
    loadings: np.ndarray  # W, (d, q)
    noise: float  # s^2

    def covariance(self) -> np.ndarray:
        """Compute ``W W' + s^2 I`` (d, d)."""
        return self.loadings @ self.loadings.T + self.noise * np.eye(len(self.mean))

    def canonical(self) -> LatentGaussian:
        """Return the same distribution with orthogonal columns of ``W``, longest first.

        The rotation ``R`` of Burges eq. 1.8 is arbitrary.
        """
        U, lengths, _ = np.linalg.svd(self.loadings, full_matrices=False)
        return replace(self, loadings=U * lengths)


class Posterior(NamedTuple):
    """Posterior distribution of ``x`` given the observed values of each sample."""

    means: np.ndarray  # (n, q)
    #: ``(W_o' W_o + s^2 I)^-1`` for each pattern ``o``; the posterior covariance is ``s^2`` times this.
    inverses: np.ndarray  # (p, q, q)
    log_likelihood: np.ndarray  # (n,)
    noise: float  # s^2

    def covariances(self, group: np.ndarray) -> np.ndarray:
        """Return the posterior covariances (n, q, q) of samples, given the pattern of each."""
        return self.noise * self.inverses[group]


def compute_posterior(model: LatentGaussian, data: ObservedData) -> Posterior:
    """Compute the posterior of ``x`` and the log-likelihood of each sample.

    Only matrices (q, q) are inverted, one for each pattern of observed values.
    """
    W, noise = model.loadings, model.noise
    q = W.shape[1]
    precision = (data.patterns @ _outer(W)).reshape(-1, q, q) + noise * np.eye(q)  # M_o = W_o' W_o + s^2 I
    inverses = np.linalg.inv(precision)
    inverses = (inverses + inverses.transpose(0, 2, 1)) / 2
    centered = data.centered(model.mean)
    means = _multiply_by_group(inverses, centered @ W, data.group)
    error = centered - (means @ W.T) * data.mask
    # y' (W W' + s^2 I)^-1 y as a sum of squares, without cancellation
    squares = np.einsum("ij,ij->i", error, error) / noise + np.einsum("ij,ij->i", means, means)
    n_observed = data.patterns.sum(axis=1)
    constant = n_observed * np.log(2 * np.pi) + (n_observed - q) * np.log(noise)
    constant = constant + np.linalg.slogdet(precision)[1]  # (p,)
    return Posterior(means, inverses, -0.5 * (constant[data.group] + squares), noise)


def draw_samples(model: LatentGaussian, n: int, random: np.random.RandomState) -> np.ndarray:
    """Draw ``n`` samples ``W x + mu + e`` (Burges eq. 1.7)."""
    d, q = model.loadings.shape
    means = random.standard_normal((n, q)) @ model.loadings.T + model.mean
    return means + np.sqrt(model.noise) * random.standard_normal((n, d))


def orthonormal_directions(loadings: np.ndarray) -> np.ndarray:
    """Return orthonormal directions (d, q) along orthogonal columns.

    A column of zeros gets a direction orthogonal to the others.
    """
    lengths = np.linalg.norm(loadings, axis=0)
    directions = loadings / np.where(lengths > 0, lengths, 1.0)
    empty = lengths == 0
    if empty.any():
        full = np.linalg.svd(directions[:, ~empty], full_matrices=True)[0]
        directions[:, empty] = full[:, len(lengths) - int(empty.sum()) : len(lengths)]
    return directions


def _outer(Z: np.ndarray) -> np.ndarray:
    """Return ``z z'`` of each row, flattened (n, q^2)."""
    return (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)


def _multiply_by_group(matrices: np.ndarray, Z: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Multiply each row of ``Z`` by the matrix of its group."""
    if len(matrices) == 1:
        return Z @ matrices[0]
    out = np.empty_like(Z)
    for rows in row_blocks(len(Z), 16 * matrices[0].size):
        out[rows] = np.matmul(matrices[group[rows]], Z[rows, :, None])[:, :, 0]
    return out


def model_from_axes(axes: PrincipalAxes, n_components: int, min_noise: float) -> LatentGaussian:
    """Return the maximum-likelihood model of complete data with these principal axes.

    ``W = U (Lambda - s^2 I)^1/2`` (Burges eq. 1.8, corrected) with ``s^2`` the mean discarded eigenvalue (eq.
    1.9) and ``Lambda`` eigenvalues of the covariance that divides by m. Axes without numerical variance get a
    column of zeros. The noise is at least ``min_noise``, also if no axis is discarded.
    """
    d = len(axes.mean)
    kept = min(n_components, len(axes.eigenvalues))
    variances = axes.eigenvalues[:kept] / axes.weight
    discarded = axes.trace / axes.weight - float(variances.sum())
    noise = max(discarded / (d - n_components), min_noise) if n_components < d else min_noise  # eq. 1.9
    loadings = np.zeros((d, n_components))
    loadings[:, :kept] = axes.directions[:kept].T * np.sqrt(np.maximum(variances - noise, 0.0))  # eq. 1.8
    return LatentGaussian(axes.mean, loadings, noise)


def closed_form(
    X: np.ndarray, weights: np.ndarray, n_components: int, min_noise: float, solver: SolverConfig
) -> LatentGaussian:
    """Return the maximum-likelihood model of complete, weighted samples."""
    rows = CenteredRows(X, weighted_mean(X, weights), weights)
    return model_from_axes(leading_axes(rows, n_components, solver), n_components, min_noise)


@dataclass(frozen=True, eq=False)
class ExpectationSums:
    """Sums of the E-step over samples, with ``x`` extended by a one: all that the M-step requires.

    They do not depend on how the samples are divided into blocks.
    """

    log_likelihood: float
    weight: float
    n_observed: float  # weighted number of observed values
    latent_mean: np.ndarray  # sum E[x], (q,)
    latent_square: np.ndarray  # sum E[x x'], (q, q)
    second: np.ndarray  # sum E[x] E[x]' over the samples in which a feature was observed, (d, q + 1, q + 1)
    covariances: np.ndarray  # the covariances of x, summed likewise, (d, q, q)
    cross: np.ndarray  # sum r_j E[x] with r_j the residual of feature j, (d, q + 1)
    squares: np.ndarray  # sum r^2, (d,)

    def merge(self, other: ExpectationSums) -> ExpectationSums:
        """Return the sums over both sets of samples."""
        sums = (getattr(self, each.name) + getattr(other, each.name) for each in fields(self))
        return ExpectationSums(*sums)


def expectation_sums(
    model: LatentGaussian, posterior: Posterior, data: ObservedData, weights: np.ndarray
) -> ExpectationSums:
    """Compute the sums of the E-step over the samples of ``data``."""
    q = model.loadings.shape[1]
    means = posterior.means
    pattern_weight = np.bincount(data.group, weights, minlength=len(data.patterns))  # (p,)
    covariances = model.noise * pattern_weight[:, None, None] * posterior.inverses  # per pattern, (p, q, q)
    extended = np.column_stack([means, np.ones(len(means))])
    error = data.centered(model.mean) - (means @ model.loadings.T) * data.mask
    return ExpectationSums(
        log_likelihood=float(weights @ posterior.log_likelihood),
        weight=float(weights.sum()),
        n_observed=float(pattern_weight @ data.patterns.sum(axis=1)),
        latent_mean=weights @ means,
        latent_square=(means * weights[:, None]).T @ means + covariances.sum(axis=0),
        second=_feature_moments(extended, data, weights),
        covariances=(data.patterns.T @ covariances.reshape(len(covariances), -1)).reshape(-1, q, q),
        cross=error.T @ (extended * weights[:, None]),
        squares=weights @ np.square(error),
    )


class EMResult(NamedTuple, Generic[Model]):
    """Result of EM: the model, the log-likelihood after each step, and whether it stopped rising."""

    model: Model
    log_likelihoods: list[float]
    converged: bool


def maximize_likelihood(
    model: Model,
    expectation: Callable[[Model], Any],
    maximization: Callable[[Model, Any], Model],
    tol: float,
    max_iter: int,
) -> EMResult[Model]:
    """Run EM until a step raises the log-likelihood by at most ``tol`` per observed value.

    ``expectation(model)`` returns the sums of an E-step, with the attributes ``log_likelihood`` and
    ``n_observed``; ``maximization(model, sums)`` returns the next model.
    """
    history: list[float] = []
    with stage("expectation maximisation", total=max_iter, bound=True) as advance:
        for _ in range(max_iter):
            sums = expectation(model)
            history.append(sums.log_likelihood)
            if len(history) > 1 and history[-1] - history[-2] <= tol * sums.n_observed:
                return EMResult(model, history, True)
            model = maximization(model, sums)
            advance(1)
    return EMResult(model, [*history, expectation(model).log_likelihood], False)


def maximize(model: LatentGaussian, sums: ExpectationSums, min_noise: float) -> LatentGaussian:
    """Perform the M-step: regress each feature on the expected ``x`` of the samples in which it was observed.

    For the step the latent Gaussian is given a mean and a covariance of its own, which are then moved into
    ``mu`` and ``W`` (parameter-expanded EM): the likelihood still never falls, and rises much faster where
    the noise is small. A feature that the weighted samples carry no information about keeps its loadings. The
    *change* of the loadings is solved for: the summed residuals are small then, and the noise is not the
    difference of two large numbers.
    """
    change = regression_change(model, sums)
    loadings = model.loadings + change[:, :-1]
    quadratic = np.einsum("jp,jpr,jr->", change, sums.second, change)
    error = sums.squares.sum() - 2 * np.vdot(change, sums.cross) + quadratic
    uncertainty = np.einsum("jp,jpr,jr->", loadings, sums.covariances, loadings)
    noise = float(error + uncertainty) / sums.n_observed
    return LatentGaussian(*expand_latent(model, sums, change), max(noise, min_noise))


def regression_change(model: LatentGaussian, sums: ExpectationSums) -> np.ndarray:
    """Return the change of the loadings and of the mean (d, q + 1) by which each feature is regressed best.

    It does not depend on the noise of the features."""
    d, q = model.loadings.shape
    normal = sums.second.copy()
    normal[:, :q, :q] += sums.covariances
    right = sums.cross.copy()
    right[:, :q] -= np.einsum("jpr,jr->jp", sums.covariances, model.loadings)
    change = np.zeros((d, q + 1))
    seen = normal[:, q, q] > 1e-10 * sums.weight  # features that are hardly ever observed do not change
    change[seen] = np.linalg.solve(normal[seen], right[seen, :, None])[:, :, 0]
    return change


def expand_latent(
    model: LatentGaussian, sums: ExpectationSums, change: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return ``mu`` and ``W`` after a change, the latent mean and covariance of the step moved into them."""
    loadings, shift = model.loadings + change[:, :-1], change[:, -1]
    center = sums.latent_mean / sums.weight
    latent = sums.latent_square / sums.weight - np.outer(center, center)
    return model.mean + shift + loadings @ center, loadings @ np.linalg.cholesky(latent)


def _feature_moments(Z: np.ndarray, data: ObservedData, weights: np.ndarray) -> np.ndarray:
    """Compute ``sum_i w_i z_i z_i'`` over the samples in which each feature was observed (d, c, c)."""
    c = Z.shape[1]
    out = np.zeros((data.shape[1], c * c))
    for rows in row_blocks(len(Z), 8 * c * c):
        out += data.mask[rows].T @ (_outer(Z[rows]) * weights[rows, None])
    return out.reshape(-1, c, c)


def expected_covariance(model: LatentGaussian, data: ObservedData, weights: np.ndarray) -> np.ndarray:
    """Compute the expected covariance (d, d) of the complete samples, with the variance of missing values."""
    posterior = compute_posterior(model, data)
    W, d = model.loadings, data.shape[1]
    rows = np.where(data.mask > 0, data.values - model.mean, posterior.means @ W.T)
    total = (rows * weights[:, None]).T @ rows
    pattern_weight = np.bincount(data.group, weights, minlength=len(data.patterns))
    missing = 1 - data.patterns
    roots = np.linalg.cholesky(posterior.inverses) * np.sqrt(model.noise * pattern_weight)[:, None, None]
    for part in row_blocks(len(missing), 8 * W.size):
        factors = (np.einsum("jq,pqr->jpr", W, roots[part]) * missing[part].T[:, :, None]).reshape(d, -1)
        total += factors @ factors.T
    total[np.diag_indices(d)] += model.noise * (pattern_weight @ missing)
    return total / weights.sum()
