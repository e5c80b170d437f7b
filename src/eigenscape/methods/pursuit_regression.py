"""Projection pursuit regression (Burges sec. 1; Friedman and Stuetzle 1981).

The regression function is ``mean + sum_m g_m(w_m'x)`` with smooth ``g_m``. Terms are added one at a time to
the residuals of the others; each new one is followed by cycles in which every term is fitted again.
Directions are found with least-squares splines of few knots; then the functions are smoothed with a penalty.
The number of terms is found by cross-validation: a search over directions explains much of any noise.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import linalg
from scipy.interpolate import BSpline, make_lsq_spline, make_smoothing_spline

from eigenscape._progress import stage
from eigenscape.methods.tuning import TUNING


@dataclass(frozen=True, eq=False)
class RidgeFunction:
    """``g(w'x)``: a cubic spline ``g``, continued linearly beyond the training data."""

    direction: np.ndarray  # (d,)
    knots: np.ndarray
    coefficients: np.ndarray
    degree: int
    bounds: tuple[float, float]

    def value_and_slope(self, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``g`` and its derivative at projections (n,)."""
        spline = BSpline(self.knots, self.coefficients, self.degree)
        inside = np.clip(P, *self.bounds)
        slope = spline.derivative()(inside)
        return spline(inside) + slope * (P - inside), slope

    def __call__(self, Z: np.ndarray) -> np.ndarray:
        """Return the values (n,) at the rows of ``Z``."""
        return self.value_and_slope(Z @ self.direction)[0]


@dataclass(frozen=True, eq=False)
class PursuitRegression:
    """``mean + sum_m g_m(w_m'z)`` with ``z = (x - origin) / scale``."""

    _shapes: ClassVar = {"origin": "d", "scale": "d"}
    origin: np.ndarray
    scale: np.ndarray
    mean: float
    terms: list[RidgeFunction]

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the values (n,) at the rows of ``X``."""
        Z = (X - self.origin) / self.scale
        return self.mean + sum((term(Z) for term in self.terms), np.zeros(len(Z)))


@dataclass(frozen=True)
class PursuitOptions:
    """Largest number of terms, smallest share of the variance of a term, and parameters of the search."""

    n_terms: int
    min_gain: float
    n_init: int
    max_iter: int
    tol: float
    seed: int
    cv: int | None = None  # number of folds that decide on the number of terms


class PursuitStep(NamedTuple):
    """A model, the share of the variance that it does not explain, and its number of cycles."""

    model: PursuitRegression
    unexplained: float
    cycles: int


def fit_pursuit_regression(
    X: np.ndarray, y: np.ndarray, options: PursuitOptions
) -> tuple[PursuitRegression, np.ndarray, int]:
    """Return the model, the share of variance that 0, 1, .. terms leave, and the largest number of cycles."""
    n_terms = options.n_terms if options.cv is None else cross_validated_terms(X, y, options)
    with stage("pursuit", total=n_terms) as advance:
        steps = []
        for step in islice(_path(X, y, options), n_terms + 1):
            steps.append(step)
            advance(1)
    shares = np.array([step.unexplained for step in steps])
    return steps[-1].model, shares, max(step.cycles for step in steps)


def cross_validated_terms(X: np.ndarray, y: np.ndarray, options: PursuitOptions) -> int:
    """Return the number of terms such that each term lowers the squared error of samples left out.

    The mean decrease must exceed its standard error over the samples. The number of terms is increased until
    one does not.
    """
    order = np.random.default_rng(options.seed).permutation(len(X))
    parts = np.array_split(order, min(options.cv or len(X), len(X)))
    paths = [_path(np.delete(X, part, axis=0), np.delete(y, part), options) for part in parts]
    error = np.zeros(len(X))
    with stage("cross-validation", total=options.n_terms) as advance:
        for count in range(-1, options.n_terms):
            trial = error.copy()
            for part, path in zip(parts, paths, strict=True):
                step = next(path, None)  # None: no further term explains min_gain there
                if step is not None:
                    trial[part] = np.square(y[part] - step.model(X[part]))
            decrease = error - trial
            if count >= 0 and decrease.mean() <= decrease.std() / np.sqrt(len(X)):
                return count
            error = trial
            advance(1)
    return options.n_terms


def _path(X: np.ndarray, y: np.ndarray, options: PursuitOptions) -> Iterator[PursuitStep]:
    """Yield models of 0, 1, .. terms, until one explains less than ``min_gain`` more of the variance."""
    origin, scale = X.mean(axis=0), X.std(axis=0)
    rounding = len(X) * np.finfo(float).eps * np.abs(X).max(axis=0)
    scale = np.where(scale > rounding, scale, np.inf)  # a constant column has no part in any direction
    Z, mean = (X - origin) / scale, float(y.mean())
    basis = _row_basis(Z) if Z.shape[1] > len(Z) else None  # all steps are within the span of the rows
    Z = Z if basis is None else Z @ basis.T
    total = float(np.square(y - mean).sum())
    terms: list[RidgeFunction] = []
    step = PursuitStep(PursuitRegression(origin, scale, mean, terms), 1.0, 1)
    yield step
    rng = np.random.default_rng(options.seed)
    while len(terms) < options.n_terms and total > 0 and Z.any():
        residual = y - mean - sum((term(Z) for term in terms), np.zeros(len(Z)))
        trial, cycles = _backfit(Z, y - mean, [*terms, _new_term(Z, residual, options, rng)], options)
        share = float(np.square(y - mean - sum(term(Z) for term in trial)).sum()) / total
        if step.unexplained - share < options.min_gain:
            break
        terms = trial
        whole = [term if basis is None else replace(term, direction=term.direction @ basis) for term in terms]
        step = PursuitStep(PursuitRegression(origin, scale, mean, whole), share, cycles)
        yield step


def _row_basis(Z: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (rank, d) of the span of the rows of ``Z`` (n, d), d > n."""
    _, sizes, basis = linalg.svd(Z, full_matrices=False)
    return basis[sizes > Z.shape[1] * np.finfo(float).eps * sizes[0]]


def _new_term(
    Z: np.ndarray, residual: np.ndarray, options: PursuitOptions, rng: np.random.Generator
) -> RidgeFunction:
    """Return the best term from several starts: linear, principal Hessian directions, and random ones.

    The Hessian direction is that along which the residuals are most curved; a linear start would not find an
    even function.
    """
    n, d = Z.shape
    linear = linalg.solve(Z.T @ Z + TUNING.newton_ridge * n * np.eye(d), Z.T @ residual, assume_a="pos")
    hessian = linalg.eigh(Z.T @ (residual[:, None] * Z))
    order = np.argsort(-np.abs(hessian[0]))[:2]
    random = rng.standard_normal((options.n_init, d)) * (Z != 0).any(axis=0)
    starts = [linear, *hessian[1][:, order].T, *random]
    first = replace(options, max_iter=min(3, options.max_iter))  # then the best start is continued
    found = [_improve(Z, residual, start, first) for start in starts if np.linalg.norm(start) > 0]
    best = min(found, key=lambda pair: pair[1])[0]
    return _improve(Z, residual, best.direction, options)[0]


def _improve(
    Z: np.ndarray, residual: np.ndarray, direction: np.ndarray, options: PursuitOptions
) -> tuple[RidgeFunction, float]:
    """Alternate between the smooth and the direction, by steps of Gauss and Newton that lower the error."""
    term = smooth(Z, residual, direction / np.linalg.norm(direction))
    error = float(np.square(residual - term(Z)).sum())
    for _ in range(options.max_iter):
        value, slope = term.value_and_slope(Z @ term.direction)
        J = slope[:, None] * Z
        gram = J.T @ J
        ridge = TUNING.newton_ridge * np.trace(gram) / len(gram)
        if ridge < np.finfo(float).tiny:  # a constant function has no better direction nearby
            break
        step = linalg.solve(gram + ridge * np.eye(len(gram)), J.T @ (residual - value), assume_a="pos")
        before = error
        for halving in range(4):
            moved = term.direction + step / 2**halving
            trial = smooth(Z, residual, moved / np.linalg.norm(moved))
            trial_error = float(np.square(residual - trial(Z)).sum())
            if trial_error < error:
                term, error = trial, trial_error
                break
        if before - error <= options.tol * before:
            break
    return term, error


def _backfit(
    Z: np.ndarray, target: np.ndarray, terms: list[RidgeFunction], options: PursuitOptions
) -> tuple[list[RidgeFunction], int]:
    """Fit each term again to the residuals of the others, until the error no longer falls by ``tol``.

    Returns the terms and the number of cycles, at least 1.
    """
    values = [term(Z) for term in terms]
    error = np.square(target - sum(values)).sum()
    cycles = 0
    while len(terms) > 1 and cycles < options.max_iter:
        cycles += 1
        before, kept = error, list(terms)
        for m in range(len(terms)):
            residual = target - sum(value for other, value in enumerate(values) if other != m)
            one_step = replace(options, max_iter=1)
            trial, trial_error = _improve(Z, residual, terms[m].direction, one_step)
            if trial_error < error:
                kept[m], values[m], error = trial, trial(Z), trial_error
        terms = kept
        if before - error <= options.tol * before:
            break
    for _ in range(2 if len(terms) > 1 else 1):
        for m in range(len(terms)):
            residual = target - sum(value for other, value in enumerate(values) if other != m)
            terms[m] = smooth(Z, residual, terms[m].direction, penalized=True)
            values[m] = terms[m](Z)
    return terms, max(cycles, 1)


def smooth(
    Z: np.ndarray, target: np.ndarray, direction: np.ndarray, penalized: bool = False
) -> RidgeFunction:
    """Fit a cubic spline to the means of groups of neighbours on the projection.

    It has four interior knots or, if ``penalized``, many and a penalty chosen by generalised
    cross-validation. With fewer than five distinct projections it is a straight line.
    """
    P = Z @ direction
    order = np.argsort(P, kind="stable")
    _, first = np.unique(P[order], return_index=True)
    if len(first) > TUNING.max_groups:
        first = first[
            np.unique(np.searchsorted(first, np.arange(TUNING.max_groups) * len(P) // TUNING.max_groups))
        ]
    counts = np.diff(np.append(first, len(P)))
    x = np.add.reduceat(P[order], first) / counts
    y = np.add.reduceat(target[order], first) / counts
    apart = np.append(True, np.diff(x) > 1e-9 * max(float(np.ptp(x)), np.finfo(float).tiny))
    bounds = float(x[0]), float(x[-1])
    if apart.sum() < 5 or not apart.all():
        return _straight(P, target, direction, bounds)
    if penalized:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of the search for the penalty
                spline = make_smoothing_spline(x, y, w=counts.astype(float))
        except ValueError:  # groups too close to one another for a spline
            return _straight(P, target, direction, bounds)
    else:
        inner = x[np.linspace(0, len(x) - 1, min(4, len(x) - 4) + 2).astype(int)[1:-1]]
        knots = np.concatenate([np.repeat(x[0], 4), inner, np.repeat(x[-1], 4)])
        spline = make_lsq_spline(x, y, knots, w=np.sqrt(counts))
    return RidgeFunction(direction, spline.t, spline.c, spline.k, bounds)


def _straight(
    P: np.ndarray, target: np.ndarray, direction: np.ndarray, bounds: tuple[float, float]
) -> RidgeFunction:
    """Return the line of least squares, a constant if all positions are equal."""
    line = np.polynomial.Polynomial.fit(P, target, 1 if bounds[0] < bounds[1] else 0)
    low, high = bounds if bounds[0] < bounds[1] else (bounds[0], bounds[0] + 1.0)
    ends = np.array([line(low), line(high)])
    return RidgeFunction(direction, np.array([low, low, high, high]), ends, 1, bounds)
