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
from eigenscape.graph.neighborhood import Joined, NeighborGraph, nearest_neighbor_graph, radius_graph
from eigenscape.graph.neighbors import Neighbors, neighbor_index
from eigenscape.graph.row_index import RowIndex
from eigenscape.graph.sparse_distances import with_self, without_self
from eigenscape.pieces import embed_columns, merge_columns

JOINED = ("union", "mutual", "shared")


@dataclass(frozen=True)
class Neighborhood:
    """The graph parameters that estimators share."""

    n_neighbors: int | None
    radius: float | None
    metric: Metric
    metric_params: dict[str, Any] | None
    neighbors: Neighbors
    n_jobs: int | None
    joined: Joined = "union"
    kind: str = "nearest_neighbors"  # or "mst", or "mst_nearest_neighbors"
    most: int = 10  # neighbours by default

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
        by_name = isinstance(self.neighbors, str)
        if isinstance(self.neighbors, tuple) and (self.radius is not None or self.kind == "mst"):
            kind = "a minimum spanning tree" if self.kind == "mst" else "a radius"
            raise ValueError(
                f"neighbors=(indices, distances) lists nearest neighbours and cannot be used with {kind}; use"
                " 'exact' or a neighbour index"
            )
        m, n_samples = points.shape[0], len(vertex)
        search = "exact" if by_name and self.radius is not None else self.neighbors
        index = partial(
            neighbor_index,
            points,
            self.metric,
            self.metric_params,
            self.n_jobs,
            search,
            None if m == n_samples else (first, vertex),
        )
        if self.kind == "mst":
            return spanning_tree(index())
        if self.radius is None:
            k = self.count(m)
            if k > m - 1:
                among = "" if m == n_samples else f" distinct ones among {n_samples}"
                raise ValueError(
                    f"n_neighbors={k} needs at least {k + 1} samples, got n_samples={m}{among}; lower"
                    " n_neighbors"
                )
            graph = nearest_neighbor_graph(index(), k, self.joined, rows, self.n_jobs)
            return add_spanning_tree(graph) if self.kind == "mst_nearest_neighbors" else graph
        if self.joined != "union":
            raise ValueError(
                f"joined={self.joined!r} is for n_neighbors and has no effect with radius: neighbours within"
                " a radius are mutual; leave it 'union'"
            )
        if by_name and self.neighbors == "approximate":
            raise ValueError(
                "neighbors='approximate' finds the nearest neighbours, not all within a radius; use 'exact'"
                " or n_neighbors"
            )
        return radius_graph(index(), self.radius)

    def count(self, n_distinct: int) -> int:
        """Return the number of neighbours, given or by default for so many distinct rows."""
        return default_neighbors(n_distinct, self.most) if self.n_neighbors is None else self.n_neighbors


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

        ``weights`` are those of the vertices, or None."""
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
    precomputed = neighborhood.metric == "precomputed"
    sparse_table = precomputed and sparse.issparse(X)
    rows = RowIndex(with_self(X) if sparse_table else X)
    first, vertex = rows.distinct()
    if sparse_table and neighborhood.radius is None:
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
    if neighborhood.radius is None and neighborhood.kind != "mst":
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
