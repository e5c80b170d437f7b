"""Mixtures of probabilistic PCA (Burges sec. 1.2; Tipping and Bishop 1999B): several planes, each with its
own noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import logsumexp

from eigenscape._progress import stage
from eigenscape.methods.missing import Observed
from eigenscape.methods.ppca_rows import WeightedRows
from eigenscape.methods.probabilistic_pca import LatentGaussian, Posterior, closed_form, draw, infer, maximise
from eigenscape.solvers import SolverConfig
from eigenscape.solvers.pairs import canonical_signs


@dataclass(frozen=True, eq=False)
class Mixture:
    """``p(y) = sum_k pi_k p(y | k)`` with every ``p(y | k)`` a :class:`LatentGaussian`."""

    shares: np.ndarray  # pi, (k,)
    parts: tuple[LatentGaussian, ...]


#: Says for rows (n, d) without gaps which part each belongs to.
Label = Callable[[np.ndarray], np.ndarray]


class Membership(NamedTuple):
    """``log p(k | y)`` (n, k), the log-likelihood of each row (n,), and the posteriors of ``x`` in each
    part."""

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
    """Least noise variance, least rows a part needs to be learnt from, gain a value observed at which to
    stop, steps."""

    floor: float
    least_rows: float
    tol: float
    max_iter: int
    solver: SolverConfig


def membership(mixture: Mixture, data: Observed) -> Membership:
    """The E-step, in logarithms: far from every plane all densities underflow, their ratios do not."""
    posteriors = tuple(infer(part, data) for part in mixture.parts)
    with np.errstate(divide="ignore"):  # a part without any share has log share -inf
        joint = np.column_stack([posterior.log_likelihood for posterior in posteriors]) + np.log(
            mixture.shares
        )
    total = logsumexp(joint, axis=1)
    return Membership(joint - total[:, None], total, posteriors)


def start(
    data: Observed, weights: np.ndarray, labels: np.ndarray, n_parts: int, n_components: int, rules: Rules
) -> Mixture:
    """A mixture from a partition of the rows, gaps filled with the column means of a row's own part."""
    overall = data.column_means(weights)
    everything = closed_form(data.filled(overall), weights, n_components, rules.floor, rules.solver)
    mine = [weights * (labels == number) for number in range(n_parts)]
    sizes = [PartSize(int(np.count_nonzero(w)), float(w.sum()), w @ data.values, w @ data.mask) for w in mine]

    def plane(number: int, means: np.ndarray) -> LatentGaussian:
        return closed_form(data.filled(means), mine[number], n_components, rules.floor, rules.solver)

    return started(sizes, overall, everything, plane, rules)


class PartSize(NamedTuple):
    """Rows of a part, their weight, and of each column the sum (d,) and the weight (d,) of what was
    observed."""

    n_rows: int
    weight: float
    sums: np.ndarray
    there: np.ndarray

    def means(self, otherwise: np.ndarray) -> np.ndarray:
        """Column means (d,); of a column never observed, those of all rows."""
        return np.where(
            self.there > 0, self.sums / np.maximum(self.there, np.finfo(np.float64).tiny), otherwise
        )


def started(
    sizes: Sequence[PartSize],
    overall: np.ndarray,
    everything: LatentGaussian,
    plane: Callable[[int, np.ndarray], LatentGaussian],
    rules: Rules,
) -> Mixture:
    """A part too small to have a ``plane`` of its own starts with that of all rows, around its own mean."""
    n_components = everything.loadings.shape[1]
    parts = []
    for number, size in enumerate(sizes):
        means = size.means(overall)
        large = size.n_rows > n_components and size.weight >= rules.least_rows
        parts.append(plane(number, means) if large else replace(everything, mean=means))
    shares = np.array([size.weight for size in sizes])
    return Mixture(shares / shares.sum(), tuple(parts))


class MixtureStep(NamedTuple):
    """A step of EM: the log-likelihood before it, the weight of the values observed, and the mixture after
    it, made when asked for."""

    log_likelihood: float
    seen: float
    after: Callable[[], Mixture]


class Members(Protocol):
    """Rows that a mixture is learnt from, in one array or in blocks on many machines."""

    def starting_rows(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to be partitioned at the start, gaps filled, and their weights: all, or a sample."""
        ...

    def start(self, label: Label, n_parts: int, n_components: int, rules: Rules) -> Mixture:
        """A mixture from the partition of all rows that ``label`` makes."""
        ...

    def step(self, mixture: Mixture, rules: Rules) -> MixtureStep:
        """A step of EM."""
        ...

    def signs(self, mixture: Mixture) -> list[np.ndarray]:
        """Of each part the signs (q,) that make the largest coordinate among its own rows positive."""
        ...


def climb_mixture(mixture: Mixture, rows: Members, rules: Rules) -> MixtureClimb:
    """EM until a step gains no more than ``tol`` a value observed."""
    history: list[float] = []
    with stage("expectation maximisation", total=rules.max_iter) as advance:
        for _ in range(rules.max_iter):
            step = rows.step(mixture, rules)
            history.append(step.log_likelihood)
            if len(history) > 1 and history[-1] - history[-2] <= rules.tol * step.seen:
                return MixtureClimb(mixture, history, True)
            mixture = step.after()
            advance(1)
    history.append(rows.step(mixture, rules).log_likelihood)
    return MixtureClimb(mixture, history, False)


@dataclass(frozen=True, eq=False)
class WeightedMembers:
    """Rows in one array and how often each stands: :class:`Members`."""

    rows: WeightedRows

    def starting_rows(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        return self.rows.data.filled(self.rows.means), self.rows.weights

    def start(self, label: Label, n_parts: int, n_components: int, rules: Rules) -> Mixture:
        data, weights = self.rows.data, self.rows.weights
        return start(data, weights, label(data.filled(self.rows.means)), n_parts, n_components, rules)

    def step(self, mixture: Mixture, rules: Rules) -> MixtureStep:
        data, weights = self.rows.data, self.rows.weights
        now = membership(mixture, data)
        after = partial(_maximise_mixture, mixture, now, data, weights, rules)
        return MixtureStep(float(weights @ now.log_likelihood), float(weights @ data.mask.sum(axis=1)), after)

    def signs(self, mixture: Mixture) -> list[np.ndarray]:
        each = [
            means[self.rows.weights[rows] > 0] for rows, means in own_coordinates(mixture, self.rows.data)
        ]
        return [_signs(mine) if len(mine) else np.ones(mine.shape[1]) for mine in each]


def own_coordinates(mixture: Mixture, data: Observed) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each part the rows that most probably belong to it, and their coordinates in it."""
    now = membership(mixture, data)
    owner = np.argmax(now.log_responsibilities, axis=1)
    each = [np.flatnonzero(owner == number) for number in range(len(mixture.parts))]
    return [(rows, posterior.means[rows]) for rows, posterior in zip(each, now.posteriors, strict=True)]


def _signs(coordinates: np.ndarray) -> np.ndarray:
    return np.where((canonical_signs(coordinates) == coordinates).all(axis=0), 1.0, -1.0)


def _maximise_mixture(
    mixture: Mixture, now: Membership, data: Observed, weights: np.ndarray, rules: Rules
) -> Mixture:
    """The M-step: each part from the rows weighted by their responsibility, in closed form where nothing is
    missing.

    A part that has lost its rows stays as it is (its share may vanish): that never lowers the likelihood.
    """
    responsibilities = np.exp(now.log_responsibilities) * weights[:, None]  # (n, k)
    shares = responsibilities.sum(axis=0)
    parts = []
    for part, posterior, mine, share in zip(
        mixture.parts, now.posteriors, responsibilities.T, shares, strict=True
    ):
        if share < rules.least_rows:
            parts.append(part)
        elif data.complete:
            parts.append(closed_form(data.values, mine, part.loadings.shape[1], rules.floor, rules.solver))
        else:
            parts.append(maximise(part, posterior, data, mine, rules.floor))
    return Mixture(shares / shares.sum(), tuple(parts))


def finished(mixture: Mixture, rows: Members) -> Mixture:
    """Parts in canonical form, the largest share first; signs make the largest coordinate among a part's own
    rows positive."""
    order = np.argsort(-mixture.shares, kind="stable")
    ordered = Mixture(mixture.shares[order], tuple(mixture.parts[number].canonical() for number in order))
    turned = [
        replace(part, loadings=part.loadings * signs)
        for part, signs in zip(ordered.parts, rows.signs(ordered), strict=True)
    ]
    return replace(ordered, parts=tuple(turned))


def n_parameters(mixture: Mixture) -> int:
    """Free parameters: shares, means, planes (up to rotation within them) and noises."""
    d, q = mixture.parts[0].loadings.shape
    return len(mixture.parts) * (d + d * q - q * (q - 1) // 2 + 1) + len(mixture.parts) - 1


def draw_mixture(mixture: Mixture, n: int, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """``n`` rows from the model, and the part that each is from."""
    labels = np.sort(random.choice(len(mixture.parts), size=n, p=mixture.shares))
    rows = [draw(part, int((labels == number).sum()), random) for number, part in enumerate(mixture.parts)]
    return np.concatenate(rows), labels
