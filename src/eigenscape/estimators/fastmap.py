"""The FastMap estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from eigenscape.estimators._base import (
    EmbeddingMixin,
    Estimator,
    FitResult,
    KernelMixin,
    spectral_result,
)
from eigenscape.estimators._validation import check_count, check_metric_params
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import HalfSquaredDistance, squared_distance_rows, to_landmarks
from eigenscape.methods.kernel_pca import check_components
from eigenscape.methods.pivots import choose_pivots, fastmap


class FastMap(EmbeddingMixin, KernelMixin, Estimator):
    r"""Coordinates along lines through pairs of far points, each orthogonal to the earlier ones.

    The coordinate of :math:`x` on the line through the pivots :math:`a, b` is, by the law of cosines,

    .. math:: y(x) = \frac{d^2(a, x) + d^2(a, b) - d^2(b, x)}{2\, d(a, b)},

    and what is left of the distances, :math:`d^2(x, y) - (y(x) - y(y))^2`, gives the next one (Faloutsos and
    Lin 1995). It is a Nystrom algorithm (Burges sec. 3, after Platt): with :math:`A = T T'` the inner
    products of the differences of the pivots, the coordinates are :math:`T^{-1}` times a point's inner
    products with them, where :class:`LandmarkMDS` has the eigenvectors of its :math:`A`. The triangle is
    cheaper than eigenvectors, needs two distances a coordinate to place a point, and gives lines, not
    directions of the greatest variance: where few coordinates are kept, landmark MDS keeps more of the
    distances.

    Parameters
    ----------
    n_components : int, default=2
    n_rounds : int, default=5
        How often to walk to the farthest point and back in search of a far pair.
    metric : str or function, default="euclidean"
        As for :class:`ClassicalMDS`; of "precomputed" distances those to the pivots alone are used after
        ``fit``.
    metric_params : dict or None, default=None
    random_state : int, RandomState or None, default=0
        Where the walks start.
    verbose : bool, default=False

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The first pivot of each pair has coordinate 0.
    pivots_ : ndarray of shape (n_components, 2)
        Numbers of the samples that are pivots.
    landmarks_ : ndarray
        The same, each once, in ascending order.
    eigenvalues_ : ndarray of shape (n_components,)
        What is left of the squared distance of each pair: the squares on the diagonal of :math:`T`. They take
        the place that eigenvalues have elsewhere, and are none.
    kernel_ : BoundKernel
        Inner products with the points ``landmarks_``, the first pivot as origin. ``loss`` is about this
        kernel.
    residuals_ : ndarray of shape (n_components,)
        How far the coordinates are from reproducing the kernel along each line: rounding.
    solver_, n_features_in_
        As for :class:`KernelPCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import FastMap
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> model = FastMap(n_components=2).fit(X)
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
        n_rounds: int = 5,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_rounds = n_rounds
        self.metric = metric
        self.metric_params = metric_params
        self.random_state = random_state
        self.verbose = verbose

    def _embed(self, X: Any) -> FitResult:
        check_count("n_components", self.n_components)
        check_count("n_rounds", self.n_rounds)
        check_components(self.n_components, X)
        check_metric_params(self.metric_params)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        distance = HalfSquaredDistance(self.metric, dict(self.metric_params or {})).bind(X)
        pivots = choose_pivots(
            squared_distance_rows(distance), n_points(X), self.n_components, self.n_rounds, seed
        )
        which = np.unique(pivots)
        model = fastmap(to_landmarks(distance, which), which, pivots)
        return spectral_result(model, attributes={"pivots_": pivots, "landmarks_": which}, training=X)
