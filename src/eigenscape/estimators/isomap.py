"""The Isomap estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from eigenscape._parameters import with_constructor
from eigenscape.estimators._base import FitResult, KernelEstimator, fit_weighted
from eigenscape.estimators._distances import DistanceSpectrum, DistanceSpectrumMixin
from eigenscape.estimators._graph import given_neighborhood, neighborhood_graph
from eigenscape.estimators._inverse import InverseMixin
from eigenscape.estimators._landmarks import landmark_isomap_result
from eigenscape.estimators._method import DenseSolver, Memory, Method, Seed
from eigenscape.estimators._weights import refuse_weights
from eigenscape.estimators.ordinal_mds import ordinal_isomap_result
from eigenscape.kernels.distance import GeodesicKernel
from eigenscape.methods.isomap import geodesic_dtype, isomap
from eigenscape.methods.kernel_pca import with_components
from eigenscape.methods.mds import Indefinite
from eigenscape.options import Graph, Landmarks, Metric, Ordinal
from eigenscape.pieces import OnDisconnected, split_graph
from eigenscape.solvers import Order


@with_constructor
class Isomap(DistanceSpectrumMixin, InverseMixin, KernelEstimator):
    r"""Isomap: classical MDS of geodesic distances.

    The geodesic distance of two points is the length of the shortest path between them through the
    neighbourhood graph of the training points (Bengio eq. 14). The squared distances are double-centred,
    and the coordinates are :math:`\sqrt{l_r}\, v_r` (Bengio sec. 2.5). New points are end points of paths
    only, so they do not affect one another. Distances are stored in single precision if the data are float32
    or if double precision would not fit in memory.

    With ``n_landmarks`` only the distances to :math:`q` landmarks are computed and stored, in O(q n) memory
    instead of O(n^2). The landmarks are embedded, and all other points are placed by

    .. math:: e_r(x) = \frac{1}{2\sqrt{l_r}} \sum_i v_{ri}\bigl(E_{x'} d^2(x', x_i) - d^2(x_i, x)\bigr)

    (Bengio eq. 15), which is the Nystrom formula (Bengio eq. 23).

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample. If None, 10, or fewer for fewer than 40 distinct samples:
        ``min(10, max(5, m // 4), m - 1)`` for ``m`` distinct samples.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn or a function of two rows. "precomputed": ``X`` contains distances, as a
        dense matrix or as a sparse neighbourhood graph; ``transform`` takes the distances of new points to
        the training samples.
    n_landmarks : int, "auto" or None, default=None
        Number of landmarks, in each component if components are embedded separately. If None, all samples are
        used, or the landmarks of ``approximation``. "auto" starts with 16 (or twice as many as
        ``n_components`` requires) and doubles the number until the embedding moves by less than 1 %.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    approximation : Landmarks or None, default=None
        The :class:`~eigenscape.options.Landmarks`, if more than their number is to be chosen; ``n_landmarks``
        must then be None.
    graph : KNNGraph, RadiusGraph, SpanningTree or None, default=None
        Graph of the samples (:mod:`eigenscape.options`), in place of ``n_neighbors`` and ``metric``.
    on_disconnected : {"connect", "per_component", "largest", "raise"}, default="connect"
        Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
        them; "per_component" embeds each component separately; "largest" embeds the largest and places all
        other samples on its map as new points. These three issue a
        :class:`~eigenscape.exceptions.DisconnectedGraphWarning`. "raise" raises an error.
    ordinal : bool or Ordinal, default=False
        If True, fit the order of the geodesic distances instead of their values (Burges sec. 2.3), as
        :class:`OrdinalMDS` does; an :class:`~eigenscape.options.Ordinal` sets its random starts, ties and
        iterations. There is no kernel then: ``stress_`` replaces ``kernel_``, ``eigenvalues_``,
        ``eigenfunctions`` and ``loss``; ``order``, ``indefinite`` and ``eigen_solver`` are ignored.
    order : {"value", "magnitude"}, default="value"
        Select the eigenvalues with the largest values or with the largest magnitudes. Indefinite kernels and
        non-Euclidean distances have negative eigenvalues, which may be meaningful (Bengio sec. 6).
    indefinite : {"keep", "clip", "shift"}, default="keep"
        Treatment of negative eigenvalues (Burges sec. 2.2.2). "keep": the kernel is not changed. "clip":
        negative eigenvalues are set to 0, which gives the nearest positive semi-definite kernel. "shift": the
        smallest sufficient constant is added to all squared distances.
    eigen_solver : {"auto", "dense", "lanczos"}, Solver or EigenSolver, default="auto"
        Eigensolver. "auto" chooses by the size and storage of the matrix; see
        :mod:`eigenscape.solvers.solve`. An object with the methods of
        :class:`~eigenscape.solvers.EigenSolver` is a user-defined solver; its results are verified, as for
        the built-in solvers. A :class:`~eigenscape.options.Solver` also sets the tolerance and the number of
        iterations.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.
    eigenvalues_ : ndarray of shape (n_components,) or (n_connected_components, n_components)
        Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first. One row per
        component if components are embedded separately.
    kernel_ : BoundKernel
        Data-dependent kernel: ``kernel_(Y)`` are its values between any points and the training samples.
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each sample, before components are connected; the largest is 0.
    n_connected_components_ : int
        Number of connected components, before components are connected.
    degrees_ : ndarray of shape (n_samples,)
        Number of edges of each sample, before components are connected. Equal samples share a vertex.
    n_neighbors_ : int
        Number of neighbours used. Set if the graph connects nearest neighbours.
    neighbor_recall_ : float
        Fraction of the true nearest neighbours found, measured on a sample; 1 for an exact search.
    landmarks_ : ndarray
        Indices of the samples that are landmarks (rows, for a dask collection), or the landmarks themselves
        if points were given.

        Set if landmarks are used, as are the next three.
    n_landmarks_ : int
        Number of landmarks.
    landmark_steps_ : list of LandmarkStep
        ``(n_landmarks, movement)`` for each step of ``n_landmarks="auto"``.
    landmark_reason_ : str
        Explanation of the number of landmarks.
    stress_ : float or ndarray of shape (n_connected_components,)
        Kruskal's stress-1. Set if ``ordinal=True``; one value per component if components are embedded
        separately.
    negative_fraction_ : float
        ``sum |l < 0| / sum |l|`` over the spectrum of the centred distances, before negative eigenvalues are
        treated. Computed on first access.

        Not available if several components are embedded separately, like the next one.
    is_euclidean_ : bool
        Whether the distances are Euclidean, by the distance-matrix theorem (Burges sec. 2.2). Computed on
        first access.
    inverse_error_ : float
        Error of ``inverse_transform``, which fits the rows by an affine function of the coordinates around
        each place of the map: root mean square distance between at most 1000 training rows and their
        leave-one-out reconstructions, relative to the spread of the rows. Computed on first access. Not
        available for precomputed matrices or if several components are embedded separately.
    residuals_ : ndarray
        Residual norms ``|K v - l v|`` of the eigenpairs, in the shape of ``eigenvalues_``.
    solver_ : str
        Name of the eigensolver used.
    n_iter_ : int
        Number of iterations of the eigensolver; 0 or 1 for direct solvers.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape import Isomap
    >>> X, t = make_swiss_roll(1100, random_state=0)
    >>> model = Isomap(n_components=2, n_neighbors=10).fit(X[:1000])
    >>> model.transform(X[1000:]).shape
    (100, 2)

    A tenth of the samples as landmarks gives nearly the same embedding:

    >>> from eigenscape.quality import aligned_error
    >>> few = Isomap(n_components=2, n_neighbors=10, n_landmarks=100).fit(X[:1000])
    >>> aligned_error(few.embedding_, model.embedding_) < 0.01
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = None
    metric: Metric = "euclidean"
    graph: Graph | None = None
    on_disconnected: OnDisconnected = "connect"
    n_landmarks: int | Literal["auto"] | None = None
    approximation: Landmarks | None = None
    ordinal: bool | Ordinal = False
    order: Order = "value"
    indefinite: Indefinite = "keep"
    eigen_solver: DenseSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("isomap", geodesic=True, memory=Memory(square=1))
    _meaning = "Distances on the map approximate geodesic distances along the neighbourhood graph."
    _pairwise_parameter = "metric"
    fit = fit_weighted

    def _embed(self, X: Any, weights: np.ndarray | None = None) -> FitResult:
        if self.ordinal:
            refuse_weights(weights, "ordinal=True", "the stress counts every pair once")
            return ordinal_isomap_result(self, X)
        if self.n_landmarks is not None or self.approximation is not None:
            refuse_weights(weights, "landmarks", "the map is computed from the landmarks alone")
            return landmark_isomap_result(self, X)
        solver, dtype, n = self._solver(), geodesic_dtype(X), self.n_components
        graph = neighborhood_graph(X, given_neighborhood(self), n, weights)
        split = split_graph(graph.graph, self.on_disconnected)
        options: dict[str, Any] = {"dtype": dtype, "order": self.order, "indefinite": self.indefinite}
        maps, measures = [], split.weights_of(graph.weights)
        for part, some in zip(split.parts, measures, strict=True):
            found = isomap(part, n, solver, weights=some, **options)
            maps.append(with_components(found, n if split.is_whole else 1, self.order))
        distance = GeodesicKernel(split.parts[0], self.n_jobs, dtype)
        spectrum = DistanceSpectrum(distance, measures[0]) if len(maps) == 1 else None
        return graph.result(maps, split, n, {"_spectrum_": spectrum})

    def reconstruction_error(self) -> float:
        """Return the root mean squared error of the centred geodesic kernel of the training samples.

        It is the root of :meth:`loss`, and equals the result of scikit-learn's method.

        Returns
        -------
        float
        """
        return float(np.sqrt(self.loss()))
