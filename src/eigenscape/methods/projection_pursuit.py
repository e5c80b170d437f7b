"""Projection pursuit (Burges sec. 1; Friedman and Tukey 1974): the least normal projections, one after
another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eigenscape._progress import stage
from eigenscape.exceptions import RankError
from eigenscape.methods.pca import offset_rounding
from eigenscape.methods.pursuit_index import Index

#: Values (s,) and gradients (s, r) of an index for directions (s, r) in whitened data (n, r).
Climb = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

#: Longest step in radians; least part of the promised gain; how much shorter a step is tried next.
_LONGEST, _ARMIJO, _SHORTER = 0.5, 1e-4, 0.25
#: Starts climb on this many rows; of more, the best few go on from there on all of them.
_SAMPLE, _FINISHERS = 5000, 3
#: Directions with a smaller cosine are not the same maximum.
_APART = 0.7
#: Half the span of a numerical derivative.
_NUDGE = 1e-5

_EPS = np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Whitened:
    """``Z = (X - mean) whitener``, of unit covariance; ``dewhitener`` leads back."""

    Z: np.ndarray  # (n, r)
    mean: np.ndarray  # (d,)
    whitener: np.ndarray  # (d, r)
    dewhitener: np.ndarray  # (r, d)


@dataclass(frozen=True, eq=False)
class Climbed:
    """Where the starts of one search ended."""

    directions: np.ndarray  # (s, r)
    values: np.ndarray  # (s,)
    steps: np.ndarray  # (s,), radians that the next step would go
    n_iter: int


@dataclass(frozen=True, eq=False)
class Pursuit:
    """Directions found in whitened data, with what the search has to say about each."""

    directions: np.ndarray  # (k, r), orthonormal
    values: np.ndarray  # (k,)
    start_values: np.ndarray  # (k, n_init)
    steps: np.ndarray  # (k,)
    n_iter: np.ndarray  # (k,)


def whiten(X: np.ndarray, n_components: int) -> Whitened:
    """Rotate and scale to unit covariance; directions without variance are left out."""
    n, d = X.shape
    mean = X.mean(axis=0)
    rest = (X - mean).mean(axis=0)  # what rounding left of an offset
    U, size, V = linalg.svd(X - mean - rest, full_matrices=False)
    mean = mean + rest
    real = (size > max(n, d) * _EPS * size[0]) & (size > offset_rounding(V, mean, max(n, d)))
    kept = np.flatnonzero(real)[: min(n - 1, d)]
    rank = len(kept)
    if rank == 0:
        raise RankError("all rows are equal up to rounding; there is nothing to embed")
    if n_components > rank:
        raise RankError(
            f"n_components={n_components}, but the {n} samples vary along only {rank} direction(s); lower n_components"
        )
    spread = size[kept, None] / np.sqrt(n)
    return Whitened(U[:, kept] * np.sqrt(n), mean, (V[kept] / spread).T, V[kept] * spread)


def pursue(
    Z: np.ndarray, climb: Climb, n_components: int, n_init: int, max_iter: int, tol: float, seed: int
) -> Pursuit:
    """One direction at a time, each the best of several starts in the complement of those before (deflation).

    Starts that ended at another maximum than the best begin the next search again, beside new ones.
    """
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(Z))[:_SAMPLE]
    basis = np.eye(Z.shape[1])  # of the complement, (r, free)
    left = np.zeros((0, Z.shape[1]))
    found: list[tuple[np.ndarray, Climbed, int]] = []
    with stage("pursuit", total=n_components) as advance:
        for _ in range(n_components):
            starts = _unit(np.concatenate([rng.standard_normal((n_init, basis.shape[1])), left @ basis]))
            free = Z @ basis
            if len(Z) > _SAMPLE:
                climbed = _finish(
                    free, climb, ascend(free[rows], climb, starts, max_iter, tol), max_iter, tol
                )
            else:
                climbed = ascend(free, climb, starts, max_iter, tol)
            best = int(np.argmax(climbed.values))
            direction = climbed.directions[best]
            found.append((basis @ direction, climbed, best))
            left = climbed.directions[np.abs(climbed.directions @ direction) < _APART][:n_init] @ basis.T
            basis = basis @ linalg.null_space(direction[None])
            advance(1)
    return Pursuit(
        np.array([direction for direction, _, _ in found]),
        np.array([climbed.values[best] for _, climbed, best in found]),
        np.array([climbed.values[:n_init] for _, climbed, _ in found]),
        np.array([climbed.steps[best] for _, climbed, best in found]),
        np.array([climbed.n_iter for _, climbed, _ in found]),
    )


def ascend(Z: np.ndarray, climb: Climb, starts: np.ndarray, max_iter: int, tol: float) -> Climbed:
    """Gradient ascent on the sphere from all starts at once, with Barzilai and Borwein's step lengths.

    A start is done when the step it would take next is shorter than ``tol`` radians: it is that near to a
    maximum, or no longer step leads upwards."""
    W = starts.copy()
    values, gradients = _on_sphere(Z, climb, W)
    lengths = 0.3 / np.maximum(np.linalg.norm(gradients, axis=1), np.finfo(np.float64).tiny)
    n_iter = 0
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        active = np.flatnonzero(_angles(lengths, gradients) > tol)
        if len(active) == 0:
            break
        before, slope, length = W[active], gradients[active], lengths[active]
        tried = _unit(before + length[:, None] * slope)
        new_values, new_gradients = _on_sphere(Z, climb, tried)
        better = new_values >= values[active] + _ARMIJO * length * np.square(slope).sum(axis=1)
        lengths[active] = np.where(
            better, _next_length(tried - before, new_gradients - slope, length), _SHORTER * length
        )
        moved = active[better]
        W[moved], values[moved], gradients[moved] = tried[better], new_values[better], new_gradients[better]
        lengths[moved] = np.minimum(
            lengths[moved], _LONGEST / np.maximum(np.linalg.norm(gradients[moved], axis=1), 1e-300)
        )
    return Climbed(W, values, _angles(lengths, gradients), n_iter)


def _finish(Z: np.ndarray, climb: Climb, sketch: Climbed, max_iter: int, tol: float) -> Climbed:
    """What was found on some rows, seen on all ``Z``: valued there, and the best climbed to the end."""
    values, _ = climb(Z, sketch.directions)
    best = np.argsort(-values)[:_FINISHERS]
    end = ascend(Z, climb, sketch.directions[best], max_iter, tol)
    directions, steps = sketch.directions.copy(), sketch.steps.copy()
    directions[best], values[best], steps[best] = end.directions, end.values, end.steps
    return Climbed(directions, values, steps, max(sketch.n_iter, end.n_iter))


def _next_length(moves: np.ndarray, bends: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """``|s|^2 / |s'y|`` for moves ``s`` and changes of the gradient ``y``: one over the curvature."""
    curvature = np.abs((moves * bends).sum(axis=1))
    square = np.square(moves).sum(axis=1)
    return np.where(
        curvature > 1e-12 * square / np.maximum(lengths, 1e-300),
        square / np.maximum(curvature, 1e-300),
        2 * lengths,
    )


def _on_sphere(Z: np.ndarray, climb: Climb, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values, and gradients without their part along the direction itself."""
    values, gradients = climb(Z, W)
    return values, gradients - (gradients * W).sum(axis=1, keepdims=True) * W


def _angles(lengths: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    return lengths * np.linalg.norm(gradients, axis=1)


def _unit(W: np.ndarray) -> np.ndarray:
    return W / np.linalg.norm(W, axis=1, keepdims=True)


def by_derivative(index: Index) -> Climb:
    """An index that knows its derivative."""

    def climb(Z: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, derivative = index(Z @ W.T)
        return values, derivative.T @ Z

    return climb


def by_differences(index: Callable[[np.ndarray], float]) -> Climb:
    """Any function of one projection (n,): its gradient by central differences, two values for each
    variable."""

    def value(projection: np.ndarray) -> float:
        found = float(index(projection))
        if not np.isfinite(found):
            raise ValueError(
                f"index returned {found} for a projection of {len(projection)} rows; it must return a finite number"
            )
        return found

    def climb(Z: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = np.array([value(Z @ w) for w in W])
        gradients = np.empty_like(W)
        for j, nudge in enumerate(_NUDGE * np.eye(W.shape[1])):
            up, down = _unit(W + nudge), _unit(W - nudge)
            gradients[:, j] = [value(Z @ u) - value(Z @ v) for u, v in zip(up, down, strict=True)]
        return values, gradients / (2 * _NUDGE)

    return climb
