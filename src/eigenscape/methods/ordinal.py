"""Ordinal (non-metric) MDS: a map whose distances are in the order of the dissimilarities (Burges sec. 2.2.3;
Kruskal 1964)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata

from eigenscape import _memory
from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.exceptions import NotConvergedWarning
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.solvers.pairs import canonical_signs

#: The monotone function is kept by at most this many of its corners.
_KNOTS = 4096
#: A new point has come to rest when a step is shorter than this (the mean squared distance on the map is
#: one).
_REST, _STEPS = 1e-10, 20_000


@dataclass(frozen=True)
class OrdinalWish:
    """How the map is sought."""

    n_components: int
    n_init: int
    max_iter: int
    tol: float
    ties: str
    seed: int


class Monotone:
    """Monotone regression of map distances on the order of the dissimilarities (condensed, (N,)).

    ``primary``: equal dissimilarities may have different distances. ``secondary``: they may not.
    """

    def __init__(self, dissimilarities: np.ndarray, ties: str) -> None:
        self.values, self.rank, self.counts = np.unique(
            dissimilarities, return_inverse=True, return_counts=True
        )
        self.untied = len(self.values) == len(dissimilarities)
        self.secondary = ties == "secondary" and not self.untied
        self.order = np.argsort(self.rank, kind="stable")

    def __call__(self, distances: np.ndarray) -> np.ndarray:
        """The disparities (N,): nearest to ``distances`` in least squares among those in the right order."""
        if self.secondary:
            return isotonic_regression(self.group_means(distances), weights=self.counts.astype(float)).x[
                self.rank
            ]
        order = self.order if self.untied else np.lexsort((distances, self.rank))
        fitted = np.empty_like(distances)
        fitted[order] = isotonic_regression(distances[order]).x
        return fitted

    def group_means(self, values: np.ndarray) -> np.ndarray:
        """The mean over each set of equal dissimilarities, in their order."""
        return np.bincount(self.rank, weights=values) / self.counts


class Layout(NamedTuple):
    """A map, its stress, and how it was reached. Its disparities, one for each pair of points, are no part of
    it: it is kept."""

    points: np.ndarray  # (m, p)
    stress: float
    n_iter: int
    converged: bool


def require_square(m: int) -> None:
    """Refuse what does not fit in memory: all pairs of points, several times over."""
    _memory.require(
        64.0 * m * m, f"ordinal MDS of {m} points (all their pairs)", "fit a sample and transform the rest"
    )


def best_layout(dissimilarities: np.ndarray, wish: OrdinalWish) -> tuple[Layout, np.ndarray, Monotone]:
    """The least stress over a start by classical MDS of the ranks and ``n_init - 1`` random ones, and its
    disparities (condensed).

    Ranks, not the dissimilarities themselves: nothing but their order may matter.
    """
    if dissimilarities.max() == dissimilarities.min():
        raise ValueError(
            f"all dissimilarities between different points are equal ({dissimilarities[0]:g}), so they have no order that a map could"
            " show; use another metric"
        )
    monotone = Monotone(dissimilarities, wish.ties)
    starts = [_by_ranks(dissimilarities, wish.n_components)]
    rng = np.random.default_rng(wish.seed)
    starts += [rng.standard_normal(starts[0].shape) for _ in range(wish.n_init - 1)]
    best: tuple[Layout, np.ndarray] | None = None
    with stage("starts", total=len(starts)) as advance:
        for start in starts:
            found = smacof(monotone, start, wish.max_iter, wish.tol)
            if best is None or found[0].stress < best[0].stress - 1e-9:  # of equal ones the first
                best = found
            advance(1)
    assert best is not None
    return *_turned(*best), monotone


def _by_ranks(dissimilarities: np.ndarray, n_components: int) -> np.ndarray:
    K = -0.5 * squareform(np.square(rankdata(dissimilarities) / len(dissimilarities)))
    means = K.mean(axis=0)
    K -= means[:, None] + (means - means.mean())
    values, vectors = eigh(K, subset_by_index=(len(K) - n_components, len(K) - 1))
    values, vectors = values[::-1], canonical_signs(vectors[:, ::-1])
    return vectors * np.sqrt(np.maximum(values, 1e-3 * values[0]))  # a column of zeros would stay so


def smacof(monotone: Monotone, start: np.ndarray, max_iter: int, tol: float) -> tuple[Layout, np.ndarray]:
    """Majorisation of Kruskal's stress-1, ``sqrt(sum (d - d^)^2 / sum d^2)``, until a step lowers it by less
    than ``tol``.

    Returns the map and its disparities ``d^`` (condensed).
    """
    points, before = start, np.inf
    for step in range(max_iter + 1):
        distances = pdist(points)
        disparities = monotone(distances)
        stress = float(np.sqrt(np.square(distances - disparities).sum() / np.square(distances).sum()))
        if before - stress < tol or step == max_iter:
            return Layout(points, stress, step, before - stress < tol), disparities
        before = stress
        wanted = disparities * np.sqrt(
            len(distances) / np.square(disparities).sum()
        )  # of mean square one, lest the map shrink
        ratios = squareform(np.divide(wanted, distances, out=np.zeros_like(wanted), where=distances > 0))
        points = (ratios.sum(axis=1)[:, None] * points - ratios @ points) / len(points)  # Guttman's transform
    raise AssertionError("unreachable")


def _turned(layout: Layout, disparities: np.ndarray) -> tuple[Layout, np.ndarray]:
    """Centred, on its principal axes, signs fixed, of mean squared distance one."""
    scale = 1 / np.sqrt(np.mean(np.square(pdist(layout.points))))
    centred = (layout.points - layout.points.mean(axis=0)) * scale
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    return layout._replace(points=canonical_signs(centred @ axes.T)), disparities * scale


@dataclass(frozen=True, eq=False)
class OrdinalEmbedding:
    """A fitted ordinal map: the places of the training points, and a function from dissimilarity to distance
    for all others.

    A training point has its place by identity: a query that ``points`` knows *is* that point. Another one is
    put where the squared differences between its distances on the map and the distances that the monotone
    function gives are least, the training points fixed. Between training dissimilarities the function is a
    straight line; 0 has distance 0, and beyond the largest it is level."""

    dissimilarity: Callable[[Any], np.ndarray]  # (n_new, m)
    points: RowIndex | DistanceRowIndex  # knows the training point that each query is
    layout: Layout
    knots: tuple[np.ndarray, np.ndarray]  # dissimilarities and distances, both ascending

    @property
    def coordinates(self) -> np.ndarray:
        return self.layout.points

    @property
    def columns(self) -> np.ndarray:
        return np.arange(len(self.layout.points))

    @property
    def n_iter(self) -> int:
        return self.layout.n_iter

    def transform(self, Y: Any) -> np.ndarray:
        """Coordinates of any points."""
        number = self.points.find(Y)
        places = self.layout.points[number]
        new = np.flatnonzero(number < 0)
        late = 0
        with stage("projection", total=len(new)) as advance:
            for rows in row_blocks(len(new), 32 * len(self.layout.points)):
                places[new[rows]], more = self._place(self.dissimilarity(Y[new[rows]]))
                late += more
                advance(rows.stop - rows.start)
        if late:
            warnings.warn(
                f"{late} new point(s) had not come to rest on the map after {_STEPS} steps; they lie along a valley of the stress",
                NotConvergedWarning,
                stacklevel=2,
            )
        return places

    def _place(self, dissimilarities: np.ndarray) -> tuple[np.ndarray, int]:
        from eigenscape._compiled.majorize import place_points

        points = self.layout.points
        targets = np.interp(dissimilarities, *self.knots)
        few = min(points.shape[1] + 2, len(points))
        near = np.argsort(dissimilarities, axis=1, kind="stable")[:, :few]
        weights = 1 / (np.take_along_axis(targets, near, axis=1) + 1e-6)
        places = np.einsum("nk,nkp->np", weights / weights.sum(axis=1, keepdims=True), points[near])
        return places, place_points(targets, points, places, _REST, _STEPS)


def ordinal_mds(
    dissimilarities: np.ndarray,
    wish: OrdinalWish,
    dissimilarity: Callable[[Any], np.ndarray],
    points: RowIndex | DistanceRowIndex,
) -> OrdinalEmbedding:
    """The map of points with these ``dissimilarities`` (condensed), which ``dissimilarity`` gives for any
    point."""
    layout, disparities, monotone = best_layout(dissimilarities, wish)
    return OrdinalEmbedding(
        dissimilarity, points, layout, _corners(monotone.values, monotone.group_means(disparities))
    )


def _corners(values: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the level parts of a monotone function, and the origin."""
    rises = np.diff(distances) > 0
    corners = np.flatnonzero(np.r_[True, rises] | np.r_[rises, True])
    if len(corners) > _KNOTS:
        corners = corners[np.linspace(0, len(corners) - 1, _KNOTS).astype(np.intp)]
    x, y = values[corners], distances[corners]
    return (x, y) if x[0] == 0 else (np.r_[0.0, x], np.r_[0.0, y])
