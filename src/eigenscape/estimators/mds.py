"""The ClassicalMDS estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigenscape.estimators._base import EmbeddingMixin, Estimator, FitResult, KernelMixin, spectral_result
from eigenscape.estimators._distances import (
    DistanceSpectrum,
    DistanceSpectrumMixin,
    bind_distance,
)
from eigenscape.estimators._docs import documented
from eigenscape.estimators._inverse import InverseMixin, distance_inverse
from eigenscape.estimators._method import Memory, Method
from eigenscape.estimators._types import DenseSolver, Metric, Seed
from eigenscape.estimators._weights import SampleWeightMixin
from eigenscape.kernels.base import n_points
from eigenscape.methods.kernel_pca import check_components, require_components
from eigenscape.methods.mds import Indefinite, classical_mds
from eigenscape.operators.gram import Storage
from eigenscape.solvers import Order


@documented
class ClassicalMDS(
    SampleWeightMixin, DistanceSpectrumMixin, InverseMixin, EmbeddingMixin, KernelMixin, Estimator
):
    r"""Coordinates whose distances approximate the given distances.

    Double centring turns squared distances into scalar products,

    .. math::
        k_m(x, y) = -\tfrac12\bigl(d^2(x, y)
        - E_{x'} d^2(x', y) - E_{y'} d^2(x, y') + E_{x'y'} d^2(x', y')\bigr),

    and the coordinates are :math:`\sqrt{l_r}\, v_r` of that kernel (Bengio eq. 8, 10). With the Euclidean
    metric this is PCA. Unlike other implementations it places new points, from their features or from their
    distances to the training samples.

    Parameters
    ----------
    {n_components} {metric/distance} {metric_params}
    centering : array-like of shape (n_samples,) or None, default=None
        Centring weights ``c`` with sum 1 (Burges sec. 2.2.1): the weighted mean of the training samples
        becomes the origin. If None, the weights are equal, or proportional to ``sample_weight``.
    {order} {indefinite} {storage} {eigen_solver} {tol} {max_iter} {random_state} {n_jobs} {verbose}

    Attributes
    ----------
    {embedding_} {eigenvalues_} {kernel_} {negative_fraction_} {is_euclidean_} {inverse_error_}
        With the Euclidean metric ``inverse_transform`` is the inverse of PCA. With other metrics it fits the
        rows by an affine function of the coordinates around each point of the map, and each row is left out
        of its own reconstruction. Not available for precomputed distances and lists of objects.
    {residuals_} {solver_} {n_iter_} {n_features_in_}

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

    _method = Method(
        "classical-mds",
        "Distances on the map approximate the distances of the data.",
        aliases=(
            "mds",
            "cmds",
            "pcoa",
        ),
        memory=Memory(square=1, blocked=True),
    )
    _make_inverse = distance_inverse
    _objects = True
    _sparse_tables = False
    _pairwise_parameter = "metric"

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        centering: ArrayLike | None = None,
        order: Order = "value",
        indefinite: Indefinite = "keep",
        storage: Storage = "auto",
        eigen_solver: DenseSolver = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Seed = 0,
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

    def _embed(self, X: Any, blocks: None = None, weights: np.ndarray | None = None) -> FitResult:
        check_components(self.n_components, X)
        distance = bind_distance(self.metric, self.metric_params, X)
        model = classical_mds(
            distance,
            self.n_components,
            self._solver(),
            order=self.order,
            indefinite=self.indefinite,
            centering=self._centering_weights(n_points(distance.X)),
            storage=self.storage,
            weights=weights,
        )
        model = require_components(model, self.n_components, self.order)
        return spectral_result(model, {"_spectrum_": DistanceSpectrum(distance, weights)})

    def _centering_weights(self, m: int) -> np.ndarray | None:
        """Validate ``centering``; None for equal weights."""
        if self.centering is None:
            return None
        try:
            weights = np.asarray(self.centering, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"centering={self.centering!r} must be an array of one weight per sample, or None"
            ) from None
        if weights.shape != (m,):
            raise ValueError(f"centering needs one weight per sample: shape ({m},), got {weights.shape}")
        if not abs(weights.sum() - 1) <= 1e-9 * max(1.0, np.abs(weights).sum()):
            raise ValueError(
                f"centering weights must sum to 1, got {weights.sum():g}; divide them by their sum"
            )
        return weights
