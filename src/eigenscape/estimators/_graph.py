"""From validated data and the shared graph parameters to a neighbourhood graph and its embedding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import FitResult
from eigenscape.estimators._validation import check_choice, check_count, check_metric_params, check_positive
from eigenscape.graph.components import add_spanning_tree, spanning_tree
from eigenscape.graph.neighborhood import NeighborGraph, nearest_neighbor_graph, radius_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import distinct_rows
from eigenscape.graph.sparse_distances import with_self, without_self
from eigenscape.methods.components import embed_graph
from eigenscape.pieces import merge_columns, on_columns

JOINED = ("union", "mutual", "shared")
ON_DISCONNECTED = ("connect", "per_component", "largest", "raise")


@dataclass(frozen=True)
class Neighborhood:
    """The graph parameters that estimators share."""

    n_neighbors: int | None
    radius: float | None
    metric: Any
    metric_params: dict | None
    neighbors: str
    n_jobs: int | None
    joined: str = "union"
    kind: str = "nearest_neighbors"  # or "mst", or "mst_nearest_neighbors"

    def graph(self, points: Any, n_samples: int) -> NeighborGraph:
        """The neighbourhood graph of distinct ``points`` out of ``n_samples``."""
        check_choice("neighbors", self.neighbors, ("auto", "exact", "approximate"))
        check_metric_params(self.metric_params)
        check_choice("joined", self.joined, JOINED)
        m = points.shape[0]
        if self.kind == "mst":
            return spanning_tree(
                neighbor_index(points, self.metric, self.metric_params, self.n_jobs, self.neighbors)
            )
        if self.radius is None:
            k = check_count("n_neighbors", self.count(n_samples))
            if k > m - 1:
                distinct = "" if m == n_samples else f" distinct ones among {n_samples}"
                raise ValueError(
                    f"n_neighbors={k} needs at least {k + 1} samples, got n_samples={m}{distinct}; lower n_neighbors"
                )
            index = neighbor_index(points, self.metric, self.metric_params, self.n_jobs, self.neighbors)
            graph = nearest_neighbor_graph(index, k, self.joined)
            return add_spanning_tree(graph) if self.kind == "mst_nearest_neighbors" else graph
        if self.joined != "union":
            raise ValueError(
                f"joined={self.joined!r} is about n_neighbors; within a radius neighbours are mutual anyway"
            )
        check_positive("radius", self.radius)
        if self.neighbors == "approximate":
            raise ValueError(
                "neighbors='approximate' finds the nearest, not all within a radius; use 'exact' or n_neighbors"
            )
        return radius_graph(
            neighbor_index(points, self.metric, self.metric_params, self.n_jobs, "exact"), self.radius
        )

    def count(self, n_samples: int) -> int:
        """How many neighbours: as asked, or 10, or a quarter of the samples where that is fewer, but at least
        5."""
        return default_neighbors(n_samples) if self.n_neighbors is None else self.n_neighbors


def default_neighbors(n_samples: int) -> int:
    """How many neighbours where none were asked for."""
    return min(10, max(5, n_samples // 4), n_samples - 1)


def embed_on_graph(
    X: Any,
    embed: Callable[[NeighborGraph, bool], Embedding],
    n_components: int,
    neighborhood: Neighborhood,
    on_disconnected: str,
    most_pieces: int | None = None,
    choices: tuple[str, ...] = ON_DISCONNECTED,
) -> FitResult:
    """Embed the neighbourhood graph of the distinct rows of ``X``.

    ``embed`` takes a graph and whether it may return fewer coordinates. ``choices`` are the values that
    ``on_disconnected`` may have."""
    precomputed = neighborhood.metric == "precomputed"
    given_graph = precomputed and sparse.issparse(X)
    first, group = distinct_rows(with_self(X) if given_graph else X)
    if given_graph and neighborhood.radius is None:
        _check_stored(X, neighborhood.count(X.shape[0]))
    if len(first) < 2:
        raise ValueError(f"all {X.shape[0]} rows are equal; there is nothing to embed")
    points = X if len(first) == X.shape[0] else X[first]
    by_table = precomputed and points.shape[1] != len(first)
    if by_table:
        points = merge_columns(points, group, len(first)) if given_graph else points[:, first]
    graph = replace(neighborhood.graph(points, X.shape[0]), samples=first)
    if n_components > graph.n_vertices - 1:
        raise ValueError(
            f"n_components={n_components} needs at least {n_components + 1} distinct samples, got n_samples={graph.n_vertices};"
            " lower n_components"
        )
    model, label = embed_graph(graph, embed, n_components, on_disconnected, most_pieces, choices)  # type: ignore[arg-type]
    attributes: dict[str, Any] = {
        "component_labels_": label[group],
        "n_connected_components_": int(label.max()) + 1,
        "degrees_": np.diff(graph.distances.indptr)[group],
    }
    if neighborhood.radius is None and neighborhood.kind != "mst":
        attributes["n_neighbors_"] = neighborhood.count(X.shape[0])
        attributes["neighbor_recall_"] = graph.index.recall
    if by_table:
        return FitResult(on_columns(model, first, group, X, n_components), attributes)
    return FitResult(model, attributes, group)


def _check_stored(table: Any, n_neighbors: int) -> None:
    """A precomputed graph must hold as many neighbours as are asked for."""
    counts = np.diff(without_self(table).indptr)
    poorest = int(np.argmin(counts))
    if counts[poorest] < n_neighbors:
        raise ValueError(
            f"the precomputed graph holds {counts[poorest]} neighbours in row {poorest}, but n_neighbors={n_neighbors} are needed; lower"
            " n_neighbors or store more distances a row"
        )
