"""The SpectralClustering estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import ClusterMixin

from eigenscape._parameters import with_constructor
from eigenscape.estimators._affinity import AffinityMixin, affinity_matrix, bind_affinity, given_affinity
from eigenscape.estimators._base import FitResult, KernelEstimator, fit_weighted
from eigenscape.estimators._clusters import (
    BY_CUT,
    assign_clusters,
    assignment_rule,
    check_clusters,
    chosen_count,
    cluster_by_dictionary,
    map_by_dictionary,
    n_coordinates,
    predict,
    predict_proba,
    require_clusters,
    require_stored,
)
from eigenscape.estimators._dictionary import projection_error
from eigenscape.estimators._method import AffinityLike, GraphSolver, Memory, Method, Seed
from eigenscape.kernels.base import n_points
from eigenscape.methods.clustering import count_evidence
from eigenscape.methods.laplacian import laplacian_eigenmaps, spectral_map
from eigenscape.operators import DividedOperator, gram
from eigenscape.options import Dictionary, Metric
from eigenscape.pieces import OnDisconnected

AssignLabels = Literal["kmeans", "discretize", "cluster_qr", "threshold", "recursive"]


@with_constructor
class SpectralClustering(ClusterMixin, AffinityMixin, KernelEstimator):
    r"""Spectral clustering: clusters from the eigenfunctions of the normalised affinity.

    The affinity is divided by the square roots of its row sums (Bengio eq. 11). ``assign_labels="kmeans"``
    scales the rows of the first eigenfunctions to length one and runs k-means (Ng, Jordan and Weiss);
    "discretize" rotates these rows towards indicators of clusters (Yu and Shi 2003), "cluster_qr" by the
    pivots of a QR decomposition (Damle et al. 2019). "threshold" splits the samples in two at the value of
    the second generalised eigenvector with the smallest normalised cut (Shi and Malik); "recursive" splits
    the parts again, which gives a hierarchy of clusters (``linkage_``). New points are mapped by the Nystrom
    formula and assigned by the same centres, rotation or thresholds.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; 2 for "threshold". "auto": of the numbers whose clusters are stable under random
        weights of the samples, the one with the largest eigengap, at the time of about ten fits. A
        :class:`~eigenscape.exceptions.WeakEvidenceWarning` is issued if none is, or if another number has
        more than twice that eigengap; a connected graph may have one cluster. Needs all samples.
    assign_labels : {"kmeans", "discretize", "cluster_qr", "threshold", "recursive"}, default="kmeans"
        Method that derives the clusters from the coordinates, as above.
    n_components : int or None, default=None
        Number of eigenfunctions for "kmeans". If None, ``n_clusters``, which the other methods need
        ("recursive": one less).
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
        Seed of k-means and of iterative eigensolvers. If None, results may differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    approximation : Dictionary or None, default=None
        A :class:`~eigenscape.options.Dictionary` represents all samples by few of them: the kernel is
        approximated in the span of the dictionary, in time and memory linear in ``n_samples``.
        ``eigen_solver`` is then ignored.
    max_clusters : int, default=15
        Largest number of clusters that "auto" considers. Ignored otherwise.
    n_init : int, default=10
        Number of starts of k-means. Ignored by the other methods.
    on_disconnected : {"connect", "per_component", "largest", "raise"}, default="connect"
        Treatment of several connected components. "connect" adds the shortest edges that connect them;
        "per_component" leaves at most ``n_clusters`` components separate; "largest" clusters the largest and
        assigns all other samples as new points. These issue a
        :class:`~eigenscape.exceptions.DisconnectedGraphWarning`; "raise" raises an error.
    eigen_solver : str, Solver or EigenSolver, default="auto"
        "auto", "dense", "lanczos", "shift-invert" or "multilevel"; "auto" chooses by the shape of the graph,
        see :mod:`eigenscape.solvers.policy`. A :class:`~eigenscape.options.Solver` also sets the tolerance
        and the number of iterations. An object with the methods of :class:`~eigenscape.solvers.EigenSolver`
        is a user-defined solver, whose results are verified.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample.
    n_clusters_ : int
        Number of clusters.
    cluster_evidence_ : dict of str to ndarray
        For each number "n_clusters" the "eigengap" to the next eigenvalue, and the "stability": mean adjusted
        Rand index with the clusters of reweighted samples, at most 1. Set if ``n_clusters="auto"``.
    linkage_ : ndarray of shape (n_clusters - 1, 4)
        Linkage matrix of :mod:`scipy.cluster.hierarchy` whose observations are the clusters; a split has the
        height 2 minus its normalised cut, at least as high as splits below. Set for "recursive".
    ncut_ : float
        Normalised cut, summed over clusters: from 0 to ``n_clusters - 1`` (random assignment) or more.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples: one for "threshold", ``n_clusters - 1`` for "recursive".
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Centres of k-means. Set if ``assign_labels="kmeans"``.
    rotation_ : ndarray of shape (n_clusters, n_clusters)
        Rotation of the coordinates. Set if ``assign_labels`` is "discretize" or "cluster_qr".
    threshold_ : float
        Value at which the coordinate is cut. Set if ``assign_labels="threshold"``.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first.
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
    width_ : float
        Width of heat weights. Set if the graph has ``weights="heat"``.
    gamma_ : float
        Width of the kernel. Set for kernels that have one.
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
    >>> from sklearn.datasets import make_blobs
    >>> from eigenscape import SpectralClustering
    >>> X, y = make_blobs(300, centers=4, cluster_std=1.5, random_state=3)
    >>> model = SpectralClustering("auto", assign_labels="recursive").fit(X)
    >>> model.n_clusters_, model.predict(X[:5]).shape, model.predict_proba(X[:5]).shape
    (4, (5,), (5, 4))
    """

    n_clusters: int | Literal["auto"] = 8
    _: KW_ONLY
    assign_labels: AssignLabels = "kmeans"
    n_components: int | None = None
    n_init: int = 10
    max_clusters: int = 15
    affinity: AffinityLike = "nearest_neighbors"
    n_neighbors: int | None = None
    gamma: float | None = None
    metric: Metric = "euclidean"
    on_disconnected: OnDisconnected = "connect"
    approximation: Dictionary | None = None
    eigen_solver: GraphSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method(
        "spectral-clustering", ("spectral",), clusters="n_clusters", memory=Memory(square=4.5, blocked=True)
    )
    _meaning = "The clusters were found in these coordinates; they are more meaningful than distances."
    fit = fit_weighted
    predict = predict
    predict_proba = predict_proba
    affinity_matrix_ = affinity_matrix
    projection_error = projection_error
    _embed_dictionary = map_by_dictionary
    _rule = assignment_rule

    def _embed(self, X: Any, weights: np.ndarray | None = None) -> FitResult:
        check_clusters(self, n_points(X))
        neighborhood, solver, by_cut = given_affinity(self), self._solver(), self.assign_labels in BY_CUT
        auto = isinstance(self.n_clusters, str)
        most = min(self.max_clusters, n_points(X) - 1) if auto else int(self.n_clusters)
        if self.approximation is not None:
            return cluster_by_dictionary(self, X, weights)
        n_wanted = 1 if auto else n_coordinates(self, most)
        samples = bind_affinity(self, X, neighborhood, n_wanted, weights, whole=by_cut)
        separate = self.on_disconnected == "per_component"
        split = samples.split("whole" if separate else self.on_disconnected, most if separate else None)
        affinity, attributes = split.parts[0], {}  # the largest component, or all samples
        solver, measure = replace(solver, parts=split.joined), split.weights_of(samples.weights)[0]
        edges = gram(affinity.kernel, n_jobs=self.n_jobs) if affinity.operator is None else affinity.operator
        require_stored(self, edges)
        n_clusters = most
        if auto:
            limit = min(most, edges.shape[0] - 1)
            evidence = count_evidence(affinity.kernel, limit, solver, operator=edges, measure=measure)
            n_clusters = chosen_count(evidence, connected=split.labels.max() == 0)
            attributes = {"cluster_evidence_": evidence._asdict()}
        n_components = n_coordinates(self, n_clusters)
        embed = laplacian_eigenmaps if by_cut else spectral_map
        model = embed(affinity.kernel, n_components, solver, operator=edges, measure=measure)
        require_clusters(model, n_components, n_clusters, split.is_whole)
        result = samples.result([model], split, n_components, attributes)
        edges = edges if measure is None else DividedOperator(edges, measure, -1.0)
        return assign_clusters(self, result, model, edges, n_clusters, weights)
