"""Neighbour embedding: attraction along the edges of a graph, repulsion between all points.

Laplacian eigenmaps are the limit of strong attraction (Böhm, Berens and Kobak 2022), t-SNE is the layout
without exaggeration (van der Maaten and Hinton 2008). The map of the training points is computed by openTSNE.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenscape._extras import optional_import
from eigenscape._progress import stage
from eigenscape._threads import n_threads, parallel_map
from eigenscape.exceptions import NotConvergedWarning
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.kernels.mutual import MutualAffinity
from eigenscape.methods.repulsion import RepulsionField, repulsion_field
from eigenscape.solvers.pairs import canonical_signs

#: Number of iterations between tests of convergence.
_CHUNK = 50
#: Barnes-Hut trees are faster than interpolation on a grid for fewer points than this, and for fewer than the
#: second number if the attraction is weak and the map therefore wide.
_FEW_POINTS, _FEW_POINTS_WIDE, _WIDE = 1000, 8000, 1.5
#: Minimum number of intervals of the grid; the width of an interval is that of the repulsion or less.
_MIN_INTERVALS = 20
#: A new point has converged when a step is shorter than this; the width of the repulsion is one.
_STEP_TOL, _MAX_STEPS = 1e-6, 500
#: Number of new points that one thread places at a time.
_BLOCK = 256


class LayoutOptions(NamedTuple):
    """Parameters of a layout."""

    exaggeration: float
    max_iter: int
    tol: float
    n_jobs: int | None = None


class Layout(NamedTuple):
    """A map of the training points.

    ``movement`` is the root mean square movement of a point in the last iteration, relative to the root mean
    square distance of the points from their mean.
    """

    points: np.ndarray  # (m, p)
    movement: float
    n_iter: int


def attraction_repulsion_layout(
    weights: sparse.csr_array, start: np.ndarray, options: LayoutOptions
) -> Layout:
    """Minimise ``sum_ij P_ij log(1 + |x_i - x_j|^2) + log(Z) / exaggeration`` from the map ``start`` (m, p).

    ``P = W / sum(W)`` and ``Z = sum_{i != j} 1 / (1 + |x_i - x_j|^2)``: the Kullback-Leibler divergence of
    t-SNE, the attraction multiplied by ``exaggeration`` (Böhm, Berens and Kobak 2022). Gradient descent with
    momentum, by openTSNE; its result does not depend on the number of threads.
    """
    tsne = optional_import("openTSNE", "NeighborEmbedding")
    affinities = tsne.affinity.PrecomputedAffinities(sparse.csr_matrix(weights).copy())
    few = len(start) < (_FEW_POINTS_WIDE if options.exaggeration < _WIDE else _FEW_POINTS)
    layout = tsne.TSNEEmbedding(
        start,
        affinities,
        negative_gradient_method="bh" if few else "fft",
        learning_rate="auto",
        momentum=0.8,
        exaggeration=options.exaggeration,
        min_num_intervals=_MIN_INTERVALS,
        n_jobs=n_threads(options.n_jobs),
    )
    movement, n_iter = np.inf, 0
    with stage("layout", total=options.max_iter, bound=True) as advance:
        while n_iter < options.max_iter and movement > options.tol:
            count = min(_CHUNK, options.max_iter - n_iter)
            before = np.array(layout)
            layout = layout.optimize(count, inplace=True)
            n_iter += count
            movement = _relative_movement(before, np.asarray(layout)) / count
            advance(count)
    return Layout(canonical_signs(_centred(np.array(layout))), movement, n_iter)


def _centred(points: np.ndarray) -> np.ndarray:
    return points - points.mean(axis=0)


def _relative_movement(before: np.ndarray, after: np.ndarray) -> float:
    spread = np.sqrt(np.mean(np.square(_centred(after))))
    return float(np.sqrt(np.mean(np.square(_centred(after) - _centred(before)))) / spread)


def scaled_start(eigenmap: np.ndarray, size: float = 1.0) -> np.ndarray:
    """Return an eigenmap with columns of standard deviation ``size``."""
    return _centred(eigenmap) * (size / np.std(eigenmap, axis=0))


@dataclass(frozen=True, eq=False)
class NeighborMap:
    """A fitted neighbour embedding.

    A query equal to a training point gets the coordinates of that point. Any other point ``y`` is placed at a
    minimum of its own part of the objective, the training points fixed,

        exaggeration sum_j W(y, x_j) / sum(W) log(1 + |z - z_j|^2) + R(z) / Z,

    with ``R(z)`` the repulsion of all training points: the gradient in ``z`` is that of the layout in the
    coordinates of a training point with the same affinities.
    """

    affinity: MutualAffinity
    layout: Layout
    exaggeration: float
    total: float  # sum of all affinities

    @property
    def coordinates(self) -> np.ndarray:
        """Coordinates (m, p) of the training points."""
        return self.layout.points

    @property
    def columns(self) -> np.ndarray:
        """Indices of the training points that the map was fitted to: all."""
        return np.arange(len(self.layout.points))

    @property
    def vertices(self) -> RowIndex | DistanceRowIndex:
        """Index that finds the training point equal to a query."""
        return self.affinity.graph.vertices

    @cached_property
    def plane(self) -> np.ndarray:
        """Coordinates of the training points in two dimensions, (m, 2); the second may be zero."""
        points = self.layout.points
        return np.ascontiguousarray(points if points.shape[1] == 2 else np.column_stack([points, 0 * points]))

    @cached_property
    def field(self) -> RepulsionField:
        """The repulsion of the training points."""
        return repulsion_field(self.plane)

    @cached_property
    def normalizer(self) -> float:
        """``Z``, the sum of ``1 / (1 + |x_i - x_j|^2)`` over all pairs of different training points."""
        return float(self.field(self.plane).sum() - len(self.plane))

    def transform(self, Y: Any) -> np.ndarray:
        """Return the coordinates (n_new, p) of any points."""
        found = self.vertices.find(Y)
        coordinates = self.layout.points[found]
        new = np.flatnonzero(found < 0)
        if len(new) == 0:
            return coordinates
        weights = sparse.csr_array(self.affinity(Y if len(new) == len(found) else Y[new]))
        with stage("projection", total=len(new)) as advance:
            coordinates[new], n_unconverged = self._place(weights, advance)
        if n_unconverged:
            warnings.warn(
                f"the coordinates of {n_unconverged} new point(s) had not converged after {_MAX_STEPS} steps;"
                " the objective changes little around them",
                NotConvergedWarning,
                stacklevel=2,
            )
        return coordinates

    def _place(self, weights: sparse.csr_array, advance: Any) -> tuple[np.ndarray, int]:
        """Return coordinates for rows of affinities, and how many of them have not converged."""
        from eigenscape._compiled.layout import place_points

        n, n_components = weights.shape[0], self.layout.points.shape[1]
        pull = weights.data * (self.exaggeration * self.normalizer / self.total)
        field, plane = self.field, self.plane
        places = np.empty((n, 2))

        def place(rows: slice) -> int:
            return place_points(
                weights.indptr[rows.start : rows.stop + 1],
                weights.indices,
                pull,
                plane,
                field.nodes,
                field.lower,
                field.step,
                n_components == 1,
                _STEP_TOL,
                _MAX_STEPS,
                places[rows],
            )

        blocks = [slice(first, min(first + _BLOCK, n)) for first in range(0, n, _BLOCK)]
        n_unconverged = 0
        for rows, count in zip(blocks, parallel_map(place, blocks), strict=True):
            n_unconverged += count
            advance(rows.stop - rows.start)
        return places[:, :n_components], n_unconverged

    @cached_property
    def kl_divergence(self) -> float:
        """Kullback-Leibler divergence of the map from the affinities of the training points."""
        edges = sparse.coo_array(self.affinity.edges())
        P = edges.data / self.total
        squares = np.square(self.plane[edges.row] - self.plane[edges.col]).sum(axis=1)
        return float(np.sum(P * (np.log(P) + np.log1p(squares))) + np.log(self.normalizer))


def neighbor_embedding(affinity: MutualAffinity, eigenmap: np.ndarray, options: LayoutOptions) -> NeighborMap:
    """Return the neighbour embedding of a graph, from its Laplacian eigenmap (m, p)."""
    weights = affinity.edges()
    layout = attraction_repulsion_layout(weights, scaled_start(eigenmap), options)
    return NeighborMap(affinity, layout, options.exaggeration, float(weights.sum()))
