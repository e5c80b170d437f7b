"""Ridge regression on eigenfunctions: few labels, many points (Belkin and Niyogi 2003).

A function on a manifold is approximated by ``f(x) = b + sum_r c_r f_r(x)`` with the first ``N``
eigenfunctions of a kernel, which all points determine, and with coefficients that the labelled points
determine:

    min  sum_i w_i (y_i - f(x_i))^2 + alpha sum_i w_i  sum_r rho_r^p c_r^2

``rho_r`` is the roughness of ``f_r`` (at least 0.01 of the largest) relative to the first one. ``p = 0`` is
the plain ridge of a truncated basis; ``p = 1, 2`` penalise the energy ``f'L^p f`` of the graph Laplacian
``L`` (Belkin, Matveeva and Niyogi 2004). ``N``, ``alpha`` and ``p`` minimise the leave-one-out error, which
has a closed form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg import eigh

from eigenscape._progress import stage


class RidgeGrid(NamedTuple):
    """Values to choose from: numbers of functions, regularisations, and exponents of the roughness."""

    n_functions: Sequence[int]
    alphas: Sequence[float]
    smoothness: Sequence[float]


@dataclass(frozen=True, eq=False)
class EigenRidge:
    """A fitted ridge regression on the first eigenfunctions.

    Parameters
    ----------
    coefficients : ndarray of shape (N, n_outputs)
    intercept : ndarray of shape (n_outputs,)
    alpha, smoothness : float
        The regularisation and the exponent of the roughness that were chosen.
    left_out : ndarray of shape (n_labelled, n_outputs)
        Value of each labelled point predicted from the others.
    error : float
        Weighted mean squared leave-one-out error.
    """

    _shapes: ClassVar = {"coefficients": "r t", "intercept": "t", "left_out": "n t"}
    coefficients: np.ndarray
    intercept: np.ndarray
    alpha: float
    smoothness: float
    left_out: np.ndarray
    error: float

    def __call__(self, functions: np.ndarray) -> np.ndarray:
        """Return the values (n, n_outputs) from eigenfunctions (n, at least N)."""
        return functions[:, : len(self.coefficients)] @ self.coefficients + self.intercept


def fit_eigen_ridge(
    functions: np.ndarray, Y: np.ndarray, roughness: np.ndarray, weights: np.ndarray, grid: RidgeGrid
) -> EigenRidge:
    """Fit the regression with the least leave-one-out error over a grid; of equal errors the first.

    Parameters
    ----------
    functions : ndarray of shape (n_labelled, n_functions)
        Eigenfunctions at the labelled points, scaled to a common variance.
    Y : ndarray of shape (n_labelled, n_outputs)
    roughness : ndarray of shape (n_functions,)
        Positive; 1 for the first function.
    weights : ndarray of shape (n_labelled,)
        Positive weights of the labelled points.
    grid : RidgeGrid
    """
    weights = weights / weights.sum()
    best: EigenRidge | None = None
    with stage("regression", total=len(grid.n_functions)) as advance:
        for count in grid.n_functions:
            for smoothness in grid.smoothness:
                scale = roughness[:count] ** (-smoothness / 2)
                for fit in _ridge_path(functions[:, :count], Y, weights, grid.alphas, scale, smoothness):
                    if best is None or fit.error < best.error * (1 - 1e-9):  # equal but for rounding
                        best = fit
            advance(1)
    if best is None:
        raise ValueError("the grid of the ridge regression is empty")
    return best


def _ridge_path(
    F: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray,
    alphas: Sequence[float],
    scale: np.ndarray,
    smoothness: float,
) -> Iterator[EigenRidge]:
    """Return ridge regressions on ``F * scale`` for several regularisations, from one decomposition.

    The leave-one-out residual of a point is its residual over ``1 - h``, where ``h`` is the derivative of its
    fitted value by its own value. A point with ``h = 1`` up to rounding determines a coefficient alone.
    """
    mean, centre = weights @ F, weights @ Y
    root = np.sqrt(weights)[:, None]
    centred = root * (F - mean) * scale
    values, vectors = eigh(centred.T @ centred)
    values, rotated = np.maximum(values, 0.0), centred @ vectors
    moment = rotated.T @ (root * (Y - centre))
    for alpha in alphas:
        solution = moment / (values + alpha)[:, None]
        fitted = centre + (rotated @ solution) / root
        leverage = weights + rotated**2 @ (1 / (values + alpha))
        free = np.where(leverage < 1 - 1e-9, 1 - leverage, np.nan)
        left_out = Y - (Y - fitted) / free[:, None]
        error = float(np.nan_to_num(weights @ ((Y - left_out) ** 2).sum(axis=1), nan=np.inf))
        coefficients = scale[:, None] * (vectors @ solution)
        yield EigenRidge(
            coefficients, centre - mean @ coefficients, float(alpha), smoothness, left_out, error
        )
