"""The DiffusionMap estimator."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from eigenscape.estimators._affinity import (
    AffinityMixin,
    AffinityOptions,
    bind_affinity,
    check_labels,
    with_labels,
)
from eigenscape.estimators._base import EmbeddingMixin, Estimator, FitResult, KernelMixin
from eigenscape.estimators._docs import documented
from eigenscape.estimators._eigenmaps import check_independence, eigenmaps_of_parts
from eigenscape.estimators._graph import default_neighbors
from eigenscape.estimators._method import Memory, Method
from eigenscape.estimators._parameters import NOT_NEGATIVE
from eigenscape.estimators._targets import TargetMixin
from eigenscape.estimators._types import GraphSolver, KernelLike, Metric, Neighbors, Seed
from eigenscape.estimators._weights import check_diagonal, refuse_weights
from eigenscape.graph.neighborhood import Joined
from eigenscape.kernels import Kernel, VariableGaussian
from eigenscape.kernels.affinity import AffinityWeights
from eigenscape.methods.diffusion import diffusion_map, normalize_density
from eigenscape.pieces import Affinity, OnDisconnected, join


@documented
class DiffusionMap(TargetMixin, AffinityMixin, EmbeddingMixin, KernelMixin, Estimator):
    r"""Diffusion maps: coordinates whose distances are those of a random walk on the data.

    The affinity is normalised by the sampling density :math:`q(x) = \sum_i k(x, x_i)` to
    :math:`k_\alpha(x, y) = k(x, y) / (q(x) q(y))^\alpha`, which defines a random walk with transition
    probabilities :math:`k_\alpha(x, y) / S(x)`, :math:`S` the row sums. With the eigenfunctions of the walk,

    .. math:: \frac{1}{S(x)} \sum_i k_\alpha(x, x_i)\, \psi_r(x_i) = \lambda_r \psi_r(x)

    the coordinates are :math:`\lambda_r^t\, \psi_r(x)`, and the constant :math:`\psi_0` is left out (Coifman
    and Lafon 2006). In the symmetric form :math:`k_\alpha / \sqrt{S(x) S(y)}` they are principal
    eigenfunctions, which place new points; with :math:`\alpha = 0` and :math:`t = 0` they are those of
    :class:`LaplacianEigenmaps` up to one factor for all.

    The default kernel is sparse: a Gaussian on the edges of the neighbourhood graph, with a width for each
    point. ``affinity="rbf"`` is a Gaussian between all samples, in time and memory proportional to
    ``n_samples ** 2``.

    Parameters
    ----------
    {n_components} {affinity}
    alpha : float, default=1.0
        Exponent of the normalisation by the density, at least 0. With 1 the density has no effect on the walk
        (Laplace-Beltrami), with 1/2 it acts as a potential (Fokker-Planck), with 0 it has its full effect.
    diffusion_time : float, default=1
        The time ``t``, at least 0: rapidly varying eigenfunctions decay with it. It must be an integer if an
        eigenvalue is negative.
    bandwidth : {"global", "local"}, default="global"
        For ``affinity="rbf"``. "local" is a Gaussian with a width for each point, ``exp(-gamma |x - y|^2 /
        (rho(x) rho(y)))`` with ``rho`` the distance to the ``n_neighbors``-th nearest training point. Its
        sums are nearly equal everywhere, so ``alpha`` has little effect, and steps of the walk are longer
        where points are sparse. The width of a graph is given by ``weights``.
    gamma : float or None, default=None
        Width of a full kernel. If None, for "rbf" one over the median squared distance to the tenth nearest
        neighbour, or 1 if ``bandwidth="local"``.
    {n_neighbors} {joined} {radius/affinity} {weights/affinity} {t}
        Not the diffusion time.
    {metric} {metric_params} {neighbors} {include_diagonal} {target_weight} {on_disconnected/affinity}
    {independent} {independence_threshold} {n_candidates} {eigen_solver/graph} {tol} {max_iter}
    {random_state} {n_jobs} {verbose}

    Attributes
    ----------
    {embedding_} {eigenvalues_/parts}
        They are :math:`\lambda_r`, those of one step.
    {kernel_}
        It is the symmetric form of the random walk.
    {component_labels_} {n_connected_components_} {degrees_} {n_neighbors_} {neighbor_recall_} {t_} {gamma_}
    {kept_} {independence_} {residuals_} {solver_} {n_iter_} {n_features_in_}

    Examples
    --------
    The map of a circle that is sampled ten times as densely on one side is a circle. Without normalisation by
    the density it is not:

    >>> import numpy as np
    >>> from eigenscape import DiffusionMap
    >>> u = 2 * np.pi * (np.arange(400) + 0.5) / 400
    >>> angle = u + 0.8 * np.sin(u)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> full = {"affinity": "rbf", "gamma": 100.0}
    >>> radius = np.linalg.norm(DiffusionMap(**full).fit_transform(circle), axis=1)
    >>> bool(radius.max() / radius.min() < 1.05)
    True
    >>> radius = np.linalg.norm(DiffusionMap(alpha=0, **full).fit_transform(circle), axis=1)
    >>> bool(radius.max() / radius.min() < 1.05)
    False
    """

    _method = Method(
        "diffusion-map",
        "Distances on the map approximate diffusion distances: points are close if a random walk"
        " connects them easily.",
        aliases=(
            "diffusion",
            "dmap",
        ),
        memory=Memory(square=4.5, blocked=True),
    )
    _limits: ClassVar = {"alpha": NOT_NEGATIVE}

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: KernelLike = "nearest_neighbors",
        alpha: float = 1.0,
        diffusion_time: float = 1,
        bandwidth: Literal["global", "local"] = "global",
        gamma: float | None = None,
        n_neighbors: int | None = None,
        joined: Joined = "union",
        radius: float | None = None,
        weights: AffinityWeights = "local",
        t: float | None = None,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        neighbors: Neighbors = "auto",
        include_diagonal: bool = True,
        target_weight: float = 0.0,
        on_disconnected: OnDisconnected = "connect",
        independent: bool = False,
        independence_threshold: float = 0.4,
        n_candidates: int | None = None,
        eigen_solver: GraphSolver = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.alpha = alpha
        self.diffusion_time = diffusion_time
        self.bandwidth = bandwidth
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.joined = joined
        self.radius = radius
        self.weights = weights
        self.t = t
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.include_diagonal = include_diagonal
        self.target_weight = target_weight
        self.on_disconnected = on_disconnected
        self.independent = independent
        self.independence_threshold = independence_threshold
        self.n_candidates = n_candidates
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(
        self,
        X: Any,
        blocks: Any = None,
        weights: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> FitResult:
        n_components = self.n_components
        criterion = check_independence(
            self.independent, self.independence_threshold, self.n_candidates, n_components
        )
        solver, local = self._solver(), self._local_gaussian(X)
        options, diagonal = AffinityOptions.from_params(self.get_params(deep=False)), self.include_diagonal
        if options.is_graph and self.gamma is not None:
            raise ValueError(
                f"gamma={self.gamma!r} is the width of a kernel between all samples, but"
                f" affinity={self.affinity!r} is a graph; set affinity='rbf' or leave out gamma"
            )
        if criterion is not None:
            refuse_weights(weights, "independent=True", "eigenvectors are compared by unweighted predictions")
        check_labels(labels, options, self.target_weight)
        check_diagonal(weights, diagonal, options.is_graph)
        samples = bind_affinity(X, options, n_components, local)
        plain = samples.split(self.on_disconnected)
        split = with_labels(plain, samples, labels, self.target_weight, solver.seed)
        weights = samples.weights(weights)
        measures = split.weights_of(weights)
        affinities = [
            normalize_density(part.kernel, part.weights, self.alpha, diagonal, self.n_jobs, measure)
            for part, measure in zip(split.parts, measures, strict=True)
        ]
        walks = split.with_parts(tuple(Affinity(*affinity) for affinity in affinities))
        nonzero = self.diffusion_time > 0
        maps, attributes = eigenmaps_of_parts(
            walks, measures, n_components, solver, criterion, diagonal=diagonal, nonzero=nonzero
        )
        maps = [diffusion_map(embedding, self.diffusion_time) for embedding in maps]
        result = samples.result(join(maps, split, n_components, weights), plain, n_components, weights)
        return result.with_attributes(attributes)

    def _local_gaussian(self, X: Any) -> Kernel | None:
        """Return the Gaussian with a width for each point if ``bandwidth="local"``."""
        if self.bandwidth == "global":
            return None
        if self.affinity not in ("rbf", "gaussian"):
            raise ValueError(
                f"bandwidth='local' is for affinity='rbf', got affinity={self.affinity!r}; set"
                " affinity='rbf', or bandwidth='global'"
            )
        k = default_neighbors(X.shape[0]) if self.n_neighbors is None else self.n_neighbors
        if k > X.shape[0] - 1:
            raise ValueError(
                f"n_neighbors={k} needs at least {k + 1} samples, got n_samples={X.shape[0]}; lower"
                " n_neighbors"
            )
        return VariableGaussian(k, 1.0 if self.gamma is None else self.gamma, self.n_jobs)
