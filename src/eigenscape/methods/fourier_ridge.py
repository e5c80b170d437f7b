"""Ridge regression on random Fourier features, with width and regularisation by leave-one-out error.

``cos(w'x)`` and ``sin(w'x)`` with normal ``w`` of variance ``2 gamma`` have scalar products that approximate
``exp(-gamma |x - y|^2)`` (Rahimi and Recht 2008), so this is kernel ridge regression whose size does not
depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import eigh

from eigenscape._display import short_repr
from eigenscape._memory import row_blocks
from eigenscape._typing import Rows
from eigenscape.kernels.base import as_float64, n_points
from eigenscape.kernels.pairwise import Gaussian
from eigenscape.methods.kernel_ridge import leave_one_out_errors
from eigenscape.methods.local_affine import evenly_spaced, mean_row

#: Widths to choose from, relative to one over the squared median distance.
WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)


@dataclass(frozen=True, eq=False)
class FourierMap:
    """``y(x) = sum_j a_j cos(w_j'x + b_j) + c_j sin(w_j'x + b_j) + y_0``."""

    _shapes: ClassVar = {"frequencies": "d f", "phases": "f", "coefficients": "* p", "origin": "p"}
    frequencies: np.ndarray  # (n_features, p)
    phases: np.ndarray  # (p,)
    coefficients: np.ndarray  # (2 p, r), of the cosines, then of the sines
    origin: np.ndarray  # (r,)

    __repr__ = short_repr

    def transform(self, Y: Rows) -> np.ndarray:
        """Return the values (n_new, r) at any points."""
        parts = [
            self.features(Y[rows]) @ self.coefficients + self.origin
            for rows in row_blocks(n_points(Y), 64 * len(self.phases))
        ]
        return np.concatenate(parts) if parts else np.empty((0, len(self.origin)))

    def features(self, Y: Rows) -> np.ndarray:
        """Return the features (n_new, 2 p)."""
        return _waves(np.asarray(as_float64(Y) @ self.frequencies) + self.phases)


@dataclass(frozen=True, eq=False)
class RegressorMap:
    """Any fitted regressor, an object with ``predict``, as a map."""

    regressor: Any

    def transform(self, Y: Any) -> np.ndarray:
        """Return the predicted coordinates (n_new, r)."""
        values = np.asarray(self.regressor.predict(Y), dtype=np.float64)
        return values.reshape(len(values), -1)


class FourierRidge(NamedTuple):
    """A fitted map, its width, regularisations (r,), and leave-one-out errors (r,) relative to the spread."""

    map: FourierMap
    gamma: float
    alphas: np.ndarray
    errors: np.ndarray


def fit_fourier_ridge(
    X: Rows, targets: np.ndarray, n_functions: int, gammas: Sequence[float], rng: np.random.Generator
) -> FourierRidge:
    """Fit ``n_functions`` random features to ``targets`` (n, r).

    The width has the least sum of relative leave-one-out errors over the coordinates, of 1000 rows and 300
    features. Each coordinate has the regularisation of its least error.
    """
    X = as_float64(X)
    center = np.asarray(mean_row(X)).ravel()
    directions = rng.standard_normal((X.shape[1], max(1, n_functions // 2)))
    origin = targets.mean(axis=0)
    spread = np.maximum(targets.std(axis=0), np.finfo(np.float64).tiny)
    Y = (targets - origin) / spread
    best = gammas[0]
    if len(gammas) > 1:
        some, few = evenly_spaced(n_points(X), 1000), directions[:, :150]
        sums = [_solve(X[some], Y[some], np.sqrt(2 * gamma) * few, center)[2].sum() for gamma in gammas]
        best = gammas[int(np.argmin(sums))]
    frequencies = np.sqrt(2 * best) * directions
    coefficients, alphas, errors = _solve(X, Y, frequencies, center)
    constant = origin + coefficients[-1] * spread
    fitted = FourierMap(frequencies, -center @ frequencies, coefficients[:-1] * spread, constant)
    return FourierRidge(fitted, float(best), alphas, errors)


def candidate_widths(X: Rows) -> list[float]:
    """Return widths ``gamma`` to choose from, around one over the squared median distance."""
    middle = Gaussian(None).resolve(as_float64(X)).gamma
    assert middle is not None
    return [width * middle for width in WIDTHS]


def _waves(phases: np.ndarray) -> np.ndarray:
    return np.concatenate([np.cos(phases), np.sin(phases)], axis=1)


def _solve(
    X: Any, Y: np.ndarray, frequencies: np.ndarray, center: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coefficients (2 p + 1, r), the last ones constant, regularisations (r,) and errors (r,).

    The errors are leave-one-out errors of at most 2000 rows.
    """
    n, width, phases = len(Y), 2 * frequencies.shape[1] + 1, -center @ frequencies

    def features(rows: Any) -> np.ndarray:
        waves = _waves(np.asarray(X[rows] @ frequencies) + phases)
        return np.column_stack([waves, np.ones(len(waves))])

    square, moment = np.zeros((width, width)), np.zeros((width, Y.shape[1]))
    for rows in row_blocks(n, 64 * width):
        F = features(rows)
        square += F.T @ F
        moment += F.T @ Y[rows]
    values, vectors = eigh(square, overwrite_a=True)
    values, rotated = np.maximum(values, 0.0), vectors.T @ moment
    some, alphas = evenly_spaced(n, 2000), n * np.logspace(-9, 0, 19)
    errors = leave_one_out_errors(features(some) @ vectors, values, rotated, Y[some], alphas)
    best = alphas[errors.argmin(axis=0)]
    return vectors @ (rotated / (values[:, None] + best)), best, errors.min(axis=0)
