"""The LocallyLinearEmbedding estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from eigenscape._parameters import Limits, with_constructor
from eigenscape.estimators._base import FitResult, KernelEstimator, fit_weighted
from eigenscape.estimators._graph import Neighborhood, given_neighborhood, neighborhood_graph
from eigenscape.estimators._inverse import InverseMixin
from eigenscape.estimators._method import GraphSolver, Memory, Method, Seed
from eigenscape.estimators._weights import refuse_weights
from eigenscape.graph.blocks import resolve_metric_params
from eigenscape.graph.components import connect_closed
from eigenscape.kernels.local import local_gram
from eigenscape.methods.lle import LLEMethod, locally_linear_embedding
from eigenscape.options import Graph, KNNGraph, Metric, SpanningTree
from eigenscape.pieces import OnDisconnected, split_graph
from eigenscape.solvers import NAMES


@with_constructor
class LocallyLinearEmbedding(InverseMixin, KernelEstimator):
    r"""Locally linear embedding: each point is reconstructed from its neighbours by the same weights.

    Weights :math:`W` reconstruct each point from its neighbours. The embedding minimises
    :math:`\sum_i |y_i - \sum_j W_{ij} y_j|^2`: it consists of the eigenvectors of :math:`M = (I - W)'(I - W)`
    with the smallest eigenvalues after the constant one, scaled by :math:`\sqrt m` (Bengio sec. 2.6). The
    variants use another matrix :math:`M`: several weight vectors per point ("modified"), the curvature
    ("hessian") or the deviation from the tangent plane ("ltsa") of the map. A new point is placed by its own
    weights, :math:`P(x) = \sum_i w(x, x_i) P(x_i)`; a point equal to a training point has weight one on it.

    The weights and the variants depend on the data through scalar products of differences, which distances
    determine (Bengio sec. 1.2):

    .. math:: (x_i - x)'(x_j - x) = \tfrac12\bigl(d(x, x_i)^2 + d(x, x_j)^2 - d(x_i, x_j)^2\bigr).

    All methods therefore accept any metric and precomputed distances. Euclidean distances give the same map
    as the rows. Other distances may give local Gram matrices with negative eigenvalues, for which no weights
    are best; these eigenvalues are set to zero.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample. If None, 10, or fewer for fewer than 40 distinct samples:
        ``min(10, max(5, m // 4), m - 1)`` for ``m`` distinct samples.

        Each sample is reconstructed from these.
    method : {"standard", "modified", "hessian", "ltsa"}, default="standard"
        Matrix :math:`M`, as above. For :math:`d` components a neighbourhood needs at least 1 neighbour
        ("standard"), :math:`d` ("modified"), :math:`d (d + 3) / 2` ("hessian") or :math:`d + 1` ("ltsa").
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn or a function of two rows. "precomputed": ``X`` contains distances, as a
        dense matrix or as a sparse neighbourhood graph; ``transform`` takes the distances of new points to
        the training samples.

        Neighbours and weights are determined by the same metric. To use a metric for the search only, pass
        ``graph=KNNGraph(search=NearestNeighbors(metric=...))``. A sparse matrix of distances must contain the
        distances between the neighbours of each sample, too; for a
        :class:`~eigenscape.options.RadiusGraph`, a graph of all pairs within twice its radius does.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    graph : KNNGraph, RadiusGraph, SpanningTree or None, default=None
        Graph of the samples (:mod:`eigenscape.options`), in place of ``n_neighbors`` and ``metric``.
    reg : float, default=1e-3
        Regularisation of the local Gram matrices: ``reg`` times their trace is added to the diagonal, as in
        scikit-learn (Saul and Roweis divide by the number of neighbours). Of the values for which Swiss rolls
        are recovered best, it is the one for which maps of rolls, faces and digits move least if samples are
        left out; the best share of the trace does not decrease with the number of neighbours
        (``python -m benchmarks.lle_regularization``). Larger values give maps that are stable but lose a
        coordinate of a roll. Ignored by "hessian" and "ltsa", except for new points.
    c : float or None, default=None
        If None, new points are placed by the limit of large ``c``, as above. A number above 1 selects
        Bengio's kernel ``k_m = (c - 1) k' + k''``, which draws new points towards the origin.
    on_disconnected : {"connect", "per_component", "largest", "raise"}, default="connect"
        Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
        them; "per_component" embeds each component separately; "largest" embeds the largest and places all
        other samples on its map as new points. These three issue a
        :class:`~eigenscape.exceptions.DisconnectedGraphWarning`. "raise" raises an error.
    eigen_solver : str, Solver or EigenSolver, default="auto"
        "auto", "dense", "lanczos", "shift-invert" or "multilevel"; "auto" chooses by the shape of the graph,
        see :mod:`eigenscape.solvers.policy`. A :class:`~eigenscape.options.Solver` also sets the tolerance
        and the number of iterations. An object with the methods of :class:`~eigenscape.solvers.EigenSolver`
        is a user-defined solver, whose results are verified.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.
    eigenvalues_ : ndarray of shape (n_components,) or (n_connected_components, n_components)
        Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first. One row per
        component if components are embedded separately.

        The matrix is ``c I - M``, with ``c = 1`` if ``c`` is None.
    kernel_ : BoundKernel
        Data-dependent kernel: ``kernel_(Y)`` are its values between any points and the training samples.
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each sample, before components are connected; the largest is 0.
    n_connected_components_ : int
        Number of connected components, before components are connected.
    degrees_ : ndarray of shape (n_samples,)
        Number of edges of each sample, before components are connected. Equal samples share a vertex.
    n_neighbors_ : int
        Number of neighbours used. Set if the graph connects nearest neighbours.
    neighbor_recall_ : float
        Fraction of the true nearest neighbours found, measured on a sample; 1 for an exact search.
    inverse_error_ : float
        Error of ``inverse_transform``, which fits the rows by an affine function of the coordinates around
        each place of the map: root mean square distance between at most 1000 training rows and their
        leave-one-out reconstructions, relative to the spread of the rows. Computed on first access. Not
        available for precomputed matrices or if several components are embedded separately.
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
    >>> from sklearn.datasets import make_s_curve
    >>> from eigenscape import LocallyLinearEmbedding
    >>> X, t = make_s_curve(600, random_state=0)
    >>> model = LocallyLinearEmbedding(n_components=2, n_neighbors=12, method="modified").fit(X[:500])
    >>> model.transform(X[500:]).shape
    (100, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = None
    method: LLEMethod = "standard"
    reg: float = 1e-3
    c: float | None = None
    metric: Metric = "euclidean"
    graph: Graph | None = None
    on_disconnected: OnDisconnected = "connect"
    eigen_solver: GraphSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("locally-linear-embedding", aliases=("lle",), memory=Memory(fills_in=True))
    _meaning = (
        "The weights that reconstruct each point from its neighbours are preserved; large distances"
        " have no scale."
    )
    _eigenvalues_below_one = True
    _pairwise_parameter = "metric"
    _solvers = NAMES
    _unused_fields = ("symmetrize",)  # of the graph: points are reconstructed from their nearest neighbours
    _max_weight_ratio = 2.0**26  # M is quadratic in the reconstruction weights, and small eigenvalues matter
    _limits: ClassVar = {"c": Limits(1, open=True)}
    fit = fit_weighted

    def _embed(self, X: Any, weights: np.ndarray | None = None) -> FitResult:
        neighborhood, n_components = given_neighborhood(self), self.n_components
        self._check_parameters(neighborhood, *X.shape)
        if self.c is not None:
            refuse_weights(weights, f"c={self.c!r}", "Bengio's kernel with a finite c has no weighted form")
        solver, option, params = self._solver(), neighborhood.option, {}
        graph = neighborhood_graph(X, neighborhood, n_components, weights)
        self._check_neighbors(int(np.diff(graph.graph.neighborhoods.indptr).min()))
        split = split_graph(graph.graph, self.on_disconnected)
        split = replace(split, parts=tuple(connect_closed(part) for part in split.parts))
        if not self._is_precomputed():
            params = resolve_metric_params(option.metric, option.metric_params, graph.graph.vertices.X)
        grams = [local_gram(part, option.metric, params) for part in split.parts]
        method: dict[str, Any] = {"method": self.method, "reg": self.reg}
        maps = [
            locally_linear_embedding(
                part, n_components, solver, c=self.c, gram=gram, weights=measure, **method
            )
            for part, gram, measure in zip(split.parts, grams, split.weights_of(graph.weights), strict=True)
        ]
        return graph.result(maps, split, n_components)

    def reconstruction_error(self) -> float:
        """Return the sum of the eigenvalues of :math:`M` that the coordinates belong to.

        It is the squared error of the reconstruction of unit vectors from their neighbours, and the same
        number as scikit-learn's ``reconstruction_error_``.

        Returns
        -------
        float
        """
        self._check_fitted()
        return float(((1.0 if self.c is None else self.c) - self.eigenvalues_).sum())

    def _check_parameters(self, neighborhood: Neighborhood, n_samples: int, n_features: int) -> None:
        d = self.n_components
        if isinstance(neighborhood.option, SpanningTree) or (
            isinstance(neighborhood.option, KNNGraph) and neighborhood.option.symmetrize != "union"
        ):
            raise ValueError(
                f"graph={neighborhood.option!r} is not supported: points are reconstructed from their nearest"
                " neighbours; use KNNGraph(n_neighbors) or RadiusGraph(radius)"
            )
        if (k := neighborhood.count(n_samples)) is not None:
            self._check_neighbors(k)
        if self.method != "standard" and d > n_features and not self._is_precomputed():
            raise ValueError(
                f"method={self.method!r} needs n_components of at most n_features={n_features}, got"
                f" n_components={d}"
            )

    def _check_neighbors(self, fewest: int) -> None:
        """Raise ValueError if the method needs more neighbours than the sample with the fewest has."""
        d = self.n_components  # "standard" needs one neighbour, which a connected graph has
        least = {"standard": 0, "modified": d, "hessian": d * (d + 3) // 2, "ltsa": d + 1}[self.method]
        if fewest < least:
            raise ValueError(
                f"method={self.method!r} with n_components={d} needs at least {least} neighbours of each"
                f" sample, got {fewest}; raise n_neighbors, or enlarge radius"
            )
