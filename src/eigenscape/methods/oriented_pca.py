"""Oriented PCA (Burges sec. 1.4): directions of large signal variance and small noise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eigenscape import _memory
from eigenscape._display import short_repr
from eigenscape.eigenfunctions import Eigenfunctions, Embedding, RootScale
from eigenscape.exceptions import RankError, SingularNoiseWarning
from eigenscape.solvers import EigenPairs, Whitening, generalized_eigh, whiten

#: Noise along a direction below this part of the largest (variables in units of their spread) counts as none.
RANK_TOL = 1e-10
#: Automatic regularisation is at least this part of the mean noise of a variable.
LEAST_REGULARIZATION = 1e-6

#: Gives blocks of rows (b, d), the same ones whenever it is called.
Blocks = Callable[[], Iterable[np.ndarray]]


@dataclass(frozen=True, eq=False)
class Signal:
    """Mean and covariance of the undistorted data."""

    mean: np.ndarray  # (d,)
    covariance: np.ndarray  # C (d, d)
    count: int


@dataclass(frozen=True, eq=False)
class Noise:
    """Mean and correlation of the noise vectors, and the mean fourth power of their length."""

    mean: np.ndarray  # (d,)
    correlation: np.ndarray  # R (d, d), about zero: a constant distortion is noise too
    fourth: float
    count: int
    n_features: int  # of the data; R may be restricted to the span of signal and noise

    def joined(self, other: Noise) -> Noise:
        """The moments of both sets of noise vectors."""
        count = self.count + other.count
        first, second = self.count / count, other.count / count
        mean, correlation = (
            first * self.mean + second * other.mean,
            first * self.correlation + second * other.correlation,
        )
        return Noise(mean, correlation, first * self.fourth + second * other.fourth, count, self.n_features)

    @property
    def per_feature(self) -> float:
        """Mean squared noise of a variable."""
        return float(np.trace(self.correlation)) / self.n_features


@dataclass(frozen=True, eq=False)
class Orientation:
    """Directions ``n_r`` with ``C n = q R n`` and ``n' R n = 1``, ``R`` being the regularised noise."""

    values: np.ndarray  # q_r (r,)
    directions: np.ndarray  # (d, r)
    patterns: np.ndarray  # R n_r (d, r), dual to the directions: pattern_i' n_j = delta_ij
    residuals: np.ndarray  # (r,)
    whitener: np.ndarray  # W (d, rank) with W'RW = I
    regularization: float  # multiple of the mean noise of a variable that was added to the diagonal of R

    def lift(self, basis: np.ndarray) -> Orientation:
        """The same directions in the space that ``basis`` (n_features, d) was taken from."""
        directions, patterns, whitener = (
            basis @ part for part in (self.directions, self.patterns, self.whitener)
        )
        return Orientation(self.values, directions, patterns, self.residuals, whitener, self.regularization)

    def take(self, signs: np.ndarray) -> Orientation:
        """The same directions with other signs (r,)."""
        directions, patterns = self.directions * signs, self.patterns * signs
        return Orientation(
            self.values, directions, patterns, self.residuals, self.whitener, self.regularization
        )


def signal_moments(blocks: Blocks) -> Signal:
    """``C = 1/m sum_i (x_i - E[x]) (x_i - E[x])'`` (Burges eq. 1.16), in two passes."""
    totals = [(len(block), block.sum(axis=0)) for block in blocks()]
    count = sum(length for length, _ in totals)
    mean = np.sum([total for _, total in totals], axis=0) / count
    covariance = np.zeros((len(mean), len(mean)))
    for block in blocks():
        centred = block - mean
        covariance += centred.T @ centred
    return Signal(mean, covariance / count, count)


def noise_moments(blocks: Blocks, n_features: int) -> Noise:
    """``R = 1/(mN) sum_ik z_i^k (z_i^k)'`` (Burges eq. 1.17)."""
    count, fourth = 0, 0.0
    total, correlation = np.zeros(1), np.zeros((1, 1))
    for block in blocks():
        count += len(block)
        total = total + block.sum(axis=0)
        correlation = correlation + block.T @ block
        fourth += float(np.square(np.square(block).sum(axis=1)).sum())
    return Noise(total / count, correlation / count, fourth / count, count, n_features)


def oriented_directions(
    signal: Signal, noise: Noise, n_components: int | None, regularization: float | str
) -> Orientation:
    """The directions that maximise ``n'Cn / n'Rn`` (Burges sec. 1.4): ``C n = q R n``, largest quotient
    first."""
    C = signal.covariance
    R, added, parts = _regular(signal, noise, regularization)
    pairs = generalized_eigh(C, R, n_components, whitener=parts.whitener)
    usable = int(
        np.sum(pairs.values > 10 * len(C) * np.finfo(np.float64).eps * pairs.values.max(initial=0.0))
    )
    if usable == 0 or (n_components is not None and usable < n_components):
        raise RankError(
            f"n_components={n_components}, but the signal of {signal.count} samples varies along only {usable} direction(s);"
            " lower n_components"
        )
    directions = pairs.vectors[:, :usable]
    return Orientation(
        pairs.values[:usable], directions, R @ directions, pairs.residuals[:usable], parts.whitener, added
    )


def _regular(
    signal: Signal, noise: Noise, regularization: float | str
) -> tuple[np.ndarray, float, Whitening]:
    """The noise correlation with as much on its diagonal as it needs (relative to its mean), and its range
    and null space."""
    if noise.per_feature <= 0:
        raise RankError(
            "all noise vectors are zero: there is nothing to orient against; use PCA, or pass other noise"
        )
    automatic = isinstance(regularization, str)
    added = 0.0 if automatic else float(regularization)
    R = _loaded(noise, added)
    # Variables in units of their whole spread: neither their scale nor noise that is only rounding decides
    # about the rank.
    spread = np.sqrt(np.diagonal(signal.covariance) + np.diagonal(R))
    parts = whiten(R, RANK_TOL, spread) if added == 0 else whiten(R)
    if _variance_along(signal.covariance, parts.null) <= RANK_TOL:
        return R, added, parts  # what the noise does not reach, the signal does not either
    rank = f"rank {parts.whitener.shape[1]} in {noise.n_features} variables"
    if not automatic:
        raise RankError(
            f"regularization={regularization!r}, but the noise correlation is singular ({rank}) where the signal is not;"
            " give a larger one, or leave it 'auto'"
        )
    added = max(_shrinkage(noise), LEAST_REGULARIZATION)
    warnings.warn(
        f"the noise correlation is singular ({rank}, from {noise.count} noise vectors): {added:.2g} times its mean was added to its"
        " diagonal. Pass more or other noise, or choose regularization yourself",
        SingularNoiseWarning,
        stacklevel=5,
    )
    R = _loaded(noise, added)
    return R, added, whiten(R)


def _loaded(noise: Noise, added: float) -> np.ndarray:
    return noise.correlation + added * noise.per_feature * np.eye(len(noise.correlation))


def _variance_along(C: np.ndarray, directions: np.ndarray) -> float:
    return float(np.max(np.einsum("ir,ij,jr->r", directions, C, directions, optimize=True), initial=0.0))


def _shrinkage(noise: Noise) -> float:
    """How much of the identity a correlation from so few vectors should have: Ledoit and Wolf's estimate
    (2004).

    With ``s = E|z z' - R|^2 / (count |R - mu I|^2)`` they take ``(1 - s) R + s mu I``; this is ``s / (1 -
    s)``."""
    square = float(np.square(noise.correlation).sum())
    scatter = max(noise.fourth - square, 0.0) / noise.count
    spread = max(square - noise.n_features * noise.per_feature**2, 0.0)
    share = min(scatter / spread, 0.99) if spread > 0 else 0.99
    return share / (1 - share)


# --- whole arrays -------------------------------------------------------------------------------------------


def oriented_pca(
    X: np.ndarray, noise: list[np.ndarray], n_components: int | None, regularization: float | str
) -> Orientation:
    """Oriented PCA of rows ``X`` (m, d) against the rows of ``noise``, arrays (., d).

    With fewer rows than variables all is done in their span: outside it there is neither signal nor noise,
    and the identity that regularises is the same there."""
    rows = len(X) + sum(map(len, noise))
    d = X.shape[1]
    if d <= rows:
        return oriented_directions(
            signal_moments(lambda: [X]), noise_moments(lambda: noise, d), n_components, regularization
        )
    _memory.require(3 * 8.0 * d * rows, f"the span of {rows} rows of {d} variables", "use fewer rows")
    centred = X - X.mean(axis=0)
    basis = _span(np.concatenate([centred, *noise]))
    signal, inside = centred @ basis, [part @ basis for part in noise]
    moments = signal_moments(lambda: [signal]), noise_moments(lambda: inside, d)
    return oriented_directions(*moments, n_components, regularization).lift(basis)


def _span(rows: np.ndarray) -> np.ndarray:
    """Orthonormal basis (d, rank) of the row space."""
    basis, triangle = linalg.qr(rows.T, mode="economic")
    turn, size, _ = linalg.svd(triangle)  # small, and tells the rank, which the first factor alone does not
    return basis @ turn[:, size > max(rows.shape) * np.finfo(np.float64).eps * size[0]]


@dataclass(frozen=True, eq=False)
class OrientedKernel:
    """``k(x, x_i) = (x - mean)' R^-1 (x_i - mean) / m``: likeness in units of the noise.

    The eigenvalues of its Gram matrix are the generalised ones, for ``Xc R^-1 Xc' (Xc n) = Xc R^-1 m C n = m
    q (Xc n)``."""

    X: np.ndarray
    mean: np.ndarray
    whitener: np.ndarray  # (d, rank)

    __repr__ = short_repr

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        own, new = (
            (np.asarray(points, dtype=np.float64) - self.mean) @ self.whitener for points in (self.X, Y)
        )
        return new @ own.T / len(own)


def oriented_embedding(X: np.ndarray, mean: np.ndarray, orientation: Orientation) -> Embedding:
    """Oriented PCA as eigenfunctions of a kernel: coordinates ``sqrt(q_r) f_r(x) = n_r' (x - mean)``."""
    q = orientation.values
    vectors = (X - mean) @ orientation.directions / np.sqrt(len(X) * q)
    pairs = EigenPairs(q, vectors, orientation.residuals, "dense")
    return Embedding(
        Eigenfunctions(OrientedKernel(X, mean, orientation.whitener), pairs), RootScale(np.sqrt(q))
    )


@dataclass(frozen=True, eq=False)
class OrientedLoss:
    """The loss criterion where the training rows are not kept, only their covariance.

    In units of the noise, ``u = W'(x - mean)``, the kernel is ``u'u_i / m``, and what the directions leave of
    it is ``u'P u_i / m`` with ``P`` the projection off them; its mean square over the training rows is ``u'P
    (W'CW) P u / m^2``."""

    mean: np.ndarray
    whitener: np.ndarray  # W (d, rank)
    rest: np.ndarray  # P (W'CW) P (rank, rank)
    count: int

    def __call__(self, X: np.ndarray | None) -> float:
        """Mean over the rows of ``X``; None for the training rows."""
        if X is None:
            return float(np.square(self.rest).sum()) / self.count**2
        units = (np.asarray(X, dtype=np.float64) - self.mean) @ self.whitener
        return (
            float(np.einsum("ij,jk,ik->", units, self.rest, units, optimize=True))
            / len(units)
            / self.count**2
        )


def oriented_loss(signal: Signal, orientation: Orientation) -> OrientedLoss:
    """The loss of these directions."""
    W = orientation.whitener
    within = W.T @ orientation.patterns  # the directions in units of the noise, orthonormal
    off = np.eye(len(within)) - within @ within.T
    return OrientedLoss(signal.mean, W, off @ (W.T @ signal.covariance @ W) @ off, signal.count)
