"""The LaplacianEigenmaps estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from eigenscape._parameters import with_constructor
from eigenscape.estimators._affinity import (
    AffinityMixin,
    affinity_matrix,
    bind_affinity,
    check_eigenmaps,
    eigenmaps_of_parts,
    fit_affinity_dictionary,
    given_affinity,
    with_labels,
)
from eigenscape.estimators._base import FitResult, KernelEstimator, fit_labelled
from eigenscape.estimators._dictionary import TrainingRows, projection_error, warn_if_disconnected
from eigenscape.estimators._graph import anchor_attributes, check_anchors
from eigenscape.estimators._inverse import InverseMixin
from eigenscape.estimators._method import AffinityLike, GraphSolver, Memory, Method, Seed
from eigenscape.estimators._weights import DICTIONARY_WEIGHTS, refuse_weights
from eigenscape.methods.dictionary_embedding import greedy_laplacian_eigenmaps
from eigenscape.options import Anchors, Dictionary, Independence, Metric
from eigenscape.pieces import OnDisconnected


@with_constructor
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
    affinity : str, graph, callable or Kernel, default="nearest_neighbors"
        Similarity of samples. "nearest_neighbors": the graph of the ``n_neighbors`` nearest neighbours.
        "spanning_tree": the minimum spanning tree. A :class:`~eigenscape.options.KNNGraph`,
        :class:`~eigenscape.options.RadiusGraph` or :class:`~eigenscape.options.SpanningTree` also sets
        weights of edges, ``n_neighbors`` and ``metric``. "rbf", "laplacian", "cosine", "linear", "poly",
        "sigmoid", a function of two samples or a Kernel: non-negative similarities between all samples.
        "precomputed": ``X`` contains similarities, and ``transform`` takes similarities of new points to the
        training samples. "precomputed_nearest_neighbors": ``X`` contains distances, dense or sparse.
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
    approximation : Dictionary, Anchors or None, default=None
        A :class:`~eigenscape.options.Dictionary` approximates a kernel between all samples by few of them.
        With :class:`~eigenscape.options.Anchors` coordinates are linear in the weights of a point on the
        nearest anchors (:math:`A'(S - K)A` and :math:`A' S A`); ``affinity`` must be a graph of rows.
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
        them (for a kernel that is zero between groups, raises all similarities to at least 1e-8; precomputed
        affinities cannot be connected); "per_component" embeds each separately (Belkin step 3); "largest"
        embeds the largest and places all other samples on its map as new points. These three issue a
        :class:`~eigenscape.exceptions.DisconnectedGraphWarning`. "raise" raises an error.
    independent : bool or Independence, default=False
        Whether to skip eigenvectors that are functions of the eigenvectors kept before, such as the harmonics
        along a manifold much longer than wide. An eigenvector is kept if the residual of its local linear
        regression on them is at least 0.4 (Dsilva et al. 2018), or the threshold of an
        :class:`~eigenscape.options.Independence`. If fewer than ``n_components`` are found, the embedding has
        fewer coordinates and a :class:`~eigenscape.exceptions.DependentCoordinatesWarning` is issued.
    eigen_solver : str, Solver or EigenSolver, default="auto"
        "auto", "dense", "lanczos", "shift-invert" or "multilevel"; "auto" chooses by the shape of the graph,
        see :mod:`eigenscape.solvers.policy`. A :class:`~eigenscape.options.Solver` also sets the tolerance
        and the number of iterations. An object with the methods of :class:`~eigenscape.solvers.EigenSolver`
        is a user-defined solver, whose results are verified.
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
        Data-dependent kernel: ``kernel_(Y)`` are its values between any points and the training samples.
    affinity_matrix_ : sparse array or ndarray of shape (m, m)
        Affinities of the distinct training samples, computed at each access; sparse if the affinity is a
        graph. Not available with a dictionary or if components are embedded separately.
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
    anchors_ : ndarray of shape (n_anchors, n_features)
        Anchors. Set if ``approximation`` is Anchors.
    width_ : float
        Width of heat weights. Set if the graph has ``weights="heat"``.
    gamma_ : float
        Width of the kernel. Set for kernels that have one.
    kept_ : ndarray of shape (n_components,)
        Indices of the eigenvectors that are coordinates, not counting trivial ones. Set unless
        ``independent=False``; a list of arrays if components are embedded separately.
    independence_ : ndarray
        Residual of each eigenvector examined. Set unless ``independent=False``; a list of arrays if
        components are embedded separately.
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
        Indices of the dictionary in the training samples, or -1. Set if a dictionary is used.
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

    On a strip much longer than wide the second eigenvector is a harmonic of the first:

    >>> import numpy as np
    >>> strip = np.random.default_rng(0).random((1000, 2)) * [3.5, 1]
    >>> bool(LaplacianEigenmaps(independent=True).fit(strip).kept_[1] > 2)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    affinity: AffinityLike = "nearest_neighbors"
    n_neighbors: int | None = None
    gamma: float | None = None
    metric: Metric = "euclidean"
    include_diagonal: bool = True
    target_weight: float = 0.0
    on_disconnected: OnDisconnected = "connect"
    approximation: Dictionary | Anchors | None = None
    independent: bool | Independence = False
    eigen_solver: GraphSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method(
        "laplacian-eigenmaps", aliases=("le", "laplacian"), memory=Memory(square=4.5, blocked=True)
    )
    _meaning = "Neighbours are kept close; large distances are not meaningful."
    fit = fit_labelled
    affinity_matrix_ = affinity_matrix
    projection_error = projection_error

    def _embed(self, X: Any, weights: Any = None, labels: Any = None) -> FitResult:
        n_components, neighborhood, solver = self.n_components, given_affinity(self), self._solver()
        criterion = check_eigenmaps(self, neighborhood, weights, labels)
        if isinstance(self.approximation, Anchors):
            rows = None if self._is_precomputed() else neighborhood
            n_anchors = check_anchors(self, X, rows, weights)
        elif self.approximation is not None:
            refuse_weights(weights, "a dictionary", DICTIONARY_WEIGHTS)
            return self._embed_dictionary(TrainingRows(X))
        samples = bind_affinity(self, X, neighborhood, n_components, weights)  # graph or kernel
        split = plain = samples.split(self.on_disconnected)  # connected components
        if isinstance(self.approximation, Anchors):
            from eigenscape.methods.anchors import anchored_laplacian_eigenmaps

            model = anchored_laplacian_eigenmaps(split.parts[0].kernel, n_components, n_anchors, solver)
            return samples.result([model], split, n_components, anchor_attributes(model))
        if labels is not None:
            split = with_labels(plain, samples, labels, self.target_weight, solver.seed)
        measures, diagonal = split.weights_of(samples.weights), self.include_diagonal
        maps, attributes = eigenmaps_of_parts(
            split, measures, n_components, solver, criterion, diagonal=diagonal
        )
        return samples.result(maps, plain, n_components, attributes)

    def _embed_dictionary(self, rows: Any) -> FitResult:
        """Fit with a dictionary to training rows, in memory or elsewhere."""
        check_eigenmaps(self, None, None, None)
        state, given, attributes = fit_affinity_dictionary(self, rows, self.n_components)
        model = greedy_laplacian_eigenmaps(state, given, self.n_components, rows.stored)
        warn_if_disconnected(model, self.on_disconnected)
        return FitResult(model, attributes)
