"""The SpectralClustering estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenscape import distributed
from eigenscape._progress import stage
from eigenscape.dictionary.low_rank import LowRankKernel, LowRankOperator
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._affinity import (
    AffinityMatrixMixin,
    AffinityOptions,
    bind_affinity,
    fit_affinity_dictionary,
)
from eigenscape.estimators._base import EmbeddingMixin, Estimator, FitResult, KernelMixin, spectral_result
from eigenscape.estimators._collections import rowwise
from eigenscape.estimators._dictionary import (
    DictionaryMixin,
    check_dictionary,
    dictionary_options,
    warn_if_disconnected,
)
from eigenscape.estimators._docs import documented
from eigenscape.estimators._running import running
from eigenscape.estimators._samples import uses_dictionary
from eigenscape.estimators._types import GraphSolver, KernelLike, Metric, Neighbors, Seed
from eigenscape.estimators._validation import check_choice, check_count, check_input
from eigenscape.exceptions import NotEnoughMemoryError
from eigenscape.graph.neighborhood import Joined
from eigenscape.kernels.affinity import AffinityWeights
from eigenscape.kernels.base import n_points
from eigenscape.methods.clustering import (
    best_threshold,
    cluster_centers,
    cluster_sums,
    discretizing_rotation,
    low_rank_cut,
    normalized_cut,
    pivoted_rotation,
)
from eigenscape.methods.dictionary_embedding import greedy_spectral_map
from eigenscape.methods.laplacian import laplacian_eigenmaps, require_eigenfunctions, spectral_map
from eigenscape.operators import Operator, gram
from eigenscape.pieces import ON_DISCONNECTED, OnDisconnected, join
from eigenscape.solvers import NAMES

AssignLabels = Literal["kmeans", "discretize", "cluster_qr", "threshold"]
#: Number of evenly spaced rows of a collection that k-means is fitted to.
_KMEANS_ROWS = 50_000


@dataclass(frozen=True)
class Threshold:
    """Assigns labels 0 and 1 by a threshold on the first coordinate."""

    value: float

    def predict(self, coordinates: np.ndarray) -> np.ndarray:
        return (coordinates[:, 0] > self.value).astype(np.int64)


@dataclass(frozen=True, eq=False)
class NearestCenter:
    """Assigns the label of the nearest centre."""

    centers: np.ndarray  # (n_clusters, n_components)

    @property
    def n_clusters(self) -> int:
        return len(self.centers)

    def predict(self, coordinates: np.ndarray) -> np.ndarray:
        return cdist(coordinates, self.centers, "sqeuclidean").argmin(axis=1)


@dataclass(frozen=True, eq=False)
class Rotation:
    """Assigns points to the largest entry of their rotated coordinates."""

    matrix: np.ndarray  # (n_clusters, n_clusters)
    magnitude: bool  # whether entries are compared by their magnitude

    @property
    def n_clusters(self) -> int:
        return len(self.matrix)

    def predict(self, coordinates: np.ndarray) -> np.ndarray:
        rotated = coordinates @ self.matrix
        return np.argmax(np.abs(rotated) if self.magnitude else rotated, axis=1)


@documented
class SpectralClustering(
    ClusterMixin, AffinityMatrixMixin, DictionaryMixin, EmbeddingMixin, KernelMixin, Estimator
):
    r"""Spectral clustering: clusters from the eigenfunctions of the normalised affinity.

    The affinity is divided by the square roots of its row sums (Bengio eq. 11). ``assign_labels="kmeans"``
    scales the rows of the first eigenfunctions to length one and runs k-means (Ng, Jordan and Weiss).
    "discretize" rotates these rows to be as near as possible to indicators of clusters (Yu and Shi 2003),
    "cluster_qr" by the pivots of a QR decomposition (Damle et al. 2019), which has no start to
    choose; a point belongs to the largest of its rotated coordinates. "threshold" splits the samples in two
    at the value of the second generalised eigenvector with the smallest normalised cut (Shi and Malik). New
    points are mapped by the Nystrom formula and assigned by the same centres, rotation or threshold.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. Must be 2 for "threshold".
    assign_labels : {"kmeans", "discretize", "cluster_qr", "threshold"}, default="kmeans"
        Method that derives the clusters from the coordinates, as above.
    n_components : int or None, default=None
        Number of eigenfunctions for "kmeans". If None, ``n_clusters``, which the other methods need.
    n_init : int, default=10
        Number of starts of k-means. Ignored by the other methods.
    {affinity}
    {n_neighbors}
    {joined}
    {radius/affinity}
    {weights/affinity}
    {t}
    {gamma}
    {metric}
    {metric_params}
    {neighbors}
    {include_diagonal}
    on_disconnected : {"connect", "per_component", "largest", "raise"}, default="connect"
        Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
        them; "per_component" leaves them separate, so that no cluster contains samples of two components (at
        most ``n_clusters`` components are allowed); "largest" clusters the largest and assigns all other
        samples as new points. These issue a :class:`~eigenscape.exceptions.DisconnectedGraphWarning`; "raise"
        raises an error.
    {dictionary_size/affinity}
    {dictionary_tol}
    {dictionary}
    {eigen_solver/graph}
    {tol/graph}
    {max_iter}
    {random_state}
        Also that of k-means.
    {n_jobs}
    {verbose}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample.
    ncut_ : float
        Normalised cut, summed over clusters: 0 for clusters without connections, ``n_clusters - 1`` or more
        for a random assignment.
    embedding_ : ndarray of shape (n_samples, n_components), or (n_samples, 1) for "threshold"
        Coordinates of the training samples.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Centres of k-means. Set if ``assign_labels="kmeans"``.
    rotation_ : ndarray of shape (n_clusters, n_clusters)
        Rotation of the coordinates. Set if ``assign_labels`` is "discretize" or "cluster_qr".
    threshold_ : float
        Value at which the coordinate is cut. Set if ``assign_labels="threshold"``.
    {eigenvalues_}
    {kernel_}
    {affinity_matrix_}
    {component_labels_}
    {n_connected_components_}
    {degrees_}
    {n_neighbors_}
    {neighbor_recall_}
    {t_}
    {gamma_}
    {residuals_}
    {solver_}
    {n_iter_}
    {dictionary_}
    {dictionary_indices_}
    {gram_error_bound_}
    {n_features_in_}

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigenscape import SpectralClustering
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> model = SpectralClustering(n_clusters=2, on_disconnected="per_component").fit(X[:250])
    >>> model.predict(X[250:]).shape
    (50,)
    """

    _objects = True
    _solvers = NAMES
    _eigenvalues_below_one = True
    _pairwise_parameter = "affinity"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        assign_labels: AssignLabels = "kmeans",
        n_components: int | None = None,
        n_init: int = 10,
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
        on_disconnected: OnDisconnected = "connect",
        dictionary_size: int | None = None,
        dictionary_tol: float | None = None,
        dictionary: Any = None,
        eigen_solver: GraphSolver = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.assign_labels = assign_labels
        self.n_components = n_components
        self.n_init = n_init
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
        self.on_disconnected = on_disconnected
        self.dictionary_size = dictionary_size
        self.dictionary_tol = dictionary_tol
        self.dictionary = dictionary
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any, blocks: Any = None) -> FitResult:
        n_components = self._check_parameters(n_points(X))
        by_threshold = self.assign_labels == "threshold"
        options, solver = AffinityOptions.from_params(self.get_params(deep=False)), self._solver()
        if check_dictionary(self.dictionary_size, self.dictionary_tol, self.dictionary):
            return self._embed_dictionary(X, options, n_components, blocks)
        samples = bind_affinity(X, options, n_components)
        separate = self.on_disconnected == "per_component"
        split = samples.split(
            "whole" if separate else self.on_disconnected, self.n_clusters if separate else None
        )
        affinity = split.parts[0]  # the largest component, or all samples
        weights = gram(affinity.kernel, n_jobs=self.n_jobs) if affinity.weights is None else affinity.weights
        if by_threshold and weights.storage == "blocked":
            raise NotEnoughMemoryError(
                "assign_labels='threshold' needs the affinity matrix in memory; use assign_labels='kmeans'"
            )
        embed = laplacian_eigenmaps if by_threshold else spectral_map
        model = embed(affinity.kernel, n_components, solver, diagonal=self.include_diagonal, weights=weights)
        if split.is_whole:
            require_eigenfunctions(model, n_components)
        result = samples.result(join([model], split, n_components), split, n_components)
        return self._assign(result, model, weights)

    def _check_parameters(self, n_samples: int) -> int:
        """Return the number of coordinates, or raise ValueError."""
        n_clusters = check_count("n_clusters", self.n_clusters)
        check_choice("assign_labels", self.assign_labels, get_args(AssignLabels))
        check_choice("on_disconnected", self.on_disconnected, ON_DISCONNECTED)
        check_count("n_init", self.n_init)
        by_threshold = self.assign_labels == "threshold"
        if by_threshold and n_clusters != 2:
            raise ValueError(
                f"assign_labels='threshold' gives two clusters, got n_clusters={n_clusters}; use"
                " assign_labels='kmeans'"
            )
        if by_threshold and uses_dictionary(self):
            raise ValueError(
                "assign_labels='threshold' compares all cuts, which needs all similarities; use 'kmeans'"
                " with a dictionary"
            )
        wanted = n_clusters
        if self.n_components is not None:
            wanted = check_count("n_components", self.n_components)
            if self.assign_labels != "kmeans" and wanted != n_clusters:
                raise ValueError(
                    f"assign_labels={self.assign_labels!r} needs as many coordinates as clusters, got"
                    f" n_components={wanted} and n_clusters={n_clusters}; leave n_components out, or use"
                    " assign_labels='kmeans'"
                )
            if wanted == 1 < n_clusters:
                raise ValueError(
                    f"n_components=1: rows of one coordinate are equal after scaling to length one, got"
                    f" n_clusters={n_clusters}; use n_components of at least 2"
                )
        for name, value in (("n_clusters", n_clusters), ("n_components", wanted)):
            if value > n_samples:
                raise ValueError(
                    f"{name}={value} needs at least {value} samples, got n_samples={n_samples}; lower {name}"
                )
        return 1 if by_threshold else wanted

    def _embed_dictionary(
        self, X: Any, options: AffinityOptions, n_components: int, blocks: Any
    ) -> FitResult:
        dictionary = dictionary_options(self, "divisive")
        state, attributes = fit_affinity_dictionary(
            X, options, dictionary, n_components, blocks, self.dictionary
        )
        model = greedy_spectral_map(state, dictionary, n_components, X if blocks is None else None)
        warn_if_disconnected(model, self.on_disconnected)
        result = spectral_result(model, attributes)
        if blocks is not None:
            return self._assign_blocks(result, blocks)
        assert isinstance(model.kernel, LowRankKernel)
        return self._assign(result, model, LowRankOperator(model.kernel))

    def _assign(self, result: FitResult, model: Embedding, weights: Operator | LowRankOperator) -> FitResult:
        """Assign samples to clusters; ``model`` and ``weights`` are those of the part that is embedded."""
        coordinates = result.coordinates()
        rule: Threshold | Rotation | NearestCenter
        if self.assign_labels == "threshold":
            matrix = None if isinstance(weights, LowRankOperator) else weights.matrix()
            assert matrix is not None
            rule = Threshold(best_threshold(matrix, model.coordinates[:, 0]))
        else:
            with stage("clustering"):
                rule = self._rule(coordinates, model.eigenfunctions.on_training)
        attributes = {
            **_rule_attributes(rule),
            "labels_": rule.predict(coordinates).astype(np.int64),
            "ncut_": normalized_cut(weights, rule.predict(model.coordinates)),
        }
        return result.with_attributes(attributes)

    def _assign_blocks(self, result: FitResult, blocks: Any) -> FitResult:
        """Cluster evenly spaced rows of a collection; compute the cut by sums over all rows."""
        model, rows = result.embedding, distributed.evenly_spaced(blocks, _KMEANS_ROWS)
        rule = self._rule(model.transform(rows), model.functions(rows))
        sums = distributed.reduce_blocks(cluster_sums, blocks, np.add, model, rule)
        cut = low_rank_cut(model.kernel.span.from_values(sums))
        return result.with_attributes({**_rule_attributes(rule), "ncut_": cut})

    def _rule(self, coordinates: np.ndarray, functions: np.ndarray) -> Rotation | NearestCenter:
        """Return the rule that assigns coordinates; ``functions`` are the eigenfunctions, not scaled."""
        if self.assign_labels == "cluster_qr":
            return Rotation(pivoted_rotation(functions), magnitude=True)
        if self.assign_labels == "discretize":
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            return Rotation(discretizing_rotation(coordinates, seed), magnitude=False)
        return self._kmeans(coordinates)

    def _kmeans(self, coordinates: np.ndarray) -> NearestCenter:
        """Return the best of ``n_init`` runs of k-means, finished by scikit-learn's estimator."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        centers = cluster_centers(coordinates, self.n_clusters, self.n_init, seed, self.n_jobs)
        kmeans = KMeans(self.n_clusters, init=centers, n_init=1).fit(coordinates)
        return NearestCenter(kmeans.cluster_centers_)

    @rowwise(None, dtype=np.int64)
    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each point.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)
            Points, as for ``transform``.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        check_is_fitted(self)
        with running(self):
            X = check_input(self, X, reset=False)
            return self._rule_.predict(self._model_.transform(X)).astype(np.int64)

    def _precomputed_kind(self) -> str:
        return "affinity" if self.affinity == "precomputed" else "distance"


def _rule_attributes(rule: Threshold | Rotation | NearestCenter) -> dict[str, Any]:
    """Return the fitted attributes that describe how points are assigned."""
    if isinstance(rule, Threshold):
        return {"_rule_": rule, "threshold_": rule.value}
    if isinstance(rule, Rotation):
        return {"_rule_": rule, "rotation_": rule.matrix}
    return {"_rule_": rule, "cluster_centers_": rule.centers}
