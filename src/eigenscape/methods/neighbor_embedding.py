"""Neighbour embedding: attraction along the edges of a graph, repulsion between all points.

Laplacian eigenmaps are the limit of strong attraction (Böhm, Berens and Kobak 2022), t-SNE is the layout
without exaggeration (van der Maaten and Hinton 2008).

See docs/decisions/methods-neighbor-embedding.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import fft, sparse

from eigenscape._native.loops import forces, move, place_on_map, spline_values, spread
from eigenscape._progress import stage
from eigenscape._threads import Team, parallel_map, thread_team
from eigenscape._warnings import warn
from eigenscape.exceptions import NotConvergedWarning
from eigenscape.kernels.affinity import MutualAffinity
from eigenscape.solvers.pairs import canonical_signs

#: Nodes across a small map, whose points are dense, and the largest number of all nodes.
_NODES_ACROSS, _MAX_NODES = 100, 1 << 22
#: Nodes beyond the map, and the factor by which a grid is larger than the map, which often grows.
_MARGIN, _ROOM = 3, 1.1


@dataclass(frozen=True, eq=False)
class RepulsionField:
    """``R(y) = sum_l 1 / (1 + |y - x_l|^2)`` as a spline.

    Attributes
    ----------
    lower : ndarray of shape (2,)
        The first node.
    step : float
        Distance between nodes.
    nodes : ndarray of shape (n_x, n_y)
        Coefficients of the cubic B-splines of the nodes.
    """

    lower: np.ndarray
    step: float
    nodes: np.ndarray

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return ``R`` at points (n, 2)."""
        values = np.empty(len(points))
        spline_values(self.nodes, self.lower, self.step, points, values)
        return values


class RepulsionGrid:
    """A grid for the repulsion of a map, used again while the map changes little in size.

    Sums of a smooth kernel over many points are interpolated from a grid, as in FIt-SNE (Linderman et al.
    2019), by cubic B-splines, whose gradient is smooth: one transform forth and one back give the repulsion
    and its gradient.

    With the B-splines ``B`` of the nodes ``a`` the kernel ``w(x - y)`` is ``sum_ab B_a(x) c(a - b) B_b(y)``.
    It is exact if both points are nodes: the Fourier transform of ``c`` is the transform of ``w`` at the
    nodes, divided by the squared transform of ``B``.

    Parameters
    ----------
    step : float
        Distance between nodes; the width of the kernel is one. Smaller for small maps, and larger for maps
        that would have too many nodes.
    border : float, default=0.0
        Width of the border around the map.
    dtype : type, default=float
        Type of floating point numbers on the grid.
    """

    def __init__(self, step: float, border: float = 0.0, dtype: type = np.float64) -> None:
        self.usual_step = self.step = step
        self.border, self.dtype = border, dtype
        self.mass: np.ndarray = np.empty((0, 0), dtype)  # (n_x, n_y)
        self.size: list[int] = []  # of the transforms: no point is within reach of the repetition of another
        self.spectrum: np.ndarray = np.empty((0, 0), dtype)  # of c

    def field(self, points: np.ndarray) -> RepulsionField:
        """Return the repulsion field of a map (m, 2)."""
        low, high = points.min(axis=0) - self.border, points.max(axis=0) + self.border
        self._fit(high - low)
        lower = (low + high) / 2 - self.step * (np.array(self.mass.shape) - 1) / 2
        spread(points, lower, self.step, self.mass)
        spectrum = fft.rfft2(self.mass, self.size)
        spectrum *= self.spectrum
        nodes = fft.irfft2(spectrum, self.size)[: self.mass.shape[0], : self.mass.shape[1]]
        return RepulsionField(lower, self.step, np.ascontiguousarray(nodes))

    def _fit(self, extent: np.ndarray) -> None:
        """Change the grid if a map of this extent does not fit, or if half of the nodes suffice."""
        needed = _counts(extent, self.step)
        given = np.array(self.mass.shape)
        if (needed <= given).all() and 2 * needed.prod() >= given.prod():
            return
        wanted = _ROOM * extent
        self.step = min(self.usual_step, float(wanted.max()) / _NODES_ACROSS)
        while (excess := _counts(wanted, self.step).prod() / _MAX_NODES) > 1:
            self.step *= max(np.sqrt(excess), 1.01)
        self.size = [fft.next_fast_len(2 * int(count), real=True) for count in _counts(wanted, self.step)]
        self.mass = np.empty([full // 2 for full in self.size], self.dtype)
        self.spectrum = _spectrum(self.size, self.step).astype(self.dtype)


def _counts(extent: np.ndarray, step: float) -> np.ndarray:
    """Return the numbers of nodes in both directions for a map of given extent."""
    return np.ceil(extent / step).astype(np.int64) + 1 + 2 * _MARGIN


def _spectrum(size: list[int], step: float) -> np.ndarray:
    """Return the transform of ``w = 1 / (1 + x^2 + y^2)``, divided by the squared transform of ``B``."""
    offsets = [np.minimum(np.arange(full), full - np.arange(full)) for full in size]
    x, y = (np.square(step * offset) for offset in offsets)
    # The B-spline of a node is 2/3 there and 1/6 at its neighbours.
    b, c = ((2 + np.cos(2 * np.pi * np.arange(full) / full)) / 3 for full in size)
    spectrum = fft.rfft2(1 / (1 + x[:, None] + y)).real  # the kernel is even
    return spectrum / np.square(b[:, None] * c[: spectrum.shape[1]])


#: Momentum of the descent, after openTSNE. The rate is the number of points, divided by the exaggeration
#: (Belkina et al. 2019), and half of that from this exaggeration on: points in dense clusters that are the
#: neighbours of many others would otherwise oscillate.
_MOMENTUM, _HALF_RATE = 0.8, 2.0
#: Step of the grid of the repulsion in the layout without exaggeration, and for new points; the width of the
#: repulsion is one. With exaggeration clusters are denser, and gradients need a finer grid.
_STEP, _NEW_STEP = 0.4, 0.25
#: Width of the border of that grid for new points, absolute and relative to the size of the map.
_BORDER, _RELATIVE_BORDER = 5.0, 0.1
#: A new point has converged when a step is shorter than this; the width of the repulsion is one.
_STEP_TOL, _MAX_STEPS = 1e-6, 500
#: Number of points that one thread moves at a time, and of new points that it places.
_ROWS, _BLOCK = 4096, 256


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
    momentum; its result does not depend on the number of threads.
    """
    descent = Descent(weights, start, options.exaggeration)
    movement, n_iter = np.inf, 0
    with stage("layout", total=options.max_iter, bound=True) as advance, thread_team(options.n_jobs) as team:
        while n_iter < options.max_iter and movement > options.tol:
            before, count = descent.points, min(50, options.max_iter - n_iter)
            for _ in range(count):
                descent.iterate(team)
                advance(1)
            n_iter += count
            movement = _relative_movement(before, descent.points) / count
    return Layout(canonical_signs(descent.points[:, : start.shape[1]]), movement, n_iter)


class Descent:
    """Gradient descent from a map ``start`` (m, p); a map in one dimension is a line in the plane."""

    def __init__(self, weights: sparse.csr_array, start: np.ndarray, exaggeration: float) -> None:
        self.weights, self.rate = weights, len(start) / (exaggeration * min(exaggeration, _HALF_RATE))
        self.pull = 4 * exaggeration / weights.data.sum()  # van der Maaten and Hinton 2008, eq. 5
        self.n_components = start.shape[1]
        self.points = in_plane(start)
        self.gains, self.moves = np.ones(start.shape), np.zeros(start.shape)
        self.grid = RepulsionGrid(_STEP / exaggeration**0.5, dtype=np.float32)

    def iterate(self, team: Team) -> None:
        """Replace the points by those after an iteration."""
        W, points, m = self.weights, self.points, len(self.points)
        field = self.grid.field(points)
        repulsion, slopes, pulls = np.empty(m), np.empty((m, 2)), np.empty((m, 2))

        def act(first: int) -> None:
            last = min(first + _ROWS, m)
            edges = (W.indptr, W.indices, W.data)
            forces(
                first, last, points, *edges, field.nodes, field.lower, field.step, repulsion, slopes, pulls
            )

        team(act, range(0, m, _ROWS))
        push = 2 / (repulsion.sum() - m)  # the gradient of the repulsion is -2 sum_j w_ij^2 (x_i - x_j)
        after = points[:, : self.n_components].copy()
        # In widths of the repulsion; without the second limit few points would leave each other.
        longest = min(5.0, _spread(after))
        move(after, slopes, pulls, push, self.pull, self.rate, _MOMENTUM, longest, self.gains, self.moves)
        self.points = in_plane(_centred(after))


def in_plane(points: np.ndarray) -> np.ndarray:
    """Return points (m, 1) or (m, 2) in two dimensions, (m, 2); the second coordinate may be zero."""
    return np.ascontiguousarray(points if points.shape[1] == 2 else np.column_stack([points, 0 * points]))


def _centred(points: np.ndarray) -> np.ndarray:
    return points - points.mean(axis=0)


def _spread(points: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(_centred(points)))))


def _relative_movement(before: np.ndarray, after: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(_centred(after) - _centred(before)))) / _spread(after))


def scaled_start(eigenmap: np.ndarray) -> np.ndarray:
    """Return an eigenmap with columns of mean 0 and standard deviation 1."""
    return _centred(eigenmap) / np.std(eigenmap, axis=0)


@dataclass(frozen=True, eq=False)
class NeighborMap:
    """A fitted neighbour embedding.

    A training point gets its own coordinates. Any other point ``y`` is placed at a
    minimum of its own part of the objective, the training points fixed,

        exaggeration sum_j W(y, x_j) / sum(W) log(1 + |z - z_j|^2) + R(z) / Z,

    with ``R(z)`` the repulsion of all training points: the layout has the same gradient in the
    coordinates of a training point with the same affinities.
    """

    _shapes: ClassVar = {"affinity.<points>": "n ...", "layout.points": "n p"}
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

    @cached_property
    def plane(self) -> np.ndarray:
        """Coordinates of the training points in two dimensions, (m, 2)."""
        return in_plane(self.layout.points)

    @cached_property
    def field(self) -> RepulsionField:
        """The repulsion of the training points."""
        border = max(_BORDER, _RELATIVE_BORDER * float(np.ptp(self.plane, axis=0).max()))
        return RepulsionGrid(_NEW_STEP, border).field(self.plane)

    @cached_property
    def normalizer(self) -> float:
        """``Z``, the sum of ``1 / (1 + |x_i - x_j|^2)`` over all pairs of different training points."""
        return float(self.field(self.plane).sum() - len(self.plane))

    def transform(self, Y: Any) -> np.ndarray:
        """Return the coordinates (n_new, p) of any points."""
        vertex, edges = self.affinity.graph.locate(Y)
        coordinates = self.layout.points[vertex]
        new = np.flatnonzero(vertex < 0)
        if len(new) == 0:
            return coordinates
        weights = self.affinity.of_edges(edges)
        with stage("projection", total=len(new)) as advance:
            coordinates[new], n_unconverged = self._place(weights, advance)
        if n_unconverged:
            warn(
                f"the coordinates of {n_unconverged} new point(s) had not converged after {_MAX_STEPS} steps;"
                " the objective changes little around them",
                NotConvergedWarning,
            )
        return coordinates

    def _place(self, weights: sparse.csr_array, advance: Any) -> tuple[np.ndarray, int]:
        """Return coordinates for rows of affinities, and how many of them have not converged."""
        n, n_components = weights.shape[0], self.layout.points.shape[1]
        pull = weights.data * (self.exaggeration * self.normalizer / self.total)
        field, plane = self.field, self.plane
        places = np.empty((n, 2))

        def place(rows: slice) -> int:
            return place_on_map(
                rows.start,
                rows.stop,
                weights.indptr,
                weights.indices,
                pull,
                plane,
                field.nodes,
                field.lower,
                field.step,
                n_components == 1,
                _STEP_TOL,
                _MAX_STEPS,
                places,
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
