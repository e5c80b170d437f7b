"""Affinities of samples, from the parameters that the Laplacian methods share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import check_gamma
from eigenscape.estimators._base import FitResult, spectral_attributes, spectral_result
from eigenscape.estimators._dictionary import bind, dictionary_attributes, fit_by_dictionary
from eigenscape.estimators._graph import (
    Neighborhood,
    SampleGraph,
    component_attributes,
    edge_weights,
    given_graph,
    neighborhood_graph,
)
from eigenscape.estimators._types import AffinityLike, KernelLike
from eigenscape.estimators._weights import mix_targets, vertex_codes, vertex_weights
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels import Gaussian, Laplace, VariableGaussian, kernel_by_name
from eigenscape.kernels.affinity import GraphAffinity, edge_weight, local_affinity
from eigenscape.kernels.base import BoundKernel, Kernel, gram_matrix
from eigenscape.methods.dictionary_fit import DictionaryOptions, DictionaryState
from eigenscape.normalize import DividedKernel
from eigenscape.options import EdgeWeights, Graph, KNNGraph, Option, RadiusGraph, SpanningTree
from eigenscape.pieces import Action, Affinity, Split, split_affinity, split_graph
from eigenscape.solvers import NAMES

#: Names of affinities that are sparse graphs.
GRAPHS = ("nearest_neighbors", "spanning_tree", "precomputed_nearest_neighbors")


@dataclass(frozen=True)
class AffinityOptions:
    """The affinity of an estimator: a graph with weights of its edges, or a kernel between all samples."""

    affinity: Graph | KernelLike
    gamma: float | None
    include_diagonal: bool
    weights: EdgeWeights  # of edges, by default
    n_jobs: int | None

    @classmethod
    def of(cls, estimator: Any, weights: EdgeWeights = "binary") -> AffinityOptions:
        """Return the options that the parameters of an estimator describe, checked."""
        affinity, metric = estimator.affinity, estimator.metric
        diagonal = getattr(estimator, "include_diagonal", True)
        if metric == "precomputed":
            raise ValueError(
                "metric='precomputed' is not supported; use affinity='precomputed_nearest_neighbors' (X"
                " contains distances) or 'precomputed' (similarities)"
            )
        if isinstance(affinity, str) and affinity in GRAPHS:
            metric = "precomputed" if affinity == "precomputed_nearest_neighbors" else metric
            kind = SpanningTree if affinity == "spanning_tree" else KNNGraph
            affinity = kind(estimator.n_neighbors, metric)
        elif isinstance(affinity, Option):
            affinity = given_graph(affinity, estimator.n_neighbors, metric, name="affinity")
            weights = edge_weights(affinity, weights)
        else:
            check_gamma(affinity, estimator.gamma)
        return cls(affinity, estimator.gamma, diagonal, weights, estimator.n_jobs)

    @property
    def is_graph(self) -> bool:
        """Whether the affinity is a sparse graph, not a kernel between all samples."""
        return isinstance(self.affinity, Option)

    def neighborhood(self) -> Neighborhood:
        """Return the neighbourhood graph."""
        assert isinstance(self.affinity, (KNNGraph, RadiusGraph, SpanningTree))
        return Neighborhood(self.affinity, self.n_jobs)

    def kernel(self) -> Kernel:
        """Return the kernel between all samples."""
        assert not isinstance(self.affinity, Option)
        if isinstance(self.affinity, str) and self.affinity in ("rbf", "gaussian"):
            return Gaussian(self.gamma, scale="local")
        if isinstance(self.affinity, str) and self.affinity in ("laplacian", "laplace"):
            return Laplace(self.gamma, scale="local")
        return kernel_by_name(self.affinity, "affinity", GRAPHS, gamma=self.gamma)


@dataclass(frozen=True, eq=False)
class GraphSamples:
    """Samples with a neighbourhood graph."""

    graph: SampleGraph
    options: AffinityOptions

    def split(self, on_disconnected: Action, max_components: int | None = None) -> Split[Affinity]:
        """Split the graph into the parts that are embedded; see :func:`eigenscape.pieces.split_graph`."""
        split = split_graph(self.graph.graph, on_disconnected, max_components)
        return split.with_parts(tuple(Affinity(self._affinity(part)) for part in split.parts))

    def _affinity(self, graph: NeighborGraph) -> BoundKernel:
        """Return the affinity of a part of the graph."""
        option = self.options.neighborhood().option
        weights = option.weights or self.options.weights
        if weights == "local":
            return local_affinity(graph, self.options.neighborhood().count(self.graph.graph.n_vertices))
        return GraphAffinity(graph, edge_weight(weights, graph.distances.data, option.width))

    def weights(self, weights: np.ndarray | None) -> np.ndarray | None:
        """Return the weights of the vertices, given the weights of the samples or None."""
        return vertex_weights(weights, self.graph.vertex)

    def result(
        self,
        embedding: Any,
        split: Split[Affinity],
        n_components: int,
        weights: np.ndarray | None = None,
    ) -> FitResult:
        """Return the fit result for an embedding of the vertices, which may have ``weights``."""
        result = self.graph.result(embedding, split.labels, n_components, weights)
        kernel = split.parts[0].kernel
        width = {}
        if isinstance(kernel, GraphAffinity) and kernel.weight.kind == "heat":
            width = {"width_": kernel.weight.scale}
        return result.with_attributes({**spectral_attributes(result.embedding), **width})


@dataclass(frozen=True, eq=False)
class KernelSamples:
    """Samples with a kernel between all of them."""

    kernel: BoundKernel
    options: AffinityOptions

    def split(self, on_disconnected: Action, max_components: int | None = None) -> Split[Affinity]:
        """Split a kernel that is zero between groups; see :func:`eigenscape.pieces.split_affinity`."""
        affinity = self.options.affinity
        named = isinstance(affinity, (str, VariableGaussian)) and affinity != "precomputed"
        return split_affinity(
            self.kernel, on_disconnected, max_components, floor=named, n_jobs=self.options.n_jobs
        )

    def weights(self, weights: np.ndarray | None) -> np.ndarray | None:
        """Return the weights of the samples."""
        return weights

    def result(
        self,
        embedding: Any,
        split: Split[Affinity],
        n_components: int,
        weights: np.ndarray | None = None,
    ) -> FitResult:
        """Return the fit result for an embedding of the samples."""
        return spectral_result(
            embedding, {**component_attributes(split.labels), **width_attributes(self.kernel)}
        )


class AffinityMixin:
    """Input and eigensolvers of estimators that divide the affinity given by ``affinity`` by its sums."""

    _objects = True
    _eigenvalues_below_one = True
    _solvers: tuple[str, ...] = NAMES
    _pairwise_parameter: str | None = "affinity"
    affinity: AffinityLike
    _pairwise: Any

    def _precomputed_kind(self) -> str:
        return "affinity" if self.affinity == "precomputed" else "distance"


@property  # type: ignore[misc]
def affinity_matrix(self: Any) -> Any:
    """Affinities (m, m) of the ``m`` distinct training samples, computed at each access.

    Sparse if the affinity is a graph. Not available with a dictionary or if components are embedded
    separately.
    """
    check_is_fitted(self, "n_iter_")
    kernel = self.kernel_
    if not isinstance(kernel, DividedKernel):
        raise AttributeError(
            "affinity_matrix_ is not available with a dictionary or if components are embedded"
            " separately; kernel_ has the divided affinities"
        )
    matrix = gram_matrix(kernel.base)
    return kernel.base(kernel.base.X) if matrix is None else matrix


def bind_affinity(X: Any, options: AffinityOptions, n_components: int) -> GraphSamples | KernelSamples:
    """Return the samples with the affinity that ``options`` describe."""
    if options.is_graph:
        return GraphSamples(neighborhood_graph(X, options.neighborhood(), n_components), options)
    _check_samples(X, n_components)
    return KernelSamples(options.kernel().bind(X), options)


def check_labels(labels: np.ndarray | None, options: AffinityOptions, target_weight: float) -> None:
    """Raise ValueError if samples have labels, and the affinity has no edges to mix theirs with."""
    if labels is not None and not options.is_graph:
        raise ValueError(
            f"target_weight={target_weight!r} needs a graph, but affinity={options.affinity!r} is a kernel"
            " between all samples; use affinity='nearest_neighbors', or set target_weight=0"
        )


def with_labels(
    split: Split[Affinity],
    samples: GraphSamples | KernelSamples,
    labels: np.ndarray | None,
    target_weight: float,
    seed: int,
) -> Split[Affinity]:
    """Return the parts of a graph with the classes of its samples, if given, mixed into their affinities."""
    if labels is None:
        return split
    assert isinstance(samples, GraphSamples)  # checked by check_labels
    return mix_targets(split, vertex_codes(labels, samples.graph.vertex), target_weight, seed)


def _check_samples(X: Any, n_components: int) -> None:
    if X.shape[0] < n_components + 1:
        raise ValueError(
            f"n_components={n_components} needs at least {n_components + 1} samples, got"
            f" n_samples={X.shape[0]}; lower n_components"
        )


def width_attributes(kernel: BoundKernel) -> dict[str, float]:
    """Return the fitted attribute ``gamma_`` of a bound kernel, if it has a width."""
    gamma = getattr(getattr(kernel, "kernel", None), "gamma", None)
    return {} if gamma is None else {"gamma_": gamma}


def fit_affinity_dictionary(
    X: Any,
    options: AffinityOptions,
    dictionary: DictionaryOptions,
    n_components: int,
    blocks: Any,
    points: Any = None,
) -> tuple[DictionaryState, dict[str, Any]]:
    """Fit a dictionary for the kernel that ``options`` describe; also return its fitted attributes.

    ``X`` is a sample of the rows of the dask collection with ``blocks``, if these are not None. ``points``
    are given by the user, or None."""
    if options.is_graph:
        raise ValueError(
            "a dictionary needs a kernel between all samples, such as affinity='rbf'; the graph"
            f" {options.affinity!r} is sparse and needs no dictionary"
        )
    if not options.include_diagonal:
        raise ValueError(
            "include_diagonal=False needs the similarity of each sample to itself, which a dictionary does"
            " not store; leave it True"
        )
    if blocks is None:
        _check_samples(X, n_components)
    kernel = bind(options.kernel(), X, blocks)
    state = fit_by_dictionary(kernel, X, dictionary, blocks, points)
    described = dictionary_attributes(state, dictionary, X if blocks is None else None)
    return state, {**described, **width_attributes(kernel)}
