"""Potential distances: diffusion, logarithm, metric MDS (Moon et al. 2019), from the formulas of the paper.

A random walk of ``t`` steps on a neighbourhood graph has transition probabilities ``P^t``. Two points are far
from each other if the logarithms of their probabilities differ, also where both are small, which preserves
the branches of a tree as well as the distances within them.

See docs/decisions/methods-potential-map.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist, pdist

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._threads import parallel_map
from eigenscape.kernels.affinity import LocalAffinity
from eigenscape.methods.ordinal import (
    Layout,
    classical_start,
    normalized_layout,
    place_at,
    smacof,
    warn_unconverged,
)


class PotentialOptions(NamedTuple):
    """Parameters of a potential map."""

    n_components: int
    n_steps: int | None  # None for the knee of the entropy
    n_landmarks: int
    max_iter: int
    tol: float
    seed: int


def landmark_cells(lengths: sparse.csr_array, n_landmarks: int, seed: int) -> np.ndarray:
    """Return the cell of each vertex (m,): the nearest of ``n_landmarks`` random vertices by paths.

    If there are no more vertices than landmarks, each vertex is a cell."""
    m = lengths.shape[0]
    if m <= n_landmarks:
        return np.arange(m)
    chosen = np.sort(np.random.default_rng(seed).choice(m, n_landmarks, replace=False))
    sources = dijkstra(lengths, indices=chosen, min_only=True, return_predecessors=True)[2]
    return np.searchsorted(chosen, sources)


def entropy_curve(eigenvalues: np.ndarray, n_steps: int = 200) -> np.ndarray:
    """Return the von Neumann entropy of the walk after ``1, ..., n_steps`` steps (Moon et al., methods).

    It is the entropy of ``|l|^t``, scaled to the sum 1, for the eigenvalues ``l`` of the transition matrix.
    """
    size = np.abs(eigenvalues[np.abs(eigenvalues) > 1e-12])
    powers = np.power(size, np.arange(1, n_steps + 1)[:, None])  # (n_steps, m)
    shares = powers / powers.sum(axis=1, keepdims=True)
    return -np.sum(shares * np.log(np.maximum(shares, np.finfo(float).tiny)), axis=1)


def knee(values: np.ndarray) -> int:
    """Return the index at which two straight lines, before and after it, fit a curve best."""
    before, after = _line_errors(values), _line_errors(values[::-1])[::-1]
    return 1 + int(np.argmin((before + after)[1:-1]))


def _line_errors(values: np.ndarray) -> np.ndarray:
    """Return the squared errors of the lines of least squares through the first 1, 2, ... values."""
    x, y = np.arange(len(values)), values - values[0]
    count, total = x + 1, np.cumsum(y)
    xx = np.maximum(count * (count**2 - 1) / 12, 0.5)  # about the means; a single value has no slope
    xy = np.cumsum(x * y) - x / 2 * total
    return np.maximum(np.cumsum(y**2) - total**2 / count - xy**2 / xx, 0)


def metric_mds(dissimilarities: np.ndarray, n_components: int, max_iter: int, tol: float) -> Layout:
    """Return the metric MDS (SMACOF) of condensed dissimilarities, from their classical MDS.

    The mean squared distance on the map is one."""
    square = float(dissimilarities @ dissimilarities)

    def nearest_multiple(distances: np.ndarray) -> np.ndarray:  # in least squares
        return dissimilarities * (float(dissimilarities @ distances) / square)

    with stage("metric MDS"):
        start = classical_start(dissimilarities, n_components)
        layout, disparities = smacof(nearest_multiple, start, max_iter, tol)
    return normalized_layout(layout, disparities)[0]


@dataclass(frozen=True, eq=False)
class PotentialEmbedding:
    """A fitted potential map.

    The random walk is between cells of vertices: ``Q = D^-1 C' K C`` with the indicators ``C`` of the cells.
    A point with the affinities ``k(x, .)`` steps to the cells with ``p(x) = k(x, .) C / sum k(x, .)`` and has
    the potential ``-log(p(x) Q^(t-1))``. It is placed where the squared differences between its distances on
    the map and the distances of potentials are least, the cells fixed. If every vertex is a cell, a vertex
    gets the coordinates of its cell.
    """

    _shapes: ClassVar = {
        "affinity.<points>": "n ...",
        "cells": "n < c",
        "diffused": "c c",
        "potentials": "c c",
        "layout.points": "c p",
        "coordinates": "n p",
    }
    affinity: LocalAffinity
    cells: np.ndarray  # (m,)
    diffused: np.ndarray  # Q^(t-1), (n_cells, n_cells)
    potentials: np.ndarray  # of the cells, (n_cells, n_cells)
    layout: Layout  # of the cells
    scale: float  # distance of potentials that is 1 on the map
    coordinates: np.ndarray  # (m, p)

    @property
    def columns(self) -> np.ndarray:
        """Indices of the training points that the map was fitted to: all."""
        return np.arange(len(self.cells))

    def transform(self, Y: Any) -> np.ndarray:
        """Return the coordinates (n_new, p) of any points."""
        vertex, edges = self.affinity.graph.locate(Y)
        coordinates = self.coordinates[vertex]
        if edges.shape[0]:
            coordinates[vertex < 0] = self.place(self.affinity.of_edges(edges))
        return coordinates

    def place(self, weights: sparse.csr_array) -> np.ndarray:
        """Return the coordinates (n, p) of points with the given affinities (n, m) to the vertices."""
        steps = _merge(weights, self.cells, len(self.diffused))
        coordinates = np.empty((steps.shape[0], self.layout.points.shape[1]))
        blocks = list(row_blocks(steps.shape[0], 64 * len(self.diffused)))

        def place_block(rows: slice) -> int:
            distances = cdist(potential(steps[rows] @ self.diffused), self.potentials) / self.scale
            coordinates[rows], n_unconverged = place_at(distances, self.layout.points, 1e-9, distances)
            return n_unconverged

        n_unconverged = 0
        with stage("projection", total=steps.shape[0]) as advance:
            for rows, count in zip(blocks, parallel_map(place_block, blocks), strict=True):
                n_unconverged += count
                advance(rows.stop - rows.start)
        warn_unconverged(n_unconverged)
        return coordinates


def potential(probabilities: np.ndarray) -> np.ndarray:
    """Return ``-log(p + 1e-7)`` of transition probabilities, finite where they vanish (Moon et al.)."""
    return -np.log(probabilities + 1e-7)


def _merge(weights: sparse.csr_array, cells: np.ndarray, n_cells: int) -> sparse.csr_array:
    """Return the probabilities (n, n_cells) of stepping to the cells from points with given affinities."""
    m = len(cells)
    members = sparse.csr_array((np.ones(m), cells, np.arange(m + 1)), shape=(m, n_cells))
    sums = weights.sum(axis=1)
    return sparse.csr_array(sparse.diags_array(1 / sums) @ (weights @ members))


class Walk(NamedTuple):
    """A random walk between cells: the transition matrix after one step less than ``n_steps``, and all."""

    before: np.ndarray  # Q^(t-1)
    after: np.ndarray  # Q^t
    n_steps: int
    entropies: np.ndarray


def random_walk(weights: sparse.csr_array, cells: np.ndarray, n_steps: int | None) -> Walk:
    """Return the random walk between cells of vertices with the given affinities (m, m).

    The number of steps is the knee of the entropy unless it is given."""
    m, n_cells = len(cells), int(cells.max()) + 1
    members = sparse.csr_array((np.ones(m), cells, np.arange(m + 1)), shape=(m, n_cells))
    K = (members.T @ weights @ members).toarray()
    K = (K + K.T) / 2
    sums = K.sum(axis=1)
    roots = np.sqrt(sums)
    values, vectors = np.linalg.eigh(K / roots[:, None] / roots)  # of the symmetric form of Q
    entropies = entropy_curve(values)
    t = 1 + knee(entropies) if n_steps is None else n_steps

    def power(exponent: int) -> np.ndarray:
        matrix = (vectors * values**exponent) @ vectors.T * (roots / roots[:, None])
        return np.maximum(matrix, 0.0)  # rounding

    return Walk(np.eye(n_cells) if t == 1 else power(t - 1), power(t), t, entropies)


def potential_map(affinity: LocalAffinity, options: PotentialOptions) -> tuple[PotentialEmbedding, Walk]:
    """Return the potential map of a graph, and its random walk."""
    edges = affinity.edges()
    weights = sparse.csr_array(edges + sparse.eye_array(edges.shape[0]))  # a point may stay where it is
    cells = landmark_cells(affinity.graph.distances, options.n_landmarks, options.seed)
    with stage("diffusion"):
        walk = random_walk(weights, cells, options.n_steps)
        potentials = potential(walk.after)
        dissimilarities = pdist(potentials)
    layout = metric_mds(dissimilarities, options.n_components, options.max_iter, options.tol)
    on_map = pdist(layout.points)
    scale = float(dissimilarities @ dissimilarities) / float(dissimilarities @ on_map)
    model = PotentialEmbedding(affinity, cells, walk.before, potentials, layout, scale, layout.points)
    if len(potentials) < len(cells):
        coordinates = model.place(weights)
        signs = np.sign(coordinates[np.abs(coordinates).argmax(axis=0), np.arange(coordinates.shape[1])])
        layout = layout._replace(points=layout.points * signs)
        model = replace(model, coordinates=coordinates * signs, layout=layout)
    return model, walk
