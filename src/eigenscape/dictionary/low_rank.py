"""The low-rank kernel defined by a dictionary, its normalisations (Ouimet prop. 2) and its eigenfunctions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from eigenscape._display import short_repr
from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._typing import is_sparse
from eigenscape._warnings import warn
from eigenscape.dictionary.feature_moments import FeatureMoments
from eigenscape.dictionary.readers import RowReader, map_blocks
from eigenscape.dictionary.source import PointArray
from eigenscape.dictionary.span import Span
from eigenscape.exceptions import IsolatedPointWarning
from eigenscape.kernels.base import Columns, n_points
from eigenscape.operators.gram import check_finite
from eigenscape.solvers import EigenPairs


@dataclass(frozen=True, eq=False)
class Normalization:
    """Additive or divisive normalisation of a low-rank kernel (Ouimet prop. 2), or none.

    Additive: the mean feature ``E[p]`` is subtracted. Divisive: ``p(x)`` is divided by ``sqrt(S(x))``, where
    ``S(x) = n p(x) . E[p]`` is the row sum of the approximated Gram matrix. ``S(x)`` may be zero or negative
    for a point far from all others; such a point is placed at the origin, with a warning.
    """

    kind: Literal["additive", "divisive"] | None
    mean: np.ndarray  # E[p], (m,)

    @property
    def center(self) -> np.ndarray:
        """The vector that is subtracted from the features."""
        return self.mean if self.kind == "additive" else np.zeros_like(self.mean)


def normalized_moment(
    moments: FeatureMoments, normalization: Normalization, span: Span, n_train: int
) -> np.ndarray:
    """Return ``C = sum_i p(x_i) p(x_i)'`` (m, m) of the normalised features.

    ``moments`` contain all points, weighted by ``1 / E(x)`` for divisive normalisation.
    """
    moment = moments.second_moment(normalization.center, span)
    return moment / n_train if normalization.kind == "divisive" else moment


def warn_isolated(n_isolated: int, min_average: float) -> None:
    """Warn if points have an estimated average similarity that is not positive."""
    if n_isolated:
        warn(
            f"{n_isolated} point(s) have an estimated average similarity of zero or less (minimum"
            f" {min_average:.3g}), which can happen far from the dictionary, and are placed at the origin;"
            " use a smaller tolerance, a larger dictionary, or a wider kernel",
            IsolatedPointWarning,
        )


@dataclass(frozen=True, eq=False)
class LowRankKernel:
    """``A(x) M A(y)'``, normalised, as a bound kernel of rank at most ``m``.

    ``X`` are the training points if they are in memory, otherwise the members of the dictionary.
    """

    _shapes: ClassVar = {"span.members": "m ...", "normalization.mean": "m"}
    span: Span
    normalization: Normalization
    X: PointArray
    n_train: int

    __repr__ = short_repr

    def __call__(self, Y: PointArray) -> np.ndarray:
        return self.features(Y) @ self.features(self.X).T

    def to(self, Z: PointArray) -> Columns:
        right = self.features(Z).T
        return lambda Y, table=None: self.features(Y) @ right  # noqa: ARG005

    def exact_to(self, Z: PointArray) -> Columns:
        """Return the kernel that is approximated, between any points and ``Z``, normalised as this one.

        Additive: the origin of feature space is moved to the mean feature ``E[p]``, which is a linear
        combination of the members with weights ``w``: ``k(x, y) - sum_j w_j (k(x, d_j) + k(y, d_j)) +
        |E[p]|^2``. Divisive: ``k(x, y) / sqrt(S(x) S(y))`` with the estimated sums ``S``. Both need the
        dictionary only, not the training points.
        """
        base = self.span.source.to(Z)

        def exact(Y: PointArray, table: Any) -> np.ndarray:
            values = base(Y, table)
            return check_finite(np.asarray(values.toarray() if is_sparse(values) else values, np.float64))

        if self.normalization.kind == "divisive":
            roots = self._root_degrees(self.degrees(Z) / self.n_train)[:, 0]

            def divided(Y: PointArray, table: Any = None) -> np.ndarray:
                return exact(Y, table) / self._root_degrees(self.degrees(Y) / self.n_train) / roots

            return divided
        if self.normalization.kind is None:
            return lambda Y, table=None: exact(Y, table)
        mean = self.normalization.mean
        weights = self.span.member_weights(mean[None], np.ones(1))[0]  # (m,)
        column_means, grand_mean = self.span.values(Z) @ weights, float(mean @ mean)

        def centred(Y: PointArray, table: Any = None) -> np.ndarray:
            row_means = self.span.values(Y) @ weights
            return exact(Y, table) - row_means[:, None] - (column_means - grand_mean)

        return centred

    def features(self, Y: PointArray) -> np.ndarray:
        """Return the normalised features (n_new, m); the kernel is their inner product."""
        p = self.span.features(self.span.coordinates(Y))
        if self.normalization.kind == "divisive":
            return p / self._root_degrees(p @ self.normalization.mean)
        return p - self.normalization.center

    def product(self, Y: PointArray, w: np.ndarray) -> np.ndarray:
        """Return ``features(Y) @ w`` (n_new, r) from kernel values, without computing the features."""
        divisive = self.normalization.kind == "divisive"
        coefficients, constants = self.span.functional(
            np.column_stack([w, self.normalization.mean]) if divisive else w
        )
        if not divisive:
            constants = constants - self.normalization.center @ w

        def evaluate(_: np.ndarray, block: PointArray) -> np.ndarray:
            return self.span.values(block) @ coefficients + constants

        parts = []
        with stage("projection", total=n_points(Y)) as advance:
            for part in map_blocks(evaluate, RowReader([Y]), 2048, self.span.n_jobs):
                parts.append(part)
                advance(len(part))
        out = np.concatenate(parts)
        return out[:, :-1] / self._root_degrees(out[:, -1]) if divisive else out

    def degrees(self, Y: PointArray) -> np.ndarray:
        """Return ``S(x)``, the estimated sum of the similarities of a point to all training points."""
        coefficients, constants = self.span.functional(self.normalization.mean[:, None])
        return self.n_train * (self.span.values(Y) @ coefficients + constants)[:, 0]

    def _root_degrees(self, averages: np.ndarray) -> np.ndarray:
        """Return ``sqrt(S(x))`` (n_new, 1); infinite if ``S(x) <= 0``, which maps the point to the origin."""
        isolated = averages <= 0
        warn_isolated(int(isolated.sum()), float(averages.min(initial=np.inf)))
        return np.sqrt(np.where(isolated, np.inf, self.n_train * averages))[:, None]


@dataclass(frozen=True, eq=False)
class LowRankEigenfunctions:
    """Eigenfunctions (Bengio eq. 20) of a kernel ``p(x) . p(y)``.

    With ``C = sum_i p(x_i) p(x_i)'`` and ``C w_r = l_r w_r``, the eigenvector is ``v_ri = p(x_i) . w_r /
    sqrt(l_r)`` on the training points, and ``sqrt(n) / l_r sum_i v_ri p(x) . p(x_i) = sqrt(n / l_r) p(x) .
    w_r`` at any point. ``w_r = L' u_r`` for the ``u_r`` of Ouimet's generalised problem ``A'A u = l M^-1 u``,
    which this replaces. ``pairs.vectors`` are the ``w_r``.
    """

    _shapes: ClassVar = {
        "kernel.span.members": "m ...",
        "pairs.vectors": "m r",
        "kernel.n_train": "n",
        "on_training": "n r",
    }
    kernel: LowRankKernel
    pairs: EigenPairs
    moments: FeatureMoments  # of the features before normalisation
    on_training: np.ndarray | None = None  # values at the training points (n, r), if they are in memory

    __repr__ = short_repr

    @property
    def n_train(self) -> int:
        return self.kernel.n_train

    @property
    def mass(self) -> float:
        """Total weight of the training points, which all count once."""
        return float(self.kernel.n_train)

    @cached_property
    def moment(self) -> np.ndarray:
        """``C``, (m, m)."""
        return normalized_moment(self.moments, self.kernel.normalization, self.kernel.span, self.n_train)

    def __call__(self, Y: PointArray) -> np.ndarray:
        return self.kernel.product(Y, self.pairs.vectors * np.sqrt(self.n_train / self.pairs.values))

    def training_loss(self) -> float:
        """Return the mean squared error of the expansion over all pairs of training points."""
        w = self.pairs.vectors
        rest = self.moment - (w * self.pairs.values) @ w.T
        return float(np.square(rest).sum()) / self.n_train**2


@dataclass(frozen=True, eq=False)
class LowRankOperator:
    """Products with the approximated similarity matrix of the training points, before normalisation."""

    kernel: LowRankKernel

    def matmat(self, V: np.ndarray) -> np.ndarray:
        span, X = self.kernel.span, self.kernel.X
        total, blocks = np.zeros((span.size, V.shape[1])), list(row_blocks(n_points(X), 24 * span.size))
        for rows in blocks:
            total += span.features(span.coordinates(X[rows])).T @ V[rows]  # (m, c)
        return np.concatenate([span.features(span.coordinates(X[rows])) @ total for rows in blocks])
