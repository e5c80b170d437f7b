"""Mixtures of probabilistic PCA over blocks of rows: one reduction for every step of EM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any

import numpy as np

from eigenscape.distributed.pca import block_moments
from eigenscape.distributed.ppca import BlockRows
from eigenscape.distributed.reduce import count_rows, sample_rows, take_rows
from eigenscape.distributed.signs import Leaders, leaders
from eigenscape.methods.missing import Observed, observed
from eigenscape.methods.mixture_ppca import (
    Label,
    Mixture,
    MixtureStep,
    PartSize,
    Rules,
    membership,
    own_coordinates,
    started,
)
from eigenscape.methods.pca import axes_of_scatter
from eigenscape.methods.probabilistic_pca import LatentGaussian, StepSums, from_axes, maximised, step_sums
from eigenscape.methods.scatter import ScatterMoments

#: Rows that k-means looks at to find where EM begins; up to so many it looks at all.
START_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class MixtureSums:
    """A step's sums over rows: likelihood, shares of the parts, and of each part what its M-step needs."""

    log_likelihood: float
    shares: np.ndarray  # (k,)
    parts: tuple[ScatterMoments | StepSums | None, ...]

    def joined(self, other: MixtureSums) -> MixtureSums:
        parts = tuple(map(_joined, self.parts, other.parts))
        return MixtureSums(self.log_likelihood + other.log_likelihood, self.shares + other.shares, parts)


@dataclass(frozen=True, eq=False)
class BlockMembers:
    """Rows of a collection that a mixture is learnt from
    (:class:`eigenscape.methods.mixture_ppca.Members`)."""

    rows: BlockRows

    def starting_rows(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Some rows, gaps filled with the column means, and their weights."""
        blocks, weights = self.rows.blocks, self.rows.weights
        lengths = count_rows(blocks)
        X, numbers = sample_rows(blocks, START_ROWS, seed, lengths)
        own = take_rows(weights[0], numbers, lengths) if weights else np.ones(len(X))
        return observed(X[own > 0], training=False).filled(self.rows.means), own[own > 0]

    def start(self, label: Label, n_parts: int, n_components: int, rules: Rules) -> Mixture:
        """A mixture from a partition of the rows, in two passes."""
        overall = self.rows.means
        everything = from_axes(self.rows.axes(n_components, rules.solver), n_components, rules.floor)
        sizes = self.rows.total(_sizes, _joined_sizes, label, overall, n_parts)
        means = [size.means(overall) for size in sizes]
        found = self.rows.total(_part_moments, _joined_parts, label, overall, means)

        def plane(number: int, _: np.ndarray) -> LatentGaussian:
            return _closed(found[number], n_components, rules)

        return started(sizes, overall, everything, plane, rules)

    def step(self, mixture: Mixture, rules: Rules) -> MixtureStep:
        sums = self.rows.total(_step, MixtureSums.joined, mixture, self.rows.complete)
        return MixtureStep(
            sums.log_likelihood, float(self.rows.survey.counts.sum()), partial(_after, mixture, sums, rules)
        )

    def signs(self, mixture: Mixture) -> list[np.ndarray]:
        found = self.rows.total(_own_leaders, _joined_parts, mixture)
        return [np.ones(mixture.parts[0].loadings.shape[1]) if led is None else led.signs for led in found]


def _after(mixture: Mixture, sums: MixtureSums, rules: Rules) -> Mixture:
    """The M-step. A part that has lost its rows stays as it is."""
    parts = []
    for part, found, share in zip(mixture.parts, sums.parts, sums.shares, strict=True):
        if share < rules.least_rows or found is None:
            parts.append(part)
        elif isinstance(found, ScatterMoments):
            parts.append(_closed(found, part.loadings.shape[1], rules))
        else:
            parts.append(maximised(part, found, rules.floor))
    return Mixture(sums.shares / sums.shares.sum(), tuple(parts))


def _closed(found: ScatterMoments, n_components: int, rules: Rules) -> LatentGaussian:
    return from_axes(axes_of_scatter(found, n_components, rules.solver), n_components, rules.floor)


def _step(data: Observed, weights: np.ndarray, mixture: Mixture, complete: bool) -> MixtureSums:
    now = membership(mixture, data)
    responsibilities = np.exp(now.log_responsibilities) * weights[:, None]  # (n, k)
    parts: list[Any] = []
    for part, posterior, mine in zip(mixture.parts, now.posteriors, responsibilities.T, strict=True):
        parts.append(block_moments(data.values, mine) if complete else step_sums(part, posterior, data, mine))
    return MixtureSums(float(weights @ now.log_likelihood), responsibilities.sum(axis=0), tuple(parts))


def _own_leaders(data: Observed, _: np.ndarray, mixture: Mixture) -> list[Leaders | None]:
    return [leaders(means) for _, means in own_coordinates(mixture, data)]


def _sizes(
    data: Observed, weights: np.ndarray, label: Label, overall: np.ndarray, n_parts: int
) -> list[PartSize]:
    labels = label(data.filled(overall))
    mine = [weights * (labels == number) for number in range(n_parts)]
    return [PartSize(int(np.count_nonzero(w)), float(w.sum()), w @ data.values, w @ data.mask) for w in mine]


def _joined_sizes(first: list[PartSize], second: list[PartSize]) -> list[PartSize]:
    return [PartSize(*map(add, one, other)) for one, other in zip(first, second, strict=True)]


def _part_moments(
    data: Observed, weights: np.ndarray, label: Label, overall: np.ndarray, means: list[np.ndarray]
) -> list[ScatterMoments | None]:
    labels = label(data.filled(overall))
    return [block_moments(data.filled(own), weights * (labels == number)) for number, own in enumerate(means)]


def _joined_parts(first: list[Any], second: list[Any]) -> list[Any]:
    return list(map(_joined, first, second))


def _joined(first: Any, second: Any) -> Any:
    return first if second is None else second if first is None else first.joined(second)
