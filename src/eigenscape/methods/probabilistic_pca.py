"""Probabilistic PCA (Burges sec. 1.2): maximum likelihood in closed form, and by EM where values are
missing."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple, Protocol

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.methods.missing import Observed
from eigenscape.methods.pca import PrincipalAxes, leading_axes
from eigenscape.operators import CenteredRows, weighted_mean
from eigenscape.solvers import SolverConfig

#: A feature observed in less than this share of the weight is not learnt from.
_UNSEEN = 1e-10


@dataclass(frozen=True, eq=False)
class LatentGaussian:
    """``y = W x + mu + e`` with ``x ~ N(0, I)`` and ``e ~ N(0, s^2 I)`` (Burges eq. 1.7 with ``Psi = s^2
    I``)."""

    mean: np.ndarray  # mu, (d,)
    loadings: np.ndarray  # W, (d, q)
    noise: float  # s^2

    def covariance(self) -> np.ndarray:
        """``W W' + s^2 I`` (d, d)."""
        return self.loadings @ self.loadings.T + self.noise * np.eye(len(self.mean))

    def canonical(self) -> LatentGaussian:
        """The same distribution with orthogonal columns of ``W``, longest first: the rotation ``R`` of eq.
        1.8 is arbitrary."""
        U, lengths, _ = np.linalg.svd(self.loadings, full_matrices=False)
        return replace(self, loadings=U * lengths)


class Posterior(NamedTuple):
    """Of ``x`` given what was observed of each row."""

    means: np.ndarray  # (n, q)
    inverses: (
        np.ndarray
    )  # (W_o' W_o + s^2 I)^-1 for each pattern o, (p, q, q); the covariance is s^2 times it
    log_likelihood: np.ndarray  # (n,)


def infer(model: LatentGaussian, data: Observed) -> Posterior:
    """Posterior of ``x`` and log-likelihood of each row; only matrices of q x q are inverted, one a
    pattern."""
    W, noise = model.loadings, model.noise
    q = W.shape[1]
    precision = (data.patterns @ _outer(W)).reshape(-1, q, q) + noise * np.eye(q)  # M_o = W_o' W_o + s^2 I
    inverses = np.linalg.inv(precision)
    inverses = (inverses + inverses.transpose(0, 2, 1)) / 2
    centred = data.centered(model.mean)
    means = _by_pattern(inverses, centred @ W, data.group)
    rest = centred - (means @ W.T) * data.mask
    squares = np.einsum("ij,ij->i", rest, rest) / noise + np.einsum(
        "ij,ij->i", means, means
    )  # y' (W W' + s^2 I)^-1 y, no digits lost
    there = data.patterns.sum(axis=1)
    fixed = there * np.log(2 * np.pi) + (there - q) * np.log(noise) + np.linalg.slogdet(precision)[1]  # (p,)
    return Posterior(means, inverses, -0.5 * (fixed[data.group] + squares))


def draw(model: LatentGaussian, n: int, random: np.random.RandomState) -> np.ndarray:
    """``n`` rows ``W x + mu + e`` (Burges eq. 1.7)."""
    d, q = model.loadings.shape
    return (
        random.standard_normal((n, q)) @ model.loadings.T
        + model.mean
        + np.sqrt(model.noise) * random.standard_normal((n, d))
    )


def orthonormal(loadings: np.ndarray) -> np.ndarray:
    """Orthonormal directions (d, q) along orthogonal columns; for a column of zeros, one orthogonal to the
    others."""
    lengths = np.linalg.norm(loadings, axis=0)
    directions = loadings / np.where(lengths > 0, lengths, 1.0)
    empty = lengths == 0
    if empty.any():
        full = np.linalg.svd(directions[:, ~empty], full_matrices=True)[0]
        directions[:, empty] = full[:, len(lengths) - int(empty.sum()) : len(lengths)]
    return directions


def _outer(Z: np.ndarray) -> np.ndarray:
    """``z z'`` of each row, flattened (n, q^2)."""
    return (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)


def _by_pattern(matrices: np.ndarray, Z: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Each row of ``Z`` times the matrix of its pattern."""
    if len(matrices) == 1:
        return Z @ matrices[0]
    out = np.empty_like(Z)
    for rows in row_blocks(len(Z), 16 * matrices[0].size):
        out[rows] = np.matmul(matrices[group[rows]], Z[rows, :, None])[:, :, 0]
    return out


# --- closed form --------------------------------------------------------------------------------------------


def from_axes(axes: PrincipalAxes, n_components: int, floor: float) -> LatentGaussian:
    """Maximum likelihood: ``W = U (Lambda - s^2 I)^1/2`` (Burges eq. 1.8, corrected), ``s^2`` the mean of
    what is left out (eq. 1.9).

    ``Lambda`` are eigenvalues of the covariance that divides by m. Axes that rounding has swallowed get a
    column of zeros. The noise is at least ``floor``, which it is where no axis is left to it."""
    d = len(axes.mean)
    kept = min(n_components, len(axes.eigenvalues))
    variances = axes.eigenvalues[:kept] / axes.weight
    left_out = axes.trace / axes.weight - float(variances.sum())
    noise = max(left_out / (d - n_components), floor) if n_components < d else floor  # eq. 1.9
    loadings = np.zeros((d, n_components))
    loadings[:, :kept] = axes.directions[:kept].T * np.sqrt(np.maximum(variances - noise, 0.0))  # eq. 1.8
    return LatentGaussian(axes.mean, loadings, noise)


def closed_form(
    X: np.ndarray, weights: np.ndarray, n_components: int, floor: float, solver: SolverConfig
) -> LatentGaussian:
    """Maximum likelihood for complete, weighted rows."""
    rows = CenteredRows(X, weighted_mean(X, weights), weights)
    return from_axes(leading_axes(rows, n_components, solver), n_components, floor)


# --- EM -----------------------------------------------------------------------------------------------------


class Climb(NamedTuple):
    """Where EM got to: the log-likelihood after each step, and whether it stopped rising."""

    model: LatentGaussian
    history: list[float]
    converged: bool


class Rows(Protocol):
    """Rows that EM learns from, in one array or in blocks on many machines."""

    def step(self, model: LatentGaussian) -> StepSums:
        """What a step from ``model`` needs to know of them."""
        ...


def climb(model: LatentGaussian, rows: Rows, floor: float, tol: float, max_iter: int) -> Climb:
    """EM from ``model`` until a step gains no more than ``tol`` a value observed."""
    history: list[float] = []
    with stage("expectation maximisation", total=max_iter) as advance:
        for _ in range(max_iter):
            sums = rows.step(model)
            history.append(sums.log_likelihood)
            if len(history) > 1 and history[-1] - history[-2] <= tol * sums.seen:
                return Climb(model, history, True)
            model = maximised(model, sums, floor)
            advance(1)
    history.append(rows.step(model).log_likelihood)
    return Climb(model, history, False)


@dataclass(frozen=True, eq=False)
class StepSums:
    """The E-step summed over rows, with ``x`` extended by a one: all that the M-step needs, however the rows
    are cut into blocks."""

    log_likelihood: float
    weight: float
    seen: float  # values observed, weighted
    latent_mean: np.ndarray  # sum E[x], (q,)
    latent_square: np.ndarray  # sum E[x x'], (q, q)
    second: np.ndarray  # sum E[x] E[x]' over the rows in which a feature was observed, (d, q + 1, q + 1)
    spread: np.ndarray  # the covariances of x, summed likewise, (d, q, q)
    cross: np.ndarray  # sum r_j E[x] with r what the model leaves of feature j, (d, q + 1)
    squares: float  # sum r^2

    def joined(self, other: StepSums) -> StepSums:
        """The sums over both sets of rows."""
        return StepSums(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


def step_sums(model: LatentGaussian, posterior: Posterior, data: Observed, weights: np.ndarray) -> StepSums:
    """The sums over the rows of ``data``."""
    q = model.loadings.shape[1]
    means = posterior.means
    pattern_weight = np.bincount(data.group, weights, minlength=len(data.patterns))  # (p,)
    spread = (
        model.noise * pattern_weight[:, None, None] * posterior.inverses
    )  # covariances summed over the rows of a pattern
    extended = np.column_stack([means, np.ones(len(means))])
    rest = data.centered(model.mean) - (means @ model.loadings.T) * data.mask
    return StepSums(
        float(weights @ posterior.log_likelihood),
        float(weights.sum()),
        float(pattern_weight @ data.patterns.sum(axis=1)),
        weights @ means,
        (means * weights[:, None]).T @ means + spread.sum(axis=0),
        _feature_moments(extended, data, weights),
        (data.patterns.T @ spread.reshape(len(spread), -1)).reshape(-1, q, q),
        rest.T @ (extended * weights[:, None]),
        float(weights @ np.einsum("ij,ij->i", rest, rest)),
    )


def maximise(
    model: LatentGaussian, posterior: Posterior, data: Observed, weights: np.ndarray, floor: float
) -> LatentGaussian:
    """The M-step for rows at hand."""
    return maximised(model, step_sums(model, posterior, data, weights), floor)


def maximised(model: LatentGaussian, sums: StepSums, floor: float) -> LatentGaussian:
    """The M-step: each feature regressed on the expected ``x``, over the rows in which it was observed.

    The latent Gaussian is given a mean and a covariance of its own for the step, which are then moved into
    ``mu`` and ``W`` (parameter-expanded EM): the likelihood rises as surely, and much faster where the noise
    is small. A feature that the weighted rows say nothing about keeps its loadings. What is solved for is the
    *change* of the loadings: the residuals that are summed are small then, and the noise is not the
    difference of two large numbers."""
    d, q = model.loadings.shape
    normal = sums.second.copy()
    normal[:, :q, :q] += sums.spread
    right = sums.cross.copy()
    right[:, :q] -= np.einsum("jpr,jr->jp", sums.spread, model.loadings)
    change = np.zeros((d, q + 1))
    seen = normal[:, q, q] > _UNSEEN * sums.weight
    change[seen] = np.linalg.solve(normal[seen], right[seen, :, None])[:, :, 0]
    loadings, shift = model.loadings + change[:, :q], change[:, q]
    left = (
        sums.squares - 2 * np.vdot(change, sums.cross) + np.einsum("jp,jpr,jr->", change, sums.second, change)
    )
    unsure = np.einsum("jp,jpr,jr->", loadings, sums.spread, loadings)
    noise = float(left + unsure) / sums.seen
    centre = sums.latent_mean / sums.weight
    latent = sums.latent_square / sums.weight - np.outer(centre, centre)
    return LatentGaussian(
        model.mean + shift + loadings @ centre, loadings @ np.linalg.cholesky(latent), max(noise, floor)
    )


def _feature_moments(Z: np.ndarray, data: Observed, weights: np.ndarray) -> np.ndarray:
    """``sum_i w_i z_i z_i'`` over the rows in which each feature was observed (d, c, c)."""
    c = Z.shape[1]
    out = np.zeros((data.shape[1], c * c))
    for rows in row_blocks(len(Z), 8 * c * c):
        out += data.mask[rows].T @ (_outer(Z[rows]) * weights[rows, None])
    return out.reshape(-1, c, c)


def expected_covariance(model: LatentGaussian, data: Observed, weights: np.ndarray) -> np.ndarray:
    """Covariance (d, d) of the complete rows as the model expects them, what is uncertain about the gaps
    included."""
    posterior = infer(model, data)
    W, d = model.loadings, data.shape[1]
    rows = np.where(data.mask > 0, data.values - model.mean, posterior.means @ W.T)
    total = (rows * weights[:, None]).T @ rows
    pattern_weight = np.bincount(data.group, weights, minlength=len(data.patterns))
    gaps = 1 - data.patterns
    roots = np.linalg.cholesky(posterior.inverses) * np.sqrt(model.noise * pattern_weight)[:, None, None]
    for part in row_blocks(len(gaps), 8 * W.size):
        factors = (np.einsum("jq,pqr->jpr", W, roots[part]) * gaps[part].T[:, :, None]).reshape(d, -1)
        total += factors @ factors.T
    total[np.diag_indices(d)] += model.noise * (pattern_weight @ gaps)
    return total / weights.sum()
