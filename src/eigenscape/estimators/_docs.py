"""Descriptions of parameters and attributes that estimators share; see :mod:`eigenscape._docstrings`."""

from __future__ import annotations

from eigenscape._docstrings import documented_by, parse_entries

ENTRIES = parse_entries("""
X/samples : array-like or sparse matrix of shape (n_samples, n_features)
    Training data. If "precomputed", similarities or distances of shape (n_samples, n_samples). Data
    are copied; a precomputed matrix is not, and must not be modified while the model is in use. All
    rows of a dask array or dataframe are used if the estimator has a dictionary; otherwise the model
    is fitted to a sample of rows, and the others are placed by ``transform`` (see
    ``sample_indices_``, ``sample_loss_`` and ``sample_stability_``).
X/training : array-like of shape (n_samples, n_features)
    Training data.
X/observed : array-like or dask collection of shape (n_samples, n_features)
    Training data, NaN for missing values. Every row and every column needs an observed value.
X/chunk : array-like or sparse matrix of shape (n_chunk, n_features)
    The chunk. ``embedder`` must have ``partial_fit``; if it is None, it is a GreedySpectralEmbedding with
    divisive normalisation and at most 500 dictionary rows.
X/points : array-like or sparse matrix of shape (n_new, n_features)
    Points, as for ``transform``.
X/missing : array-like of shape (n_new, n_features)
    Samples, NaN for missing values.
between/unused : ignored
    Not used, present for API consistency.
y : ignored
    Not used, present for API consistency.
sample_weight : array-like of shape (n_samples,), optional
    Sample weights. A weight of 2 is equivalent to repeating the sample.
sample_weight/measure : array-like of shape (n_samples,), optional
    Weights of the samples in the empirical measure: in means, degrees, the eigenproblem and the loss.
    With a given kernel, a weight of 2 is equivalent to repeating the sample. Widths and neighbours
    that are chosen from the data do not depend on the weights; those of equal rows of a neighbourhood
    graph, which are one vertex, are added. Samples of weight 0 have no influence and are placed by
    ``transform``. If None, all samples (of a graph: all distinct samples) have the weight 1. Not
    available for dask collections.
target_weight : float
    Weight of labels in the graph, from 0 (``y`` is ignored) to below 1. Affinities between labelled samples
    are ``(1 - target_weight) k + target_weight l``, where ``l`` connects the samples of a class with the mean
    degree of the graph (cycles through them, drawn by ``random_state``); edges of unlabelled samples are not
    changed. New points have no label: their edges are those of ``k``. Needs a graph affinity.
n_components : int
    Number of coordinates.
n_components/optional : int or None
    Number of coordinates. If None, all with a nonzero eigenvalue.
n_neighbors : int or None
    Number of nearest neighbours of each sample. If None, the smaller of 10 and ``max(5, m // 4)`` for ``m``
    distinct samples, and at most ``m - 1``.
joined : {"union", "mutual", "shared"}
    Rule by which two samples are connected: if at least one is among the ``n_neighbors`` nearest neighbours
    of the other ("union"); if both are ("mutual"); or if at least one is and they have at least ``n_neighbors
    / 3`` neighbours in common ("shared"). New points are connected by the same rule; a point without any edge
    is connected to its nearest sample, with a warning.
n_anchors : int or None
    If given, coordinates are linear in the weights :math:`a(x)` of a point on the nearest of ``n_anchors``
    anchors, the centres of k-means: an eigenproblem of that size, with the graph of all samples. A new point
    needs its nearest anchors alone. For dense rows and the Euclidean metric.
radius : float or None
    If given, all samples within this distance are connected, and ``n_neighbors`` is ignored.
radius/affinity : float or None
    Maximum length of an edge for ``affinity="radius"``. Ignored otherwise.
metric : str or callable
    Metric of the neighbour search: any metric of scikit-learn, or a function of two rows.
metric/graph : str or callable
    Any metric of scikit-learn or a function of two rows. "precomputed": ``X`` contains distances, as a dense
    matrix or as a sparse neighbourhood graph; ``transform`` takes the distances of new points to the training
    samples.
metric/distance : str or callable
    Any metric of scikit-learn. "precomputed": ``X`` is a matrix of distances, and ``transform`` takes the
    distances of new points to the training samples. A function of two samples; these may be arbitrary objects
    if ``X`` is a list of objects.
metric_params : dict or None
    Additional keyword arguments of the metric.
neighbors : {"auto", "exact", "approximate"}, neighbour index, searcher, or tuple of arrays
    Neighbour search. "exact" compares all pairs or uses a tree; "approximate" uses an approximate index,
    whose measured recall is ``neighbor_recall_``. "auto" is exact unless ``X`` is dense, has more
    than 16 features and many samples (30 000, or 11 000 of 784 features), and the metric is Euclidean or
    cosine. An object with scikit-learn's ``kneighbors``, such as
    :class:`sklearn.neighbors.NearestNeighbors`, is cloned and fitted to the samples, and its own metric is
    used; a :class:`~eigenscape.graph.neighbors.NeighborIndex` must index the samples. A tuple ``(indices,
    distances)`` of two arrays of shape (n_samples, k) contains the neighbours of the samples; new points are
    then searched exactly by ``metric``.
affinity : str, callable or Kernel
    Similarity of samples. "nearest_neighbors" and "radius": a neighbourhood graph with the given ``weights``.
    "mst": the minimum spanning tree of the samples, to which a new point is connected by its nearest sample.
    "mst_nearest_neighbors": the union of the tree and the neighbourhood graph, which is connected. "rbf",
    "laplacian", "cosine", "linear", "poly", "sigmoid", a function of two samples or a Kernel: non-negative
    similarities between all samples. "precomputed": ``X`` contains the similarities, dense or sparse, and
    ``transform`` takes those of new points to the training samples. "precomputed_nearest_neighbors": ``X``
    contains distances, dense or as a sparse neighbourhood graph.
weights : {"binary", "heat", "inverse"}
    Weight of an edge of length ``d``: 1, ``exp(-d^2 / t)``, or ``1 / d`` scaled to a maximum of 1.
weights/affinity : {"binary", "heat", "inverse", "local"}
    Weight of an edge of length ``d``: 1, ``exp(-d^2 / t)``, ``1 / d`` scaled to a maximum of 1, or
    ``exp(-d^2 / (rho(x) rho(y)))`` with ``rho`` the length of the ``n_neighbors``-th shortest edge of a point
    (the distance to its ``n_neighbors``-th nearest neighbour), so that weights do not depend on the density.
t : float or None
    Width of heat weights. If None, the median squared length of the edges.
gamma : float or None
    Width of a full kernel. If None, for "rbf" one over the median squared distance to the tenth nearest
    neighbour.
gamma/kernel : float or None
    Width of "rbf", "laplacian", "poly" and "sigmoid". If None, it is estimated from the data: one over the
    median (squared) distance for "rbf" and "laplacian", one over the mean squared norm for "poly" and
    "sigmoid".
kernel : str, callable or Kernel
    "rbf", "linear", "poly", "laplacian", "cosine", "sigmoid", "precomputed", a Kernel, or a function of two
    samples (rows, or arbitrary objects if ``X`` is a list of objects) that returns a number. "precomputed":
    ``X`` is the matrix of similarities, and ``transform`` takes those of new points to the training samples.
degree : float
    Degree of "poly". Ignored by other kernels.
coef0 : float
    Constant term of "poly" and "sigmoid". Ignored by other kernels.
include_diagonal : bool
    Whether the similarity of a sample to itself contributes to its degree (Bengio footnote 3). Ignored for
    graph affinities, which have no diagonal.
on_disconnected : {"connect", "per_component", "largest", "raise"}
    Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
    them; "per_component" embeds each component separately; "largest" embeds the largest and places all other
    samples on its map as new points. These issue a :class:`~eigenscape.exceptions.DisconnectedGraphWarning`;
    "raise" raises an error.
on_disconnected/affinity : {"connect", "per_component", "largest", "raise"}
    Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
    them; "per_component" embeds each component separately (Belkin step 3); "largest" embeds the largest and
    places all other samples on its map as new points. These issue a
    :class:`~eigenscape.exceptions.DisconnectedGraphWarning`; "raise" raises an error. For a full kernel that
    is zero between groups of samples, "connect" raises all similarities to at least 1e-8; components of
    precomputed affinities cannot be connected.
dictionary_size : int or None
    Number of dictionary samples whose span approximates the kernel, chosen greedily (Ouimet). Time grows as
    ``n m^2`` and memory as ``m^2`` for ``m`` dictionary samples. If None, the size follows from
    ``dictionary_tol``; if both are None, no dictionary is used. The kernel must be positive semi-definite.
    The remaining small eigenproblem is solved directly: ``eigen_solver``, ``tol`` and ``max_iter`` are
    ignored.
dictionary_size/affinity : int or None
    Number of dictionary samples whose span approximates a full kernel, chosen greedily (Ouimet). Time grows
    as ``n m^2`` for ``m`` dictionary samples, and no n x n matrix is formed. If None, the size follows from
    ``dictionary_tol``; if both are None, no dictionary is used. With a dictionary ``eigen_solver``, ``tol``
    and ``max_iter`` are ignored, connected components are not computed, and a kernel that is zero between
    groups of samples causes a warning.
dictionary_tol : float or None
    Largest squared distance in feature space of a sample to the span of the dictionary. With
    ``dictionary_size``, samples are added until either limit is reached.
dictionary : array-like of shape (m, n_features), fitted model or None
    Dictionary to use instead of selecting one: points, or a fitted model with ``dictionary_``, such as
    :class:`GreedySpectralEmbedding`, and the same kernel. Points that depend linearly on the others in
    feature space are left out. Cannot be combined with ``dictionary_size`` or ``dictionary_tol``.
independent : bool
    Whether to skip eigenvectors that are functions of those kept before, such as the harmonics along a
    manifold much longer than wide. Each eigenvector is regressed on the kept ones by local linear regression;
    it is kept if the residual reaches ``independence_threshold`` (Dsilva et al. 2018). If fewer than
    ``n_components`` are found, the embedding has fewer coordinates and a
    :class:`~eigenscape.exceptions.DependentCoordinatesWarning` is issued.
independence_threshold : float
    Smallest residual of an eigenvector that is kept, between 0 (a function of the eigenvectors kept before)
    and 1 (independent of them). Ignored unless ``independent=True``.
n_candidates : int or None
    Number of eigenvectors to examine. If None, up to ``20 * n_components``, at most one per 15 samples, in
    doubling steps. Ignored unless ``independent=True``.
n_landmarks : int or "auto"
    Number of landmarks. "auto" starts with 16 (or twice as many as ``n_components`` requires) and doubles the
    number until the embedding moves by less than ``landmark_tol``, or to 1024, with a warning.
landmarks : {"maxmin", "random", "kmeans", "greedy"} or array-like
    Choice of the landmarks. "maxmin" repeatedly takes the sample farthest from the landmarks chosen so far;
    "greedy" the one farthest from their affine span (pivots of a partial Cholesky factorisation, then as
    "maxmin"); "kmeans" the samples nearest to the centres of k-means; "random" a random sample. An array of
    sample indices, or of points of shape (n_landmarks, n_features), gives the landmarks themselves.
landmark_tol : float
    Largest movement of the embedding accepted by ``n_landmarks="auto"``: the root mean square movement of at
    most 500 samples that are not landmarks, after alignment, relative to the spread of the embedding.
order : {"value", "magnitude"}
    Select the largest eigenvalues, or those of largest magnitude. Indefinite kernels and non-Euclidean
    distances have negative eigenvalues, which may be meaningful (Bengio sec. 6).
indefinite : {"keep", "clip", "shift"}
    Treatment of negative eigenvalues (Burges sec. 2.2.2): keep the kernel as it is; use the nearest positive
    semi-definite kernel; or add the smallest sufficient constant to all squared distances.
storage : {"auto", "blocked"}
    "auto" stores the matrix if it takes at most half of the free memory, and otherwise computes it in blocks
    whenever it is applied; "blocked" always does the latter.
n_init : int
    Number of starting configurations: classical MDS of the ranks and ``n_init - 1`` random ones. The result
    with the smallest stress is kept.
ties : {"primary", "secondary"}
    Treatment of equal dissimilarities: their distances in the embedding may differ ("primary") or are fitted
    by one value ("secondary").
inverse : {"auto", "fixed-point", "ridge"}
    Method of ``inverse_transform``. "fixed-point", for "rbf": pre-images, i.e. rows whose image in feature
    space is nearest to the point with the given coordinates (Mika et al.), which removes noise. "ridge", for
    any kernel: kernel ridge regression from coordinates to rows. "auto" uses the inverse of PCA for "linear",
    "fixed-point" for "rbf" and "ridge" otherwise. The parameters ``inverse``, ``inverse_alpha`` and
    ``inverse_gamma`` may be changed after ``fit``.
inverse_alpha : float or None
    Regularisation of ``inverse="ridge"``. If None, it is chosen by leave-one-out error.
inverse_gamma : float or None
    Width of the Gaussian kernel between coordinates used by ``inverse="ridge"``, not that of ``kernel``. If
    None, one over the median squared distance between coordinates.
eigen_solver : {"auto", "dense", "lanczos"}, EigenSolver or SolverConfig
    Eigensolver. "auto" chooses by the size and storage of the matrix; see :mod:`eigenscape.solvers.solve`.
    An object with the methods of :class:`~eigenscape.solvers.EigenSolver` is a user-defined solver, whose
    results are verified like those of the built-in ones. A :class:`~eigenscape.solvers.SolverConfig`
    contains the solver, ``tol`` and ``max_iter``; these two parameters are then ignored.
eigen_solver/graph : {"auto", "dense", "lanczos", "shift-invert", "multilevel"}, EigenSolver or SolverConfig
    Eigensolver. "auto" chooses by the shape of the graph; see :mod:`eigenscape.solvers.policy`.
    An object with the methods of :class:`~eigenscape.solvers.EigenSolver` is a user-defined solver, whose
    results are verified like those of the built-in ones. A :class:`~eigenscape.solvers.SolverConfig`
    contains the solver, ``tol`` and ``max_iter``; these two parameters are then ignored.
tol : float
    Largest error of an eigenvector: the angle to the exact one, residual divided by spectral gap. Up to 1e-3
    a result with a larger error is returned with a warning; above, it is refused.
max_iter : int or None
    Maximum number of block iterations of an iterative eigensolver. If None, the default of the solver.
random_state : int, RandomState instance or None
    Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
    differ between calls.
n_jobs : int or None
    Number of threads; -1 for all cores. None for all cores too, unless BLAS or joblib is limited to fewer.
    The result does not depend on it.
n_samples : int
    Number of samples.
random_state/draw : int, RandomState instance or None
    Seed. If None, that of the estimator.
tol/em : float
    EM stops when a step raises the log-likelihood by at most this, per observed value.
max_iter/em : int
    Maximum number of steps of EM.
regularization/noise : float or "auto"
    Multiple of the mean of the diagonal of :math:`R` that is added to its diagonal. "auto" adds nothing if
    the noise reaches all directions of the signal. Otherwise :math:`q` would be infinite: the estimate of
    Ledoit and Wolf, at least 1e-6, is used, with a :class:`~eigenscape.exceptions.SingularNoiseWarning`.
regularization/graph : float
    Added to the diagonal of :math:`W`, and so to the degrees (Brand sec. 4).
n_neighbors/twelve : int or None
    Number of nearest neighbours of each sample; two samples are connected if at least one is among the
    neighbours of the other. If None, 12, or fewer for fewer than 48 samples.
on_disconnected/whole : {"connect", "whole", "raise"}
    Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
    them, "whole" uses the graph as it is, and "raise" raises an error. Components of a graph passed to
    ``fit`` cannot be connected.
on_disconnected/joined : {"connect", "raise"}
    Treatment of a graph with several connected components: add the shortest edges that connect them, or raise
    an error.
tol/stress : float
    An iteration that lowers the stress by less than this is the last one.
n_init/pursuit : int
    Number of random starts for each direction; the best is kept.
max_iter/pursuit : int
    Maximum number of steps of the search for one direction.
tol/pursuit : float
    A search has converged if its next step would be shorter than this, in radians.
random_state/starts : int, RandomState instance or None
    Seed of the starts. If None, results may differ between calls.
embedder/functions : estimator or None
    Estimator with eigenfunctions, such as LaplacianEigenmaps, DiffusionMap, KernelPCA or Isomap; its
    ``n_components`` are the functions to choose from. If None, LaplacianEigenmaps with as many components as
    there are labels, at least 20 and at most 100.
n_functions : int or "auto"
    Number of eigenfunctions. "auto" chooses by the leave-one-out error of the labelled rows, among functions
    that have stable values at new rows (of a normalised graph, those with eigenvalues of at least 0.1).
alpha/ridge : float or "auto"
    Regularisation. "auto" chooses by the leave-one-out error of the labelled rows.
smoothness : float or "auto"
    Exponent :math:`p` of the roughness in the penalty. 0 penalises all functions alike. "auto" chooses
    between 1 and 2 by the leave-one-out error of the labelled rows.
prefit : bool
    Whether ``embedder`` is fitted already, for example to a stream or a dask collection. It is then used
    as it is, and only labelled rows are needed in ``fit``.
embedder_ : estimator
    The fitted embedder.
n_functions_ : int
    Number of eigenfunctions used.
alpha_ : float
    Regularisation used.
smoothness_ : float
    Exponent of the roughness used.
leave_one_out_error_ : float
    Mean squared error of the labelled rows, each predicted from the others.
verbose : bool
    Whether to report the progress of each stage.
anchors_ : ndarray of shape (n_anchors, n_features)
    Anchors. Set if ``n_anchors`` is given.
embedding_ : ndarray of shape (n_samples, n_components)
    Coordinates of the training samples.
eigenvalues_ : ndarray of shape (n_components,)
    Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first.
eigenvalues_/parts : ndarray of shape (n_components,) or (n_connected_components, n_components)
    Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first. One row per
    component if components are embedded separately.
eigenvalues_/landmarks : ndarray of shape (n_components,)
    Eigenvalues of the kernel between landmarks.
kernel_/landmarks : BoundKernel
    Data-dependent kernel: ``kernel_(Y)`` is the matrix of its values between any points and the landmarks,
    which are ``kernel_.X``.
affinity_matrix_ : sparse array or ndarray of shape (m, m)
    Affinities of the distinct training samples, computed at each access; sparse if the affinity is a graph.
    Not available with a dictionary or if components are embedded separately.
kernel_ : BoundKernel
    Data-dependent kernel: ``kernel_(Y)`` is the matrix of its values between any points and the training
    samples.
residuals_ : ndarray
    Residual norms ``|K v - l v|`` of the eigenpairs, of the shape of ``eigenvalues_``.
solver_ : str
    Name of the eigensolver used.
n_iter_ : int
    Number of iterations of the eigensolver; 0 or 1 for direct solvers.
n_features_in_ : int
    Number of features seen by ``fit``.
mean_ : ndarray of shape (n_features,)
    Mean of the training samples.
mean_/latent : ndarray of shape (n_features,)
    :math:`\\mu`.
n_iter_/pursuit : int
    Number of steps of the longest search.
n_components_ : int
    Number of coordinates.
log_likelihood_ : float
    Log-likelihood of the observed values of the training samples.
log_likelihoods_ : list of float
    Log-likelihood after each step of EM; a single value for a closed form.
converged_ : bool
    Whether EM stopped because the log-likelihood rose by no more than ``tol``.
graph_ : sparse array of shape (n_vertices, n_vertices)
    Edge weights :math:`W`. Duplicate samples share a vertex.
distortion_ : float
    :func:`eigenscape.quality.distortion` of the embedding, which compares methods on one graph.
component_labels_ : ndarray of shape (n_samples,)
    Connected component of each sample, before components are connected. The largest component has label 0.
n_connected_components_ : int
    Number of connected components, before components are connected.
degrees_ : ndarray of shape (n_samples,)
    Number of edges of each sample in the neighbourhood graph, before components are connected. Duplicate
    samples share a vertex.
n_neighbors_ : int
    Number of neighbours used. Not set for other kinds of graphs.
neighbor_recall_ : float
    Fraction of the true nearest neighbours that the search found, measured on a sample; 1 if it is exact.
t_ : float
    Width of heat weights. Set if ``weights="heat"``.
gamma_ : float
    Width of the kernel. Set for kernels that have one.
kept_ : ndarray of shape (n_components,)
    Indices of the eigenvectors that are coordinates, not counting trivial ones. Set if ``independent=True``;
    a list of arrays if components are embedded separately.
independence_ : ndarray
    Residual of each eigenvector examined. Set if ``independent=True``; a list of arrays if components are
    embedded separately.
dictionary_ : array of shape (m, n_features)
    Samples of the dictionary. Set if a dictionary is used.
dictionary_indices_ : ndarray of shape (m,)
    Indices of the dictionary in the training samples; -1 for points that are not samples. Set if a dictionary
    is used.
gram_error_bound_ : float
    Upper bound of the error of the approximate Gram matrix. Set if a dictionary is used.
landmarks_ : ndarray
    Indices of the samples that are landmarks (rows, for a dask collection), or the landmarks themselves if
    points were given.
n_landmarks_ : int
    Number of landmarks.
landmark_steps_ : list of LandmarkStep
    ``(n_landmarks, movement)`` for each step of ``n_landmarks="auto"``.
landmark_reason_ : str
    Explanation of the number of landmarks.
stress_ : float
    Kruskal's stress-1 of the embedding.
negative_fraction_ : float
    ``sum |l < 0| / sum |l|`` over the spectrum of the centred distances, before negative eigenvalues are
    treated. Computed on first access.
is_euclidean_ : bool
    Whether the distances are Euclidean, by the distance-matrix theorem (Burges sec. 2.2). Computed on first
    access.
inverse_error_ : float
    Error of ``inverse_transform``: root mean square distance between at most 1000 training rows and their
    reconstructions, relative to the spread of the rows. Computed on first access.
inverse_error_/local : float
    Error of ``inverse_transform``, which fits the rows by an affine function of the coordinates around each
    place of the map: root mean square distance between at most 1000 training rows and their leave-one-out
    reconstructions, relative to the spread of the rows. Computed on first access. Not available for
    precomputed matrices or if several components are embedded separately.
""")

#: Decorator of classes and functions with names of these entries in their docstrings.
documented = documented_by(ENTRIES)
