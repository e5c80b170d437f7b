"""Which probabilistic PCA: how many components, closed form or EM, from where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from eigenscape.methods.component_count import count_by_evidence, count_by_relevance
from eigenscape.methods.pca import DENSE_SIZE, PrincipalAxes
from eigenscape.methods.probabilistic_pca import Climb, LatentGaussian, StepSums, climb, from_axes
from eigenscape.solvers import SolverConfig

#: Least noise variance, relative to the mean variance of the features: data in an exact plane would have
#: infinite likelihood.
NOISE_FLOOR = 1e-10
#: Random starts of EM where values are missing; part of one that is added to the other starts.
_RANDOM_STARTS, _NUDGE = 2, 1e-3


@dataclass(frozen=True)
class Choice:
    """What the user asks for: a number of components, "bayes" or "mle"; "closed" or "em"."""

    n_components: int | str
    method: str
    tol: float
    max_iter: int
    seed: int


class FittedPPCA(NamedTuple):
    """A model in canonical form, and how it was come by."""

    model: LatentGaussian
    history: list[float]
    converged: bool
    floored: bool


class Rows(Protocol):
    """The rows a model is learnt from, seen through sums over them; gaps may be filled with the column
    means."""

    shape: tuple[int, int]
    weight: float
    complete: bool
    means: np.ndarray  # of what is there of each column, (d,)
    variance: float  # around them, of a value observed

    def axes(self, count: int, solver: SolverConfig) -> PrincipalAxes:
        """Leading axes of the rows, gaps filled."""
        ...

    def pairwise_covariance(self) -> np.ndarray:
        """Each entry (d, d) over the rows in which both features were observed; zero where there are none. It
        may be indefinite."""
        ...

    def expected_covariance(self, model: LatentGaussian) -> np.ndarray:
        """Covariance (d, d) of the complete rows as the model expects them."""
        ...

    def step(self, model: LatentGaussian) -> StepSums:
        """What a step of EM needs."""
        ...

    def ending(self, model: LatentGaussian) -> tuple[float, np.ndarray]:
        """The log-likelihood, and the signs (q,) that make the largest coordinate positive."""
        ...


def fit_ppca(rows: Rows, choice: Choice) -> FittedPPCA:
    """The most likely model."""
    floor = noise_floor(rows.variance, NOISE_FLOOR)
    if choice.method == "closed":
        found = Climb(_by_closed_form(rows, choice.n_components, floor, choice.seed), [], True)
    else:
        found = _by_em(rows, choice, floor)
    model = found.model.canonical()
    likelihood, signs = rows.ending(model)
    history = found.history or [likelihood]
    return FittedPPCA(
        replace(model, loadings=model.loadings * signs), history, found.converged, model.noise <= floor
    )


def noise_floor(variance: float, share: float) -> float:
    """``share`` of the mean variance of the features; data without any variance are an error."""
    if variance == 0:
        raise ValueError("all observed values of each column are equal; there is nothing to embed")
    return share * variance


def _by_closed_form(rows: Rows, wish: int | str, floor: float, seed: int) -> LatentGaussian:
    count = wish if isinstance(wish, int) else min(rows.shape)
    axes = rows.axes(count, SolverConfig(seed=seed))
    if isinstance(wish, str):
        variances = np.zeros(rows.shape[1])
        variances[: len(axes.eigenvalues)] = axes.eigenvalues / axes.weight
        find = count_by_evidence if wish == "mle" else count_by_relevance
        count = min(find(variances, axes.weight), len(axes.eigenvalues))  # no component without variance
    return from_axes(axes, count, floor)


def _by_em(rows: Rows, choice: Choice, floor: float) -> Climb:
    """EM from random loadings for complete data; for those with gaps from several starts, of which the most
    likely end is kept."""
    wish = choice.n_components
    growing = isinstance(wish, str) and not rows.complete
    model = _by_closed_form(rows, 1 if growing else wish, floor, choice.seed)
    climbs = [
        climb(start, rows, floor, choice.tol, choice.max_iter)
        for start in _starts(model, rows, floor, choice.seed)
    ]
    found = max(climbs, key=lambda each: each.history[-1])
    while growing:
        larger = _grown(found.model, rows, floor)
        if larger is None:
            break
        found = climb(larger, rows, floor, choice.tol, choice.max_iter)
    return found


def _starts(filled: LatentGaussian, rows: Rows, floor: float, seed: int) -> list[LatentGaussian]:
    """Where EM begins. Gaps in blocks make saddles, at which a feature or a component has no loadings: no
    start has zeros.

    They are the model of the filled rows, that of the covariance over the pairs observed together, and random
    ones."""
    scale = floor / NOISE_FLOOR  # the mean variance
    rng = np.random.default_rng(seed)
    random = [
        LatentGaussian(filled.mean, np.sqrt(scale) * rng.standard_normal(filled.loadings.shape), scale)
        for _ in range(_RANDOM_STARTS)
    ]
    if rows.complete:
        return random[:1]
    nudge = _NUDGE * random[0].loadings
    starts = [replace(filled, loadings=filled.loadings + nudge)]
    if rows.shape[1] <= DENSE_SIZE:
        pairwise = _of_covariance(rows.pairwise_covariance(), filled.mean, filled.loadings.shape[1], floor)
        starts.append(replace(pairwise, loadings=pairwise.loadings + nudge))
    return starts + random


def _of_covariance(covariance: np.ndarray, mean: np.ndarray, count: int, floor: float) -> LatentGaussian:
    """``count`` leading eigenvectors and the mean of the rest as noise (Burges eq. 1.8, 1.9); the matrix may
    be indefinite."""
    values, vectors = np.linalg.eigh(covariance)
    rest, leading = values[:-count], values[-count:]
    noise = max(float(rest.mean()), floor) if len(rest) else floor
    return LatentGaussian(mean, vectors[:, -count:] * np.sqrt(np.maximum(leading - noise, floor)), noise)


def _grown(model: LatentGaussian, rows: Rows, floor: float) -> LatentGaussian | None:
    """The model with one component more, or None if relevance has no use for it.

    What a model does not explain of the values observed together shows in the covariance that it expects of
    complete rows. The gaps that it fills too simply show there as well: components are added one at a time.
    """
    covariance = rows.expected_covariance(model)
    values = np.linalg.eigvalsh(covariance)
    count = model.loadings.shape[1] + 1
    if count_by_relevance(np.maximum(values[::-1], 0.0), rows.weight) < count:
        return None
    return _of_covariance(covariance, model.mean, count, floor)
