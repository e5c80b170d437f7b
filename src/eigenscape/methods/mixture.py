"""A kernel-based mixture of affine maps, its jacobian, and who belongs to which kernel (Brand sec. 3).

A point's share in a kernel is its posterior (eq. 14), less :data:`NEGLIGIBLE`, and zero where that is
negative: so the shares are sparse, and still a continuous function of the point, which plain dropping of
small posteriors would not be. They sum to one. Everything is made from log densities, so that a point far
from all kernels belongs to the nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy import linalg, sparse

from eigenscape._compiled.mixtures import count_members, fill_members, mix_affine
from eigenscape._memory import row_blocks
from eigenscape.kernels.pairwise import squared_euclidean

#: Posteriors are lowered by this, and dropped where nothing is left.
NEGLIGIBLE = 1e-7


class MixtureKernels(Protocol):
    """Gaussian kernels ``p_k``, K of them."""

    @property
    def centers(self) -> np.ndarray:
        """(K, D)."""
        ...

    def exponents(self, X: np.ndarray) -> np.ndarray:
        """``log p_k(x)`` (n, K), up to a constant that all kernels share."""
        ...


@dataclass(frozen=True, eq=False)
class RoundKernels:
    """``exp(-|x - mu_k|^2 / 2 sigma^2)``."""

    centers: np.ndarray
    sigma: float

    def exponents(self, X: np.ndarray) -> np.ndarray:
        return squared_euclidean(X, self.centers) / (-2 * self.sigma**2)


@dataclass(frozen=True, eq=False)
class EllipticKernels:
    """Normal densities with a covariance ``(R_k'R_k)^-1`` for each kernel, ``roots`` (K, D, D)."""

    centers: np.ndarray
    roots: np.ndarray

    def exponents(self, X: np.ndarray) -> np.ndarray:
        heights = np.linalg.slogdet(self.roots)[1]  # log |R_k|: a narrow kernel is high
        values = np.empty((len(X), len(self.centers)))
        for k, (center, root) in enumerate(zip(self.centers, self.roots, strict=True)):
            values[:, k] = heights[k] - np.square((X - center) @ root.T).sum(axis=1) / 2
        return values


class Shares(NamedTuple):
    """``matrix`` (n, K) of shares with unit row sums, ``log_total`` (n,) of the densities, and the posterior
    mass ``kept`` (n,)."""

    matrix: sparse.csr_array
    log_total: np.ndarray
    kept: np.ndarray


def shares(kernels: MixtureKernels, X: np.ndarray) -> Shares:
    """The share of each point in each kernel, in blocks of rows."""
    parts = [_shares(kernels.exponents(X[rows])) for rows in row_blocks(len(X), 24 * len(kernels.centers))]
    matrix = (
        sparse.csr_array(sparse.vstack([part.matrix for part in parts], format="csr"))
        if len(parts) > 1
        else parts[0].matrix
    )
    return Shares(
        matrix, *(np.concatenate(vector) for vector in zip(*(part[1:] for part in parts), strict=True))
    )


def _shares(exponents: np.ndarray) -> Shares:
    n = len(exponents)
    top, total, kept, counts = np.empty(n), np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    count_members(exponents, NEGLIGIBLE, top, total, counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    columns, values = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
    fill_members(exponents, NEGLIGIBLE, top, total, indptr, columns, values, kept)
    return Shares(
        sparse.csr_array((values, columns, indptr), shape=exponents.shape), top + np.log(total), kept
    )


@dataclass(frozen=True, eq=False)
class AffineMixture:
    """``y(x) = sum_k s_k(x) (b_k + (x - mu_k)' H_k)``, with what a correction does to it.

    ``slopes`` H (K, D, c) and ``offsets`` b (K, c). With ``divide`` the last of the c outputs divides the
    others (Brand eq. 18). With ``density`` the kernels are not divided by their sum: the outputs are
    multiplied by it. ``constant`` is added last."""

    kernels: MixtureKernels
    slopes: np.ndarray
    offsets: np.ndarray
    constant: np.ndarray
    divide: bool = False
    density: bool = False

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Values (n, d) anywhere in space."""
        blocks = row_blocks(len(X), 48 * len(self.kernels.centers), 2**24)
        return np.concatenate([self.values(X[rows], shares(self.kernels, X[rows])) for rows in blocks])

    def values(self, X: np.ndarray, members: Shares) -> np.ndarray:
        """Values (n, d) at points whose shares are known."""
        outputs = self.mix(X, members)
        if self.divide:
            return quotient(outputs) + self.constant
        if self.density:
            outputs *= (members.kept * np.exp(members.log_total))[:, None]
        return outputs + self.constant

    def mix(self, X: np.ndarray, members: Shares) -> np.ndarray:
        """The c outputs (n, c) of points whose shares are known, before any division."""
        outputs = np.empty((len(X), self.offsets.shape[1]))
        M = members.matrix
        mix_affine(X, M.indptr, M.indices, M.data, self.kernels.centers, self.slopes, self.offsets, outputs)
        return outputs

    def jacobian(self, X: np.ndarray) -> np.ndarray:
        """``dy/dx`` (n, d, D), for round kernels."""
        row_bytes = 8 * len(self.kernels.centers) * (3 + 2 * self.offsets.shape[1]) + 24 * self.slopes[0].size
        return np.concatenate([self._jacobian(X[rows]) for rows in row_blocks(len(X), row_bytes)])

    def _jacobian(self, X: np.ndarray) -> np.ndarray:
        assert isinstance(self.kernels, RoundKernels)
        centers, variance = self.kernels.centers, self.kernels.sigma**2
        exponents = self.kernels.exponents(X)
        top = exponents.max(axis=1, keepdims=True)  # subtracted first, as in the shares
        posterior = np.exp(np.where(exponents == top, 0.0, exponents - top))  # (n, K)
        total = posterior.sum(axis=1, keepdims=True)
        log_total = (top + np.log(total))[:, 0]
        posterior /= total
        mean = posterior @ centers  # d q_k = q_k (mu_k - mean) / sigma^2
        active = np.where(posterior > NEGLIGIBLE, posterior, 0.0)
        rest = np.maximum(posterior - NEGLIGIBLE, 0.0)
        kept = rest.sum(axis=1)
        share = rest / kept[:, None]
        d_kept = (active @ centers - active.sum(axis=1)[:, None] * mean) / variance  # (n, D)
        K, D, c = self.slopes.shape
        affine = (
            self.offsets
            - np.einsum("kd,kdc->kc", centers, self.slopes)
            + np.einsum("nd,kdc->nkc", X, self.slopes)
        )
        outputs = np.einsum("nk,nkc->nc", share, affine)
        pulled = active[:, :, None] * affine  # (n, K, c)
        turned = np.einsum("nkc,kd->ncd", pulled, centers) - pulled.sum(axis=1)[:, :, None] * mean[:, None]
        by_share = (turned / variance - outputs[:, :, None] * d_kept[:, None]) / kept[:, None, None]
        slope = (share @ self.slopes.reshape(K, D * c)).reshape(-1, D, c).transpose(
            0, 2, 1
        ) + by_share  # (n, c, D)
        if self.divide:
            value = quotient(outputs)
            return divided(slope[:, :-1] - value[:, :, None] * slope[:, -1:], outputs[:, -1, None, None])
        if self.density:
            height = (kept * np.exp(log_total))[:, None, None]
            growth = d_kept / kept[:, None] + (mean - X) / variance
            return height * (slope + outputs[:, :, None] * growth[:, None])
        return slope


def quotient(outputs: np.ndarray) -> np.ndarray:
    """All columns but the last, divided by the last; zero where that is zero."""
    return divided(outputs[:, :-1], outputs[:, -1:])


def divided(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The quotient; zero where it would divide by zero."""
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)


def inverse_root(covariance: np.ndarray, floor: float) -> np.ndarray:
    """``R`` with ``R'R = covariance^-1``, its eigenvalues not below ``floor``."""
    values, vectors = linalg.eigh(covariance)
    return (vectors / np.sqrt(np.maximum(values, floor))).T
