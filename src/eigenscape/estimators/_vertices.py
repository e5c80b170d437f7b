"""Weighted graphs of samples for kernel eigenmaps and locality preserving projections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenscape._numbers import check_precomputed, checked_sparse
from eigenscape.estimators._graph import (
    Neighborhood,
    component_attributes,
    edge_weights,
    given_graph,
    neighborhood_graph,
)
from eigenscape.exceptions import DisconnectedGraphError
from eigenscape.graph.components import component_labels
from eigenscape.graph.row_index import canonical_csr
from eigenscape.kernels.affinity import GraphAffinity, edge_weight
from eigenscape.kernels.base import as_float64
from eigenscape.pieces import split_graph

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Default number of neighbours (Brand sec. 4), if there are enough samples.
_NEIGHBORS = 12
ON_DISCONNECTED = ("connect", "whole", "raise")


class Vertices(NamedTuple):
    """A graph whose vertices are points."""

    points: Any  # (n, D)
    W: sparse.csr_array  # edge weights (n, n)
    degree: np.ndarray  # row sums of W
    vertex: np.ndarray | None  # index of the vertex of each sample; None if each sample is a vertex
    attributes: dict[str, Any]  # fitted attributes of the estimator

    def samples(self, values: np.ndarray) -> np.ndarray:
        """Return values of the vertices as values of the samples."""
        return values if self.vertex is None else values[self.vertex]


def vertices(estimator: BaseEstimator, X: Any, graph: Any) -> Vertices:
    """Return the given graph, or the neighbourhood graph of the distinct rows of ``X``.

    ``regularization`` is added to its diagonal.
    """
    vertex: np.ndarray | None
    if graph is None:
        affinity, vertex, attributes = neighbor_affinity(estimator, X)
        points, W = affinity.X, affinity.edges()
    else:
        points, W, vertex, attributes = _given_graph(X, graph, estimator.on_disconnected)
    W = with_loops(W, estimator.regularization)
    degree = np.asarray(W.sum(axis=1)).ravel()
    return Vertices(as_float64(points), W, degree, vertex, {**attributes, "graph_": W})


def with_loops(W: sparse.csr_array, weight: float) -> sparse.csr_array:
    """Return ``W + weight I`` (Brand sec. 4)."""
    return sparse.csr_array(W + weight * sparse.eye_array(W.shape[0])) if weight else W


def neighbor_affinity(estimator: BaseEstimator, X: Any) -> tuple[GraphAffinity, np.ndarray, dict[str, Any]]:
    """Return the neighbourhood graph of distinct rows, the vertex of each row, and fitted attributes."""
    option = given_graph(estimator.affinity, estimator.n_neighbors, estimator.metric, name="affinity")
    if option.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' is not supported; pass the rows as X and the edges as graph= to fit"
        )
    kind = edge_weights(option, estimator._edge_weights)
    if kind == "local":
        raise ValueError("weights='local' are not supported here; use 'binary', 'heat' or 'inverse'")
    neighborhood = Neighborhood(option, estimator.n_jobs, _NEIGHBORS)
    graph = neighborhood_graph(X, neighborhood, estimator.n_components)
    split = split_graph(graph.graph, estimator.on_disconnected, choices=ON_DISCONNECTED)
    part = split.parts[0]  # "connect" and "whole" have a single one
    weight = edge_weight(kind, part.distances.data, option.width)
    attributes = {**component_attributes(split.labels[graph.vertex]), **graph.attributes}
    if kind == "heat":
        attributes["width_"] = weight.scale
    return GraphAffinity(part, weight), graph.vertex, attributes


def _given_graph(
    X: Any, graph: Any, on_disconnected: str
) -> tuple[Any, sparse.csr_array, None, dict[str, Any]]:
    """Return the rows, the validated graph, None and attributes."""
    W = check_graph(graph)
    if W.shape[0] != X.shape[0]:
        raise ValueError(
            f"graph has {W.shape[0]} vertices, but X has {X.shape[0]} rows; row i of X must describe vertex i"
        )
    label = component_labels(W)
    if label.max() > 0 and on_disconnected != "whole":
        raise DisconnectedGraphError(
            f"the graph given has {label.max() + 1} components and no distances by which to connect them;"
            " embed its largest component, or set on_disconnected='whole'"
        )
    return X, W, None, {"component_labels_": label, "n_connected_components_": int(label.max()) + 1}


def check_graph(graph: Any) -> sparse.csr_array:
    """Return validated edge weights: symmetric, finite and non-negative, not all zero."""
    if not sparse.issparse(graph):
        graph = np.asarray(graph, dtype=np.float64)
    if graph.ndim != 2:
        raise ValueError(
            f"graph must be a matrix of edge weights (n_vertices, n_vertices), got shape {graph.shape}"
        )
    W = canonical_csr(checked_sparse(graph, "graph")).astype(np.float64)
    if not np.isfinite(W.data).all():
        raise ValueError("graph contains NaN or infinity; edge weights are finite numbers")
    check_precomputed("affinity", W, square=True)
    W.eliminate_zeros()
    if W.nnz == 0:
        raise ValueError("graph has no edges; there is nothing to embed")
    return W
