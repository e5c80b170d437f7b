"""The FastMap estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from eigenscape._parameters import with_constructor
from eigenscape.estimators._base import FitResult, KernelEstimator
from eigenscape.estimators._distances import bind_distance
from eigenscape.estimators._method import Memory, Method, Seed
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import squared_distance_rows, to_landmarks
from eigenscape.methods.kernel_pca import check_components, with_components
from eigenscape.methods.pivots import choose_pivots, fastmap
from eigenscape.options import Metric


@with_constructor
class FastMap(KernelEstimator):
    r"""Coordinates along lines through pairs of distant points, each orthogonal to the earlier lines.

    The coordinate of :math:`x` on the line through the pivots :math:`a, b` is, by the law of cosines,

    .. math:: y(x) = \frac{d^2(a, x) + d^2(a, b) - d^2(b, x)}{2\, d(a, b)},

    and the deflated distances :math:`d^2(x, y) - (y(x) - y(y))^2` give the next coordinate (Faloutsos and Lin
    1995). It is a Nystrom algorithm (Burges sec. 3, after Platt): with :math:`A = T T'` the inner products of
    the differences of the pivots, the coordinates are :math:`T^{-1}` times the inner products of a point with
    these differences, where :class:`LandmarkMDS` uses the eigenvectors of its :math:`A`. The triangular
    factor is cheaper than eigenvectors and placing a point needs two distances per coordinate, but the lines
    are not directions of greatest variance: LandmarkMDS preserves more of the distances with few coordinates.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn. "precomputed": ``X`` is a matrix of distances, and ``transform`` takes the
        distances of new points to the training samples. A function of two samples; these may be arbitrary
        objects if ``X`` is a list of objects.

        Only the distances to the pivots are used after ``fit``.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.

        The searches start from random points.

    Other Parameters
    ----------------
    n_rounds : int, default=5
        Number of moves to the farthest point and back in the search for a pair of distant points.
    metric_params : dict or None, default=None
        Additional keyword arguments of the metric.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.

        The first pivot of each pair has coordinate 0.
    pivots_ : ndarray of shape (n_pairs, 2)
        Indices of the samples that are pivots, one pair for each coordinate that is not zero.
    landmarks_ : ndarray
        The distinct pivots in ascending order.
    eigenvalues_ : ndarray of shape (n_components,)
        Deflated squared distances of the pairs: the squares on the diagonal of :math:`T`. They are not
        eigenvalues, but take their place in the interface.
    kernel_ : BoundKernel
        Inner products with the samples ``landmarks_``, with the first pivot as origin. ``loss`` refers to
        this kernel.
    residuals_ : ndarray of shape (n_components,)
        Errors of the kernel along each line that is reproduced from the coordinates: rounding errors.
    solver_ : str
        Name of the eigensolver used.
    n_iter_ : int
        Number of iterations of the eigensolver; 0 or 1 for direct solvers.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import FastMap
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> model = FastMap(n_components=2).fit(X)
    >>> np.allclose(np.linalg.norm(model.embedding_[0] - model.embedding_[1]), np.linalg.norm(X[0] - X[1]))
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_rounds: int = 5
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    random_state: Seed = 0
    verbose: bool = False

    _method = Method("fastmap", memory=Memory(copies=4))
    _meaning = "Points are placed by their distances to pairs of distant points."
    _objects = True
    _sparse_tables = False
    _pairwise_parameter = "metric"

    def _embed(self, X: Any) -> FitResult:
        check_components(self.n_components, X)
        seed = self._seed()
        distance = bind_distance(self.metric, self.metric_params, X)
        row = squared_distance_rows(distance)
        pivots = choose_pivots(row, n_points(X), self.n_components, self.n_rounds, seed)
        if len(pivots) == 0:
            raise RankError("all samples are equal under this metric; there is nothing to embed")
        landmarks = np.unique(pivots)
        model = fastmap(to_landmarks(distance, landmarks), landmarks, pivots)
        model = with_components(model, self.n_components, remedy=", or use LandmarkMDS")
        return FitResult(model, {"pivots_": pivots, "landmarks_": landmarks}, training=X)
