"""The neighbourhood graph of validated data, from the parameters that graph methods share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.estimators._base import FitResult
from eigenscape.estimators._types import Metric
from eigenscape.graph.components import add_spanning_tree, spanning_tree
from eigenscape.graph.neighborhood import NeighborGraph, nearest_neighbor_graph, radius_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import RowIndex
from eigenscape.graph.sparse_distances import with_self, without_self
from eigenscape.options import EdgeWeights, Graph, KNNGraph, RadiusGraph, SpanningTree
from eigenscape.pieces import embed_columns, merge_columns


@dataclass(frozen=True)
class Neighborhood:
    """A graph of samples, with the number of threads and of neighbours by default."""

    option: Graph
    n_jobs: int | None
    most: int = 10

    @property
    def by_count(self) -> bool:
        """Whether samples are connected to a number of nearest neighbours."""
        return isinstance(self.option, KNNGraph) or (
            isinstance(self.option, SpanningTree) and self.option.n_neighbors is not None
        )

    def graph(
        self, points: Any, first: np.ndarray, vertex: np.ndarray, rows: RowIndex | None = None
    ) -> NeighborGraph:
        """Return the neighbourhood graph of distinct rows.

        Parameters
        ----------
        points : array of shape (m, n_features) or (m, m)
            The distinct rows.
        first : ndarray of shape (m,)
            Index of the first sample that is equal to each row.
        vertex : ndarray of shape (n_samples,)
            Row that each sample is equal to.
        rows : RowIndex, optional
            The index that recognises the rows, if it has been computed.
        """
        option, m, n_samples = self.option, points.shape[0], len(vertex)
        by_radius = isinstance(option, RadiusGraph)
        index = partial(
            neighbor_index,
            points,
            option.metric,
            option.metric_params,
            self.n_jobs,
            "exact" if by_radius and isinstance(option.search, str) else option.search,
            None if m == n_samples else (first, vertex),
        )
        if isinstance(option, RadiusGraph):
            return radius_graph(index(), option.radius)
        if not self.by_count:
            return spanning_tree(index())
        k = self.count(m)
        if k > m - 1:
            among = "" if m == n_samples else f" distinct ones among {n_samples}"
            raise ValueError(
                f"n_neighbors={k} needs at least {k + 1} samples, got n_samples={m}{among}; lower n_neighbors"
            )
        if isinstance(option, KNNGraph):
            return nearest_neighbor_graph(index(), k, option.symmetrize, rows, self.n_jobs)
        return add_spanning_tree(nearest_neighbor_graph(index(), k, "union", rows, self.n_jobs))

    def count(self, n_distinct: int) -> int:
        """Return the number of neighbours, given or by default for so many distinct rows."""
        given = None if isinstance(self.option, RadiusGraph) else self.option.n_neighbors
        return default_neighbors(n_distinct, self.most) if given is None else given


def given_graph(graph: Any, n_neighbors: int | None, metric: Metric, *, name: str = "graph") -> Graph:
    """Return the graph that the parameter ``name`` describes, or a graph of nearest neighbours if None."""
    if graph is None:
        return KNNGraph(n_neighbors, metric)
    for other, value, default in (("n_neighbors", n_neighbors, None), ("metric", metric, "euclidean")):
        if value != default:
            raise ValueError(
                f"{other}={value!r} is not used with {name}={graph!r}; leave it out, or set it in that object"
            )
    return graph


def edge_weights(graph: Graph, default: EdgeWeights) -> EdgeWeights:
    """Return the kind of edge weights; raise ValueError for a width that they do not have."""
    kind = graph.weights or default
    if graph.width is not None and kind != "heat":
        raise ValueError(f"width={graph.width!r} is for weights='heat', got {kind!r}; leave out width")
    return kind


def unweighted(graph: Graph) -> Graph:
    """Return a graph for a method without edge weights; raise ValueError if it has some."""
    if graph.weights is not None or graph.width is not None:
        raise ValueError(f"{graph!r} has weights, but the method uses the lengths of edges; leave them out")
    return graph


def default_neighbors(n_samples: int, most: int = 10) -> int:
    """Return the default number of neighbours: ``most``, or a quarter of few samples but at least 5."""
    return min(most, max(5, n_samples // 4), n_samples - 1)


@dataclass(frozen=True, eq=False)
class SampleGraph:
    """The neighbourhood graph of the distinct rows of the samples.

    Parameters
    ----------
    graph : NeighborGraph
    vertex : ndarray of shape (n_samples,)
        Vertex of each sample.
    attributes : mapping
        Fitted attributes that describe the graph.
    table : array or None
        The precomputed distances, if equal samples were merged; otherwise None.
    """

    graph: NeighborGraph
    vertex: np.ndarray
    attributes: Mapping[str, Any]
    table: Any = None

    def result(
        self, embedding: Any, labels: np.ndarray, n_components: int, weights: np.ndarray | None = None
    ) -> FitResult:
        """Return the fit result for an embedding of the vertices, ``labels`` being their components.

        ``weights`` of the vertices may be None."""
        attributes = {**component_attributes(labels[self.vertex]), **self.attributes}
        if self.table is None:
            return FitResult(embedding, attributes, self.vertex)
        first = self.graph.samples
        assert first is not None
        if weights is not None:
            weights = np.bincount(first, weights=weights, minlength=len(self.vertex))
        whole = embed_columns(embedding, first, self.vertex, self.table, n_components, weights)
        return FitResult(whole, attributes)


def component_attributes(labels: np.ndarray) -> dict[str, Any]:
    """Return the fitted attributes that describe the connected components."""
    return {"component_labels_": labels, "n_connected_components_": int(labels.max()) + 1}


def neighborhood_graph(X: Any, neighborhood: Neighborhood, n_components: int) -> SampleGraph:
    """Return the neighbourhood graph of the distinct rows of ``X``, at least ``n_components + 1``."""
    n_samples = X.shape[0]
    precomputed = neighborhood.option.metric == "precomputed"
    sparse_table = precomputed and sparse.issparse(X)
    rows = RowIndex(with_self(X) if sparse_table else X)
    first, vertex = rows.distinct()
    if sparse_table and neighborhood.by_count:
        _check_stored(X, neighborhood.count(len(first)))
    if len(first) < 2:
        raise ValueError(f"all {n_samples} rows are equal; there is nothing to embed")
    points = X if len(first) == n_samples else X[first]
    merged = precomputed and points.shape[1] != len(first)
    if merged:
        points = merge_columns(points, vertex, len(first)) if sparse_table else points[:, first]
    graph = replace(neighborhood.graph(points, first, vertex, rows), samples=first)
    if n_components > graph.n_vertices - 1:
        raise ValueError(
            f"n_components={n_components} needs at least {n_components + 1} distinct samples, got"
            f" n_samples={graph.n_vertices}; lower n_components"
        )
    attributes: dict[str, Any] = {"degrees_": np.diff(graph.distances.indptr)[vertex]}
    if neighborhood.by_count:
        attributes["n_neighbors_"] = neighborhood.count(graph.n_vertices)
        attributes["neighbor_recall_"] = graph.index.recall
    return SampleGraph(graph, vertex, attributes, X if merged else None)


def _check_stored(table: Any, n_neighbors: int) -> None:
    """Raise ValueError if a row of a precomputed sparse graph has fewer than ``n_neighbors`` neighbours."""
    counts = np.diff(without_self(table).indptr)
    fewest = int(np.argmin(counts))
    if counts[fewest] < n_neighbors:
        raise ValueError(
            f"the precomputed graph contains {counts[fewest]} neighbours in row {fewest}, but"
            f" n_neighbors={n_neighbors} are needed; lower n_neighbors or store more distances per row"
        )
