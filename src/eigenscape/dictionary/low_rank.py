"""The kernel that a dictionary stands for, its normalisations (Ouimet prop. 2), and its eigenfunctions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape._display import short_repr
from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.dictionary.rows import ArrayRows, over_rows
from eigenscape.dictionary.span import Span
from eigenscape.exceptions import IsolatedPointWarning
from eigenscape.kernels.base import n_points
from eigenscape.solvers import EigenPairs

#: Rows that one core takes at a time.
_ROWS = 2048


@dataclass(frozen=True, eq=False)
class Normalization:
    """Proposition 2: the mean feature ``E[p]`` is subtracted, or ``p(x)`` divided by ``sqrt(S(x))``, or
    nothing is done.

    ``S(x) = n p(x) . E[p]`` is the row sum of the approximated Gram matrix. It may come out zero or negative
    for a point far from all others: such a point has no place, and is announced."""

    kind: str | None  # "additive", "divisive" or None
    mean: np.ndarray  # E[p], (m,)

    @property
    def center(self) -> np.ndarray:
        """What is subtracted from the features."""
        return self.mean if self.kind == "additive" else np.zeros_like(self.mean)


def announce_lost(lost: int, least: float) -> None:
    """Say how many points have no place because their estimated average similarity is not positive."""
    if lost:
        warnings.warn(
            f"{lost} point(s) have an estimated average similarity of zero or less (down to {least:.3g}; proposition 2 does not rule that"
            " out far from the dictionary) and are placed at the origin; use a smaller tolerance, a larger dictionary, or a wider kernel",
            IsolatedPointWarning,
            stacklevel=2,
        )


@dataclass(frozen=True, eq=False)
class LowRankKernel:
    """``A(x) M A(y)'``, normalised, as a bound kernel: ``n x n`` values from ``m`` coordinates a point.

    ``X`` are the training points where they are at hand, else (after a stream) the members of the dictionary.
    """

    span: Span
    normalization: Normalization
    X: Any
    n_train: int

    __repr__ = short_repr

    def __call__(self, Y: Any) -> np.ndarray:
        return self.features(Y) @ self.features(self.X).T

    def features(self, Y: Any) -> np.ndarray:
        """Normalised features (n_new, m): the kernel is their inner product."""
        p = self.span.features(self.span.coordinates(Y))
        if self.normalization.kind == "divisive":
            return p / self._roots(p @ self.normalization.mean)
        return p - self.normalization.center

    def functions(self, Y: Any, w: np.ndarray) -> np.ndarray:
        """``features(Y) @ w`` (n_new, r) as sums of kernel values, without the features."""
        divisive = self.normalization.kind == "divisive"
        coefficients, constants = self.span.functional(
            np.column_stack([w, self.normalization.mean]) if divisive else w
        )
        if not divisive:
            constants = constants - self.normalization.center @ w

        def part(_: np.ndarray, some: Any) -> np.ndarray:
            return self.span.values(some) @ coefficients + constants

        found = []
        with stage("projection", total=n_points(Y)) as advance:
            for more in over_rows(part, ArrayRows(Y), _ROWS, self.span.n_jobs):
                found.append(more)
                advance(len(more))
        out = np.concatenate(found)
        return out[:, :-1] / self._roots(out[:, -1]) if divisive else out

    def degrees(self, Y: Any) -> np.ndarray:
        """``S(x)``, the estimated sum of a point's similarities to all training points."""
        coefficients, constants = self.span.functional(self.normalization.mean[:, None])
        return self.n_train * (self.span.values(Y) @ coefficients + constants)[:, 0]

    def _roots(self, averages: np.ndarray) -> np.ndarray:
        """``sqrt(S(x))`` (n_new, 1); infinite for points that have no place, which puts them at the
        origin."""
        lost = averages <= 0
        announce_lost(int(lost.sum()), float(averages.min(initial=np.inf)))
        return np.sqrt(np.where(lost, np.inf, self.n_train * averages))[:, None]


@dataclass(frozen=True, eq=False)
class LowRankEigenfunctions:
    """Bengio eq. 20 for a kernel ``p(x) . p(y)``: the sum over training points goes into the features.

    With ``C = sum_i p(x_i) p(x_i)'`` and ``C w_r = l_r w_r``, the eigenvector is ``v_ri = p(x_i) . w_r /
    sqrt(l_r)`` on the training points, and ``sqrt(n) / l_r sum_i v_ri p(x) . p(x_i) = sqrt(n / l_r) p(x) .
    w_r`` at any point. ``w_r = L' u_r`` for the ``u_r`` of Ouimet's generalised problem ``A'A u = l M^-1 u``,
    which this replaces. ``pairs.vectors`` are the ``w_r``."""

    kernel: LowRankKernel
    pairs: EigenPairs
    moment: np.ndarray  # C, (m, m)
    on_training: np.ndarray | None = None  # values at the training points (n, r) where these are at hand

    __repr__ = short_repr

    @property
    def n_train(self) -> int:
        return self.kernel.n_train

    def __call__(self, Y: Any) -> np.ndarray:
        return self.kernel.functions(Y, self.pairs.vectors * np.sqrt(self.n_train / self.pairs.values))

    def loss(self, Y: Any = None) -> float:
        """Mean squared error of the expansion over the points of ``Y`` (None: all training points) and the
        training points.

        With ``C`` less what the expansion explains, no training point is looked at again.
        """
        w = self.pairs.vectors
        rest = self.moment - (w * self.pairs.values) @ w.T
        if Y is None:
            return float(np.square(rest).sum()) / self.n_train**2
        total = 0.0
        for rows in row_blocks(n_points(Y), 24 * self.kernel.span.size):
            p = self.kernel.features(Y[rows])
            p -= (p @ w) @ w.T
            total += float(np.einsum("ij,ij->", p @ rest, p))
        return max(total, 0.0) / (n_points(Y) * self.n_train)


@dataclass(frozen=True, eq=False)
class LowRankOperator:
    """Products with the approximated similarities between the training points, before normalisation."""

    kernel: LowRankKernel

    def matmat(self, V: np.ndarray) -> np.ndarray:
        span, X = self.kernel.span, self.kernel.X
        total, blocks = 0.0, list(row_blocks(n_points(X), 24 * span.size))
        for rows in blocks:
            total = total + span.features(span.coordinates(X[rows])).T @ V[rows]  # (m, c)
        return np.concatenate([span.features(span.coordinates(X[rows])) @ total for rows in blocks])
