"""The OrdinalMDS estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.exceptions import ConvergenceWarning

from eigenscape._numbers import check_symmetric
from eigenscape._parameters import check_enough, with_constructor
from eigenscape._warnings import warn
from eigenscape.estimators._base import Estimator, FitResult
from eigenscape.estimators._graph import given_neighborhood, neighborhood_graph
from eigenscape.estimators._method import Memory, Method, Seed
from eigenscape.estimators._rows import check_input
from eigenscape.estimators._running import fitting
from eigenscape.graph.near_rows import NearRowIndex
from eigenscape.graph.row_index import RowIndex, distinct_rows
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import Dissimilarity
from eigenscape.methods.isomap import ordinal_isomap
from eigenscape.methods.ordinal import Layout, OrdinalOptions, Ties, ordinal_mds, require_pair_memory
from eigenscape.options import Metric, Ordinal
from eigenscape.pieces import split_graph


@with_constructor
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
    n_components : int, default=2
        Number of coordinates.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn. "precomputed": ``X`` is a matrix of distances, and ``transform`` takes the
        distances of new points to the training samples. A function of two samples; these may be arbitrary
        objects if ``X`` is a list of objects.

        The dissimilarities need not satisfy the triangle inequality.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.

    Other Parameters
    ----------------
    metric_params : dict or None, default=None
        Additional keyword arguments of the metric.
    n_init : int, default=4
        Number of starting configurations: classical MDS of the ranks and ``n_init - 1`` random ones. The
        result with the smallest stress is kept.
    max_iter : int, default=300
        Maximum number of iterations for each starting configuration.
    tol : float, default=1e-6
        Iterations stop when the stress decreases by less than ``tol``.
    ties : {"primary", "secondary"}, default="primary"
        Treatment of equal dissimilarities: their distances in the embedding may differ ("primary") or are
        fitted by one value ("secondary").
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.
    stress_ : float
        Kruskal's stress-1 of the embedding.

        By convention below 0.05 is good and above 0.2 poor. A stress near zero with points in a few clusters
        is degenerate: clusters whose distances exceed the distances within them have an order that is
        reproduced by collapsing each cluster to a point.
    n_iter_ : int
        Number of iterations of the best start.
    n_features_in_ : int
        Number of features seen by ``fit``.

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

    n_components: int = 2
    _: KW_ONLY
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    n_init: int = 4
    max_iter: int = 300
    tol: float = 1e-6
    ties: Ties = "primary"
    random_state: Seed = 0
    verbose: bool = False

    _method = Method(
        "ordinal-mds", aliases=("nonmetric-mds", "nmds"), collections=False, memory=Memory(square=8)
    )
    _meaning = "The order of the distances is preserved, but not their size."
    _objects = True
    _sparse_tables = False
    _pairwise_parameter = "metric"

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the embedding of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of objects
            Training data. If "precomputed", dissimilarities of shape (n_samples, n_samples).
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self
        """
        with fitting(self):
            options = OrdinalOptions(
                self.n_components, self.n_init, self.max_iter, self.tol, self.ties, self._seed()
            )
            X = check_input(self, X, reset=True)
            require_pair_memory(n_points(X))
            first, group = distinct_rows(X)
            needed, found = self.n_components + 1, len(first)
            check_enough("n_components", self.n_components, needed, found, "distinct samples")
            distance = Dissimilarity.bind(self.metric, self.metric_params, X, first)
            square = distance(X[first])
            if callable(self.metric):
                check_symmetric(square, "distance")
            square = np.where(np.eye(len(square), dtype=bool), 0.0, (square + square.T) / 2)
            index = RowIndex if self.metric == "precomputed" else NearRowIndex
            rows = index(X if len(first) == n_points(X) else X[first])
            model = ordinal_mds(squareform(square, checks=False), options, distance, rows)
            self._model_ = model
            self.embedding_ = self._match_dtype(X, model.coordinates[group])
            self.stress_ = model.layout.stress
            self.n_iter_ = model.n_iter
            warn_if_not_converged([model.layout], options)
        return self


def ordinal_isomap_result(estimator: Any, X: Any) -> FitResult:
    """Fit ordinal Isomap to validated data; ``estimator`` has the parameters of :class:`Isomap`."""
    if estimator.n_landmarks is not None or estimator.approximation is not None:
        raise ValueError(
            "ordinal=True compares all pairs of points, landmarks only some; leave out one of them"
        )
    n, ordinal = estimator.n_components, estimator.ordinal
    ordinal = ordinal if isinstance(ordinal, Ordinal) else Ordinal()
    options = OrdinalOptions(n, ordinal.n_init, ordinal.max_iter, 1e-6, ordinal.ties, estimator._seed())
    require_pair_memory(X.shape[0])
    graph = neighborhood_graph(X, given_neighborhood(estimator), n)
    split = split_graph(graph.graph, estimator.on_disconnected)
    maps = [ordinal_isomap(part, options, estimator.n_jobs) for part in split.parts]
    layouts = [embedding.layout for embedding in maps]
    warn_if_not_converged(layouts, options)
    stress = np.array([layout.stress for layout in layouts])
    attributes = {
        "stress_": float(stress[0]) if len(stress) == 1 else stress,
        "n_iter_": max(layout.n_iter for layout in layouts),
        "_spectrum_": None,
    }
    return graph.result(maps, split, n, attributes, has_kernel=False)


def warn_if_not_converged(layouts: list[Layout], options: OrdinalOptions) -> None:
    """Warn if an ordinal map has not converged."""
    unconverged = [layout for layout in layouts if not layout.converged]
    if unconverged:
        warn(
            f"the map was still improving after max_iter={options.max_iter} steps, at a stress of"
            f" {unconverged[0].stress:.4g}: the last step lowered it by more than tol={options.tol:g}; raise"
            " max_iter or tol",
            ConvergenceWarning,
        )
