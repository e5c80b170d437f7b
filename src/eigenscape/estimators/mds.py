"""The ClassicalMDS estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._parameters import with_constructor
from eigenscape.estimators._base import FitResult, KernelEstimator, fit_weighted
from eigenscape.estimators._distances import DistanceSpectrum, DistanceSpectrumMixin, bind_distance
from eigenscape.estimators._inverse import InverseMixin, distance_inverse
from eigenscape.estimators._method import DenseSolver, Memory, Method, Seed
from eigenscape.estimators._work import CENTERED_PRODUCTS, check_kernel_work
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.methods.kernel_pca import check_components, with_components
from eigenscape.methods.mds import Indefinite, classical_mds
from eigenscape.options import Metric
from eigenscape.solvers import Order


@with_constructor
class ClassicalMDS(DistanceSpectrumMixin, InverseMixin, KernelEstimator):
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
    n_components : int, default=2
        Number of coordinates.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn. "precomputed": ``X`` is a matrix of distances, and ``transform`` takes the
        distances of new points to the training samples. A function of two samples; these may be arbitrary
        objects if ``X`` is a list of objects.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    metric_params : dict or None, default=None
        Additional keyword arguments of the metric.
    centering : array-like of shape (n_samples,) or None, default=None
        Centring weights ``c`` with sum 1 (Burges sec. 2.2.1): the weighted mean of the training samples
        becomes the origin. If None, the weights are equal, or proportional to ``sample_weight``.
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
        Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first.
    kernel_ : BoundKernel
        Data-dependent kernel: ``kernel_(Y)`` are its values between any points and the training samples.
    negative_fraction_ : float
        ``sum |l < 0| / sum |l|`` over the spectrum of the centred distances, before negative eigenvalues are
        treated. Computed on first access.
    is_euclidean_ : bool
        Whether the distances are Euclidean, by the distance-matrix theorem (Burges sec. 2.2). Computed on
        first access.
    inverse_error_ : float
        Error of ``inverse_transform``: root mean square distance between at most 1000 training rows and their
        reconstructions, relative to the spread of the rows. Computed on first access.

        With the Euclidean metric ``inverse_transform`` is the inverse of PCA. With other metrics it fits the
        rows by an affine function of the coordinates around each point of the map, and each row is left out
        of its own reconstruction. Not available for precomputed distances and lists of objects.
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
    >>> from eigenscape import ClassicalMDS
    >>> words = ["spectral", "spectra", "kernel", "kernels", "vessel"]
    >>> def different_letters(a, b):
    ...     return len(set(a) ^ set(b))
    >>> model = ClassicalMDS(metric=different_letters).fit(words)
    >>> model.transform(["colonel"]).shape
    (1, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    centering: ArrayLike | None = None
    order: Order = "value"
    indefinite: Indefinite = "keep"
    eigen_solver: DenseSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("classical-mds", aliases=("mds", "cmds", "pcoa"), memory=Memory(square=1, blocked=True))
    _meaning = "Distances on the map approximate the distances of the data."
    _make_inverse = distance_inverse
    _objects = True
    _sparse_tables = False
    _pairwise_parameter = "metric"
    _blocked = True
    fit = fit_weighted

    def _embed(self, X: Any, weights: np.ndarray | None = None) -> FitResult:
        check_components(self.n_components, X)
        kernel, repaired = HalfSquaredDistance(self.metric), self.indefinite != "keep"
        remedy = "use LandmarkMDS, or fit a sample and transform the rest"
        remedy = f"use indefinite='keep', or {remedy}" if repaired else remedy
        direct = self.indefinite == "clip"
        check_kernel_work(self, kernel, X, CENTERED_PRODUCTS, remedy, whole=repaired, direct=direct)
        distance = bind_distance(self.metric, self.metric_params, X)
        model = classical_mds(
            distance,
            self.n_components,
            self._solver(),
            order=self.order,
            indefinite=self.indefinite,
            centering=self._centering_weights(n_points(distance.X)),
            weights=weights,
        )
        model = with_components(model, self.n_components, self.order)
        return FitResult(model, {"_spectrum_": DistanceSpectrum(distance, weights)})

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
