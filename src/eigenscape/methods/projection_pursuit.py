"""Projection pursuit (Burges sec. 1; Friedman and Tukey 1974): least normal projections, one at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg
from scipy.special import erf

from eigenscape._progress import stage
from eigenscape.exceptions import RankError
from eigenscape.methods.pca import offset_rounding
from eigenscape.methods.tuning import TUNING

#: An index measures how far projections ``P`` (n, s) are from normal; each column has mean zero and unit
#: variance. It returns the value of each column (s,) and its derivative with respect to every entry (n, s).
#: The values are zero for normal data, up to sampling error.
Index = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def negentropy(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the approximation of negentropy by Hyvarinen (1998).

    ``k1 E[p g(p)]^2 + k2 (E[g(p)] - sqrt(1/2))^2`` with ``g(p) = exp(-p^2 / 2)``. The first term measures
    asymmetry, the second peaks and heavy tails; unlike moments, neither is sensitive to outliers.
    """
    n = len(P)
    k1, k2 = 36 / (8 * np.sqrt(3) - 9), 24 / (16 * np.sqrt(3) - 27)
    bell = np.exp(-np.square(P) / 2)
    odd, even = (P * bell).mean(axis=0), bell.mean(axis=0) - np.sqrt(0.5)
    derivative = 2 * bell * (k1 * odd * (1 - np.square(P)) - k2 * even * P) / n
    return k1 * np.square(odd) + k2 * np.square(even), derivative


def kurtosis(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the squared excess kurtosis ``(E[p^4] - 3)^2``."""
    cubes = P * P * P
    excess = (cubes * P).mean(axis=0) - 3
    return np.square(excess), 8 * excess * cubes / len(P)


def friedman_tukey(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the mean density at the points less its value for a normal sample (Friedman and Tukey 1974).

    ``1 / (n (n-1) h) sum_ij (1 - |p_i - p_j| / h)_+`` is large if the points form clusters. They multiply
    it by the spread of the projection, which is one here. The triangular kernel has the width that is optimal
    for a normal density, and sums over it are exact after sorting.
    """
    n = len(P)
    h = 2.576 * n**-0.2
    order = np.argsort(P, axis=0, kind="stable")
    values, derivative = np.empty(P.shape[1]), np.empty_like(P)
    rank = np.arange(n)
    for column, rows in enumerate(order.T):  # searchsorted works on one column at a time
        p = P[rows, column]
        sums = np.concatenate([[0.0], np.cumsum(p)])
        first, beyond = np.searchsorted(p, p - h, side="right"), np.searchsorted(p, p + h, side="left")
        right = beyond - rank - 1
        values[column] = 2 * np.sum(right * (h + p) - (sums[beyond] - sums[rank + 1]))
        derivative[rows, column] = 2 * (right - (rank - first))
    scale = n * (n - 1) * h * h
    normal = (erf(h / 2) - 2 / (h * np.sqrt(np.pi)) * (1 - np.exp(-h * h / 4))) / h
    return values / scale - normal, derivative / scale


#: The indices by name.
INDICES: dict[str, Index] = {"negentropy": negentropy, "kurtosis": kurtosis, "friedman-tukey": friedman_tukey}


_EPS = np.finfo(np.float64).eps


class Objective(Protocol):
    """Index of projections of whitened data as a function of the directions."""

    def __call__(self, Z: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values (s,) and gradients (s, r) for directions ``W`` (s, r) in data ``Z`` (n, r)."""


@dataclass(frozen=True)
class AnalyticObjective:
    """Objective of an index that provides its derivative."""

    index: Index

    def __call__(self, Z: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, derivative = self.index(Z @ W.T)
        return values, derivative.T @ Z


@dataclass(frozen=True)
class NumericalObjective:
    """Objective of any function of one projection (n,); gradients by central differences.

    Two function values are computed for each variable.
    """

    index: Callable[[np.ndarray], float]

    def __call__(self, Z: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = np.array([self._value(Z @ w) for w in W])
        gradients = np.empty_like(W)
        for j, step in enumerate(1e-5 * np.eye(W.shape[1])):
            up, down = _normalize_rows(W + step), _normalize_rows(W - step)
            gradients[:, j] = [self._value(Z @ u) - self._value(Z @ v) for u, v in zip(up, down, strict=True)]
        return values, gradients / 2e-5

    def _value(self, projection: np.ndarray) -> float:
        value = float(self.index(projection))
        if not np.isfinite(value):
            raise ValueError(
                f"index returned {value} for a projection of {len(projection)} rows;"
                " it must return a finite number"
            )
        return value


@dataclass(frozen=True, eq=False)
class Whitened:
    """``Z = (X - mean) whitener`` of unit covariance; ``X = Z dewhitener + mean``."""

    Z: np.ndarray  # (n, r)
    mean: np.ndarray  # (d,)
    whitener: np.ndarray  # (d, r)
    dewhitener: np.ndarray  # (r, d)


@dataclass(frozen=True, eq=False)
class AscentResult:
    """Final points of gradient ascent from several starts."""

    directions: np.ndarray  # (s, r)
    values: np.ndarray  # (s,)
    steps: np.ndarray  # (s,), length of the next step in radians
    n_iter: int


@dataclass(frozen=True, eq=False)
class PursuitResult:
    """Directions in whitened data, and for each the index and details of its search."""

    directions: np.ndarray  # (k, r), orthonormal
    values: np.ndarray  # (k,)
    start_values: np.ndarray  # (k, n_init)
    steps: np.ndarray  # (k,)
    n_iter: np.ndarray  # (k,)


def whiten(X: np.ndarray, n_components: int) -> Whitened:
    """Rotate and scale to unit covariance; directions without variance are omitted."""
    n, d = X.shape
    mean = X.mean(axis=0)
    offset = (X - mean).mean(axis=0)  # rounding error of the mean
    U, singular_values, V = linalg.svd(X - mean - offset, full_matrices=False)
    mean = mean + offset
    significant = singular_values > max(n, d) * _EPS * singular_values[0]
    significant &= singular_values > offset_rounding(V, mean, max(n, d))
    kept = np.flatnonzero(significant)[: min(n - 1, d)]
    rank = len(kept)
    if rank == 0:
        raise RankError("all rows are equal up to rounding; there is nothing to embed")
    if n_components > rank:
        raise RankError(
            f"n_components={n_components}, but the {n} samples vary along only {rank} direction(s);"
            " lower n_components"
        )
    spread = singular_values[kept, None] / np.sqrt(n)
    return Whitened(U[:, kept] * np.sqrt(n), mean, (V[kept] / spread).T, V[kept] * spread)


def pursue(
    Z: np.ndarray,
    objective: Objective,
    n_components: int,
    n_init: int,
    max_iter: int,
    tol: float,
    seed: int,
) -> PursuitResult:
    """Find directions one at a time, each the best of several starts in the complement of the previous ones.

    Starts that ended at another maximum than the best are started again in the next search, with new ones.
    """
    rng = np.random.default_rng(seed)
    subset = rng.permutation(len(Z))[: TUNING.search_samples]
    basis = np.eye(Z.shape[1])  # of the complement, (r, free)
    remaining = np.zeros((0, Z.shape[1]))
    results: list[tuple[np.ndarray, AscentResult, int]] = []
    with stage("pursuit", total=n_components) as advance:
        for _ in range(n_components):
            starts = _normalize_rows(
                np.concatenate([rng.standard_normal((n_init, basis.shape[1])), remaining @ basis])
            )
            free = Z @ basis
            if len(Z) > TUNING.search_samples:
                sketch = ascend(free[subset], objective, starts, max_iter, tol)
                result = _refine(free, objective, sketch, max_iter, tol)
            else:
                result = ascend(free, objective, starts, max_iter, tol)
            best = int(np.argmax(result.values))
            direction = result.directions[best]
            results.append((basis @ direction, result, best))
            distinct = np.abs(result.directions @ direction) < 0.7  # directions of other maxima
            remaining = result.directions[distinct][:n_init] @ basis.T
            basis = basis @ linalg.null_space(direction[None])
            advance(1)
    return PursuitResult(
        np.array([direction for direction, _, _ in results]),
        np.array([result.values[best] for _, result, best in results]),
        np.array([result.values[:n_init] for _, result, _ in results]),
        np.array([result.steps[best] for _, result, best in results]),
        np.array([result.n_iter for _, result, _ in results]),
    )


def ascend(
    Z: np.ndarray, objective: Objective, starts: np.ndarray, max_iter: int, tol: float
) -> AscentResult:
    """Maximise by gradient ascent on the sphere from all starts at once, with Barzilai-Borwein step lengths.

    A step is at most half a radian long, and is accepted if the gain is at least 1e-4 of the predicted gain.
    A start has converged when its next step would be shorter than ``tol`` radians: it is that close to a
    maximum, or no longer step increases the objective.
    """
    W = starts.copy()
    values, gradients = _tangent_gradients(Z, objective, W)
    lengths = 0.3 / np.maximum(np.linalg.norm(gradients, axis=1), np.finfo(np.float64).tiny)
    n_iter = 0
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        active = np.flatnonzero(_angles(lengths, gradients) > tol)
        if len(active) == 0:
            break
        before, slope, length = W[active], gradients[active], lengths[active]
        trial = _normalize_rows(before + length[:, None] * slope)
        new_values, new_gradients = _tangent_gradients(Z, objective, trial)
        accepted = new_values >= values[active] + 1e-4 * length * np.square(slope).sum(axis=1)
        next_length = _barzilai_borwein(trial - before, new_gradients - slope, length)
        lengths[active] = np.where(accepted, next_length, 0.25 * length)
        moved = active[accepted]
        W[moved], values[moved], gradients[moved] = (
            trial[accepted],
            new_values[accepted],
            new_gradients[accepted],
        )
        longest = 0.5 / np.maximum(np.linalg.norm(gradients[moved], axis=1), 1e-300)
        lengths[moved] = np.minimum(lengths[moved], longest)
    return AscentResult(W, values, _angles(lengths, gradients), n_iter)


def _refine(
    Z: np.ndarray, objective: Objective, sketch: AscentResult, max_iter: int, tol: float
) -> AscentResult:
    """Evaluate directions found on a subset on all samples ``Z``, and continue the ascent of the best."""
    values, _ = objective(Z, sketch.directions)
    best = np.argsort(-values)[:3]
    result = ascend(Z, objective, sketch.directions[best], max_iter, tol)
    directions, steps = sketch.directions.copy(), sketch.steps.copy()
    directions[best], values[best], steps[best] = result.directions, result.values, result.steps
    return AscentResult(directions, values, steps, max(sketch.n_iter, result.n_iter))


def _barzilai_borwein(moves: np.ndarray, changes: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return ``|s|^2 / |s'y|`` for moves ``s`` and gradient changes ``y``: the inverse of the curvature."""
    curvature = np.abs((moves * changes).sum(axis=1))
    square = np.square(moves).sum(axis=1)
    curved = curvature > 1e-12 * square / np.maximum(lengths, 1e-300)
    return np.where(curved, square / np.maximum(curvature, 1e-300), 2 * lengths)


def _tangent_gradients(Z: np.ndarray, objective: Objective, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values, and gradients without their component along the direction itself."""
    values, gradients = objective(Z, W)
    return values, gradients - (gradients * W).sum(axis=1, keepdims=True) * W


def _angles(lengths: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """Return the lengths in radians of the next steps."""
    return lengths * np.linalg.norm(gradients, axis=1)


def _normalize_rows(W: np.ndarray) -> np.ndarray:
    """Return the rows scaled to unit norm."""
    return W / np.linalg.norm(W, axis=1, keepdims=True)
