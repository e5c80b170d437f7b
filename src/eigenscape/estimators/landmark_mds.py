"""The LandmarkMDS estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Literal

from eigenscape._parameters import with_constructor
from eigenscape.estimators._base import FitResult, KernelEstimator
from eigenscape.estimators._distances import DistanceSpectrum, DistanceSpectrumMixin, bind_distance
from eigenscape.estimators._inverse import InverseMixin, distance_inverse
from eigenscape.estimators._landmarks import (
    check_landmark_distances,
    check_landmarks,
    distinct_samples,
    given_landmarks,
    landmark_attributes,
    landmark_samples,
)
from eigenscape.estimators._method import DenseSolver, Method, Seed
from eigenscape.kernels.base import BoundKernel
from eigenscape.kernels.distance import to_landmarks
from eigenscape.kernels.pairwise import BoundPairwise
from eigenscape.methods.kernel_pca import check_components, with_components
from eigenscape.methods.landmark_mds import OTHER_LANDMARKS, LandmarkSearch, landmark_mds
from eigenscape.methods.mds import Indefinite
from eigenscape.options import Landmarks, Metric
from eigenscape.solvers import Order


@with_constructor
class LandmarkMDS(DistanceSpectrumMixin, InverseMixin, KernelEstimator):
    r"""Classical MDS of a few landmarks, by the distances to which all other points are placed.

    With :math:`E` the squared distances between :math:`q` landmarks, :math:`U, \Lambda` the eigenvectors and
    eigenvalues of the centred kernel :math:`-\tfrac12 P E P` and :math:`f` the squared distances of a point
    to the landmarks, its coordinates are

    .. math:: \tfrac12 \Lambda^{-1/2} U' (\bar E - f)

    (Burges sec. 2.2.3, Bengio eq. 15). The means of the centring run over the landmarks only (Platt), so that
    no point influences the map of another one. Time is :math:`O(q n)` distances, no array is larger than a
    block of rows, and the model stores only the landmarks. With all samples as landmarks it is
    :class:`ClassicalMDS`. :class:`FastMap` and :class:`MetricMap` are related methods that need fewer
    distances and give less accurate maps.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    n_landmarks : int, "auto" or None, default=None
        Number of landmarks. "auto" starts with 16 (or twice as many as ``n_components`` requires) and doubles
        the number until the embedding moves by less than 1 %, or to 1024, with a warning. If None, "auto", or
        the landmarks of ``approximation``.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn. "precomputed": ``X`` is a matrix of distances, and ``transform`` takes the
        distances of new points to the training samples. A function of two samples; these may be arbitrary
        objects if ``X`` is a list of objects.

        Only the distances to the landmarks are used. If ``approximation`` lists q sample indices, ``X`` may
        also be a matrix (n_samples, q) of the distances to these, in their order (``transform`` takes such
        rows).
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
    metric_params : dict or None, default=None
        Additional keyword arguments of the metric.
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
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the kernel between landmarks.
    kernel_ : BoundKernel
        Data-dependent kernel: ``kernel_(Y)`` is the matrix of its values between any points and the
        landmarks, which are ``kernel_.X``.
    landmarks_ : ndarray
        Indices of the samples that are landmarks (rows, for a dask collection), or the landmarks themselves
        if points were given.
    n_landmarks_ : int
        Number of landmarks.
    landmark_steps_ : list of LandmarkStep
        ``(n_landmarks, movement)`` for each step of ``n_landmarks="auto"``.
    landmark_reason_ : str
        Explanation of the number of landmarks.
    inverse_error_ : float
        Error of ``inverse_transform``: root mean square distance between at most 1000 training rows and their
        reconstructions, relative to the spread of the rows. Computed on first access.

        The training rows are the landmarks here, because the model stores no others. With the Euclidean
        metric ``inverse_transform`` is the inverse of PCA. With other metrics it fits the rows by an affine
        function of the coordinates around each point of the map, and each row is left out of its own
        reconstruction. Not available for precomputed distances and lists of objects.
    negative_fraction_ : float
        ``sum |l < 0| / sum |l|`` over the spectrum of the centred distances, before negative eigenvalues are
        treated. Computed on first access.

        The distances are those between landmarks.
    is_euclidean_ : bool
        Whether the distances are Euclidean, by the distance-matrix theorem (Burges sec. 2.2). Computed on
        first access.

        The distances are those between landmarks.
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
    >>> import numpy as np
    >>> from eigenscape import ClassicalMDS, LandmarkMDS
    >>> from eigenscape.quality import aligned_error
    >>> X = np.random.default_rng(0).uniform(size=(2000, 3)) * [4, 2, 0.1]
    >>> model = LandmarkMDS(n_components=2).fit(X)
    >>> model.landmark_reason_
    '32 landmarks: the last doubling moved the map by 0.00036 <= 0.01'
    >>> aligned_error(model.embedding_, ClassicalMDS().fit(X).embedding_) < 0.01
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_landmarks: int | Literal["auto"] | None = None
    approximation: Landmarks | None = None
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    order: Order = "value"
    indefinite: Indefinite = "keep"
    eigen_solver: DenseSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("landmark-mds", aliases=("lmds",))
    _meaning = "Points are placed by their distances to a set of landmarks."
    _make_inverse = distance_inverse
    _objects = True
    _sparse_tables = False
    _narrow_tables = True
    _has_landmarks = True
    _pairwise_parameter = "metric"

    def _embed(self, X: Any) -> FitResult:
        check_components(self.n_components, X)
        precomputed = self._is_precomputed()
        rows = not precomputed and X.ndim == 2
        given, n_components = given_landmarks(self, Landmarks()), self.n_components
        choice = check_landmarks(given, n_components, X, rows)
        if precomputed and X.shape[0] != X.shape[1]:
            check_landmark_distances(X, choice)
        solver, distance = self._solver(), bind_distance(self.metric, self.metric_params, X)
        candidates = search = None
        if choice.method is not None and choice.count is None:
            candidates = distinct_samples(X, choice)
            search = LandmarkSearch.start(X, candidates, n_components, n_components, given.tol, solver.seed)
        while True:
            indices = None
            landmarks: BoundKernel = BoundPairwise(distance.kernel, choice.points)
            if choice.points is None:
                count = None if search is None else search.n_landmarks
                indices = landmark_samples(distance, X, choice, solver.seed, candidates, count)
                landmarks = to_landmarks(distance, indices)
            options: dict[str, Any] = {"order": self.order, "indefinite": self.indefinite}
            model = landmark_mds(landmarks, None, indices, n_components, solver, **options)
            search = None if search is None else search.after(model)
            if search is None or search.reason:
                break
        model = with_components(model, n_components, self.order, OTHER_LANDMARKS)
        attributes = landmark_attributes(choice, indices, [] if search is None else [search])
        return FitResult(model, {**attributes, "_spectrum_": DistanceSpectrum(landmarks)}, training=X)
