"""Pre-images: rows whose image in feature space is nearest to a point (Mika et al. 1999; Burges sec. 1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigenscape._warnings import warn
from eigenscape.dictionary.low_rank import LowRankEigenfunctions
from eigenscape.eigenfunctions import Eigenfunctions, Embedding
from eigenscape.exceptions import PreimageWarning
from eigenscape.graph.neighbors import NeighborIndex, neighbor_index
from eigenscape.kernels.base import as_float64
from eigenscape.kernels.pairwise import Gaussian
from eigenscape.methods.local_affine import map_rows, mean_row, to_dense
from eigenscape.normalize import CenteredKernel


@dataclass(frozen=True, eq=False)
class Expansion:
    """The point of feature space with given coordinates, as a combination ``sum_i g_i Phi(x_i)``.

    The weights ``g`` (n_new, m) of the training points are an affine function of the coordinates.
    """

    X: Any  # (m, n_features)
    directions: np.ndarray  # (n_components, m)
    origin: np.ndarray  # (m,)

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        """Return the weights (n_new, m) for coordinates."""
        return self.origin + Y @ self.directions


def expansion_of(model: Embedding, X: Any) -> Expansion:
    """Return the expansion of a centred embedding in its training points, or in its dictionary ``X``.

    Coordinates are projections on ``u_r = sum_i v_ri (Phi(x_i) - mean) / sqrt(l_r)``, so the point is
    ``mean + sum_r y_r u_r``.
    """
    functions, kernel = model.eigenfunctions, model.kernel
    if isinstance(functions, LowRankEigenfunctions):
        return _low_rank_expansion(functions, X)
    assert isinstance(functions, Eigenfunctions)
    assert isinstance(kernel, CenteredKernel)
    directions = (functions.weighted_vectors / np.sqrt(functions.pairs.values)).T  # (r, m)
    directions = directions - np.outer(directions.sum(axis=1), kernel.weights)
    return Expansion(as_float64(X), directions, kernel.weights)


def _low_rank_expansion(functions: LowRankEigenfunctions, X: Any) -> Expansion:
    """Return the same in terms of features: the point has the features ``center + sum_r y_r w_r``."""
    span, normalization, w = functions.kernel.span, functions.kernel.normalization, functions.pairs.vectors.T
    centred = normalization.kind == "additive"  # centre in the affine hull, directions parallel to it
    along = np.zeros(len(w)) if centred or span.height == 0 else w @ span.normal / span.height
    origin = span.member_weights(normalization.center[None], np.array([float(centred)]))[0]
    return Expansion(as_float64(X), span.member_weights(w, along), origin)


@dataclass(frozen=True, eq=False)
class LinearInverse:
    """``sum_i g_i x_i``: the inverse of PCA, since the feature map of a linear kernel is the identity."""

    X: Any
    coordinates: np.ndarray
    expansion: Expansion

    @cached_property
    def _map(self) -> tuple[np.ndarray, np.ndarray]:
        """Matrix and constant of the affine map, summed around the mean row to keep the accuracy."""
        X, mean = self.expansion.X, mean_row(self.expansion.X)
        weights = np.vstack([self.expansion.directions, self.expansion.origin])
        sums = weights.sum(axis=1)
        if isinstance(X, np.ndarray):
            centred = weights @ (X - mean)
        else:
            centred = to_dense((X.T @ weights.T).T) - np.outer(sums, mean)
        rows = centred + np.outer(sums, mean)
        return rows[:-1], rows[-1]

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        """Return rows (n_new, n_features) for coordinates."""
        directions, origin = self._map
        return Y @ directions + origin

    def reconstruct(self, indices: np.ndarray) -> np.ndarray:
        """Return training rows computed from their coordinates."""
        return self(self.coordinates[indices])


class SearchResult(NamedTuple):
    """Results of a search for pre-images."""

    Z: np.ndarray  # rows (n, n_features), relative to the mean row
    failed: np.ndarray  # (n,) whether J was positive at no start
    step: np.ndarray  # (n,) length of the last step in widths of the kernel; 0 if converged


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """The fixed-point iteration of Mika et al. for the Gaussian kernel ``exp(-gamma |x - y|^2)``.

    ``|Phi(z) - sum_i g_i Phi(x_i)|^2`` is least where ``J(z) = sum_i g_i k(z, x_i)`` is largest, and there

        z = sum_i g_i k(z, x_i) x_i / sum_i g_i k(z, x_i).

    The paper iterates the right-hand side. A step is a direction of ascent where ``J > 0``, but may be too
    long, because some ``g_i`` are negative; it is halved until ``J`` does not decrease, which also keeps the
    denominator positive. The start is the row with the largest ``J`` among the rows of the five nearest
    points on the map.
    """

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
        """Index of the neighbours on the map."""
        return neighbor_index(self.starts, n_jobs=self.n_jobs)

    @cached_property
    def _centred_rows(self) -> tuple[Any, np.ndarray]:
        """Rows minus their mean, which keeps the accuracy, and the mean; sparse rows are not centred."""
        X = self.expansion.X
        if not isinstance(X, np.ndarray):
            return X, np.zeros(X.shape[1])
        mean = X.mean(axis=0)
        return X - mean, mean

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        """Return rows (n_new, n_features) for coordinates."""
        bytes_per_row = 8 * (4 * len(self.expansion.origin) + 8 * self.X.shape[1])
        blocks = map_rows(self._search, Y, bytes_per_row, self.n_jobs)
        result = SearchResult(*map(np.concatenate, zip(*blocks, strict=True)))
        _warn_if_unsolved(result, self.max_iter)
        return result.Z + self._centred_rows[1]

    def reconstruct(self, indices: np.ndarray) -> np.ndarray:
        """Return training rows computed from their coordinates."""
        return self(self.coordinates[indices])

    def _search(self, Y: np.ndarray) -> SearchResult:
        """Iterate from the best start until all steps are short."""
        weights = self.expansion(Y)
        Z, value, target = self._start(Y, weights)
        step, fraction = np.full(len(Y), np.inf), np.ones(len(Y))
        failed = ~np.isfinite(value)
        step[failed] = 0.0
        active = np.flatnonzero(~failed)
        for _ in range(self.max_iter):
            if len(active) == 0:
                break
            trial = Z[active] + fraction[active, None] * (target[active] - Z[active])
            step[active] = np.sqrt(self.gamma) * np.linalg.norm(trial - Z[active], axis=1)
            trial_value, trial_target = self._evaluate(weights[active], trial)
            accepted = trial_value >= value[active]
            better = active[accepted]
            Z[better], value[better], fraction[better] = trial[accepted], trial_value[accepted], 1.0
            target[better] = trial_target[accepted]
            fraction[active[~accepted]] /= 2
            active = active[step[active] > self.tol]
        step[step <= self.tol] = 0.0
        return SearchResult(Z, failed, step)

    def _start(self, Y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the starting points, each the best of a few training rows, their ``J`` and next iterates."""
        rows = self._centred_rows[0]
        neighbor = self.index.nearest(Y, min(5, len(self.starts)))[1]
        Z = to_dense(rows[neighbor[:, 0]]).copy()
        value, target = np.full(len(Y), -np.inf), np.zeros((len(Y), rows.shape[1]))
        for column in neighbor.T:
            trial = to_dense(rows[column])
            trial_value, trial_target = self._evaluate(weights, trial)
            better = trial_value > value
            Z[better], value[better] = trial[better], trial_value[better]
            target[better] = trial_target[better]
        return Z, value, target

    def _evaluate(self, weights: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``J(z)``, minus infinity where it is not positive, and the next iterate."""
        rows = self._centred_rows[0]
        terms = weights * Gaussian(self.gamma).evaluate(Z, rows)  # (b, m)
        value = terms.sum(axis=1)
        positive = value > 1e-12 * np.abs(terms).sum(axis=1)  # not a rounding error
        divisor = np.where(positive, value, 1.0)
        return np.where(positive, value, -np.inf), to_dense(terms @ rows) / divisor[:, None]


def _warn_if_unsolved(result: SearchResult, max_iter: int) -> None:
    """Warn about points without a pre-image and about searches that have not converged."""
    n, n_failed, n_unconverged = len(result.Z), int(result.failed.sum()), int((result.step > 0).sum())
    if n_failed:
        warn(
            f"{n_failed} of {n} point(s) have no pre-image: no row near them on the map has a positive"
            " similarity to them; the row of the nearest training point is returned. They may lie outside the"
            " map; use inverse='ridge', or a smaller gamma",
            PreimageWarning,
        )
    if n_unconverged:
        warn(
            f"{n_unconverged} of {n} pre-image(s) still moved after {max_iter} steps, by up to"
            f" {result.step.max():.2g} widths of the kernel per step; use inverse='ridge' or another gamma",
            PreimageWarning,
        )
