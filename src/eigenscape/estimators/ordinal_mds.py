"""The OrdinalMDS estimator."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from scipy.spatial.distance import squareform

from eigenscape.estimators._base import Estimator
from eigenscape.estimators._docs import documented
from eigenscape.estimators._method import Memory, Method
from eigenscape.estimators._ordinal import ordinal_options, warn_if_not_converged
from eigenscape.estimators._running import running
from eigenscape.estimators._types import Metric, Seed
from eigenscape.estimators._validation import check_input, check_symmetric
from eigenscape.graph.row_index import RowIndex, distinct_rows
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import Dissimilarity
from eigenscape.methods.ordinal import Ties, ordinal_mds, require_pair_memory


@documented
class OrdinalMDS(Estimator):
    r"""Coordinates whose distances have the same order as the dissimilarities.

    Finds points :math:`x_i` and an increasing function :math:`g` that minimise Kruskal's stress

    .. math:: \sqrt{\sum_{i<j} \bigl(|x_i - x_j| - g(\delta_{ij})\bigr)^2 \Big/ \sum_{i<j} |x_i - x_j|^2}

    (Burges sec. 2.2.3). Only the order of the :math:`\delta_{ij}` matters: any increasing function of them
    gives the same map. Monotone regression and majorisation (SMACOF) alternate, from classical MDS of the
    ranks and from random starts. Scale and orientation are arbitrary: the mean squared distance is 1, the
    axes are principal. Memory grows as the square of ``n_samples``.

    Parameters
    ----------
    {n_components} {metric/distance}
        The dissimilarities need not satisfy the triangle inequality.
    {metric_params} {n_init}
    max_iter : int, default=300
        Maximum number of iterations for each starting configuration.
    {tol/stress} {ties} {random_state} {verbose}

    Attributes
    ----------
    {embedding_} {stress_}
        By convention below 0.05 is good and above 0.2 poor. A stress near zero with points in a few clusters
        is degenerate: clusters whose distances exceed those of their members have an order that is reproduced
        by collapsing each cluster to a point.
    n_iter_ : int
        Number of iterations of the best start.
    {n_features_in_}

    Notes
    -----
    Equal rows are one point. A row equal to a training row gets the coordinates of that row. Any other row is
    placed where the stress of its own distances to the fixed training points is least, with :math:`g`
    interpolated between the training dissimilarities, so that its coordinates may differ from those it would
    have as a training row.

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

    _method = Method(
        "ordinal-mds",
        "The order of the distances is preserved, but not their size.",
        aliases=(
            "nonmetric-mds",
            "nmds",
        ),
        collections=False,
        memory=Memory(square=8),
    )
    _objects = True
    _sparse_tables = False
    _pairwise_parameter = "metric"

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-6,
        ties: Ties = "primary",
        random_state: Seed = 0,
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

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the embedding of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of objects
            Training data. If "precomputed", dissimilarities of shape (n_samples, n_samples).
        {y}

        Returns
        -------
        self
        """
        self._reset()
        max_iter = cast("int", self.max_iter)  # None is not allowed here
        options = ordinal_options(
            self.n_components, self.n_init, max_iter, self.tol, self.ties, self.random_state
        )
        with running(self):
            X = check_input(self, X, reset=True)
            require_pair_memory(n_points(X))
            first, group = distinct_rows(X)
            if self.n_components > len(first) - 1:
                raise ValueError(
                    f"n_components={self.n_components} needs at least {self.n_components + 1} distinct"
                    f" samples, got n_samples={len(first)}; lower n_components"
                )
            distance = Dissimilarity.bind(self.metric, self.metric_params, X, first)
            square = distance(X[first])
            if callable(self.metric):
                check_symmetric(square, "distance")
            square = np.where(np.eye(len(square), dtype=bool), 0.0, (square + square.T) / 2)
            rows = RowIndex(X if len(first) == n_points(X) else X[first])
            model = ordinal_mds(squareform(square, checks=False), options, distance, rows)
        self._model_ = model
        self.embedding_ = self._match_dtype(X, model.coordinates[group])
        self.stress_ = model.layout.stress
        self.n_iter_ = model.n_iter
        warn_if_not_converged([model.layout], options)
        return self
