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
from eigenscape.methods.inverse import evenly_spaced, mean_row

#: Rows on which the leave-one-out error is measured; rows and frequencies from which the width is chosen.
_SOME, _FEW_ROWS, _FEW_FREQUENCIES = 2000, 1000, 150
#: Widths to choose from, relative to one over the squared median distance.
WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
#: Regularisations to choose from, relative to the number of rows.
_ALPHAS = np.logspace(-9, 0, 19)


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
    features; the regularisation is that of the least error of each coordinate.
    """
    X = as_float64(X)
    center = np.asarray(mean_row(X)).ravel()
    directions = rng.standard_normal((X.shape[1], max(1, n_functions // 2)))
    origin = targets.mean(axis=0)
    spread = np.maximum(targets.std(axis=0), np.finfo(np.float64).tiny)
    Y = (targets - origin) / spread
    best = gammas[0]
    if len(gammas) > 1:
        some, few = evenly_spaced(n_points(X), _FEW_ROWS), directions[:, :_FEW_FREQUENCIES]
        sums = [_solve(X[some], Y[some], _basis(few, center, gamma))[2].sum() for gamma in gammas]
        best = gammas[int(np.argmin(sums))]
    basis = _basis(directions, center, best)
    coefficients, alphas, errors = _solve(X, Y, basis)
    fitted = FourierMap(
        basis.frequencies, basis.phases, coefficients[:-1] * spread, origin + coefficients[-1] * spread
    )
    return FourierRidge(fitted, float(best), alphas, errors)


def candidate_widths(X: Rows) -> list[float]:
    """Return widths ``gamma`` to choose from, around one over the squared median distance."""
    middle = Gaussian(None).resolve(as_float64(X)).gamma
    assert middle is not None
    return [width * middle for width in WIDTHS]


class _Basis(NamedTuple):
    frequencies: np.ndarray
    phases: np.ndarray

    def __call__(self, X: Any) -> np.ndarray:
        """Return the features and a constant (n, 2 p + 1)."""
        waves = _waves(np.asarray(X @ self.frequencies) + self.phases)
        return np.column_stack([waves, np.ones(len(waves))])


def _basis(directions: np.ndarray, center: np.ndarray, gamma: float) -> _Basis:
    frequencies = np.sqrt(2 * gamma) * directions
    return _Basis(frequencies, -center @ frequencies)


def _waves(phases: np.ndarray) -> np.ndarray:
    return np.concatenate([np.cos(phases), np.sin(phases)], axis=1)


def _solve(X: Any, Y: np.ndarray, basis: _Basis) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coefficients (2 p + 1, r), regularisations (r,) and leave-one-out errors (r,)."""
    n, width = len(Y), 2 * len(basis.phases) + 1
    square, moment = np.zeros((width, width)), np.zeros((width, Y.shape[1]))
    for rows in row_blocks(n, 64 * width):
        F = basis(X[rows])
        square += F.T @ F
        moment += F.T @ Y[rows]
    values, vectors = eigh(square, overwrite_a=True)
    values, rotated = np.maximum(values, 0.0), vectors.T @ moment
    some = evenly_spaced(n, _SOME)
    F = basis(X[some]) @ vectors
    errors = np.empty((len(_ALPHAS), Y.shape[1]))
    for place, alpha in enumerate(n * _ALPHAS):
        shrunk = F / (values + alpha)
        leverage = np.einsum("ij,ij->i", shrunk, F)
        left = (Y[some] - shrunk @ rotated) / np.maximum(1.0 - leverage, 1e-10)[:, None]
        errors[place] = np.sqrt(np.square(left).mean(axis=0))
    best = errors.argmin(axis=0)
    alphas = n * _ALPHAS[best]
    coefficients = vectors @ (rotated / (values[:, None] + alphas))
    return coefficients, alphas, errors.min(axis=0)
