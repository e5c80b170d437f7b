"""Which probabilistic PCA: how many components, closed form or EM, from where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from eigenscape.methods.dimension import evidence_dimension, relevant_dimension
from eigenscape.methods.missing import Observed
from eigenscape.methods.pca import FORMED, leading_axes
from eigenscape.methods.probabilistic_pca import Climb, LatentGaussian, climb, expected_covariance, from_axes, infer
from eigenscape.operators import CenteredRows, weighted_mean
from eigenscape.solvers import Solver
from eigenscape.solvers.pairs import canonical_signs

#: Least noise variance, relative to the mean variance of the features: data in an exact plane would have infinite likelihood.
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


def fit_ppca(data: Observed, weights: np.ndarray, choice: Choice) -> FittedPPCA:
    """The most likely model."""
    floor = noise_floor(data, weights, NOISE_FLOOR)
    if choice.method == "closed":
        model = _by_closed_form(data.values, weights, choice.n_components, floor, choice.seed)
        found = Climb(model, [float(weights @ infer(model, data).log_likelihood)], True)
    else:
        found = _by_em(data, weights, choice, floor)
    model = found.model.canonical()
    standing = infer(model, data).means[weights > 0]
    signs = np.where((canonical_signs(standing) == standing).all(axis=0), 1.0, -1.0)
    return FittedPPCA(replace(model, loadings=model.loadings * signs), found.history, found.converged, model.noise <= floor)


def noise_floor(data: Observed, weights: np.ndarray, share: float) -> float:
    """``share`` of the mean variance of the features; data without any variance are an error."""
    rest = data.around(data.column_means(weights))
    variance = float(weights @ np.einsum("ij,ij->i", rest, rest)) / float(weights @ data.mask.sum(axis=1))
    if variance == 0:
        raise ValueError("all observed values of each column are equal; there is nothing to embed")
    return share * variance


def _by_closed_form(X: np.ndarray, weights: np.ndarray, wish: int | str, floor: float, seed: int) -> LatentGaussian:
    rows = CenteredRows(X, weighted_mean(X, weights), weights)
    count = wish if isinstance(wish, int) else min(X.shape)
    axes = leading_axes(rows, count, Solver(seed=seed))
    if isinstance(wish, str):
        variances = np.zeros(X.shape[1])
        variances[: len(axes.eigenvalues)] = axes.eigenvalues / axes.weight
        find = evidence_dimension if wish == "mle" else relevant_dimension
        count = min(find(variances, axes.weight), len(axes.eigenvalues))  # no component without variance
    return from_axes(axes, count, floor)


def _by_em(data: Observed, weights: np.ndarray, choice: Choice, floor: float) -> Climb:
    """EM from random loadings for complete data; for those with gaps from several starts, of which the most likely end is kept."""
    wish = choice.n_components
    filled = data.filled(data.column_means(weights))
    growing = isinstance(wish, str) and not data.complete
    model = _by_closed_form(filled, weights, 1 if growing else wish, floor, choice.seed)
    climbs = [
        climb(start, data, weights, floor, choice.tol, choice.max_iter) for start in _starts(model, data, weights, floor, choice.seed)
    ]
    found = max(climbs, key=lambda each: each.history[-1])
    while growing:
        larger = _grown(found.model, data, weights, floor)
        if larger is None:
            break
        found = climb(larger, data, weights, floor, choice.tol, choice.max_iter)
    return found


def _starts(filled: LatentGaussian, data: Observed, weights: np.ndarray, floor: float, seed: int) -> list[LatentGaussian]:
    """Where EM begins. Gaps in blocks make saddles, at which a feature or a component has no loadings: no start has zeros.

    They are the model of the filled rows, that of the covariance over the pairs observed together, and random ones.
    """
    scale = floor / NOISE_FLOOR  # the mean variance
    rng = np.random.default_rng(seed)
    random = [
        LatentGaussian(filled.mean, np.sqrt(scale) * rng.standard_normal(filled.loadings.shape), scale) for _ in range(_RANDOM_STARTS)
    ]
    if data.complete:
        return random[:1]
    nudge = _NUDGE * random[0].loadings
    starts = [replace(filled, loadings=filled.loadings + nudge)]
    if data.shape[1] <= FORMED:
        pairwise = _of_covariance(_pairwise_covariance(data, weights), filled.mean, filled.loadings.shape[1], floor)
        starts.append(replace(pairwise, loadings=pairwise.loadings + nudge))
    return starts + random


def _pairwise_covariance(data: Observed, weights: np.ndarray) -> np.ndarray:
    """Each entry (d, d) over the rows in which both features were observed; zero where there are none. It may be indefinite."""
    centred = data.around(data.column_means(weights))
    together = (data.mask * weights[:, None]).T @ data.mask
    return (centred * weights[:, None]).T @ centred / np.where(together > 0, together, 1.0)


def _of_covariance(covariance: np.ndarray, mean: np.ndarray, count: int, floor: float) -> LatentGaussian:
    """``count`` leading eigenvectors and the mean of the rest as noise (Burges eq. 1.8, 1.9); the matrix may be indefinite."""
    values, vectors = np.linalg.eigh(covariance)
    rest, leading = values[:-count], values[-count:]
    noise = max(float(rest.mean()), floor) if len(rest) else floor
    return LatentGaussian(mean, vectors[:, -count:] * np.sqrt(np.maximum(leading - noise, floor)), noise)


def _grown(model: LatentGaussian, data: Observed, weights: np.ndarray, floor: float) -> LatentGaussian | None:
    """The model with one component more, or None if relevance has no use for it.

    What a model does not explain of the values observed together shows in the covariance that it expects of complete rows. The gaps that it
    fills too simply show there as well: components are added one at a time.
    """
    covariance = expected_covariance(model, data, weights)
    values = np.linalg.eigvalsh(covariance)
    count = model.loadings.shape[1] + 1
    if relevant_dimension(np.maximum(values[::-1], 0.0), float(weights.sum())) < count:
        return None
    return _of_covariance(covariance, model.mean, count, floor)
