"""The ClassicalMDS estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape.estimators._base import (
    EmbeddingMixin,
    Estimator,
    FitResult,
    KernelMixin,
    spectral_result,
)
from eigenscape.estimators._distances import INDEFINITE, DistanceSpectrum, DistanceSpectrumMixin
from eigenscape.estimators._inverse import InverseMixin, distance_inverse
from eigenscape.estimators._validation import check_choice, check_count, check_metric_params
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.methods.kernel_pca import check_components, require_components
from eigenscape.methods.mds import classical_mds


class ClassicalMDS(DistanceSpectrumMixin, InverseMixin, EmbeddingMixin, KernelMixin, Estimator):
    r"""Coordinates whose distances are, as nearly as possible, the given ones.

    Double centring turns squared distances into scalar products,

    .. math:: k_m(x, y) = -\tfrac12\bigl(d^2(x, y) - E_{x'} d^2(x', y) - E_{y'} d^2(x, y') + E_{x'y'} d^2(x', y')\bigr),

    and the coordinates are :math:`\sqrt{l_r}\, v_r` of that kernel (Bengio eq. 8, 10). With the Euclidean
    metric this is PCA. Unlike other implementations it places new points, from their features or from their
    distances to the training points.

    Parameters
    ----------
    n_components : int, default=2
    metric : str or function, default="euclidean"
        Any scikit-learn metric; "precomputed" for a matrix of distances (``transform`` then takes the
        distances of new to training points); or a function of two samples, which may be any objects if ``X``
        is a list of objects.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    centering : array-like of shape (n_samples,) or None, default=None
        Burges' centring weights ``c`` (sec. 2.2.1), which sum to one: the weighted mean of the training
        points becomes the origin. None for the plain mean.
    order : {"value", "magnitude"}, default="value"
        Take the largest eigenvalues, or the largest in magnitude (non-Euclidean distances have negative ones
        too, and these may carry meaning; Bengio sec. 6).
    indefinite : {"keep", "clip", "shift"}, default="keep"
        What to do with negative eigenvalues (Burges sec. 2.2.2): keep the kernel as it is, take the nearest
        positive semi-definite one, or add the smallest sufficient constant to all squared distances.
    storage : {"auto", "blocked"}, default="auto"
        Keep the distance matrix if it fits, or make it in blocks whenever it is applied.
    eigen_solver, tol, max_iter, random_state, n_jobs, verbose
        As for :class:`KernelPCA`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
    eigenvalues_ : ndarray of shape (n_components,)
    kernel_ : BoundKernel
    negative_fraction_ : float
        ``sum |l < 0| / sum |l|`` of the spectrum before repair.
    is_euclidean_ : bool
        Whether the distances are Euclidean, by the distance-matrix theorem (Burges sec. 2.2).
    inverse_error_ : float
        As for :class:`Isomap`; with the Euclidean metric ``inverse_transform`` is the inverse of PCA, and no
        row is left out.
    residuals_, solver_, n_features_in_
        As for :class:`KernelPCA`.

    Examples
    --------
    >>> from eigenscape import ClassicalMDS
    >>> words = ["spectral", "spectra", "kernel", "kernels", "vessel"]
    >>> def different_letters(a, b):
    ...     return len(set(a) ^ set(b))
    >>> model = ClassicalMDS(metric=different_letters).fit(words)
    >>> model.transform(["colonel"]).shape
    (1, 2)
    """

    _make_inverse = distance_inverse
    _objects = True
    _sparse_tables = False
    _pairwise_parameter = "metric"

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        centering: Any = None,
        order: str = "value",
        indefinite: str = "keep",
        storage: str = "auto",
        eigen_solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.centering = centering
        self.order = order
        self.indefinite = indefinite
        self.storage = storage
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
        check_choice("storage", self.storage, ("auto", "blocked"))
        check_components(self.n_components, X)
        check_metric_params(self.metric_params)
        distance = HalfSquaredDistance(self.metric, dict(self.metric_params or {})).bind(X)
        self._spectrum_ = DistanceSpectrum(distance)
        model = classical_mds(
            distance,
            self.n_components,
            self._solver(),
            order=self.order,
            indefinite=self.indefinite,  # type: ignore[arg-type]
            weights=self._centering_weights(n_points(distance.X)),
            storage=self.storage,  # type: ignore[arg-type]
        )
        return spectral_result(require_components(model, self.n_components, self.order))

    def _centering_weights(self, m: int) -> np.ndarray | None:
        if self.centering is None:
            return None
        try:
            weights = np.asarray(self.centering, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"centering={self.centering!r} must be an array of one weight a sample, or None"
            ) from None
        if weights.shape != (m,):
            raise ValueError(f"centering needs one weight a sample: shape ({m},), got {weights.shape}")
        if not abs(weights.sum() - 1) <= 1e-9 * max(1.0, np.abs(weights).sum()):
            raise ValueError(
                f"centering weights must sum to 1, got {weights.sum():g}; divide them by their sum"
            )
        return weights
