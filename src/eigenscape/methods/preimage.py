"""Pre-images: rows whose image under a kernel's feature map is nearest to a point of the span (Mika et al.
1999; Burges sec. 1.3)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from eigenscape.dictionary.low_rank import LowRankEigenfunctions
from eigenscape.eigenfunctions import Embedding
from eigenscape.exceptions import PreimageWarning
from eigenscape.graph.neighbors import NeighborIndex, neighbor_index
from eigenscape.kernels.base import as_float64, n_points
from eigenscape.kernels.pairwise import Gaussian, PairwiseKernel
from eigenscape.methods.inverse import dense, evenly, in_blocks, mean_row
from eigenscape.normalize import CenteredKernel

#: Training points whose rows may be the start of a search: so many of the nearest on the map.
STARTS = 5
#: A sum of similarities below this part of the sum of their magnitudes is rounding.
_NOTHING = 1e-12
#: Centres of a ridge regression at most; beyond, some evenly spaced points stand for all.
CENTERS = 1000
#: Eigenvalues of a Gram matrix below this part of the largest are rounding.
_RANK = 1e-13
#: Regularisations to choose from, relative to the number of training points.
_ALPHAS = np.logspace(-12, 0, 13)


@dataclass(frozen=True, eq=False)
class Expansion:
    """The point of feature space that has given coordinates, as a combination ``sum_i g_i Phi(x_i)`` of
    training points.

    The weights ``g`` (n_new, m) are an affine function of the coordinates.
    """

    X: Any  # (m, n_features)
    directions: np.ndarray  # (n_components, m)
    origin: np.ndarray  # (m,)

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        return self.origin + Y @ self.directions


def expansion_of(model: Embedding, X: Any) -> Expansion:
    """The expansion of an additive embedding in its training points, or in the members ``X`` of its
    dictionary.

    Coordinates are projections on ``u_r = sum_i v_ri (Phi(x_i) - mean) / sqrt(l_r)``, so the point is ``mean
    + sum_r y_r u_r``."""
    functions, kernel = model.eigenfunctions, model.kernel
    if isinstance(functions, LowRankEigenfunctions):
        return _low_rank_expansion(functions, X)
    assert isinstance(kernel, CenteredKernel)
    directions = (functions.pairs.vectors / np.sqrt(functions.pairs.values)).T  # (r, m)
    directions = directions - np.outer(directions.sum(axis=1), kernel.weights)
    return Expansion(as_float64(X), directions, kernel.weights)


def _low_rank_expansion(functions: LowRankEigenfunctions, X: Any) -> Expansion:
    """The same by features ``p``: the point has the features ``center + sum_r y_r w_r``."""
    span, normalization, w = functions.kernel.span, functions.kernel.normalization, functions.pairs.vectors.T
    centred = (
        normalization.kind == "additive"
    )  # then the centre is a point of the hull, and the directions are its own
    along = np.zeros(len(w)) if centred or span.height == 0 else w @ span.normal / span.height
    origin = span.member_weights(normalization.center[None], np.array([float(centred)]))[0]
    return Expansion(as_float64(X), span.member_weights(w, along), origin)


@dataclass(frozen=True, eq=False)
class LinearInverse:
    """``sum_i g_i x_i``: for a linear kernel the feature map is the identity, and this is the inverse of
    PCA."""

    X: Any
    coordinates: np.ndarray
    expansion: Expansion

    @cached_property
    def _map(self) -> tuple[np.ndarray, np.ndarray]:
        """Matrix and constant of the affine map, summed around the mean row so that an offset of the data
        costs no digits."""
        X, mean = self.expansion.X, mean_row(self.expansion.X)
        weights = np.vstack([self.expansion.directions, self.expansion.origin])
        sums = weights.sum(axis=1)
        around = (
            dense((X.T @ weights.T).T) - np.outer(sums, mean) if sparse.issparse(X) else weights @ (X - mean)
        )
        rows = around + np.outer(sums, mean)
        return rows[:-1], rows[-1]

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        directions, origin = self._map
        return Y @ directions + origin

    def again(self, which: np.ndarray) -> np.ndarray:
        return self(self.coordinates[which])


class Climb(NamedTuple):
    """What a search came to: rows, and for each whether there was no way up from any start, and how far it
    still moved."""

    Z: np.ndarray
    lost: np.ndarray
    moving: np.ndarray  # the last step in widths of the kernel; 0 where it stands still


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """The fixed point of Mika et al. for the Gaussian kernel ``exp(-gamma |x - y|^2)``.

    ``|Phi(z) - sum_i g_i Phi(x_i)|^2`` is least where ``J(z) = sum_i g_i k(z, x_i)`` is largest, and there

        z = sum_i g_i k(z, x_i) x_i / sum_i g_i k(z, x_i).

    The right-hand side, repeated, is the paper's iteration. Each step points uphill where ``J > 0`` but may
    go too far, as some ``g_i`` are negative; it is halved until ``J`` does not fall, which also keeps the
    denominator from vanishing. The start is the row with the largest ``J`` among those of the nearest points
    on the map."""

    X: Any
    coordinates: np.ndarray
    expansion: Expansion
    starts: np.ndarray  # (m, n_components) coordinates of the points of the expansion
    gamma: float
    n_jobs: int | None = None
    tol: float = 1e-6  # in widths of the kernel, 1 / sqrt(gamma)
    max_iter: int = 1000

    @cached_property
    def index(self) -> NeighborIndex:
        return neighbor_index(self.starts, n_jobs=self.n_jobs)

    @cached_property
    def _rows(self) -> tuple[Any, np.ndarray]:
        """Rows around their mean, which changes no distance and costs no digits, and the mean; sparse rows as
        they are."""
        X = self.expansion.X
        mean = np.zeros(X.shape[1]) if sparse.issparse(X) else X.mean(axis=0)
        return (X if sparse.issparse(X) else X - mean), mean

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        bytes_per_row = 8 * (4 * len(self.expansion.origin) + 8 * self.X.shape[1])
        found = Climb(
            *map(np.concatenate, zip(*in_blocks(self._search, Y, bytes_per_row, self.n_jobs), strict=True))
        )
        _announce(found, self.max_iter)
        return found.Z + self._rows[1]

    def again(self, which: np.ndarray) -> np.ndarray:
        return self(self.coordinates[which])

    def _search(self, Y: np.ndarray) -> Climb:
        weights = self.expansion(Y)
        Z, value, target = self._start(Y, weights)
        moving, share = np.full(len(Y), np.inf), np.ones(len(Y))
        lost = ~np.isfinite(value)
        moving[lost] = 0.0
        active = np.flatnonzero(~lost)
        for _ in range(self.max_iter):
            if len(active) == 0:
                break
            trial = Z[active] + share[active, None] * (target[active] - Z[active])
            moving[active] = np.sqrt(self.gamma) * np.linalg.norm(trial - Z[active], axis=1)
            similarity, goal = self._look(weights[active], trial)
            up = similarity >= value[active]
            better, worse = active[up], active[~up]
            Z[better], value[better], target[better], share[better] = trial[up], similarity[up], goal[up], 1.0
            share[worse] /= 2
            active = active[moving[active] > self.tol]
        moving[moving <= self.tol] = 0.0
        return Climb(Z, lost, moving)

    def _start(self, Y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The best of a few training rows, its ``J``, and where the iteration leads from there."""
        rows = self._rows[0]
        number = self.index.nearest(Y, min(STARTS, len(self.starts)))[1]
        Z, value, target = (
            dense(rows[number[:, 0]]).copy(),
            np.full(len(Y), -np.inf),
            np.zeros((len(Y), rows.shape[1])),
        )
        for column in number.T:
            trial = dense(rows[column])
            similarity, goal = self._look(weights, trial)
            better = similarity > value
            Z[better], value[better], target[better] = trial[better], similarity[better], goal[better]
        return Z, value, target

    def _look(self, weights: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``J(z)``, minus infinity where it is not positive, and the right-hand side of the fixed-point
        equation."""
        rows = self._rows[0]
        pull = weights * Gaussian(self.gamma).evaluate(Z, rows)  # (b, m)
        similarity = pull.sum(axis=1)
        positive = similarity > _NOTHING * np.abs(pull).sum(axis=1)
        divisor = np.where(positive, similarity, 1.0)
        return np.where(positive, similarity, -np.inf), dense(pull @ rows) / divisor[:, None]


def _announce(found: Climb, max_iter: int) -> None:
    """Say for how many points the search failed, and what to do."""
    lost, late = int(found.lost.sum()), int((found.moving > 0).sum())
    if lost:
        warnings.warn(
            f"{lost} of {len(found.Z)} point(s) have no pre-image: no row near them on the map has a positive similarity to them; the"
            " row of the nearest training point is returned. They may lie outside the map; use inverse='ridge', or a smaller gamma",
            PreimageWarning,
            stacklevel=4,
        )
    if late:
        warnings.warn(
            f"{late} of {len(found.Z)} pre-image(s) still moved after {max_iter} steps, by up to {found.moving.max():.2g} widths of the"
            " kernel a step; use inverse='ridge' or another gamma",
            PreimageWarning,
            stacklevel=4,
        )


@dataclass(frozen=True, eq=False)
class Ridge:
    """Kernel ridge regression from coordinates to rows (or, with the two exchanged, from rows to
    coordinates).

    The Gaussian kernel on the map has a width of its own; ``gamma=None`` is one over the median squared
    distance of coordinates. With ``alpha=None`` the regularisation is chosen by leave-one-out error. For up
    to 1000 points this is ``K (K + alpha I)^-1 X`` around the mean row; for more, evenly spaced points carry
    the functions and all points determine them, so that no n x n matrix is made. ``kernel`` and ``centers``
    (row numbers) may be given in place of these."""

    X: Any
    coordinates: Any
    gamma: float | None = None
    alpha: float | None = None
    n_jobs: int | None = None
    kernel: PairwiseKernel | None = None
    centers: np.ndarray | None = None

    @cached_property
    def _basis(self) -> tuple[PairwiseKernel, Any, np.ndarray]:
        """The kernel, the centres (p, d), and the matrix (p, q) that makes orthonormal functions of their
        kernels."""
        kernel = Gaussian(self.gamma).resolve(self.coordinates) if self.kernel is None else self.kernel
        centers = self.coordinates[
            evenly(n_points(self.coordinates), CENTERS) if self.centers is None else self.centers
        ]
        values, vectors = eigh(kernel.evaluate(centers, centers))
        usable = values > _RANK * values[-1]
        return kernel, centers, vectors[:, usable] / np.sqrt(values[usable])

    def _features(self, Y: np.ndarray) -> np.ndarray:
        kernel, centers, basis = self._basis
        return kernel.evaluate(Y, centers) @ basis

    @cached_property
    def _solution(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients (q, n_features), the mean row, and ``(F'F + alpha I)^-1`` (q, q)."""
        mean = mean_row(self.X)
        parts = self._over(self._sums, np.arange(n_points(self.coordinates)))
        square, product, total = (sum(part) for part in zip(*parts, strict=True))
        values, vectors = eigh(square)
        values, moment = np.maximum(values, 0.0), product - np.outer(total, mean)  # F'(X - mean)
        alpha = self._chosen(mean, values, vectors, moment) if self.alpha is None else self.alpha
        inverse = (vectors / (values + alpha)) @ vectors.T
        return inverse @ moment, mean, inverse

    def _sums(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``F'F``, ``F'X`` and ``F'1`` over some training points."""
        F = self._features(self.coordinates[which])
        return F.T @ F, dense((self.X[which].T @ F).T), F.sum(axis=0)

    def _chosen(self, mean: np.ndarray, values: np.ndarray, vectors: np.ndarray, moment: np.ndarray) -> float:
        """The regularisation with the least leave-one-out error, on at most 1000 rows."""
        n = n_points(self.coordinates)
        which = evenly(n, CENTERS)
        rows, turned, rotated = (
            dense(self.X[which]) - mean,
            self._features(self.coordinates[which]) @ vectors,
            vectors.T @ moment,
        )
        errors = []
        for alpha in n * _ALPHAS:
            shrunk = turned / (values + alpha)
            errors.append(
                np.linalg.norm((rows - shrunk @ rotated) / _others(np.einsum("ij,ij->i", shrunk, turned)))
            )
        return float(n * _ALPHAS[int(np.argmin(errors))])

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        coefficients, mean, _ = self._solution
        return np.concatenate(self._over(lambda some: self._features(some) @ coefficients + mean, Y))

    def expansion(self) -> tuple[PairwiseKernel, Any, np.ndarray, np.ndarray]:
        """The regression as ``sum_j k(y, c_j) a_j + mean``: kernel, centres ``c``, coefficients ``a`` (p,
        n_features), mean."""
        (kernel, centers, basis), (coefficients, mean, _) = self._basis, self._solution
        return kernel, centers, basis @ coefficients, mean

    def again(self, which: np.ndarray) -> np.ndarray:
        coefficients, mean, inverse = self._solution
        F, rows = self._features(self.coordinates[which]), dense(self.X[which])
        return rows - (rows - F @ coefficients - mean) / _others(np.einsum("ij,ij->i", F @ inverse, F))

    def _over(self, work: Any, Y: np.ndarray) -> list[Any]:
        return in_blocks(work, Y, 8 * (3 * n_points(self._basis[1]) + self.X.shape[1]), self.n_jobs)


def _others(own: np.ndarray) -> np.ndarray:
    """The part (n, 1) that all other points have in a prediction, given the point's own: the divisor of a
    left-out residual."""
    return np.maximum(1.0 - own, 1e-10)[:, None]
