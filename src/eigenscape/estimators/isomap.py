"""The Isomap estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape import _memory
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import Fitted, SpectralEstimator
from eigenscape.estimators._distances import INDEFINITE, DistanceSpectrum, DistanceSpectrumMixin
from eigenscape.estimators._graph import ON_DISCONNECTED, Neighborhood, embed_on_graph
from eigenscape.estimators._validation import check_choice, check_count
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.distance import GeodesicKernel
from eigenscape.methods.isomap import isomap


class Isomap(DistanceSpectrumMixin, SpectralEstimator):
    r"""Classical MDS of the distances along the data.

    The distance of two points is the length of the shortest path between them through the neighbourhood graph of the
    training points (Bengio eq. 14); these geodesic distances are double-centred and the coordinates are
    :math:`\sqrt{l_r}\, v_r` (Bengio sec. 2.5). A new point joins the graph at the end of paths only, so new points do not
    affect one another. The geodesic distances of ``fit`` are kept in single precision while it works where the data are float32
    or memory asks for it.

    Parameters
    ----------
    n_components : int, default=2
    n_neighbors : int or None, default=None
        Neighbours of a point; two points are joined if either is among the other's.
        None takes 10, or a quarter of the samples where that is fewer, but at least 5.
    radius : float or None, default=None
        If given, points within this distance are joined instead, and ``n_neighbors`` is not used.
    metric : str or function, default="euclidean"
        Any scikit-learn metric; "precomputed" for a matrix of distances, or a sparse graph of them.
    metric_params : dict or None, default=None
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are searched. "auto" is exact up to 30 000 samples, in few dimensions and for most metrics; beyond,
        dense rows under a Euclidean or cosine metric are searched approximately, and ``neighbor_recall_`` tells how well.
    on_disconnected : {"connect", "per_component", "largest", "raise"}, default="connect"
        What to do, after a :class:`~eigenscape.exceptions.DisconnectedGraphWarning`, with a graph in several components: join
        them by their shortest missing edges; embed each by itself; embed the largest and place the other points on its
        map as new points; or refuse.
    order, indefinite
        As for :class:`ClassicalMDS`.
    eigen_solver, tol, max_iter, random_state, verbose
        As for :class:`KernelPCA`.
    n_jobs : int or None, default=None
        Cores for neighbours and geodesics; -1 for all.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
    eigenvalues_ : ndarray of shape (n_components,), or (n_connected_components, n_components) in pieces
    kernel_ : BoundKernel
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each sample before any joining, the largest is 0.
    n_connected_components_ : int
    n_neighbors_ : int
        The number of neighbours in use, where they are counted.
    neighbor_recall_ : float
        Share of the true neighbours that the search found, measured on a sample; 1 if it was exact.
    negative_fraction_, is_euclidean_
        As for :class:`ClassicalMDS`, of the geodesic distances; only where the graph was embedded whole.
    residuals_, solver_, n_features_in_
        As for :class:`KernelPCA`.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape import Isomap
    >>> X, t = make_swiss_roll(600, random_state=0)
    >>> model = Isomap(n_components=2, n_neighbors=10).fit(X[:500])
    >>> model.transform(X[500:]).shape
    (100, 2)
    """

    _pairwise_parameter = "metric"

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | None = None,
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        neighbors: str = "auto",
        on_disconnected: str = "connect",
        order: str = "value",
        indefinite: str = "keep",
        eigen_solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.on_disconnected = on_disconnected
        self.order = order
        self.indefinite = indefinite
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> Fitted:
        check_count("n_components", self.n_components)
        check_choice("order", self.order, ("value", "magnitude"))
        check_choice("indefinite", self.indefinite, INDEFINITE)
        check_choice("on_disconnected", self.on_disconnected, ON_DISCONNECTED)
        n = X.shape[0]
        # Single precision where the data have no more, or where double would not fit.
        single = X.dtype == np.float32 or not _memory.fits(1.2 * 8.0 * n * n)
        dtype = np.float32 if single else np.float64
        _memory.require(
            1.1 * np.dtype(dtype).itemsize * n * n,
            f"Isomap of {n} points (their geodesic distances)",
            "fit a sample and transform the rest",
        )
        solver = self._solver()
        graphs = []

        def embed(graph: NeighborGraph, fewer: bool) -> Embedding:
            count = min(self.n_components, graph.n_vertices - 1)
            model = isomap(graph, count, solver, self.n_jobs, dtype, order=self.order, indefinite=self.indefinite, fewer=fewer)
            graphs.append(graph)
            return model

        fitted = embed_on_graph(
            X,
            embed,
            self.n_components,
            Neighborhood(self.n_neighbors, self.radius, self.metric, self.metric_params, self.neighbors, self.n_jobs),
            self.on_disconnected,
        )
        self._spectrum = DistanceSpectrum(GeodesicKernel(graphs[0], self.n_jobs, dtype)) if len(graphs) == 1 else None
        return fitted
