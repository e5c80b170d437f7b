"""The MetricMap estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from eigenscape._parameters import with_constructor
from eigenscape.estimators._base import FitResult, KernelEstimator
from eigenscape.estimators._distances import bind_distance
from eigenscape.estimators._landmarks import (
    check_landmarks,
    given_landmarks,
    landmark_attributes,
    landmark_samples,
)
from eigenscape.estimators._method import DenseSolver, Method, Seed
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import to_landmarks
from eigenscape.methods.kernel_pca import check_components
from eigenscape.methods.pivots import metric_map
from eigenscape.options import Landmarks, Metric
from eigenscape.solvers import Order


@with_constructor
class MetricMap(KernelEstimator):
    r"""Eigenvectors of inner products around one landmark, extended by a few reference points.

    With one landmark as the origin the inner products between landmarks,

    .. math:: \langle x, y\rangle = \tfrac12\bigl(d^2(x, o) + d^2(y, o) - d^2(x, y)\bigr),

    have eigenvalues of both signs if the distances are not Euclidean, and those largest in magnitude give
    pseudo-Euclidean coordinates :math:`Y = U |\Lambda|^{1/2}`. As many landmarks as there are coordinates are
    kept as reference points, and a point is placed such that its inner products with these are reproduced:
    :math:`b = Y S y`, :math:`S` the signs of the eigenvalues (Wang et al. 1999). It is a Nystrom algorithm
    (Burges sec. 3, after Platt) that computes its map from more points than it uses to place others.
    :class:`LandmarkMDS` has the mean of the landmarks as origin and uses all of them for both, which costs
    little more and is more stable, since it averages.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    n_landmarks : int or None, default=None
        Number of landmarks. If None, twice the number of coordinates (at least two more than these), as the
        authors recommend.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn. "precomputed": ``X`` is a matrix of distances, and ``transform`` takes the
        distances of new points to the training samples. A function of two samples; these may be arbitrary
        objects if ``X`` is a list of objects.

        Only the distances to the landmarks are used.
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
    order : {"value", "magnitude"}, default="magnitude"
        Select the eigenvalues with the largest values or with the largest magnitudes. Indefinite kernels and
        non-Euclidean distances have negative eigenvalues, which may be meaningful (Bengio sec. 6).
    metric_params : dict or None, default=None
        Additional keyword arguments of the metric.
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

        The origin has coordinates 0.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the kernel between landmarks.

        Squared distances along the coordinates of negative eigenvalues are negative.
    kernel_ : BoundKernel
        Data-dependent kernel: ``kernel_(Y)`` is the matrix of its values between any points and the
        landmarks, which are ``kernel_.X``.

        ``loss`` refers to this kernel.
    landmarks_ : ndarray
        Indices of the samples that are landmarks (rows, for a dask collection), or the landmarks themselves
        if points were given.
    n_landmarks_ : int
        Number of landmarks.
    landmark_reason_ : str
        Explanation of the number of landmarks.
    references_ : ndarray
        Indices of the samples whose distances place a point: the origin, and one for each coordinate that is
        not zero.
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
    >>> from eigenscape import MetricMap
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> model = MetricMap(n_components=2).fit(X)
    >>> np.allclose(np.linalg.norm(model.embedding_[0] - model.embedding_[1]), np.linalg.norm(X[0] - X[1]))
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_landmarks: int | None = None
    approximation: Landmarks | None = None
    order: Order = "magnitude"
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    eigen_solver: DenseSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("metric-map")
    _meaning = "Points are placed by their distances to a set of reference points."
    _objects = True
    _sparse_tables = False
    _has_landmarks = True
    _pairwise_parameter = "metric"

    def _embed(self, X: Any) -> FitResult:
        check_components(self.n_components, X)
        n_landmarks = min(max(2 * self.n_components, self.n_components + 2), n_points(X))
        given = given_landmarks(self, Landmarks(n_landmarks, "random"))
        if self.approximation is not None and given.n == "auto":
            given = given.set_params(n=n_landmarks)
        rows = not self._is_precomputed() and X.ndim == 2
        options = check_landmarks(given, self.n_components, X, rows)
        if options.count is None or options.points is not None:
            raise ValueError(
                "MetricMap needs a number of landmarks or the indices of samples; use LandmarkMDS for"
                " n_landmarks='auto' or landmarks that are points"
            )
        solver = self._solver()
        distance = bind_distance(self.metric, self.metric_params, X)
        landmarks = landmark_samples(distance, X, options, solver.seed)
        model, references = metric_map(
            to_landmarks(distance, landmarks), landmarks, self.n_components, solver, self.order
        )
        attributes = {**landmark_attributes(options, landmarks), "references_": landmarks[references]}
        del attributes["landmark_steps_"]
        return FitResult(model, attributes, training=X)
