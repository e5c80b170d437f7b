"""Oriented PCA (Burges sec. 1.4): directions of large signal variance and small noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg

from eigenscape import _memory
from eigenscape._display import short_repr
from eigenscape._warnings import warn
from eigenscape.eigenfunctions import Eigenfunctions, Embedding, RootScale
from eigenscape.exceptions import RankError, SingularNoiseWarning
from eigenscape.kernels.base import Columns
from eigenscape.methods.pca import ScatterMoments, scatter_moments
from eigenscape.methods.tuning import TUNING
from eigenscape.operators import CenteredRows
from eigenscape.quality.pair_moments import PairMoments
from eigenscape.solvers import EigenPairs, Whitening, generalized_eigh, whiten

Regularization = float | Literal["auto"]
Criterion = Literal["quotient", "difference"]


@dataclass(frozen=True, eq=False)
class NoiseMoments:
    """Mean and correlation of the noise vectors, and the mean fourth power of their norm."""

    mean: np.ndarray  # (d,)
    correlation: np.ndarray  # R (d, d), about zero: a constant distortion is noise too
    fourth: float
    count: int
    n_features: int  # of the data; R may be restricted to the span of signal and noise

    def merge(self, other: NoiseMoments) -> NoiseMoments:
        """Return the moments of both sets of noise vectors."""
        count = self.count + other.count
        a, b = self.count / count, other.count / count
        return NoiseMoments(
            a * self.mean + b * other.mean,
            a * self.correlation + b * other.correlation,
            a * self.fourth + b * other.fourth,
            count,
            self.n_features,
        )

    @property
    def per_feature(self) -> float:
        """Mean squared noise of a variable."""
        return float(np.trace(self.correlation)) / self.n_features


@dataclass(frozen=True, eq=False)
class Orientation:
    """Directions ``n_r`` with ``C n = q R n`` and ``n' R n = 1``, ``R`` being the regularised noise."""

    _shapes: ClassVar = {"values": "r", "directions": "d r", "patterns": "d r", "residuals": "r"}
    values: np.ndarray  # q_r (r,)
    directions: np.ndarray  # (d, r)
    patterns: np.ndarray  # R n_r (d, r), dual to the directions: pattern_i' n_j = delta_ij
    residuals: np.ndarray  # (r,)
    whitener: np.ndarray  # W (d, rank) with W'RW = I
    regularization: float  # multiple of the mean noise of a variable that was added to the diagonal of R

    def lift(self, basis: np.ndarray) -> Orientation:
        """Return the directions in the space of ``basis`` (n_features, d), whose coordinates they are in."""
        return replace(
            self,
            directions=basis @ self.directions,
            patterns=basis @ self.patterns,
            whitener=basis @ self.whitener,
        )

    def with_signs(self, signs: np.ndarray) -> Orientation:
        """Return the directions multiplied by ``signs`` (r,)."""
        return replace(self, directions=self.directions * signs, patterns=self.patterns * signs)


def signal_moments(blocks: Iterable[np.ndarray]) -> ScatterMoments:
    """Return the moments of blocks of rows (b, d); ``C`` is their covariance (Burges eq. 1.16)."""
    rows = (CenteredRows(block, block.mean(axis=0)) for block in blocks)
    return reduce(ScatterMoments.merge, map(scatter_moments, rows))


def noise_moments(blocks: Iterable[np.ndarray], n_features: int) -> NoiseMoments:
    """Compute ``R = 1/(mN) sum_ik z_i^k (z_i^k)'`` (Burges eq. 1.17) from blocks of rows (b, d)."""
    count, fourth = 0, 0.0
    total, correlation = np.zeros(1), np.zeros((1, 1))
    for block in blocks:
        count += len(block)
        total = total + block.sum(axis=0)
        correlation = correlation + block.T @ block
        fourth += float(np.square(np.square(block).sum(axis=1)).sum())
    return NoiseMoments(total / count, correlation / count, fourth / count, count, n_features)


def oriented_directions(
    signal: ScatterMoments, noise: NoiseMoments, n_components: int | None, regularization: Regularization
) -> Orientation:
    """Return the directions that maximise ``n'Cn / n'Rn`` (Burges sec. 1.4), largest quotient first.

    They solve ``C n = q R n``.
    """
    C = signal.covariance
    R, added, whitening = _regularize(signal, noise, regularization)
    pairs = generalized_eigh(C, R, n_components, whitener=whitening.whitener)
    threshold = 10 * len(C) * np.finfo(np.float64).eps * pairs.values.max(initial=0.0)
    rank = int(np.sum(pairs.values > threshold))
    if rank == 0:
        raise RankError(f"the {signal.n_rows} samples of the signal are all equal; pass samples that vary")
    if n_components is not None and rank < n_components:
        raise RankError(
            f"n_components={n_components}, but the signal of {signal.n_rows} samples varies along only"
            f" {rank} direction(s); lower n_components"
        )
    directions = pairs.vectors[:, :rank]
    return Orientation(
        pairs.values[:rank], directions, R @ directions, pairs.residuals[:rank], whitening.whitener, added
    )


def difference_directions(
    signal: ScatterMoments, noise: NoiseMoments, n_components: int | None
) -> Orientation:
    """Return the orthonormal directions that maximise ``n'(C - R) n`` (Burges sec. 1.4), largest value first.

    They minimise the mean squared error of signals reconstructed from the projections of their distorted
    versions: ``|x - N N'(x + z)|^2 = |x|^2 - |N'x|^2 + |N'z|^2`` for orthonormal columns of ``N``.
    """
    difference = signal.covariance - noise.correlation  # R1 - R2, the signal about its mean
    values, vectors = linalg.eigh(difference)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    residuals = np.linalg.norm(difference @ vectors - vectors * values, axis=0)
    return Orientation(values, vectors, vectors, residuals, np.zeros((len(vectors), 0)), 0.0)


def _regularize(
    signal: ScatterMoments, noise: NoiseMoments, regularization: Regularization
) -> tuple[np.ndarray, float, Whitening]:
    """Return the regularised noise correlation, the relative amount added, and its range and null space."""
    if noise.per_feature <= 0:
        raise RankError(
            "all noise vectors are zero, so the noise correlation is zero; use PCA, or pass other noise"
        )
    automatic = isinstance(regularization, str)
    added = 0.0 if automatic else float(regularization)
    R = _add_to_diagonal(noise, added)
    # In units of the total spread, neither scale nor noise at rounding level affects the rank.
    spread = np.sqrt(np.diagonal(signal.covariance) + np.diagonal(R))
    whitening = whiten(R, TUNING.noise_rank, spread) if added == 0 else whiten(R)
    if _largest_variance(signal.covariance, whitening.null) <= TUNING.noise_rank:
        return R, added, whitening  # the signal does not vary in the null space of the noise
    rank = f"rank {whitening.whitener.shape[1]} in {noise.n_features} variables"
    if not automatic:
        raise RankError(
            f"regularization={regularization!r}, but the noise correlation is singular ({rank}) where the"
            " signal is not; give a larger one, or leave it 'auto'"
        )
    added = max(_shrinkage(noise), 1e-6)
    warn(
        f"the noise correlation is singular ({rank}, from {noise.count} noise vectors): {added:.2g} times its"
        " mean was added to its diagonal. Pass more or other noise, or set regularization",
        SingularNoiseWarning,
    )
    R = _add_to_diagonal(noise, added)
    return R, added, whiten(R)


def _add_to_diagonal(noise: NoiseMoments, added: float) -> np.ndarray:
    """Return the noise correlation plus ``added`` times the mean noise on its diagonal."""
    return noise.correlation + added * noise.per_feature * np.eye(len(noise.correlation))


def _largest_variance(C: np.ndarray, directions: np.ndarray) -> float:
    """Return the largest ``n'Cn`` over the columns of ``directions``."""
    return float(np.max(np.einsum("ir,ij,jr->r", directions, C, directions, optimize=True), initial=0.0))


def _shrinkage(noise: NoiseMoments) -> float:
    """Return the multiple of the mean noise to add to the diagonal of R (Ledoit and Wolf 2004).

    With ``s = E|z z' - R|^2 / (count |R - mu I|^2)`` they use ``(1 - s) R + s mu I``; this is ``s / (1 -
    s)``.
    """
    square = float(np.square(noise.correlation).sum())
    scatter = max(noise.fourth - square, 0.0) / noise.count
    spread = max(square - noise.n_features * noise.per_feature**2, 0.0)
    shrinkage = min(scatter / spread, 0.99) if spread > 0 else 0.99
    return shrinkage / (1 - shrinkage)


def oriented_pca(
    X: np.ndarray,
    noise: Sequence[np.ndarray],
    n_components: int | None,
    regularization: Regularization,
    criterion: Criterion = "quotient",
) -> Orientation:
    """Return the oriented directions of ``X`` (m, d) with respect to noise vectors, arrays (., d).

    With fewer rows than variables the problem is solved in the span of the rows, which contains all signal
    and noise; the identity that regularises is the same there.
    """
    n_rows = len(X) + sum(map(len, noise))
    d = X.shape[1]
    if d <= n_rows:
        return directions_of(
            signal_moments([X]), noise_moments(noise, d), n_components, regularization, criterion
        )
    _memory.require(3 * 8.0 * d * n_rows, f"the span of {n_rows} rows of {d} variables", "use fewer rows")
    centered = X - X.mean(axis=0)
    basis = _row_space(np.concatenate([centered, *noise]))
    signal = signal_moments([centered @ basis])
    moments = noise_moments([part @ basis for part in noise], d)
    return directions_of(signal, moments, n_components, regularization, criterion).lift(basis)


def directions_of(
    signal: ScatterMoments,
    noise: NoiseMoments,
    n_components: int | None,
    regularization: Regularization,
    criterion: Criterion,
) -> Orientation:
    """Return the directions of large signal and small noise by their quotient or their difference."""
    if criterion == "difference":
        return difference_directions(signal, noise, n_components)
    return oriented_directions(signal, noise, n_components, regularization)


def _row_space(rows: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (d, rank) of the row space."""
    basis, triangle = linalg.qr(rows.T, mode="economic")
    U, singular_values, _ = linalg.svd(triangle)  # small; QR alone does not reveal the rank
    return basis @ U[:, singular_values > max(rows.shape) * np.finfo(np.float64).eps * singular_values[0]]


@dataclass(frozen=True, eq=False)
class OrientedKernel:
    """``k(x, x_i) = (x - mean)' R^-1 (x_i - mean) / m``: similarity in units of the noise.

    The eigenvalues of its Gram matrix are the generalised ones: ``Xc R^-1 Xc' (Xc n) = Xc R^-1 m C n = m q
    (Xc n)``.
    """

    _shapes: ClassVar = {"X": "n d", "mean": "d", "whitener": "d *"}
    X: np.ndarray
    mean: np.ndarray
    whitener: np.ndarray  # (d, rank)

    __repr__ = short_repr

    def __call__(self, Y: Any) -> np.ndarray:
        """Compute ``k(y, x_i)``, (n_new, m)."""
        return self.to(self.X)(Y)

    def to(self, Z: Any) -> Columns:
        right = self._whiten(Z).T / len(self.X)
        return lambda Y, table=None: self._whiten(Y) @ right  # noqa: ARG005

    def _whiten(self, Y: Any) -> np.ndarray:
        """Return points in units of the noise, (n_new, rank)."""
        return (np.asarray(Y, dtype=np.float64) - self.mean) @ self.whitener


def oriented_embedding(X: np.ndarray, mean: np.ndarray, orientation: Orientation) -> Embedding:
    """Return oriented PCA as eigenfunctions of a kernel: ``sqrt(q_r) f_r(x) = n_r' (x - mean)``."""
    q = orientation.values
    vectors = (X - mean) @ orientation.directions / np.sqrt(len(X) * q)
    pairs = EigenPairs(q, vectors, orientation.residuals, "dense")
    kernel = OrientedKernel(X, mean, orientation.whitener)
    return Embedding(Eigenfunctions(kernel, pairs), RootScale(np.sqrt(q)))


@dataclass(frozen=True, eq=False)
class OrientedLoss:
    """The loss criterion (Bengio sec. 4) if only the covariance of the training samples is stored.

    In units of the noise, ``u = W'(x - mean)``, the kernel is ``u'v / m``, and its error ``u'P v / m`` with
    ``P`` the projection onto the complement of the directions. Its mean square over all pairs of training
    samples is ``|P W'CW P|^2 / m^2``.
    """

    mean: np.ndarray
    whitener: np.ndarray  # W (d, rank)
    directions: np.ndarray  # (rank, r) in units of the noise, orthonormal
    covariance: np.ndarray  # W'CW (rank, rank)
    values: np.ndarray  # (r,) eigenvalues
    count: int  # m

    def training_curve(self) -> np.ndarray:
        """Return the loss on the training samples with the first ``1, ..., r`` directions."""
        P = np.eye(len(self.directions)) - self.directions @ self.directions.T
        left_out = np.append(np.cumsum(np.square(self.values)[::-1])[::-1][1:], 0.0)
        return (np.square(P @ self.covariance @ P).sum() + left_out) / self.count**2

    def moments(self, X: np.ndarray) -> PairMoments:
        """Return the sums over rows from which their loss follows."""
        U = (np.asarray(X, dtype=np.float64) - self.mean) @ self.whitener / np.sqrt(self.count)
        c = U @ self.directions
        return PairMoments.of(c, U - c @ self.directions.T)


def oriented_loss(signal: ScatterMoments, orientation: Orientation) -> OrientedLoss:
    """Return the loss criterion of these directions."""
    W = orientation.whitener
    directions, covariance = W.T @ orientation.patterns, W.T @ signal.covariance @ W
    return OrientedLoss(signal.mean, W, directions, covariance, orientation.values, signal.n_rows)
