"""The LocallyLinearEmbedding estimator."""

from __future__ import annotations

from typing import Any

from eigenscape.estimators._base import EmbeddingMixin, Estimator, FitResult, KernelMixin, spectral_attributes
from eigenscape.estimators._docs import documented
from eigenscape.estimators._graph import Neighborhood, neighborhood_graph
from eigenscape.estimators._inverse import InverseMixin
from eigenscape.estimators._types import GraphSolver, Metric, Neighbors, Seed
from eigenscape.estimators._validation import as_number, check_choice, check_count, check_positive
from eigenscape.methods.alignment import LLEMethod
from eigenscape.methods.lle import locally_linear_embedding
from eigenscape.pieces import ON_DISCONNECTED, OnDisconnected, join, split_graph
from eigenscape.solvers import NAMES


@documented
class LocallyLinearEmbedding(InverseMixin, EmbeddingMixin, KernelMixin, Estimator):
    r"""Locally linear embedding: each point is reconstructed from its neighbours by the same weights.

    Weights :math:`W` reconstruct each point from its neighbours. The embedding minimises
    :math:`\sum_i |y_i - \sum_j W_{ij} y_j|^2`: it consists of the eigenvectors of :math:`M = (I - W)'(I - W)`
    with the smallest eigenvalues after the constant one, scaled by :math:`\sqrt m` (Bengio sec. 2.6). The
    variants use another matrix :math:`M`: several weight vectors per point ("modified"), the curvature
    ("hessian") or the deviation from the tangent plane ("ltsa") of the map. A new point is placed by its own
    weights, :math:`P(x) = \sum_i w(x, x_i) P(x_i)`; a point equal to a training point has weight one on it.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
        Each sample is reconstructed from these.
    method : {"standard", "modified", "hessian", "ltsa"}, default="standard"
        Matrix :math:`M`, as above.
    reg : float, default=1e-3
        Regularisation of the local Gram matrices: ``reg / k`` of their trace is added to the diagonal.
    c : float or None, default=None
        If None, new points are placed by the limit of large ``c``, as above. A number above 1 selects
        Bengio's kernel ``k_m = (c - 1) k' + k''``, which draws new points towards the origin.
    {metric}
        The weights are computed from the rows, so "precomputed" distances are not supported.
    {metric_params}
    {neighbors}
    {on_disconnected}
    {eigen_solver/graph}
    {tol/graph}
    {max_iter}
    {random_state}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    {embedding_}
    {eigenvalues_/parts}
        The matrix is ``c I - M``, with ``c = 1`` if ``c`` is None.
    {kernel_}
    {component_labels_}
    {n_connected_components_}
    {degrees_}
    {n_neighbors_}
    {neighbor_recall_}
    {inverse_error_/local}
    {residuals_}
    {solver_}
    {n_iter_}
    {n_features_in_}

    Examples
    --------
    >>> from sklearn.datasets import make_s_curve
    >>> from eigenscape import LocallyLinearEmbedding
    >>> X, t = make_s_curve(600, random_state=0)
    >>> model = LocallyLinearEmbedding(n_components=2, n_neighbors=12, method="modified").fit(X[:500])
    >>> model.transform(X[500:]).shape
    (100, 2)
    """

    _sparse = None
    _solvers = NAMES
    _no_sparse = (
        "differences of sparse rows are dense; reduce the rows first (PCA, TruncatedSVD) or pass a dense"
        " array"
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | None = None,
        method: LLEMethod = "standard",
        reg: float = 1e-3,
        c: float | None = None,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        neighbors: Neighbors = "auto",
        on_disconnected: OnDisconnected = "connect",
        eigen_solver: GraphSolver = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.method = method
        self.reg = reg
        self.c = c
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.on_disconnected = on_disconnected
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any, blocks: Any = None) -> FitResult:
        self._check_parameters(*X.shape)
        solver = self._solver()
        graph = neighborhood_graph(X, self._neighborhood(), self.n_components)
        split = split_graph(graph.graph, self.on_disconnected)
        options: dict[str, Any] = {"method": self.method, "reg": self.reg, "c": self.c}
        maps = [locally_linear_embedding(part, self.n_components, solver, **options) for part in split.parts]
        result = graph.result(join(maps, split, self.n_components), split.labels, self.n_components)
        return result.with_attributes(spectral_attributes(result.embedding))

    def _neighborhood(self) -> Neighborhood:
        return Neighborhood(
            self.n_neighbors, None, self.metric, self.metric_params, self.neighbors, self.n_jobs
        )

    def _check_parameters(self, n_samples: int, n_features: int) -> None:
        d = check_count("n_components", self.n_components)
        k = check_count("n_neighbors", self._neighborhood().count(n_samples))
        check_choice("method", self.method, ("standard", "modified", "hessian", "ltsa"))
        check_choice("on_disconnected", self.on_disconnected, ON_DISCONNECTED)
        check_positive("reg", self.reg)
        if self.metric == "precomputed":
            raise ValueError(
                "metric='precomputed' is not enough for LocallyLinearEmbedding, which needs the rows"
                " themselves; use Isomap"
            )
        if self.c is not None and (as_number(self.c) or 0) <= 1:
            raise ValueError(
                f"c={self.c!r} must be above 1 (at 1 a new point has weight 0 on every training point), or"
                " None for the limit"
            )
        minimum = {"standard": 1, "modified": d, "hessian": d * (d + 3) // 2, "ltsa": d + 1}[self.method]
        if k < minimum:
            raise ValueError(
                f"method={self.method!r} with n_components={d} needs n_neighbors of at least {minimum}, got"
                f" n_neighbors={k}"
            )
        if self.method != "standard" and d > n_features:
            raise ValueError(
                f"method={self.method!r} needs n_components of at most n_features={n_features}, got"
                f" n_components={d}"
            )
