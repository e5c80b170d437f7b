"""The OrdinalMDS estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import squareform

from eigenscape._progress import reporting
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._ordinal import ordinal_options, report_stress
from eigenscape.estimators._validation import check_input, check_metric_params, check_symmetric
from eigenscape.graph.row_index import RowIndex, distinct_rows
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import Dissimilarity
from eigenscape.methods.ordinal import ordinal_mds, require_square


class OrdinalMDS(Estimator):
    r"""A map whose distances are in the order of the dissimilarities.

    Finds points :math:`x_i` and an increasing function :math:`g` that minimise Kruskal's stress

    .. math:: \sqrt{\sum_{i<j} \bigl(|x_i - x_j| - g(\delta_{ij})\bigr)^2 \Big/ \sum_{i<j} |x_i - x_j|^2}

    (Burges sec. 2.2.3). Nothing but the order of the :math:`\delta_{ij}` matters: any increasing function of
    them gives the same map. Monotone regression and majorisation (SMACOF) take turns, from classical MDS of
    the ranks and from random starts. Scale and orientation are arbitrary: the mean squared distance is 1, the
    axes are principal. Memory grows as the square of ``n_samples``.

    Parameters
    ----------
    n_components : int, default=2
    metric, metric_params
        As for :class:`ClassicalMDS`; any dissimilarities will do, metric or not.
    n_init : int, default=4
        Starts: the first by classical MDS of the ranks, the others random. The least stress wins.
    max_iter : int, default=300
    tol : float, default=1e-6
        Stop when a step lowers the stress by less.
    ties : {"primary", "secondary"}, default="primary"
        Whether equal dissimilarities may have different distances on the map, or not.
    random_state : int, RandomState or None, default=0
        For the random starts.
    verbose : bool, default=False

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
    stress_ : float
        Kruskal's stress-1: below 0.05 is good, above 0.2 poor, by custom. Near zero with points in a few
        heaps, it is degenerate: groups farther from one another than any of their members have an order that
        heaps show perfectly.
    n_iter_ : int
    n_features_in_ : int

    Notes
    -----
    Equal rows are one point. A row equal to a training row *is* that point and gets its coordinates, by
    identity. Any other is put where the stress of its own distances to the fixed training points is least,
    with :math:`g` interpolated between the training dissimilarities, so that it may land elsewhere than if it
    had been there in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import OrdinalMDS
    >>> from eigenscape.quality import aligned_error
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> D = np.linalg.norm(X[:, None] - X, axis=2)
    >>> model = OrdinalMDS(metric="precomputed", max_iter=1000).fit(np.expm1(3 * D))
    >>> model.stress_ < 0.01
    True
    >>> model.transform(np.expm1(3 * D[:5])).shape
    (5, 2)
    """

    _objects = True
    _sparse_tables = False
    _pairwise_parameter = "metric"

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-6,
        ties: str = "primary",
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.ties = ties
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), list of objects, or dissimilarities (n_samples,
        n_samples) y : ignored

        Returns
        -------
        self
        """
        self._reset()
        check_metric_params(self.metric_params)
        options = ordinal_options(
            self.n_components, self.n_init, self.max_iter, self.tol, self.ties, self.random_state
        )
        with reporting(self.verbose):
            X = check_input(self, X, reset=True)
            require_square(n_points(X))
            first, group = distinct_rows(X)
            if self.n_components > len(first) - 1:
                raise ValueError(
                    f"n_components={self.n_components} needs at least {self.n_components + 1} distinct samples, got"
                    f" n_samples={len(first)}; lower n_components"
                )
            distance = Dissimilarity.bind(self.metric, self.metric_params, X, first)
            square = distance(X[first])
            if callable(self.metric):
                check_symmetric(square, "distance")
            square = np.where(np.eye(len(square), dtype=bool), 0.0, (square + square.T) / 2)
            rows = X if len(first) == n_points(X) else X[first]
            model = ordinal_mds(squareform(square, checks=False), options, distance, RowIndex(rows))
        self._model_ = model
        self.embedding_ = self._like(X, model.coordinates[group])
        self.stress_ = model.layout.stress
        self.n_iter_ = model.n_iter
        report_stress([model.layout], options)
        return self
