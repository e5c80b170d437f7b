"""Isomap (Bengio sec. 2.5; Burges sec. 2.3) and landmark Isomap (Bengio sec. 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from eigenscape import _memory
from eigenscape.dictionary.landmarks import choose_vertices
from eigenscape.eigenfunctions import Embedding
from eigenscape.graph.geodesics import geodesics, geodesics_to_landmarks
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.base import BoundKernel
from eigenscape.kernels.distance import GeodesicKernel, LandmarkGeodesics
from eigenscape.methods.landmark_mds import LandmarkSearch, check_landmark_rank, landmark_mds
from eigenscape.methods.mds import classical_mds
from eigenscape.methods.ordinal import OrdinalEmbedding, OrdinalOptions, ordinal_mds
from eigenscape.solvers import SolverConfig


def isomap(
    graph: NeighborGraph,
    n_components: int,
    solver: SolverConfig,
    n_jobs: int | None = None,
    dtype: type = np.float64,
    **options: Any,
) -> Embedding:
    """Classical MDS of the geodesic distances through the training graph (Bengio eq. 14)."""
    return classical_mds(GeodesicKernel(graph, n_jobs, dtype), n_components, solver, **options)


def ordinal_isomap(
    graph: NeighborGraph, options: OrdinalOptions, n_jobs: int | None = None
) -> OrdinalEmbedding:
    """Ordinal MDS of the geodesic distances (Burges sec. 2.3); a piece of few points gets fewer
    coordinates."""
    lengths = geodesics(graph, graph.vertices.X, n_jobs)
    lengths = (lengths + lengths.T) / 2
    few = replace(options, n_components=min(options.n_components, graph.n_vertices - 1))
    return ordinal_mds(squareform(lengths, checks=False), few, Geodesics(graph, n_jobs), graph.vertices)


@dataclass(frozen=True, eq=False)
class Geodesics:
    """Geodesic distances (n_new, m) of any points to the vertices."""

    graph: NeighborGraph
    n_jobs: int | None

    def __call__(self, Y: Any) -> np.ndarray:
        return geodesics(self.graph, Y, self.n_jobs)


def require_lengths(n: int, q: int, dtype: type) -> None:
    """Refuse what does not fit in memory: the distances of ``n`` points to ``q`` landmarks."""
    needed = 1.2 * np.dtype(dtype).itemsize * n * q
    _memory.require(
        needed, f"landmark Isomap of {n} points (their distances to {q} landmarks)", "lower n_landmarks"
    )


@dataclass(frozen=True, eq=False)
class LandmarkIsomap:
    """Landmark MDS of the geodesic distances to some vertices (Bengio eq. 15): O(q n) instead of O(n^2) of
    everything.

    The paths run through all training points, and the distances (n, q) stay in the model: a new point takes
    its own from those of its neighbours. A graph in several pieces calls once for each."""

    n_components: int
    solver: SolverConfig
    dtype: type
    options: Mapping[str, Any]  # of classical MDS
    how: str | None  # how landmarks are chosen
    count: int | None  # how many; None for as many as it takes
    given: np.ndarray | None  # the samples that are landmarks, where they are given
    tol: float
    distances: list[BoundKernel] = field(default_factory=list)  # of each piece, as they are made
    growths: list[LandmarkSearch] = field(default_factory=list)

    def __call__(self, graph: NeighborGraph, fewer: bool) -> Embedding:
        count = min(self.n_components, graph.n_vertices - 1)
        self.distances.append(None)  # type: ignore[arg-type]

        def embed(which: np.ndarray) -> Embedding:
            require_lengths(graph.n_vertices, len(which), self.dtype)
            lengths = geodesics_to_landmarks(graph, which, self.solver.n_jobs, self.dtype)
            self.distances[-1] = kernel = LandmarkGeodesics(graph, which, lengths)
            return landmark_mds(kernel, graph.vertices.X, which, count, self.solver, **self.options)

        def embed_some(n_landmarks: int) -> Embedding:
            assert self.how is not None
            return embed(choose_vertices(graph, self.how, n_landmarks, self.solver.seed))

        least = 1 if fewer else count
        if self.given is not None or self.count is not None:
            model = (
                embed(self._given_among(graph, count))
                if self.count is None or self.given is not None
                else embed_some(min(self.count, graph.n_vertices))
            )
            check_landmark_rank(len(model.eigenvalues), least, model.n_train)
            return model
        vertices, piece = np.arange(graph.n_vertices), len(self.growths)
        search = LandmarkSearch.start(
            graph.vertices.X, vertices, count, least, self.tol, self.solver.seed, piece
        )
        while not search.reason:
            search = search.after(embed_some(search.n_landmarks))
        self.growths.append(search)
        assert search.embedding is not None
        return search.embedding

    def _given_among(self, graph: NeighborGraph, count: int) -> np.ndarray:
        """The vertices of this graph that are given landmarks."""
        assert graph.samples is not None
        assert self.given is not None
        which = np.flatnonzero(np.isin(graph.samples, self.given))
        if len(which) < count + 1:
            raise ValueError(
                f"{len(which)} of the given landmarks lie in a component of {graph.n_vertices} points, whose {count} coordinates need at"
                f" least {count + 1}; give more of its points, or set n_landmarks"
            )
        return which
