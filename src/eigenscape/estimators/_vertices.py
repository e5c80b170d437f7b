"""The vertices and weighted edges that kernel eigenmaps and locality preserving projections are learnt on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenscape.estimators._graph import (
    Neighborhood,
    component_attributes,
    default_neighbors,
    neighborhood_graph,
)
from eigenscape.estimators._validation import check_choice, check_number, check_positive, check_precomputed
from eigenscape.exceptions import DisconnectedGraphError
from eigenscape.graph.components import component_labels
from eigenscape.graph.row_index import canonical_csr, distinct_rows
from eigenscape.kernels.affinity import GraphAffinity, edge_weight
from eigenscape.kernels.base import as_float64
from eigenscape.pieces import split_graph

#: Neighbours of a point where nothing is said (Brand sec. 4), given enough points.
_NEIGHBORS = 12
ON_DISCONNECTED = ("connect", "whole", "raise")


class Vertices(NamedTuple):
    """Points (n, D), their edge weights ``W`` (n, n) and degrees, for each sample its vertex (None: its own),
    and attributes to be set."""

    points: Any
    W: sparse.csr_array
    degree: np.ndarray
    group: np.ndarray | None
    attributes: dict[str, Any]

    def samples(self, values: np.ndarray) -> np.ndarray:
        """Values of the vertices as values of the samples."""
        return values if self.group is None else values[self.group]


def vertices(estimator: Any, X: Any, graph: Any) -> Vertices:
    """The graph given, or that of the nearest neighbours of the distinct rows of ``X``, with
    ``regularization`` on its diagonal."""
    check_edges(estimator)
    if graph is None:
        affinity, group, attributes = neighbor_affinity(estimator, X)
        points, W = affinity.X, affinity.edges()
    else:
        points, W, group, attributes = _given(X, graph, estimator.on_disconnected)
    W = with_loops(W, estimator.regularization)
    degree = np.asarray(W.sum(axis=1)).ravel()
    return Vertices(as_float64(points), W, degree, group, {**attributes, "graph_": W})


def with_loops(W: sparse.csr_array, weight: float) -> sparse.csr_array:
    """Brand sec. 4: ``W -> W + c I``."""
    return sparse.csr_array(W + weight * sparse.eye_array(W.shape[0])) if weight else W


def check_edges(estimator: Any) -> None:
    """The parameters that say what an edge weighs."""
    check_choice("weights", estimator.weights, ("binary", "heat", "inverse"))
    check_positive("t", estimator.t, optional=True)
    check_choice("on_disconnected", estimator.on_disconnected, ON_DISCONNECTED)
    check_number("regularization", estimator.regularization)
    if estimator.regularization < 0:
        raise ValueError(f"regularization={estimator.regularization!r} must be a number of at least 0")


def neighbor_affinity(estimator: Any, X: Any) -> tuple[GraphAffinity, np.ndarray, dict[str, Any]]:
    """The weighted neighbourhood graph of the distinct rows of ``X``, for each row its vertex, and attributes
    to be set."""
    if estimator.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' leaves no rows to map; pass the rows as X and the edges as graph= to fit"
        )
    n_neighbors = estimator.n_neighbors
    if n_neighbors is None:
        n_distinct = len(distinct_rows(X)[0])
        n_neighbors = default_neighbors(n_distinct) if n_distinct < 4 * _NEIGHBORS else _NEIGHBORS
    neighborhood = Neighborhood(
        n_neighbors,
        estimator.radius,
        estimator.metric,
        estimator.metric_params,
        estimator.neighbors,
        estimator.n_jobs,
    )
    graph = neighborhood_graph(X, neighborhood, estimator.n_components)
    split = split_graph(graph.graph, estimator.on_disconnected, choices=ON_DISCONNECTED)
    part = split.parts[0]  # "connect" and "whole" have a single one
    weight = edge_weight(estimator.weights, part.distances.data, estimator.t)
    attributes = {**component_attributes(split.labels[graph.vertex]), **graph.attributes}
    if estimator.weights == "heat":
        attributes["t_"] = weight.scale
    return GraphAffinity(part, weight), graph.vertex, attributes


def _given(X: Any, graph: Any, on_disconnected: str) -> tuple[Any, sparse.csr_array, None, dict[str, Any]]:
    W = checked_graph(graph)
    if W.shape[0] != X.shape[0]:
        raise ValueError(
            f"graph has {W.shape[0]} vertices, but X has {X.shape[0]} rows; row i of X must describe vertex i"
        )
    label = component_labels(W)
    if label.max() > 0 and on_disconnected != "whole":
        raise DisconnectedGraphError(
            f"the graph given has {label.max() + 1} components and holds no distances by which to connect them; embed its largest"
            " component, or set on_disconnected='whole'"
        )
    return X, W, None, {"component_labels_": label, "n_connected_components_": int(label.max()) + 1}


def checked_graph(graph: Any) -> sparse.csr_array:
    """Edge weights as a symmetric sparse matrix of finite numbers, none negative, not all zero."""
    if not sparse.issparse(graph):
        graph = np.asarray(graph, dtype=np.float64)
    if graph.ndim != 2:
        raise ValueError(
            f"graph must be a matrix of edge weights (n_vertices, n_vertices), got shape {graph.shape}"
        )
    W = sparse.csr_array(canonical_csr(graph), dtype=np.float64)
    if not np.isfinite(W.data).all():
        raise ValueError("graph contains NaN or infinity; edge weights are finite numbers")
    check_precomputed("affinity", W, square=True)
    W.eliminate_zeros()
    if W.nnz == 0:
        raise ValueError("graph has no edges; there is nothing to embed")
    return W
