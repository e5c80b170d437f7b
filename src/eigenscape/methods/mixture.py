"""A mixture of affine maps, weighted by Gaussian kernels, and its Jacobian (Brand sec. 3).

The weight of a kernel at a point is its posterior probability (Brand eq. 14), minus ``TUNING.negligible``,
and zero if that is negative. So the weights are sparse and still a continuous function of the point, which
they would not be if small posteriors were dropped. They are divided by their sum. All computations use log
densities, so that a point far from all kernels belongs to the nearest one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from scipy import linalg, sparse

from eigenscape._memory import row_blocks
from eigenscape._native.loops import count_members, fill_members, mix_affine
from eigenscape._numbers import as_contiguous_float64
from eigenscape.kernels.pairwise import squared_euclidean
from eigenscape.methods.tuning import TUNING


@dataclass(frozen=True, eq=False)
class IsotropicKernels:
    """``exp(-|x - mu_k|^2 / 2 sigma^2)``."""

    _shapes: ClassVar = {"centers": "k d"}
    centers: np.ndarray
    sigma: float

    def exponents(self, X: np.ndarray) -> np.ndarray:
        """Return ``log p_k(x)`` (n, K)."""
        return squared_euclidean(X, self.centers) / (-2 * self.sigma**2)

    def common_gradient(self, X: np.ndarray) -> np.ndarray:
        """Return ``-x / sigma^2``, the part (n, D) that all gradients of ``log p_k`` have in common."""
        return X / -(self.sigma**2)

    def gradient_sums(self, X: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return ``sum_k c_nkr (grad log p_k(x_n) - common_n)`` (n, r, D) for coefficients (n, K, r)."""
        return np.einsum("nkr,kd->nrd", coefficients, self.centers / self.sigma**2)

    def mapped_covariances(self, tangents: np.ndarray) -> np.ndarray:
        """Return ``J_k Sigma_k J_k'`` (K, d, d) for linear maps ``J_k`` (K, d, D)."""
        return self.sigma**2 * tangents @ tangents.transpose(0, 2, 1)

    @property
    def covariances(self) -> np.ndarray:
        """``sigma^2 I`` for each kernel (K, D, D), read-only."""
        K, D = self.centers.shape
        return np.broadcast_to(self.sigma**2 * np.eye(D), (K, D, D))


@dataclass(frozen=True, eq=False)
class EllipticKernels:
    """Normal densities with covariances ``Sigma_k`` (Brand sec. 3), given by some of their principal axes.

    The width is ``spreads[k]`` along the orthonormal ``directions[k]`` and ``rest[k]`` in their complement,
    so that no D x D matrix is stored unless all axes are given. A direction of zeros is unused.
    """

    centers: np.ndarray  # (K, D)
    directions: np.ndarray  # (K, q, D)
    spreads: np.ndarray  # (K, q)
    rest: np.ndarray  # (K,)

    @property
    def sigma(self) -> float:
        """Root mean variance over all directions and kernels."""
        D, q = self.centers.shape[1], self.spreads.shape[1]
        variance = np.square(self.spreads).sum(axis=1) + (D - q) * np.square(self.rest)
        return float(np.sqrt(variance.mean() / D))

    @property
    def covariances(self) -> np.ndarray:
        """``Sigma_k`` (K, D, D)."""
        K, D = self.centers.shape
        return self.mapped_covariances(np.broadcast_to(np.eye(D), (K, D, D)))

    def squared_distances(self, X: np.ndarray) -> np.ndarray:
        """Return ``(x - mu_k)' Sigma_k^-1 (x - mu_k)`` (n, K)."""
        values = np.empty((len(X), len(self.centers)))
        for k, (difference, excess) in enumerate(self._differences(X)):
            along = difference @ self.directions[k].T
            values[:, k] = np.square(difference).sum(axis=1) / self.rest[k] ** 2 + np.square(along) @ excess
        return np.maximum(values, 0.0)

    def exponents(self, X: np.ndarray) -> np.ndarray:
        """Return ``log p_k(x)`` (n, K) up to a constant."""
        D, q = self.centers.shape[1], self.spreads.shape[1]
        log_heights = -np.log(self.spreads).sum(axis=1) - (D - q) * np.log(self.rest)
        return log_heights - log_heights.max() - self.squared_distances(X) / 2  # free of the unit of X

    def common_gradient(self, X: np.ndarray) -> np.ndarray:
        """Return zero: gradients have no part in common."""
        return np.zeros_like(X)

    def gradient_sums(self, X: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return ``-sum_k c_nkr Sigma_k^-1 (x_n - mu_k)``."""
        sums = np.zeros((len(X), coefficients.shape[2], X.shape[1]))
        for k, (difference, excess) in enumerate(self._differences(X)):
            along = difference @ self.directions[k].T
            gradient = difference / self.rest[k] ** 2 + (along * excess) @ self.directions[k]
            sums -= coefficients[:, k, :, None] * gradient[:, None]
        return sums

    def mapped_covariances(self, tangents: np.ndarray) -> np.ndarray:
        """Return ``J_k Sigma_k J_k'`` (K, d, d)."""
        along = tangents @ self.directions.transpose(0, 2, 1)  # (K, d, q)
        excess = np.square(self.spreads) - np.square(self.rest)[:, None]
        across = np.square(self.rest)[:, None, None] * (tangents @ tangents.transpose(0, 2, 1))
        return (along * excess[:, None]) @ along.transpose(0, 2, 1) + across

    def _differences(self, X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield ``x - mu_k`` (n, D) and the precisions (q,) along the directions less those elsewhere."""
        for center, spread, rest in zip(self.centers, self.spreads, self.rest, strict=True):
            yield X - center, spread**-2 - rest**-2


#: K Gaussian kernels ``p_k`` in the space of the arguments of a map.
MixtureKernels: TypeAlias = "IsotropicKernels | EllipticKernels"


def ellipses_of(centers: np.ndarray, covariances: np.ndarray, floor: float = 0.0) -> EllipticKernels:
    """Return kernels with covariances (K, D, D), their eigenvalues raised to at least ``floor``."""
    values, vectors = np.linalg.eigh(covariances)
    spreads = np.sqrt(np.maximum(values, floor))
    return EllipticKernels(centers, np.ascontiguousarray(vectors.transpose(0, 2, 1)), spreads, spreads[:, -1])


class KernelWeights(NamedTuple):
    """Weights of the kernels at some points."""

    matrix: sparse.csr_array  # (n, K), rows sum to one
    log_total: np.ndarray  # (n,) logarithm of the sum of the densities
    kept: np.ndarray  # (n,) sum of the posteriors after subtracting TUNING.negligible

    def members(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the points of each kernel: their indices (m,) and its weights (m,) at them."""
        columns = sparse.csc_array(self.matrix)
        for column in map(slice, columns.indptr[:-1], columns.indptr[1:]):
            yield columns.indices[column], columns.data[column]


def weighted_axes(weight: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return widths (q,), largest first, and principal directions (q, D) of weighted points (m, D)."""
    if len(weight) == 0:
        return np.zeros(0), np.zeros((0, points.shape[1]))
    spread = np.sqrt(weight)[:, None] * (points - weight @ points / weight.sum())
    return linalg.svd(spread, full_matrices=False)[1:]


def kernel_weights(kernels: MixtureKernels, X: np.ndarray) -> KernelWeights:
    """Compute the weight of each kernel at each point, in blocks of rows."""
    blocks = [
        _block_weights(kernels.exponents(X[rows])) for rows in row_blocks(len(X), 24 * len(kernels.centers))
    ]
    if len(blocks) == 1:
        return blocks[0]
    matrix = sparse.csr_array(sparse.vstack([block.matrix for block in blocks], format="csr"))
    vectors = zip(*(block[1:] for block in blocks), strict=True)
    return KernelWeights(matrix, *(np.concatenate(vector) for vector in vectors))


def _block_weights(exponents: np.ndarray) -> KernelWeights:
    """Compute the weights from log densities (n, K)."""
    n, exponents = len(exponents), as_contiguous_float64(exponents)
    top, total, kept, counts = np.empty(n), np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    count_members(exponents, TUNING.negligible, top, total, counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    columns, values = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
    fill_members(exponents, TUNING.negligible, top, total, indptr, columns, values, kept)
    matrix = sparse.csr_array((values, columns, indptr), shape=exponents.shape)
    return KernelWeights(matrix, top + np.log(total), kept)


@dataclass(frozen=True, eq=False)
class AffineMixture:
    """``y(x) = sum_k w_k(x) (b_k + (x - mu_k)' H_k)``, followed by the correction of the uniform eigenvector.

    With ``divide`` all outputs are divided by the last one (Brand eq. 18). With ``density`` the kernels are
    not divided by their sum: the outputs are multiplied by it. ``constant`` is added last.
    """

    _shapes: ClassVar = {"kernels.centers": "k d", "slopes": "k d c", "offsets": "k c", "constant": "*"}
    kernels: MixtureKernels
    slopes: np.ndarray  # H (K, D, c)
    offsets: np.ndarray  # b (K, c)
    constant: np.ndarray
    divide: bool = False
    density: bool = False

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the values (n, d) at any points."""
        blocks = row_blocks(len(X), 48 * len(self.kernels.centers), 2**24)
        return np.concatenate(
            [self.values(X[rows], kernel_weights(self.kernels, X[rows])) for rows in blocks]
        )

    def values(self, X: np.ndarray, weights: KernelWeights) -> np.ndarray:
        """Return the values (n, d) at points with known kernel weights."""
        outputs = self.mix(X, weights)
        if self.divide:
            return divide_by_last(outputs) + self.constant
        if self.density:
            outputs *= (weights.kept * np.exp(weights.log_total))[:, None]
        return outputs + self.constant

    def mix(self, X: np.ndarray, weights: KernelWeights) -> np.ndarray:
        """Return the outputs (n, c) before any division, at points with known kernel weights."""
        outputs = np.empty((len(X), self.offsets.shape[1]))
        M = weights.matrix
        X, centers = as_contiguous_float64(X), as_contiguous_float64(self.kernels.centers)
        slopes, offsets = as_contiguous_float64(self.slopes), as_contiguous_float64(self.offsets)
        mix_affine(X, M.indptr, M.indices, M.data, centers, slopes, offsets, outputs)
        return outputs

    def jacobian(self, X: np.ndarray) -> np.ndarray:
        """Return ``dy/dx`` (n, d, D); the kernels must have derivatives."""
        (K, D, c) = self.slopes.shape
        row_bytes = 8 * K * (5 + 3 * c) + 8 * D * (6 + 5 * c)
        return np.concatenate([self._jacobian(X[rows]) for rows in row_blocks(len(X), row_bytes)])

    def _jacobian(self, X: np.ndarray) -> np.ndarray:
        """Compute the Jacobian of one block of rows.

        The gradient of a posterior is ``q_k (g_k - sum_j q_j g_j)``, ``g_k`` the gradient of a log density.
        """
        kernels, (K, D, c) = self.kernels, self.slopes.shape
        exponents = kernels.exponents(X)
        top = exponents.max(axis=1, keepdims=True)  # subtracted first, as in the weights
        posterior = np.exp(np.where(exponents == top, 0.0, exponents - top))  # (n, K)
        total = posterior.sum(axis=1, keepdims=True)
        log_total = (top + np.log(total))[:, 0]
        posterior /= total
        active = np.where(posterior > TUNING.negligible, posterior, 0.0)
        rest = np.maximum(posterior - TUNING.negligible, 0.0)
        kept = rest.sum(axis=1)
        weight = rest / kept[:, None]
        affine = (
            self.offsets
            - np.einsum("kd,kdc->kc", kernels.centers, self.slopes)
            + np.einsum("nd,kdc->nkc", X, self.slopes)
        )
        outputs = np.einsum("nk,nkc->nc", weight, affine)
        columns = [posterior[:, :, None], active[:, :, None], active[:, :, None] * affine]
        coefficients = np.concatenate(columns, axis=2)  # (n, K, 2 + c)
        sums = kernels.gradient_sums(X, coefficients)  # (n, 2 + c, D)
        mean = sums[:, 0]
        changes = sums[:, 1:] - coefficients[:, :, 1:].sum(axis=1)[:, :, None] * mean[:, None]
        d_kept, d_active = changes[:, 0], changes[:, 1:]  # (n, D), (n, c, D)
        d_weight = (d_active - outputs[:, :, None] * d_kept[:, None]) / kept[:, None, None]
        mixed_slopes = (weight @ self.slopes.reshape(K, D * c)).reshape(-1, D, c).transpose(0, 2, 1)
        slope = mixed_slopes + d_weight  # (n, c, D)
        if self.divide:
            value = divide_by_last(outputs)
            return safe_divide(slope[:, :-1] - value[:, :, None] * slope[:, -1:], outputs[:, -1, None, None])
        if self.density:
            height = (kept * np.exp(log_total))[:, None, None]
            log_slope = d_kept / kept[:, None] + mean + kernels.common_gradient(X)
            return height * (slope + outputs[:, :, None] * log_slope[:, None])
        return slope


def divide_by_last(outputs: np.ndarray) -> np.ndarray:
    """Divide all columns but the last by the last; zero where the last is zero."""
    return safe_divide(outputs[:, :-1], outputs[:, -1:])


def safe_divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return the quotient; zero where the denominator is zero."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)
