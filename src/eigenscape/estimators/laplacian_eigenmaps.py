"""The LaplacianEigenmaps estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape.estimators._affinity import (
    AffinityMatrixMixin,
    AffinityMixin,
    AffinityOptions,
    bind_affinity,
    check_labels,
    fit_affinity_dictionary,
    with_labels,
)
from eigenscape.estimators._anchors import anchor_attributes, check_anchors
from eigenscape.estimators._base import EmbeddingMixin, Estimator, FitResult, KernelMixin, spectral_result
from eigenscape.estimators._dictionary import (
    DictionaryMixin,
    check_dictionary,
    dictionary_options,
    warn_if_disconnected,
)
from eigenscape.estimators._docs import documented
from eigenscape.estimators._eigenmaps import check_independence, eigenmaps_of_parts
from eigenscape.estimators._inverse import InverseMixin
from eigenscape.estimators._method import Memory, Method
from eigenscape.estimators._targets import TargetMixin
from eigenscape.estimators._types import GraphSolver, KernelLike, Metric, Neighbors, Seed
from eigenscape.estimators._weights import (
    DICTIONARY_WEIGHTS,
    check_diagonal,
    refuse_weights,
)
from eigenscape.graph.neighborhood import Joined
from eigenscape.kernels.affinity import AffinityWeights, GraphAffinity, LocalAffinity
from eigenscape.methods.anchors import anchored_laplacian_eigenmaps
from eigenscape.methods.dictionary_embedding import greedy_laplacian_eigenmaps
from eigenscape.pieces import OnDisconnected, join


@documented
class LaplacianEigenmaps(
    TargetMixin,
    AffinityMatrixMixin,
    DictionaryMixin,
    InverseMixin,
    AffinityMixin,
    EmbeddingMixin,
    KernelMixin,
    Estimator,
):
    r"""Laplacian eigenmaps: the smoothest functions on a neighbourhood graph as coordinates.

    With affinities :math:`K`, degrees :math:`S` and the Laplacian :math:`S - K`, solve

    .. math:: (S - K)\, z_r = \sigma_r S z_r

    for the smallest nonzero :math:`\sigma_r` (Bengio eq. 13, Belkin eq. 1); coordinates are :math:`\sqrt m\,
    z_r` with :math:`z_r' S z_r = 1`. In the symmetric form they are principal eigenvectors of :math:`k(x, y)
    / \sqrt{S(x) S(y)}` with :math:`l_r = 1 - \sigma_r`; this kernel places new points.

    Parameters
    ----------
    {n_components} {affinity} {n_neighbors} {joined} {radius/affinity} {weights/affinity} {t} {gamma} {metric}
    {metric_params} {neighbors} {include_diagonal} {target_weight} {on_disconnected/affinity} {n_anchors}
        The matrices are :math:`A'(S - K)A` and :math:`A' S A`. ``affinity`` must be a graph of rows, and
        ``eigen_solver`` is not used.
    {dictionary_size/affinity} {dictionary_tol} {dictionary} {independent} {independence_threshold}
    {n_candidates} {eigen_solver/graph} {tol} {max_iter} {random_state} {n_jobs} {verbose}

    Attributes
    ----------
    {embedding_} {eigenvalues_/parts}
        They are :math:`l_r = 1 - \sigma_r`.
    {kernel_} {affinity_matrix_} {component_labels_} {n_connected_components_} {degrees_} {n_neighbors_}
    {neighbor_recall_} {anchors_} {t_} {gamma_} {kept_} {independence_} {inverse_error_/local} {residuals_}
    {solver_} {n_iter_} {dictionary_} {dictionary_indices_} {gram_error_bound_} {n_features_in_}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenscape import LaplacianEigenmaps
    >>> X = load_digits().data
    >>> model = LaplacianEigenmaps(n_components=2, n_neighbors=10).fit(X[:1000])
    >>> model.transform(X[1000:]).shape
    (797, 2)

    On a strip much longer than wide the second eigenvector is a harmonic of the first. ``independent=True``
    selects a later one, which varies across the strip:

    >>> import numpy as np
    >>> strip = np.random.default_rng(0).random((1000, 2)) * [3.5, 1]
    >>> across = LaplacianEigenmaps(independent=True).fit(strip)
    >>> bool(across.kept_[1] > 2), bool(abs(np.corrcoef(across.embedding_[:, 1], strip[:, 1])[0, 1]) > 0.8)
    (True, True)
    """

    _method = Method(
        "laplacian-eigenmaps",
        "Neighbours are kept close; large distances are not meaningful.",
        aliases=(
            "le",
            "laplacian",
        ),
        memory=Memory(square=4.5, blocked=True),
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: KernelLike = "nearest_neighbors",
        n_neighbors: int | None = None,
        joined: Joined = "union",
        radius: float | None = None,
        weights: AffinityWeights = "binary",
        t: float | None = None,
        gamma: float | None = None,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        neighbors: Neighbors = "auto",
        include_diagonal: bool = True,
        target_weight: float = 0.0,
        on_disconnected: OnDisconnected = "connect",
        n_anchors: int | None = None,
        dictionary_size: int | None = None,
        dictionary_tol: float | None = None,
        dictionary: Any = None,
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
        self.n_neighbors = n_neighbors
        self.joined = joined
        self.radius = radius
        self.weights = weights
        self.t = t
        self.gamma = gamma
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.include_diagonal = include_diagonal
        self.target_weight = target_weight
        self.on_disconnected = on_disconnected
        self.n_anchors = n_anchors
        self.dictionary_size = dictionary_size
        self.dictionary_tol = dictionary_tol
        self.dictionary = dictionary
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
        options, solver = AffinityOptions.from_params(self.get_params(deep=False)), self._solver()
        criterion = check_independence(
            self.independent, self.independence_threshold, self.n_candidates, n_components
        )
        if criterion is not None:
            refuse_weights(weights, "independent=True", "eigenvectors are compared by unweighted predictions")
        check_labels(labels, options, self.target_weight)
        check_diagonal(weights, self.include_diagonal, options.is_graph)
        if self.n_anchors is not None:
            return self._embed_anchors(X, options, weights)
        if check_dictionary(self.dictionary_size, self.dictionary_tol, self.dictionary):
            refuse_weights(weights, "a dictionary", DICTIONARY_WEIGHTS)
            if criterion is not None:
                raise ValueError(
                    "independent=True needs eigenvectors of all samples, which a dictionary does not have;"
                    " leave out one of them"
                )
            dictionary = dictionary_options(self, "divisive")
            state, attributes = fit_affinity_dictionary(
                X, options, dictionary, n_components, blocks, self.dictionary
            )
            model = greedy_laplacian_eigenmaps(state, dictionary, n_components, X if blocks is None else None)
            warn_if_disconnected(model, self.on_disconnected)
            return spectral_result(model, attributes)
        samples = bind_affinity(X, options, n_components)
        plain = samples.split(self.on_disconnected)
        split = with_labels(plain, samples, labels, self.target_weight, solver.seed)
        weights = samples.weights(weights)
        maps, attributes = eigenmaps_of_parts(
            split, split.weights_of(weights), n_components, solver, criterion, diagonal=self.include_diagonal
        )
        result = samples.result(join(maps, split, n_components, weights), plain, n_components, weights)
        return result.with_attributes(attributes)

    def _embed_anchors(self, X: Any, options: AffinityOptions, weights: np.ndarray | None) -> FitResult:
        """Fit the map that is linear in anchor weights to validated data."""
        if not options.is_graph or self._is_precomputed():
            raise ValueError(
                f"n_anchors needs a graph of rows, got affinity={self.affinity!r}; use"
                " affinity='nearest_neighbors', or dictionary_size for a kernel between all samples"
            )
        if self.independent or check_dictionary(self.dictionary_size, self.dictionary_tol, self.dictionary):
            raise ValueError("n_anchors cannot be combined with independent=True or a dictionary")
        n_anchors = check_anchors(
            self.n_anchors, self.n_components, X, self.metric, self.on_disconnected, weights
        )
        samples = bind_affinity(X, options, self.n_components)
        split = samples.split(self.on_disconnected)
        affinity = split.parts[0].kernel
        assert isinstance(affinity, (GraphAffinity, LocalAffinity))
        embedding = anchored_laplacian_eigenmaps(affinity, self.n_components, n_anchors, self._solver())
        result = samples.result(embedding, split, self.n_components)
        return result.with_attributes(anchor_attributes(embedding))
