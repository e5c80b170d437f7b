"""The LandmarkMDS estimator."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import EmbeddingMixin, Estimator, FitResult, KernelMixin, spectral_result
from eigenscape.estimators._distances import (
    DistanceSpectrum,
    DistanceSpectrumMixin,
    bind_distance,
)
from eigenscape.estimators._docs import documented
from eigenscape.estimators._inverse import InverseMixin, distance_inverse
from eigenscape.estimators._landmarks import (
    check_landmark_distances,
    check_landmarks,
    choose_samples,
    distinct_samples,
    landmark_attributes,
)
from eigenscape.estimators._method import Method
from eigenscape.estimators._types import DenseSolver, LandmarkStrategy, Metric, Seed
from eigenscape.kernels.base import BoundKernel
from eigenscape.kernels.distance import to_landmarks
from eigenscape.kernels.pairwise import BoundPairwise
from eigenscape.methods.kernel_pca import check_components
from eigenscape.methods.landmark_mds import LandmarkSearch, check_landmark_rank, landmark_mds
from eigenscape.methods.mds import Indefinite
from eigenscape.solvers import Order, SolverConfig


@documented
class LandmarkMDS(DistanceSpectrumMixin, InverseMixin, EmbeddingMixin, KernelMixin, Estimator):
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
    {n_components} {n_landmarks} {landmarks}
        Landmarks given as points need not be samples.
    {landmark_tol} {metric/distance}
        Only the distances to the landmarks are used. If ``landmarks`` are q sample indices, ``X`` may also be
        a matrix (n_samples, q) of the distances to these, in their order (``transform`` takes rows like
        that).
    {metric_params} {order} {indefinite} {eigen_solver} {tol} {max_iter} {random_state} {n_jobs} {verbose}

    Attributes
    ----------
    {embedding_} {eigenvalues_/landmarks} {kernel_/landmarks} {landmarks_} {n_landmarks_} {landmark_steps_}
    {landmark_reason_} {inverse_error_}
        The training rows are the landmarks here, because the model stores no others. With the Euclidean
        metric ``inverse_transform`` is the inverse of PCA. With other metrics it fits the rows by an affine
        function of the coordinates around each point of the map, and each row is left out of its own
        reconstruction. Not available for precomputed distances and lists of objects.
    {negative_fraction_}
        The distances are those between landmarks.
    {is_euclidean_}
        The distances are those between landmarks.
    {residuals_} {solver_} {n_iter_} {n_features_in_}

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

    _method = Method(
        "landmark-mds",
        "Points are placed by their distances to a set of landmarks.",
        aliases=("lmds",),
    )
    _make_inverse = distance_inverse
    _objects = True
    _sparse_tables = False
    _narrow_tables = True
    _pairwise_parameter = "metric"

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_landmarks: int | Literal["auto"] = "auto",
        landmarks: LandmarkStrategy | ArrayLike = "maxmin",
        landmark_tol: float = 0.01,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        order: Order = "value",
        indefinite: Indefinite = "keep",
        eigen_solver: DenseSolver = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Seed = 0,
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

    def _embed(self, X: Any, blocks: None = None) -> FitResult:
        check_components(self.n_components, X)
        precomputed = self._is_precomputed()
        rows = not precomputed and X.ndim == 2
        options = check_landmarks(self.n_landmarks, self.landmarks, self.n_components, X, rows)
        if precomputed and X.shape[0] != X.shape[1]:
            check_landmark_distances(X, options)
        solver, distance = self._solver(), bind_distance(self.metric, self.metric_params, X)
        model: Embedding | None
        landmarks: BoundKernel
        indices: np.ndarray | None
        if options.method is not None and options.count is None:
            candidates = distinct_samples(X, options)
            tol, n_components = self.landmark_tol, self.n_components
            search = LandmarkSearch.start(X, candidates, n_components, n_components, tol, solver.seed)
            while not search.reason:
                count = search.n_landmarks
                indices = choose_samples(distance, X, candidates, options.method, count, solver.seed)
                landmarks = to_landmarks(distance, indices)
                search = search.after(self._fit_landmarks(landmarks, indices, solver))
            model, attributes = search.embedding, landmark_attributes(options, indices, [search])
            assert model is not None
        else:
            indices = options.samples
            if options.method is not None and options.count is not None:
                candidates = distinct_samples(X, options)
                indices = choose_samples(distance, X, candidates, options.method, options.count, solver.seed)
            landmarks = BoundPairwise(distance.kernel, options.points)
            if indices is not None:
                landmarks = to_landmarks(distance, indices)
            model = self._fit_landmarks(landmarks, indices, solver)
            attributes = landmark_attributes(options, indices)
            check_landmark_rank(len(model.eigenvalues), self.n_components, model.n_train)
        return spectral_result(model, {**attributes, "_spectrum_": DistanceSpectrum(landmarks)}, training=X)

    def _fit_landmarks(
        self, landmarks: BoundKernel, indices: np.ndarray | None, solver: SolverConfig
    ) -> Embedding:
        """Compute the embedding from the distances to the given landmarks."""
        options: dict[str, Any] = {"order": self.order, "indefinite": self.indefinite}
        return landmark_mds(landmarks, None, indices, self.n_components, solver, **options)
