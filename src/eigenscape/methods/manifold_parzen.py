"""Manifold Parzen windows (Vincent and Bengio 2003): a Gaussian along the local tangents of each sample.

    p(x) = (1 / n) sum_i N(x; x_i, C_i),    C_i = V_i diag(s_i) V_i' + noise I

``s_i`` and ``V_i`` are the ``d`` leading eigenvalues and eigenvectors of the mean of ``(x_j - x_i) (x_j -
x_i)'`` over the ``k`` nearest neighbours ``j`` of ``x_i``. ``d = 0`` is the usual kernel density estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._native.loops import parzen_log_densities
from eigenscape._progress import stage
from eigenscape._threads import parallel_map
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.search import without_own
from eigenscape.methods.tuning import TUNING


class Tangents(NamedTuple):
    """Local covariances: variances (n, d), descending, and their unit directions (n, d, n_features)."""

    variances: np.ndarray
    directions: np.ndarray


def local_tangents(X: np.ndarray, n_neighbors: int, n_components: int, n_jobs: int | None) -> Tangents:
    """Return the leading local variances and directions of each row, from its nearest other rows."""
    _, nearest = neighbor_index(X, n_jobs=n_jobs).nearest(X, n_neighbors + 1)
    (neighbors,), size = without_own(np.arange(len(X)), nearest), X.shape[1]

    def solve(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        difference = (X[neighbors[rows]] - X[rows, None]) / n_neighbors**0.5  # (rows, k, n_features)
        if size <= n_neighbors:
            values, vectors = np.linalg.eigh(np.swapaxes(difference, 1, 2) @ difference)
            directions = np.swapaxes(vectors, 1, 2)[:, ::-1][:, :n_components]
            return np.maximum(values[:, ::-1][:, :n_components], 0), directions
        values, vectors = np.linalg.eigh(difference @ np.swapaxes(difference, 1, 2))
        values = np.maximum(values[:, ::-1][:, :n_components], 0)
        directions = np.swapaxes(vectors, 1, 2)[:, ::-1][:, :n_components] @ difference
        length = np.linalg.norm(directions, axis=2, keepdims=True)
        return values, np.divide(directions, length, out=np.zeros_like(directions), where=length > 0)

    with stage("tangents"):
        blocks = list(row_blocks(len(X), 16 * n_neighbors * (size + n_neighbors)))
        found = list(parallel_map(solve, blocks, n_jobs))
    return Tangents(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


@dataclass(frozen=True, eq=False)
class ParzenDensity:
    """The density of manifold Parzen windows.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Centres of the Gaussians.
    tangents : Tangents
    noise : float
        Variance in all directions.
    n_jobs : int or None
    """

    _shapes: ClassVar = {"X": "n d"}
    X: np.ndarray
    tangents: Tangents
    noise: float
    n_jobs: int | None = None

    def log_density(self, Y: np.ndarray) -> np.ndarray:
        """Return the logarithm of the density (n_new,) at points; each does not depend on the others."""

        def evaluate(rows: slice) -> np.ndarray:
            return log_densities(Y[rows], self.X, self.tangents, [self._dimension], [self.noise])[:, 0, 0]

        blocks = list(row_blocks(len(Y), 1, TUNING.density_points))
        return np.concatenate(list(parallel_map(evaluate, blocks, self.n_jobs)))

    @property
    def _dimension(self) -> int:
        return self.tangents.variances.shape[1]

    def nearest_directions(self, Y: np.ndarray) -> np.ndarray:
        """Return the directions (n_new, d, n_features) of the nearest Gaussian of each point."""
        _, nearest = neighbor_index(self.X, n_jobs=self.n_jobs).nearest(Y, 1)
        return self.tangents.directions[nearest[:, 0]]

    def draw(self, n_samples: int, rng: np.random.Generator) -> np.ndarray:
        """Return random points (n_samples, n_features) from the density."""
        chosen = rng.integers(len(self.X), size=n_samples)
        variances, directions = (part[chosen] for part in self.tangents)
        along = rng.standard_normal(variances.shape) * np.sqrt(variances)
        around = self.noise**0.5 * rng.standard_normal((n_samples, self.X.shape[1]))
        return self.X[chosen] + np.einsum("nd,ndf->nf", along, directions) + around


def log_densities(
    Y: np.ndarray, X: np.ndarray, tangents: Tangents, dimensions: Sequence[int], noises: Sequence[float]
) -> np.ndarray:
    """Return the logarithm of the density (n_new, n_dimensions, n_noises) for several dimensions and noises.

    The dimensions ascend.
    """
    variances, size = tangents.variances[:, : dimensions[-1]], X.shape[1]
    logs = np.log(variances[:, :, None] + np.asarray(noises))  # (n, d, n_noises)
    sums = np.concatenate([np.zeros((len(X), 1, len(noises))), np.cumsum(logs, axis=1)], axis=1)
    rest = (size - np.asarray(dimensions))[:, None] * np.log(noises)
    out = np.empty((len(Y), len(dimensions), len(noises)))
    parzen_log_densities(
        np.ascontiguousarray(Y),
        np.ascontiguousarray(X),
        np.ascontiguousarray(variances),
        np.ascontiguousarray(tangents.directions[:, : dimensions[-1]]),
        np.asarray(dimensions, dtype=np.int64),
        np.asarray(noises, dtype=np.float64),
        np.ascontiguousarray(sums[:, list(dimensions)] + rest),
        out,
    )
    return out - np.log(len(X)) - 0.5 * size * np.log(2 * np.pi)


def _sum_of_left_out(
    training: np.ndarray,
    left_out: np.ndarray,
    tangents: Tangents,
    dimensions: list[int],
    noises: Sequence[float],
    rows: slice,
) -> np.ndarray:
    return log_densities(left_out[rows], training, tangents, dimensions, noises).sum(axis=0)


class ParzenChoice(NamedTuple):
    """Parameters with the largest mean log density of held-out rows, and the densities of all candidates."""

    n_neighbors: int
    n_components: int
    noise: float
    score: float
    scores: list[tuple[int, int, float, float]]


def choose_parameters(
    X: np.ndarray,
    n_neighbors: Iterable[int],
    n_components: Sequence[int],
    noises: Sequence[float],
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    n_jobs: int | None,
) -> ParzenChoice:
    """Choose neighbours, dimension and noise by the mean log density of rows that were left out.

    ``folds`` are pairs of training rows and rows left out. Tangents are computed from training rows only.
    """
    scores = []
    with stage("cross-validation"):
        for k in n_neighbors:
            dimensions = sorted(d for d in n_components if d <= k)
            sums = np.zeros((len(dimensions), len(noises)))
            for training, left_out in folds:
                tangents = local_tangents(X[training], k, dimensions[-1], n_jobs)
                evaluate = partial(_sum_of_left_out, X[training], X[left_out], tangents, dimensions, noises)
                blocks = list(row_blocks(len(left_out), 1, TUNING.density_points))
                sums += np.sum(list(parallel_map(evaluate, blocks, n_jobs)), axis=0)
            means = sums / sum(len(left_out) for _, left_out in folds)
            scores += [
                (k, d, noise, float(mean))
                for d, row in zip(dimensions, means, strict=True)
                for noise, mean in zip(noises, row, strict=True)
            ]
    best = max(scores, key=lambda found: found[3])
    return ParzenChoice(*best, scores)
