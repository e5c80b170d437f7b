"""Kernel ridge regression with a bounded number of centres."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np
from scipy.linalg import eigh

from eigenscape.kernels.base import n_points
from eigenscape.kernels.pairwise import Gaussian, PairwiseKernel
from eigenscape.methods.local_affine import evenly_spaced, map_rows, mean_row, to_dense
from eigenscape.methods.tuning import TUNING

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class KernelRidge:
    """Kernel ridge regression from coordinates to rows (or from rows to coordinates, with the two exchanged).

    For up to 1000 points this is ``K (K + alpha I)^-1 X`` around the mean row. For more points, evenly spaced
    ones are the centres of the basis functions, and all points determine their coefficients, so that no n x n
    matrix is formed.

    Parameters
    ----------
    X : array of shape (n, n_features), dense or sparse
        Values of the regression.
    coordinates : array of shape (n, d)
        Arguments of the regression.
    gamma : float or None
        Width of the Gaussian kernel between coordinates. If None, one over their median squared distance.
    alpha : float or None
        Regularisation. If None, it is chosen by leave-one-out error.
    n_jobs : int or None
        Number of threads.
    kernel : PairwiseKernel or None
        Kernel to be used instead of the Gaussian.
    centers : array of int or None
        Indices of the centres.
    """

    X: Any
    coordinates: Any
    gamma: float | None = None
    alpha: float | None = None
    n_jobs: int | None = None
    kernel: PairwiseKernel | None = None
    centers: np.ndarray | None = None

    @cached_property
    def _basis(self) -> tuple[PairwiseKernel, Any, np.ndarray]:
        """The kernel, the centres (p, d), and the matrix (p, q) that orthonormalises the kernel functions."""
        kernel = Gaussian(self.gamma).resolve(self.coordinates) if self.kernel is None else self.kernel
        indices = self.centers
        if indices is None:
            indices = evenly_spaced(n_points(self.coordinates), TUNING.ridge_centers)
        centers = self.coordinates[indices]
        values, vectors = eigh(kernel.evaluate(centers, centers))
        usable = values > 1e-13 * values[-1]  # not rounding errors
        return kernel, centers, vectors[:, usable] / np.sqrt(values[usable])

    def _features(self, Y: np.ndarray) -> np.ndarray:
        """Return the orthonormal basis functions (n_new, q) at coordinates."""
        kernel, centers, basis = self._basis
        return kernel.evaluate(Y, centers) @ basis

    @cached_property
    def _solution(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients (q, n_features), the mean row, and ``(F'F + alpha I)^-1`` (q, q)."""
        mean = mean_row(self.X)
        blocks = self._map(self._sums, np.arange(n_points(self.coordinates)))
        square, product, total = (reduce(np.add, terms) for terms in zip(*blocks, strict=True))
        values, vectors = eigh(square)
        values, moment = np.maximum(values, 0.0), product - np.outer(total, mean)  # F'(X - mean)
        alpha = self._best_alpha(mean, values, vectors, moment) if self.alpha is None else self.alpha
        inverse = (vectors / (values + alpha)) @ vectors.T
        return inverse @ moment, mean, inverse

    def _sums(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ``F'F``, ``F'X`` and ``F'1`` over some training points."""
        F = self._features(self.coordinates[indices])
        return F.T @ F, to_dense((self.X[indices].T @ F).T), F.sum(axis=0)

    def _best_alpha(
        self, mean: np.ndarray, values: np.ndarray, vectors: np.ndarray, moment: np.ndarray
    ) -> float:
        """Return the regularisation with the least leave-one-out error, on at most 1000 rows."""
        n = n_points(self.coordinates)
        indices = evenly_spaced(n, TUNING.ridge_centers)
        rows = to_dense(self.X[indices]) - mean
        F = self._features(self.coordinates[indices]) @ vectors
        alphas = n * np.logspace(-12, 0, 13)
        errors = leave_one_out_errors(F, values, vectors.T @ moment, rows, alphas)
        return float(alphas[np.argmin(np.square(errors).sum(axis=1))])

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        """Return predicted rows (n_new, n_features) for coordinates."""
        coefficients, mean, _ = self._solution
        return np.concatenate(self._map(lambda block: self._features(block) @ coefficients + mean, Y))

    def expansion(self) -> tuple[PairwiseKernel, Any, np.ndarray, np.ndarray]:
        """Return the terms of ``sum_j k(y, c_j) a_j + mean``: kernel, centres, coefficients and mean."""
        (kernel, centers, basis), (coefficients, mean, _) = self._basis, self._solution
        return kernel, centers, basis @ coefficients, mean

    def reconstruct(self, indices: np.ndarray) -> np.ndarray:
        """Return training rows, each predicted without itself."""
        coefficients, mean, inverse = self._solution
        F, rows = self._features(self.coordinates[indices]), to_dense(self.X[indices])
        leverage = np.einsum("ij,ij->i", F @ inverse, F)
        return rows - (rows - F @ coefficients - mean) / _leave_one_out_divisor(leverage)

    def _map(self, function: Callable[[np.ndarray], Result], Y: np.ndarray) -> list[Result]:
        """Return ``function`` of blocks of ``Y``."""
        bytes_per_row = 8 * (3 * n_points(self._basis[1]) + self.X.shape[1])
        return map_rows(function, Y, bytes_per_row, self.n_jobs)


def leave_one_out_errors(
    F: np.ndarray, values: np.ndarray, moment: np.ndarray, Y: np.ndarray, alphas: np.ndarray
) -> np.ndarray:
    """Return the root mean square leave-one-out errors (len(alphas), r) of ridge regressions at some rows.

    ``F`` (n, q) are the features of the rows and ``Y`` (n, r) their values. In the basis of ``F`` the sum of
    squares of all training rows is diagonal, with the entries ``values`` (q,); ``moment`` (q, r) is the
    product of their features and values.
    """
    errors = np.empty((len(alphas), Y.shape[1]))
    for place, alpha in enumerate(alphas):
        shrunk = F / (values + alpha)
        divisor = _leave_one_out_divisor(np.einsum("ij,ij->i", shrunk, F))
        errors[place] = np.sqrt(np.square((Y - shrunk @ moment) / divisor).mean(axis=0))
    return errors


def _leave_one_out_divisor(leverage: np.ndarray) -> np.ndarray:
    """Return the divisor (n, 1) that turns residuals into leave-one-out residuals."""
    return np.maximum(1.0 - leverage, 1e-10)[:, None]
