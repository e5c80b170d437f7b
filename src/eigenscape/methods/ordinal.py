"""Ordinal (non-metric) MDS: a map whose distances are in the order of the dissimilarities (Burges sec. 2.2.3;
Kruskal 1964)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata

from eigenscape import _memory
from eigenscape._memory import row_blocks
from eigenscape._native.loops import place_at_distances
from eigenscape._progress import stage
from eigenscape._threads import parallel_map
from eigenscape._warnings import warn
from eigenscape.exceptions import NotConvergedWarning
from eigenscape.kernels.base import PointIndex
from eigenscape.methods.local_affine import evenly_spaced
from eigenscape.methods.tuning import TUNING
from eigenscape.solvers.direct import partial_eigh
from eigenscape.solvers.pairs import canonical_signs

Ties = Literal["primary", "secondary"]


@dataclass(frozen=True)
class OrdinalOptions:
    """Parameters of an ordinal MDS."""

    n_components: int
    n_init: int
    max_iter: int
    tol: float
    ties: Ties
    seed: int


class MonotoneRegression:
    """Monotone regression of map distances on the order of the dissimilarities (condensed, (N,)).

    With primary ties equal dissimilarities may have different distances, with secondary ties they may not.
    """

    def __init__(self, dissimilarities: np.ndarray, ties: Ties) -> None:
        self.values, self.rank, self.counts = np.unique(
            dissimilarities, return_inverse=True, return_counts=True
        )
        self.untied = len(self.values) == len(dissimilarities)
        self.secondary = ties == "secondary" and not self.untied
        self.order = np.argsort(self.rank, kind="stable")

    def __call__(self, distances: np.ndarray) -> np.ndarray:
        """Return the disparities (N,): the monotone values nearest to ``distances`` in least squares."""
        if self.secondary:
            fitted = isotonic_regression(self.group_means(distances), weights=self.counts.astype(float)).x
            return fitted[self.rank]
        order = self.order if self.untied else np.lexsort((distances, self.rank))
        fitted = np.empty_like(distances)
        fitted[order] = isotonic_regression(distances[order]).x
        return fitted

    def group_means(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of ``values`` for each distinct dissimilarity, in ascending order of these."""
        return np.bincount(self.rank, weights=values) / self.counts


class Layout(NamedTuple):
    """A map of the training points with its stress. Disparities (one per pair of points) are not stored."""

    points: np.ndarray  # (m, p)
    stress: float
    n_iter: int
    converged: bool


def require_pair_memory(m: int) -> None:
    """Raise NotEnoughMemoryError if all pairs of ``m`` points do not fit in memory, several times over."""
    _memory.require(
        64.0 * m * m, f"ordinal MDS of {m} points (all their pairs)", "fit a sample and transform the rest"
    )


def best_layout(
    dissimilarities: np.ndarray, options: OrdinalOptions
) -> tuple[Layout, np.ndarray, MonotoneRegression]:
    """Return the layout of least stress over all starts, its disparities (condensed) and the regression.

    The first start is the classical MDS of the ranks (only the order of the dissimilarities may matter), the
    other ``n_init - 1`` are random.
    """
    if dissimilarities.max() == dissimilarities.min():
        raise ValueError(
            f"all dissimilarities between different points are equal ({dissimilarities[0]:g}), so their order"
            " determines no map; use another metric"
        )
    regression = MonotoneRegression(dissimilarities, options.ties)
    starts = [classical_start(rankdata(dissimilarities) / len(dissimilarities), options.n_components)]
    rng = np.random.default_rng(options.seed)
    starts += [rng.standard_normal(starts[0].shape) for _ in range(options.n_init - 1)]
    best: tuple[Layout, np.ndarray] | None = None
    with stage("starts", total=len(starts)) as advance:
        for layout, disparities in parallel_map(
            lambda start: smacof(regression, start, options.max_iter, options.tol), starts
        ):
            if best is None or layout.stress < best[0].stress - 1e-9:  # the first of equal ones
                best = layout, disparities
            advance(1)
    assert best is not None
    return *normalized_layout(*best), regression


def classical_start(dissimilarities: np.ndarray, n_components: int) -> np.ndarray:
    """Return the classical MDS (m, n_components) of condensed dissimilarities, without columns of zeros."""
    K = -0.5 * squareform(np.square(dissimilarities))
    means = K.mean(axis=0)
    K -= means[:, None] + (means - means.mean())
    values, vectors = partial_eigh(K, len(K) - n_components, len(K) - 1)
    values, vectors = values[::-1], canonical_signs(vectors[:, ::-1])
    return vectors * np.sqrt(np.maximum(values, 1e-3 * values[0]))  # SMACOF would keep a column of zeros


def smacof(
    regression: Callable[[np.ndarray], np.ndarray], start: np.ndarray, max_iter: int, tol: float
) -> tuple[Layout, np.ndarray]:
    """Minimise Kruskal's stress-1, ``sqrt(sum (d - d^)^2 / sum d^2)``, by majorisation (Kruskal 1964).

    Steps are twice as long as the Guttman transform, which halves their number (de Leeuw and Heiser
    1980), unless the stress would rise. Stops when a step lowers the stress by less than ``tol``. Returns the
    layout and the disparities ``d^`` (condensed).
    """
    points, before, shorter = start, np.inf, None
    for step in range(max_iter + 2):  # one more if the last step was too long
        distances = pdist(points)
        disparities = regression(distances)
        stress = float(np.sqrt(np.square(distances - disparities).sum() / np.square(distances).sum()))
        if shorter is not None and stress > before:
            points, shorter = shorter, None
            continue
        if before - stress < tol or step >= max_iter:
            return Layout(points, stress, min(step, max_iter), before - stress < tol), disparities
        before = stress
        targets = disparities * np.sqrt(len(distances) / np.square(disparities).sum())  # mean square of one
        ratios = squareform(np.divide(targets, distances, out=np.zeros_like(targets), where=distances > 0))
        shorter = (ratios.sum(axis=1)[:, None] * points - ratios @ points) / len(points)  # Guttman transform
        points = 2 * shorter - points * np.sqrt(len(distances) / np.square(distances).sum())
    raise AssertionError("unreachable")


def normalized_layout(layout: Layout, disparities: np.ndarray) -> tuple[Layout, np.ndarray]:
    """Centre the map, rotate it to principal axes, fix signs and scale it to mean squared distance one."""
    scale = 1 / np.sqrt(np.mean(np.square(pdist(layout.points))))
    centred = (layout.points - layout.points.mean(axis=0)) * scale
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    return layout._replace(points=canonical_signs(centred @ axes.T)), disparities * scale


@dataclass(frozen=True, eq=False)
class OrdinalEmbedding:
    """A fitted ordinal map: coordinates of the training points and a function from dissimilarity to distance.

    A training point (looked up in ``points``) gets its own coordinates. Any other point is placed where the
    squared differences between its distances on the map and those given by the monotone function are least,
    the training points fixed. The function is interpolated linearly between training dissimilarities; it is 0
    at 0 and constant beyond the largest.
    """

    _shapes: ClassVar = {"points.X": "n ...", "layout.points": "n p", "knots.0": "k", "knots.1": "k"}
    dissimilarity: Callable[[Any], np.ndarray]  # (n_new, m)
    points: PointIndex  # recognises training points
    layout: Layout
    knots: tuple[np.ndarray, np.ndarray]  # dissimilarities and distances, both ascending

    @property
    def coordinates(self) -> np.ndarray:
        """Coordinates (m, p) of the training points."""
        return self.layout.points

    @property
    def columns(self) -> np.ndarray:
        """Indices of the training points that the map was fitted to: all."""
        return np.arange(len(self.layout.points))

    @property
    def n_iter(self) -> int:
        """Number of iterations of the best start."""
        return self.layout.n_iter

    def transform(self, Y: Any) -> np.ndarray:
        """Return the coordinates (n_new, p) of any points."""
        index = self.points.find(Y)
        coordinates = self.layout.points[index]
        new = np.flatnonzero(index < 0)
        unconverged = 0
        with stage("projection", total=len(new)) as advance:
            for rows in row_blocks(len(new), 32 * len(self.layout.points)):
                coordinates[new[rows]], count = self._place(self.dissimilarity(Y[new[rows]]))
                unconverged += count
                advance(rows.stop - rows.start)
        warn_unconverged(unconverged)
        return coordinates

    def _place(self, dissimilarities: np.ndarray) -> tuple[np.ndarray, int]:
        """Return coordinates for rows of dissimilarities, and how many of them have not converged."""
        targets = np.interp(dissimilarities, *self.knots)
        return place_at(targets, self.layout.points, 1e-10, dissimilarities)


def warn_unconverged(count: int) -> None:
    """Warn if :func:`place_at` has not converged for ``count`` points."""
    if count:
        warn(
            f"the coordinates of {count} point(s) had not converged after {TUNING.max_steps} steps; the"
            " stress changes little around them",
            NotConvergedWarning,
        )


def place_at(
    distances: np.ndarray, points: np.ndarray, tol: float, order: np.ndarray
) -> tuple[np.ndarray, int]:
    """Place points at given distances (n, m) from fixed points; also return how many have not converged.

    The start is a mean of the fixed points with the smallest entries of ``order`` (n, m). A point has
    converged when a step is shorter than ``tol``; the mean squared distance on the map is one.
    """
    n_nearest = min(points.shape[1] + 2, len(points))
    nearest = np.argsort(order, axis=1, kind="stable")[:, :n_nearest]
    weights = 1 / (np.take_along_axis(distances, nearest, axis=1) + 1e-6)
    weights /= weights.sum(axis=1, keepdims=True)
    places = np.ascontiguousarray(np.einsum("nk,nkp->np", weights, points[nearest]))
    targets, fixed = np.ascontiguousarray(distances), np.ascontiguousarray(points)
    return places, place_at_distances(targets, fixed, places, tol, TUNING.max_steps)


def ordinal_mds(
    dissimilarities: np.ndarray,
    options: OrdinalOptions,
    dissimilarity: Callable[[Any], np.ndarray],
    points: PointIndex,
) -> OrdinalEmbedding:
    """Return the ordinal map of training ``points`` with the given condensed ``dissimilarities``.

    ``dissimilarity(Y)`` returns the dissimilarities of any points to the training points.
    """
    layout, disparities, regression = best_layout(dissimilarities, options)
    knots = _breakpoints(regression.values, regression.group_means(disparities))
    return OrdinalEmbedding(dissimilarity, points, layout, knots)


def _breakpoints(values: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the constant parts of a monotone function (at most 4096), and the origin."""
    rises = np.diff(distances) > 0
    ends = np.flatnonzero(np.r_[True, rises] | np.r_[rises, True])
    ends = ends[evenly_spaced(len(ends), 4096)]
    x, y = values[ends], distances[ends]
    return (x, y) if x[0] == 0 else (np.r_[0.0, x], np.r_[0.0, y])
