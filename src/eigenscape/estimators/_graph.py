"""From validated data and the shared graph parameters to a neighbourhood graph and its embedding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import Fitted
from eigenscape.estimators._validation import check_count, check_positive
from eigenscape.graph.neighborhood import NeighborGraph, nearest_neighbor_graph, radius_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.rows import distinct_rows, with_self, without_self
from eigenscape.methods.components import embed_graph
from eigenscape.pieces import merge_columns, on_columns

ON_DISCONNECTED = ("connect", "per_component", "largest", "raise")


def embed_on_graph(
    X: Any,
    embed: Callable[[NeighborGraph, bool], Embedding],
    *,
    n_components: int,
    n_neighbors: int | None,
    radius: float | None,
    metric: Any,
    metric_params: dict | None,
    on_disconnected: str,
    n_jobs: int | None,
    most_pieces: int | None = None,
) -> Fitted:
    """Embed the neighbourhood graph of the distinct rows of ``X``.

    ``embed`` takes a graph and whether it may return fewer coordinates.
    """
    given_graph = metric == "precomputed" and sparse.issparse(X)
    if n_neighbors is None:
        n_neighbors = usual_neighbors(X.shape[0])
    first, group = distinct_rows(with_self(X) if given_graph else X)
    if given_graph and radius is None:
        _check_stored(X, n_neighbors)
    if len(first) < 2:
        raise ValueError(f"all {X.shape[0]} rows are equal; there is nothing to embed")
    points = X if len(first) == X.shape[0] else X[first]
    by_table = metric == "precomputed" and points.shape[1] != len(first)
    if by_table:
        points = merge_columns(points, group, len(first)) if given_graph else points[:, first]
    graph = _graph(points, n_neighbors, radius, metric, metric_params, n_jobs, X.shape[0])
    if n_components > graph.n_vertices - 1:
        raise ValueError(
            f"n_components={n_components} needs at least {n_components + 1} distinct samples, got n_samples={graph.n_vertices};"
            " lower n_components"
        )
    model, label = embed_graph(graph, embed, n_components, on_disconnected, most_pieces)  # type: ignore[arg-type]
    attributes = {"component_labels_": label[group], "n_connected_components_": int(label.max()) + 1}
    if radius is None:
        attributes["n_neighbors_"] = n_neighbors
    if by_table:
        return Fitted(on_columns(model, first, group, X, n_components), None, attributes)
    return Fitted(model, group, attributes)


def usual_neighbors(n_samples: int) -> int:
    """10, or a quarter of the samples where that is fewer, but at least 5 (if there are so many)."""
    return min(10, max(5, n_samples // 4), n_samples - 1)


def _graph(
    points: Any, n_neighbors: int, radius: float | None, metric: Any, metric_params: dict | None, n_jobs: int | None, n_samples: int
) -> NeighborGraph:
    m = points.shape[0]
    if radius is None:
        check_count("n_neighbors", n_neighbors)
        if n_neighbors > m - 1:
            distinct = "" if m == n_samples else f" distinct ones among {n_samples}"
            raise ValueError(
                f"n_neighbors={n_neighbors} needs at least {n_neighbors + 1} samples, got n_samples={m}{distinct}; lower n_neighbors"
            )
        return nearest_neighbor_graph(neighbor_index(points, metric, metric_params, n_jobs), n_neighbors)
    check_positive("radius", radius)
    return radius_graph(neighbor_index(points, metric, metric_params, n_jobs), radius)


def _check_stored(table: Any, n_neighbors: int) -> None:
    """A precomputed graph must hold as many neighbours as are asked for."""
    counts = np.diff(without_self(table).indptr)
    poorest = int(np.argmin(counts))
    if counts[poorest] < n_neighbors:
        raise ValueError(
            f"the precomputed graph holds {counts[poorest]} neighbours in row {poorest}, but n_neighbors={n_neighbors} are needed; lower"
            " n_neighbors or store more distances a row"
        )
