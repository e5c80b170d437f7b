"""Mixtures of probabilistic PCA (Burges sec. 1.2; Tipping and Bishop 1999B): several planes, each with its own noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from eigenscape._progress import stage
from eigenscape.methods.missing import Observed
from eigenscape.methods.probabilistic_pca import LatentGaussian, Posterior, closed_form, draw, infer, maximise
from eigenscape.solvers import Solver
from eigenscape.solvers.pairs import canonical_signs


@dataclass(frozen=True, eq=False)
class Mixture:
    """``p(y) = sum_k pi_k p(y | k)`` with every ``p(y | k)`` a :class:`LatentGaussian`."""

    shares: np.ndarray  # pi, (k,)
    parts: tuple[LatentGaussian, ...]


class Membership(NamedTuple):
    """``log p(k | y)`` (n, k), the log-likelihood of each row (n,), and the posteriors of ``x`` in each part."""

    log_responsibilities: np.ndarray
    log_likelihood: np.ndarray
    posteriors: tuple[Posterior, ...]


class MixtureClimb(NamedTuple):
    """Where EM got to."""

    mixture: Mixture
    history: list[float]
    converged: bool


@dataclass(frozen=True)
class Rules:
    """Least noise variance, least rows a part needs to be learnt from, gain a value observed at which to stop, steps."""

    floor: float
    least_rows: float
    tol: float
    max_iter: int
    solver: Solver


def membership(mixture: Mixture, data: Observed) -> Membership:
    """The E-step, in logarithms: far from every plane all densities underflow, their ratios do not."""
    posteriors = tuple(infer(part, data) for part in mixture.parts)
    with np.errstate(divide="ignore"):  # a part without any share has log share -inf
        joint = np.column_stack([posterior.log_likelihood for posterior in posteriors]) + np.log(mixture.shares)
    total = logsumexp(joint, axis=1)
    return Membership(joint - total[:, None], total, posteriors)


def start(data: Observed, weights: np.ndarray, labels: np.ndarray, n_parts: int, n_components: int, rules: Rules) -> Mixture:
    """A mixture from a partition of the rows, gaps filled with the column means of a row's own part.

    A part too small to have a plane of its own starts with the plane of all rows, around its own mean.
    """
    overall = data.column_means(weights)
    everything = closed_form(data.filled(overall), weights, n_components, rules.floor, rules.solver)
    parts = []
    for number in range(n_parts):
        mine = weights * (labels == number)
        there = mine @ data.mask
        means = np.where(there > 0, (mine @ data.values) / np.maximum(there, np.finfo(np.float64).tiny), overall)
        if np.count_nonzero(mine) > n_components and mine.sum() >= rules.least_rows:
            parts.append(closed_form(data.filled(means), mine, n_components, rules.floor, rules.solver))
        else:
            parts.append(replace(everything, mean=means))
    shares = np.bincount(labels, weights, minlength=n_parts)
    return Mixture(shares / shares.sum(), tuple(parts))


def climb_mixture(mixture: Mixture, data: Observed, weights: np.ndarray, rules: Rules) -> MixtureClimb:
    """EM until a step gains no more than ``tol`` a value observed."""
    seen = float(weights @ data.mask.sum(axis=1))
    history: list[float] = []
    with stage("expectation maximisation", total=rules.max_iter) as advance:
        for _ in range(rules.max_iter):
            now = membership(mixture, data)
            history.append(float(weights @ now.log_likelihood))
            if len(history) > 1 and history[-1] - history[-2] <= rules.tol * seen:
                return MixtureClimb(mixture, history, True)
            mixture = _maximise_mixture(mixture, now, data, weights, rules)
            advance(1)
    history.append(float(weights @ membership(mixture, data).log_likelihood))
    return MixtureClimb(mixture, history, False)


def _maximise_mixture(mixture: Mixture, now: Membership, data: Observed, weights: np.ndarray, rules: Rules) -> Mixture:
    """The M-step: each part from the rows weighted by their responsibility, in closed form where nothing is missing.

    A part that has lost its rows stays as it is (its share may vanish): that never lowers the likelihood.
    """
    responsibilities = np.exp(now.log_responsibilities) * weights[:, None]  # (n, k)
    shares = responsibilities.sum(axis=0)
    parts = []
    for part, posterior, mine, share in zip(mixture.parts, now.posteriors, responsibilities.T, shares, strict=True):
        if share < rules.least_rows:
            parts.append(part)
        elif data.complete:
            parts.append(closed_form(data.values, mine, part.loadings.shape[1], rules.floor, rules.solver))
        else:
            parts.append(maximise(part, posterior, data, mine, rules.floor))
    return Mixture(shares / shares.sum(), tuple(parts))


def finished(mixture: Mixture, data: Observed, weights: np.ndarray) -> Mixture:
    """Parts in canonical form, the largest share first; signs make the largest coordinate among a part's own rows positive."""
    order = np.argsort(-mixture.shares, kind="stable")
    sorted_ = Mixture(mixture.shares[order], tuple(mixture.parts[number].canonical() for number in order))
    now = membership(sorted_, data)
    owner = np.argmax(now.log_responsibilities, axis=1)
    parts = []
    for number, (part, posterior) in enumerate(zip(sorted_.parts, now.posteriors, strict=True)):
        mine = posterior.means[(owner == number) & (weights > 0)]
        signs = np.where((canonical_signs(mine) == mine).all(axis=0), 1.0, -1.0) if len(mine) else np.ones(part.loadings.shape[1])
        parts.append(replace(part, loadings=part.loadings * signs))
    return replace(sorted_, parts=tuple(parts))


def n_parameters(mixture: Mixture) -> int:
    """Free parameters: shares, means, planes (up to rotation within them) and noises."""
    d, q = mixture.parts[0].loadings.shape
    return len(mixture.parts) * (d + d * q - q * (q - 1) // 2 + 1) + len(mixture.parts) - 1


def draw_mixture(mixture: Mixture, n: int, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """``n`` rows from the model, and the part that each is from."""
    labels = np.sort(random.choice(len(mixture.parts), size=n, p=mixture.shares))
    rows = [draw(part, int((labels == number).sum()), random) for number, part in enumerate(mixture.parts)]
    return np.concatenate(rows), labels
