"""The LandmarkMDS estimator."""

from __future__ import annotations

from typing import Any

from eigenscape.estimators._base import (
    EmbeddingMixin,
    Estimator,
    FitResult,
    KernelMixin,
    spectral_result,
)
from eigenscape.estimators._distances import INDEFINITE, DistanceSpectrum, DistanceSpectrumMixin
from eigenscape.estimators._inverse import InverseMixin, distance_inverse
from eigenscape.estimators._landmarks import (
    check_landmarks,
    check_narrow,
    choose_samples,
    different_samples,
    landmark_attributes,
)
from eigenscape.estimators._validation import check_choice, check_count, check_metric_params
from eigenscape.kernels.distance import HalfSquaredDistance, to_landmarks
from eigenscape.kernels.pairwise import BoundPairwise
from eigenscape.methods.kernel_pca import check_components
from eigenscape.methods.landmark_mds import LandmarkSearch, check_landmark_rank, landmark_mds


class LandmarkMDS(DistanceSpectrumMixin, InverseMixin, EmbeddingMixin, KernelMixin, Estimator):
    r"""Classical MDS of a few landmarks; every other point placed by its distances to them.

    With :math:`E` the squared distances between :math:`q` landmarks, :math:`U, \Lambda` the eigenvectors and
    eigenvalues of the centred kernel :math:`-\tfrac12 P E P` and :math:`f` a point's squared distances to the
    landmarks, its coordinates are

    .. math:: \tfrac12 \Lambda^{-1/2} U' (\bar E - f)

    (Burges sec. 2.2.3, Bengio eq. 15). The means of the centring run over the landmarks only, which is
    Platt's device: no point changes the map of another. So time is :math:`O(q n)` distances, no array is
    larger than a block of rows, and the model keeps the landmarks only. With all samples as landmarks it is
    :class:`ClassicalMDS`.

    :class:`FastMap` and :class:`MetricMap` are relatives that take fewer distances and give worse maps.

    Parameters
    ----------
    n_components : int, default=2
    n_landmarks : int or "auto", default="auto"
        "auto" starts with 16 landmarks (or twice what the components need) and doubles them until the map
        moves less than ``landmark_tol``.
    landmarks : {"maxmin", "random", "kmeans", "greedy"}, list of sample numbers, or points, default="maxmin"
        "maxmin" takes the point farthest from the landmarks so far; "greedy" the one farthest from their
        affine span (pivots of a partial Cholesky factorisation, then as "maxmin"); "kmeans" the samples
        nearest to the centres of k-means. Points need not be samples.
    landmark_tol : float, default=0.01
        For "auto": the root mean square movement of at most 500 points that are no landmarks, after
        alignment, over the spread of the map.
    metric : str or function, default="euclidean"
        As for :class:`ClassicalMDS`. "precomputed": the distances between all samples, of which those to the
        landmarks alone are used (``transform`` takes new-to-training distances); or, with ``landmarks`` a
        list of q sample numbers, a matrix (n_samples, q) of the distances to these, in their order
        (``transform`` takes such rows).
    metric_params : dict or None, default=None
    order, indefinite
        As for :class:`ClassicalMDS`, for the distances between landmarks.
    eigen_solver, tol, max_iter, random_state, n_jobs, verbose
        As for :class:`KernelPCA`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
    eigenvalues_ : ndarray of shape (n_components,)
        Of the landmarks' kernel.
    kernel_ : BoundKernel
        Bound to the landmarks, ``kernel_.X``.
    landmarks_ : ndarray
        Numbers of the samples that are landmarks (of a dask collection: of its rows); the points, where
        points were given.
    n_landmarks_ : int
    landmark_steps_ : list of Step
        For "auto": (``n_landmarks``, ``movement``) of each step.
    landmark_reason_ : str
        Why there are so many landmarks.
    inverse_error_ : float
        As for :class:`ClassicalMDS`, with the landmarks for training rows: the model keeps no others.
    negative_fraction_, is_euclidean_
        As for :class:`ClassicalMDS`, of the distances between landmarks.
    residuals_, solver_, n_features_in_
        As for :class:`KernelPCA`.

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

    _make_inverse = distance_inverse
    _objects = True
    _sparse_tables = False
    _narrow_tables = True
    _pairwise_parameter = "metric"

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_landmarks: int | str = "auto",
        landmarks: Any = "maxmin",
        landmark_tol: float = 0.01,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
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
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.landmark_tol = landmark_tol
        self.metric = metric
        self.metric_params = metric_params
        self.order = order
        self.indefinite = indefinite
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> FitResult:
        check_count("n_components", self.n_components)
        check_choice("order", self.order, ("value", "magnitude"))
        check_choice("indefinite", self.indefinite, INDEFINITE)
        check_components(self.n_components, X)
        check_metric_params(self.metric_params)
        rows = not self._is_precomputed() and X.ndim == 2
        wish = check_landmarks(
            self.n_landmarks, self.landmarks, self.landmark_tol, self.n_components, X, rows
        )
        if self._is_precomputed() and X.shape[0] != X.shape[1]:
            check_narrow(X, wish)
        solver = self._solver()
        distance = HalfSquaredDistance(self.metric, dict(self.metric_params or {})).bind(X)

        count, search = wish.count, None
        if wish.how is not None:
            candidates = different_samples(X, wish)
            if count is None:
                start = X, candidates, self.n_components, self.n_components, self.landmark_tol, solver.seed
                search = LandmarkSearch.start(*start)
        while True:
            which = wish.samples
            if wish.how is not None:
                n_landmarks = count if search is None else search.n_landmarks
                which = choose_samples(distance, X, candidates, wish.how, n_landmarks, solver.seed)
            points = None if which is None else to_landmarks(distance, which)
            bound = BoundPairwise(distance.kernel, wish.points) if points is None else points
            model = landmark_mds(
                bound, None, which, self.n_components, solver, order=self.order, indefinite=self.indefinite
            )
            if search is None:
                check_landmark_rank(len(model.eigenvalues), self.n_components, model.n_train)
                break
            search = search.after(model)
            if search.reason:
                break
        self._spectrum_ = DistanceSpectrum(bound)
        searches = [] if search is None else [search]
        return spectral_result(model, landmark_attributes(wish, which, searches), training=X)
