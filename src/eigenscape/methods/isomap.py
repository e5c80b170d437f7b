"""Isomap (Bengio sec. 2.5; Burges sec. 2.3) and landmark Isomap (Bengio sec. 3.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from eigenscape import _memory
from eigenscape.dictionary.landmarks import choose_vertices
from eigenscape.eigenfunctions import Embedding
from eigenscape.graph.geodesics import geodesics, geodesics_to_landmarks
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.distance import GeodesicKernel, LandmarkGeodesics
from eigenscape.methods.kernel_pca import with_components
from eigenscape.methods.landmark_mds import OTHER_LANDMARKS, LandmarkSearch, landmark_mds
from eigenscape.methods.mds import Indefinite, classical_mds
from eigenscape.methods.ordinal import OrdinalEmbedding, OrdinalOptions, ordinal_mds
from eigenscape.solvers import Order, SolverConfig


def isomap(
    graph: NeighborGraph,
    n_components: int,
    solver: SolverConfig,
    *,
    dtype: type = np.float64,
    order: Order = "value",
    indefinite: Indefinite = "keep",
    weights: np.ndarray | None = None,
) -> Embedding:
    """Return the classical MDS of the geodesic distances through the training graph (Bengio eq. 14).

    ``weights`` are the weights of the vertices in the empirical measure; they do not change the graph."""
    distances = GeodesicKernel(graph, solver.n_jobs, dtype)
    count = min(n_components, graph.n_vertices - 1)
    return classical_mds(distances, count, solver, order=order, indefinite=indefinite, weights=weights)


def ordinal_isomap(
    graph: NeighborGraph, options: OrdinalOptions, n_jobs: int | None = None
) -> OrdinalEmbedding:
    """Return the ordinal MDS of the geodesic distances (Burges sec. 2.3)."""
    lengths = geodesics(graph, n_jobs=n_jobs)
    lengths = (lengths + lengths.T) / 2
    options = replace(options, n_components=min(options.n_components, graph.n_vertices - 1))
    return ordinal_mds(squareform(lengths, checks=False), options, Geodesics(graph, n_jobs), graph)


@dataclass(frozen=True, eq=False)
class Geodesics:
    """Geodesic distances (n_new, m) of any points to the vertices of a graph."""

    graph: NeighborGraph
    n_jobs: int | None

    def __call__(self, Y: Any) -> np.ndarray:
        return geodesics(self.graph, Y, self.n_jobs)


def geodesic_dtype(X: Any) -> type:
    """Return single precision if the data have no more or if double precision would not fit in memory.

    Raises NotEnoughMemoryError if the distances fit in neither."""
    n = X.shape[0]
    dtype = np.float32 if X.dtype == np.float32 or not _memory.fits(1.2 * 8.0 * n * n) else np.float64
    _memory.require(
        1.1 * np.dtype(dtype).itemsize * n * n,
        f"Isomap of {n} points (their geodesic distances)",
        "set n_landmarks, or fit a sample and transform the rest",
    )
    return dtype


def require_landmark_memory(n: int, q: int, dtype: type) -> None:
    """Raise NotEnoughMemoryError if the distances of ``n`` points to ``q`` landmarks do not fit in memory."""
    needed = 1.2 * np.dtype(dtype).itemsize * n * q
    _memory.require(
        needed, f"landmark Isomap of {n} points (their distances to {q} landmarks)", "lower n_landmarks"
    )


@dataclass(frozen=True, eq=False)
class LandmarkResult:
    """Landmark Isomap of one part: embedding, distances, and the search for the number of landmarks."""

    embedding: Embedding
    distances: LandmarkGeodesics
    search: LandmarkSearch | None = None


def landmark_isomap(
    graph: NeighborGraph,
    n_components: int,
    min_components: int,
    solver: SolverConfig,
    *,
    method: str | None = None,
    count: int | None = None,
    given: np.ndarray | None = None,
    tol: float = 0.01,
    dtype: type = np.float64,
    order: Order = "value",
    indefinite: Indefinite = "keep",
    piece: int = 0,
) -> LandmarkResult:
    """Return the landmark MDS of the geodesic distances to some vertices (Bengio eq. 15), O(q n) in memory.

    Paths run through all vertices, and the distances (n, q) are part of the model: the distances of a new
    point are computed from the distances of its neighbours. Landmarks are the samples ``given``, or ``count``
    vertices that ``method`` chooses; if both are None, a sufficient number is searched for, until the map
    moves by less than ``tol``. ``piece`` is the index of the part, for the report of the search. There are at
    least ``min_components`` coordinates, some of them zero if the landmarks span fewer dimensions."""
    n_components, seed = min(n_components, graph.n_vertices - 1), solver.seed
    search = None
    if given is None and count is None:
        candidates = np.arange(graph.n_vertices)
        search = LandmarkSearch.start(
            graph.vertices.X, candidates, n_components, min_components, tol, seed, piece
        )
    while True:
        if given is not None:
            which = _given_vertices(graph, given, n_components)
        else:
            wanted = count if search is None else search.n_landmarks
            assert method is not None
            assert wanted is not None
            which = choose_vertices(graph, method, min(wanted, graph.n_vertices), seed)
        require_landmark_memory(graph.n_vertices, len(which), dtype)
        lengths = geodesics_to_landmarks(graph, which, solver.n_jobs, dtype)
        distances = LandmarkGeodesics(graph, which, lengths)
        embedding = landmark_mds(
            distances, graph.vertices.X, which, n_components, solver, order=order, indefinite=indefinite
        )
        search = None if search is None else search.after(embedding)
        if search is None or search.reason:
            embedding = with_components(embedding, min_components, order, OTHER_LANDMARKS)
            return LandmarkResult(embedding, distances, search)


def _given_vertices(graph: NeighborGraph, samples: np.ndarray, n_components: int) -> np.ndarray:
    """Return the vertices of a graph that are given landmarks."""
    assert graph.samples is not None
    which = np.flatnonzero(np.isin(graph.samples, samples))
    if len(which) < n_components + 1:
        raise ValueError(
            f"{len(which)} of the given landmarks are in a component of {graph.n_vertices} points, whose"
            f" {n_components} coordinates need at least {n_components + 1}; give more of its points, or set"
            " n_landmarks"
        )
    return which
