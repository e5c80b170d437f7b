"""The MetricMap estimator."""

from __future__ import annotations

from typing import Any

from eigenscape.estimators._base import (
    EmbeddingMixin,
    Estimator,
    FitResult,
    KernelMixin,
    spectral_result,
)
from eigenscape.estimators._landmarks import (
    check_landmarks,
    choose_samples,
    different_samples,
    landmark_attributes,
)
from eigenscape.estimators._validation import check_choice, check_count, check_metric_params
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import HalfSquaredDistance, to_landmarks
from eigenscape.methods.kernel_pca import check_components
from eigenscape.methods.pivots import metric_map


class MetricMap(EmbeddingMixin, KernelMixin, Estimator):
    r"""Eigenvectors of the inner products around one landmark; other points solved for from few reference
    points.

    With one landmark for origin the inner products between landmarks,

    .. math:: \langle x, y\rangle = \tfrac12\bigl(d^2(x, o) + d^2(y, o) - d^2(x, y)\bigr),

    have eigenvalues of both signs if the distances are not Euclidean, and those largest in magnitude give
    pseudo-Euclidean coordinates :math:`Y = U |\Lambda|^{1/2}`. As many landmarks as there are coordinates are
    kept as reference points, and a point is placed so that its inner products with these are right: :math:`b
    = Y S y`, :math:`S` the signs of the eigenvalues (Wang et al. 1999). It is a Nystrom algorithm (Burges
    sec. 3, after Platt) that makes its map of more points than it places others with: :class:`LandmarkMDS`
    has the mean of the landmarks for origin and uses all of them for both, which costs little more and is
    steadier, since it averages.

    Parameters
    ----------
    n_components : int, default=2
    n_landmarks : int or None, default=None
        Points to make the map of. None for twice the number of coordinates (at least two more than these), as
        the authors advise.
    landmarks : {"random", "maxmin", "kmeans", "greedy"} or list of sample numbers, default="random"
        As for :class:`LandmarkMDS`. The first is the origin.
    order : {"magnitude", "value"}, default="magnitude"
        Take the eigenvalues largest in magnitude, or in value.
    metric, metric_params
        As for :class:`LandmarkMDS`; a precomputed matrix must be square.
    eigen_solver, tol, max_iter, random_state, n_jobs, verbose
        As for :class:`KernelPCA`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The origin has coordinates 0.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the landmarks' inner products; negative ones belong to coordinates in which squared distances count
        negative.
    kernel_ : BoundKernel
        Inner products with the landmarks, ``kernel_.X``. ``loss`` is about this kernel.
    landmarks_, n_landmarks_, landmark_reason_
        As for :class:`LandmarkMDS`.
    references_ : ndarray of shape (n_components + 1,)
        Numbers of the samples whose distances place a point, the origin first.
    residuals_, solver_, n_features_in_
        As for :class:`KernelPCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import MetricMap
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> model = MetricMap(n_components=2).fit(X)
    >>> np.allclose(np.linalg.norm(model.embedding_[0] - model.embedding_[1]), np.linalg.norm(X[0] - X[1]))
    True
    """

    _objects = True
    _sparse_tables = False
    _pairwise_parameter = "metric"

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_landmarks: int | None = None,
        landmarks: Any = "random",
        order: str = "magnitude",
        metric: Any = "euclidean",
        metric_params: dict | None = None,
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
        self.order = order
        self.metric = metric
        self.metric_params = metric_params
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> FitResult:
        check_count("n_components", self.n_components)
        check_choice("order", self.order, ("value", "magnitude"))
        check_components(self.n_components, X)
        check_metric_params(self.metric_params)
        n_landmarks = self.n_landmarks
        if n_landmarks is None and isinstance(self.landmarks, str):
            n_landmarks = min(max(2 * self.n_components, self.n_components + 2), n_points(X))
        rows = not self._is_precomputed() and X.ndim == 2
        wish = check_landmarks(n_landmarks, self.landmarks, 1.0, self.n_components, X, rows)
        if wish.count is None or wish.points is not None:
            raise ValueError(
                "MetricMap takes a number of landmarks, and samples for landmarks; see LandmarkMDS for 'auto' and for points"
            )
        solver = self._solver()
        distance = HalfSquaredDistance(self.metric, dict(self.metric_params or {})).bind(X)
        which = wish.samples
        if which is None:
            which = choose_samples(distance, X, different_samples(X, wish), wish.how, wish.count, solver.seed)
        model, own = metric_map(to_landmarks(distance, which), which, self.n_components, solver, self.order)
        attributes = {**landmark_attributes(wish, which), "references_": which[own]}
        del attributes["landmark_steps_"]
        return spectral_result(model, attributes=attributes, training=X)
