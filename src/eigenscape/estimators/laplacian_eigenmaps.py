"""The LaplacianEigenmaps estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape.estimators._affinity import (
    AffinityMixin,
    AffinityOptions,
    affinity_matrix,
    bind_affinity,
    check_labels,
    fit_affinity_dictionary,
    with_labels,
)
from eigenscape.estimators._anchors import anchor_attributes, check_anchors
from eigenscape.estimators._base import FitResult, KernelEstimator, spectral_result
from eigenscape.estimators._dictionary import (
    check_dictionary,
    dictionary_options,
    projection_error,
    warn_if_disconnected,
)
from eigenscape.estimators._eigenmaps import check_independence, eigenmaps_of_parts
from eigenscape.estimators._inverse import InverseMixin
from eigenscape.estimators._method import Memory, Method
from eigenscape.estimators._types import GraphSolver, KernelLike, Metric, Neighbors, Seed
from eigenscape.estimators._weights import (
    DICTIONARY_WEIGHTS,
    check_diagonal,
    fit_labelled,
    refuse_weights,
)
from eigenscape.graph.neighborhood import Joined
from eigenscape.kernels.affinity import AffinityWeights, GraphAffinity, LocalAffinity
from eigenscape.methods.anchors import anchored_laplacian_eigenmaps
from eigenscape.methods.dictionary_embedding import greedy_laplacian_eigenmaps
from eigenscape.pieces import OnDisconnected, join


class LaplacianEigenmaps(InverseMixin, AffinityMixin, KernelEstimator):
    r"""Laplacian eigenmaps: the smoothest functions on a neighbourhood graph as coordinates.

    With affinities :math:`K`, degrees :math:`S` and the Laplacian :math:`S - K`, solve

    .. math:: (S - K)\, z_r = \sigma_r S z_r

    for the smallest nonzero :math:`\sigma_r` (Bengio eq. 13, Belkin eq. 1); coordinates are :math:`\sqrt m\,
    z_r` with :math:`z_r' S z_r = 1`. In the symmetric form they are principal eigenvectors of :math:`k(x, y)
    / \sqrt{S(x) S(y)}` with :math:`l_r = 1 - \sigma_r`; this kernel places new points.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    affinity : str, callable or Kernel, default="nearest_neighbors"
        Similarity of samples. "nearest_neighbors" and "radius": a neighbourhood graph with the given
        ``weights``. "mst": the minimum spanning tree of the samples; a new point is connected to its nearest
        sample. "mst_nearest_neighbors": the edges of the tree and of the neighbourhood graph together, so
        that the graph is connected. "rbf", "laplacian", "cosine", "linear", "poly", "sigmoid", a function of
        two samples or a Kernel: non-negative similarities between all samples. "precomputed": ``X`` contains
        the similarities, dense or sparse, and ``transform`` takes the similarities of new points to the
        training samples. "precomputed_nearest_neighbors": ``X`` contains distances, dense or as a sparse
        neighbourhood graph.
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample. If None, 10, or fewer for fewer than 40 distinct samples:
        ``min(10, max(5, m // 4), m - 1)`` for ``m`` distinct samples.
    gamma : float or None, default=None
        Width of a full kernel. If None, for "rbf" it is one over the median squared distance of a sample to
        its tenth nearest neighbour.
    metric : str or callable, default="euclidean"
        Metric of the neighbour search: any metric of scikit-learn, or a function of two rows.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    joined : {"union", "mutual", "shared"}, default="union"
        Rule by which two samples are connected. "union": at least one of them is among the ``n_neighbors``
        nearest neighbours of the other. "mutual": each is among the nearest neighbours of the other.
        "shared": as "union", and the two samples have at least ``n_neighbors / 3`` neighbours in common. New
        points are connected by the same rule; a point without any edge is connected to its nearest sample,
        with a warning.
    radius : float or None, default=None
        Maximum length of an edge for ``affinity="radius"``. Ignored otherwise.
    weights : {"binary", "heat", "inverse", "local"}, default="binary"
        Weight of an edge of length ``d``. "binary": 1. "heat": ``exp(-d^2 / t)``. "inverse": ``1 / d``,
        scaled to a maximum of 1. "local": ``exp(-d^2 / (rho(x) rho(y)))``, where ``rho`` is the length of the
        ``n_neighbors``-th shortest edge of a point (the distance to its ``n_neighbors``-th nearest
        neighbour), so that weights do not depend on the density.
    t : float or None, default=None
        Width of heat weights. If None, the median squared length of the edges.
    metric_params : dict or None, default=None
        Additional keyword arguments of the metric.
    neighbors : {"auto", "exact", "approximate"}, neighbour index, searcher or tuple of arrays, default="auto"
        Neighbour search. "exact" compares all pairs or uses a tree; "approximate" uses an approximate index,
        whose measured recall is ``neighbor_recall_``. "auto" is approximate if ``X`` is dense, has more than
        16 features and many samples (30 000; 11 000 if there are 784 features), and the metric is Euclidean
        or cosine, and exact otherwise. An object with scikit-learn's ``kneighbors``, such as
        :class:`sklearn.neighbors.NearestNeighbors`, is cloned and fitted to the samples, and its own metric
        is used; a :class:`~eigenscape.graph.neighbors.NeighborIndex` must index the samples. A tuple
        ``(indices, distances)`` of two arrays of shape (n_samples, k) contains the neighbours of the samples;
        new points are then searched exactly by ``metric``.
    include_diagonal : bool, default=True
        Whether the similarity of a sample to itself contributes to its degree (Bengio footnote 3). Ignored
        for graph affinities, which have no diagonal.
    target_weight : float, default=0.0
        Weight of labels in the graph, from 0 (``y`` is ignored) to below 1. Affinities between labelled
        samples are ``(1 - target_weight) k + target_weight l``, where ``l`` connects the samples of a class
        with the mean degree of the graph (cycles through them, drawn by ``random_state``); edges of
        unlabelled samples are not changed. New points have no label, and their affinities are ``k``. Needs a
        graph affinity.
    on_disconnected : {"connect", "per_component", "largest", "raise"}, default="connect"
        Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
        them; "per_component" embeds each component separately (Belkin step 3); "largest" embeds the largest
        and places all other samples on its map as new points. These three issue a
        :class:`~eigenscape.exceptions.DisconnectedGraphWarning`. "raise" raises an error. For a full kernel
        that is zero between groups of samples, "connect" raises all similarities to at least 1e-8; components
        of precomputed affinities cannot be connected.
    n_anchors : int or None, default=None
        Number of anchors, the centres of k-means. If given, a point has weights :math:`a(x)` on its nearest
        anchors, and coordinates are linear functions of these weights. The eigenproblem has the size
        ``n_anchors``, and uses the graph of all samples; new points are placed by their nearest anchors.
        Needs dense rows and the Euclidean metric. If None, no anchors are used.

        The matrices are :math:`A'(S - K)A` and :math:`A' S A`. ``affinity`` must be a graph of rows, and
        ``eigen_solver`` is not used.
    dictionary_size : int or None, default=None
        Number of dictionary samples whose span approximates a full kernel, chosen greedily (Ouimet). Time
        grows as ``n m^2`` for ``m`` dictionary samples, and no n x n matrix is formed. If None, the size
        follows from ``dictionary_tol``; if both are None, no dictionary is used. With a dictionary
        ``eigen_solver``, ``tol`` and ``max_iter`` are ignored, connected components are not computed, and a
        kernel that is zero between groups of samples causes a warning.
    dictionary_tol : float or None, default=None
        Largest squared distance in feature space of a sample to the span of the dictionary. With
        ``dictionary_size``, samples are added until either limit is reached.
    dictionary : array-like of shape (m, n_features), fitted model or None, default=None
        Dictionary to use instead of selecting one: points, or a fitted model with ``dictionary_``, such as
        :class:`GreedySpectralEmbedding`, and the same kernel. Points that depend linearly on the others in
        feature space are left out. Cannot be combined with ``dictionary_size`` or ``dictionary_tol``.
    independent : bool, default=False
        Whether to skip eigenvectors that are functions of the eigenvectors kept before, such as the harmonics
        along a manifold much longer than wide. Each eigenvector is regressed on the kept ones by local linear
        regression; it is kept if the residual reaches ``independence_threshold`` (Dsilva et al. 2018). If
        fewer than ``n_components`` are found, the embedding has fewer coordinates and a
        :class:`~eigenscape.exceptions.DependentCoordinatesWarning` is issued.
    independence_threshold : float, default=0.4
        Smallest residual of an eigenvector that is kept, between 0 (a function of the eigenvectors kept
        before) and 1 (independent of them). Ignored unless ``independent=True``.
    n_candidates : int or None, default=None
        Number of eigenvectors to examine. If None, up to ``20 * n_components``, at most one per 15 samples,
        in doubling steps. Ignored unless ``independent=True``.
    eigen_solver : str, EigenSolver or SolverConfig, default="auto"
        Eigensolver: "auto", "dense", "lanczos", "shift-invert" or "multilevel". "auto" chooses by the shape
        of the graph; see :mod:`eigenscape.solvers.policy`. An object with the methods of
        :class:`~eigenscape.solvers.EigenSolver` is a user-defined solver; its results are verified, as for
        the built-in solvers. A :class:`~eigenscape.solvers.SolverConfig` contains the solver, ``tol`` and
        ``max_iter``; these two parameters are then ignored.
    tol : float, default=1e-10
        Largest error of an eigenvector: its angle to the exact eigenvector, estimated as the residual divided
        by the spectral gap. A result with a larger error is returned with a warning if the error is at most
        1e-3; otherwise an error is raised.
    max_iter : int or None, default=None
        Maximum number of block iterations of an iterative eigensolver. If None, the solver chooses it.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.
    eigenvalues_ : ndarray of shape (n_components,) or (n_connected_components, n_components)
        Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first. One row per
        component if components are embedded separately.

        They are :math:`l_r = 1 - \sigma_r`.
    kernel_ : BoundKernel
        Data-dependent kernel: ``kernel_(Y)`` is the matrix of its values between any points and the training
        samples.
    affinity_matrix_ : sparse array or ndarray of shape (m, m)
        Affinities of the distinct training samples, computed at each access; sparse if the affinity is a
        graph. Not available with a dictionary or if components are embedded separately.
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each sample, before components are connected. The largest component has label
        0.
    n_connected_components_ : int
        Number of connected components, before components are connected.
    degrees_ : ndarray of shape (n_samples,)
        Number of edges of each sample in the neighbourhood graph, before components are connected. Duplicate
        samples share a vertex.
    n_neighbors_ : int
        Number of neighbours used. Set if the graph connects nearest neighbours.
    neighbor_recall_ : float
        Fraction of the true nearest neighbours that the search found, measured on a sample; 1 if the search
        is exact.
    anchors_ : ndarray of shape (n_anchors, n_features)
        Anchors. Set if ``n_anchors`` is given.
    t_ : float
        Width of heat weights. Set if ``weights="heat"``.
    gamma_ : float
        Width of the kernel. Set for kernels that have one.
    kept_ : ndarray of shape (n_components,)
        Indices of the eigenvectors that are coordinates, not counting trivial ones. Set if
        ``independent=True``; a list of arrays if components are embedded separately.
    independence_ : ndarray
        Residual of each eigenvector examined. Set if ``independent=True``; a list of arrays if components are
        embedded separately.
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
    dictionary_ : array of shape (m, n_features)
        Samples of the dictionary. Set if a dictionary is used.
    dictionary_indices_ : ndarray of shape (m,)
        Indices of the dictionary in the training samples; -1 for points that are not samples. Set if a
        dictionary is used.
    gram_error_bound_ : float
        Upper bound of the error of the approximate Gram matrix. Set if a dictionary is used.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenscape import LaplacianEigenmaps
    >>> X = load_digits().data
    >>> model = LaplacianEigenmaps(n_components=2, n_neighbors=10).fit(X[:1000])
    >>> model.transform(X[1000:]).shape
    (797, 2)

    On a strip much longer than wide the second eigenvector is a harmonic of the first. ``independent=True``
    selects a later one, which varies across the strip:

    >>> import numpy as np
    >>> strip = np.random.default_rng(0).random((1000, 2)) * [3.5, 1]
    >>> across = LaplacianEigenmaps(independent=True).fit(strip)
    >>> bool(across.kept_[1] > 2), bool(abs(np.corrcoef(across.embedding_[:, 1], strip[:, 1])[0, 1]) > 0.8)
    (True, True)
    """

    _method = Method(
        "laplacian-eigenmaps", aliases=("le", "laplacian"), memory=Memory(square=4.5, blocked=True)
    )
    _meaning = "Neighbours are kept close; large distances are not meaningful."
    fit = fit_labelled
    affinity_matrix_ = affinity_matrix
    projection_error = projection_error

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: KernelLike = "nearest_neighbors",
        n_neighbors: int | None = None,
        joined: Joined = "union",
        radius: float | None = None,
        weights: AffinityWeights = "binary",
        t: float | None = None,
        gamma: float | None = None,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        neighbors: Neighbors = "auto",
        include_diagonal: bool = True,
        target_weight: float = 0.0,
        on_disconnected: OnDisconnected = "connect",
        n_anchors: int | None = None,
        dictionary_size: int | None = None,
        dictionary_tol: float | None = None,
        dictionary: Any = None,
        independent: bool = False,
        independence_threshold: float = 0.4,
        n_candidates: int | None = None,
        eigen_solver: GraphSolver = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.joined = joined
        self.radius = radius
        self.weights = weights
        self.t = t
        self.gamma = gamma
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.include_diagonal = include_diagonal
        self.target_weight = target_weight
        self.on_disconnected = on_disconnected
        self.n_anchors = n_anchors
        self.dictionary_size = dictionary_size
        self.dictionary_tol = dictionary_tol
        self.dictionary = dictionary
        self.independent = independent
        self.independence_threshold = independence_threshold
        self.n_candidates = n_candidates
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(
        self,
        X: Any,
        blocks: Any = None,
        weights: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> FitResult:
        n_components = self.n_components
        options, solver = AffinityOptions.from_params(self.get_params(deep=False)), self._solver()
        criterion = check_independence(
            self.independent, self.independence_threshold, self.n_candidates, n_components
        )
        if criterion is not None:
            refuse_weights(weights, "independent=True", "eigenvectors are compared by unweighted predictions")
        check_labels(labels, options, self.target_weight)
        check_diagonal(weights, self.include_diagonal, options.is_graph)
        if self.n_anchors is not None:
            return self._embed_anchors(X, options, weights)
        if check_dictionary(self.dictionary_size, self.dictionary_tol, self.dictionary):
            refuse_weights(weights, "a dictionary", DICTIONARY_WEIGHTS)
            if criterion is not None:
                raise ValueError(
                    "independent=True needs eigenvectors of all samples, which a dictionary does not have;"
                    " leave out one of them"
                )
            dictionary = dictionary_options(self, "divisive")
            state, attributes = fit_affinity_dictionary(
                X, options, dictionary, n_components, blocks, self.dictionary
            )
            model = greedy_laplacian_eigenmaps(state, dictionary, n_components, X if blocks is None else None)
            warn_if_disconnected(model, self.on_disconnected)
            return spectral_result(model, attributes)
        samples = bind_affinity(X, options, n_components)
        plain = samples.split(self.on_disconnected)
        split = with_labels(plain, samples, labels, self.target_weight, solver.seed)
        weights = samples.weights(weights)
        maps, attributes = eigenmaps_of_parts(
            split, split.weights_of(weights), n_components, solver, criterion, diagonal=self.include_diagonal
        )
        result = samples.result(join(maps, split, n_components, weights), plain, n_components, weights)
        return result.with_attributes(attributes)

    def _embed_anchors(self, X: Any, options: AffinityOptions, weights: np.ndarray | None) -> FitResult:
        """Fit the map that is linear in anchor weights to validated data."""
        if not options.is_graph or self._is_precomputed():
            raise ValueError(
                f"n_anchors needs a graph of rows, got affinity={self.affinity!r}; use"
                " affinity='nearest_neighbors', or dictionary_size for a kernel between all samples"
            )
        if self.independent or check_dictionary(self.dictionary_size, self.dictionary_tol, self.dictionary):
            raise ValueError("n_anchors cannot be combined with independent=True or a dictionary")
        n_anchors = check_anchors(
            self.n_anchors, self.n_components, X, self.metric, self.on_disconnected, weights
        )
        samples = bind_affinity(X, options, self.n_components)
        split = samples.split(self.on_disconnected)
        affinity = split.parts[0].kernel
        assert isinstance(affinity, (GraphAffinity, LocalAffinity))
        embedding = anchored_laplacian_eigenmaps(affinity, self.n_components, n_anchors, self._solver())
        result = samples.result(embedding, split, self.n_components)
        return result.with_attributes(anchor_attributes(embedding))
