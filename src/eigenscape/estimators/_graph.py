"""The graph of validated samples: given, or a neighbourhood graph from the parameters of graph methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenscape._numbers import check_precomputed, checked_sparse
from eigenscape._parameters import check_enough
from eigenscape._typing import is_sparse
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import FitResult
from eigenscape.estimators._weights import refuse_weights
from eigenscape.estimators._work import check_search_work
from eigenscape.exceptions import DisconnectedGraphError
from eigenscape.graph.components import add_spanning_tree, component_labels, spanning_tree
from eigenscape.graph.neighborhood import NeighborGraph, nearest_neighbor_graph, radius_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import RowIndex, canonical_csr, distinct_rows
from eigenscape.graph.sparse_distances import with_self, without_self
from eigenscape.kernels.affinity import GraphAffinity, edge_weight, local_affinity
from eigenscape.kernels.base import BoundKernel, as_float64
from eigenscape.options import EdgeWeights, Graph, KNNGraph, RadiusGraph, SpanningTree
from eigenscape.pieces import (
    Action,
    Affinity,
    Split,
    embed_columns,
    join,
    merge_columns,
    split_graph,
)
from eigenscape.pieces.split import ON_DISCONNECTED

#: Default number of neighbours of kernel eigenmaps (Brand sec. 4), if there are enough samples.
_NEIGHBORS = 12
_NOT_ROWS = "anchors need dense rows and the Euclidean metric, got"


@dataclass(frozen=True)
class Neighborhood:
    """A graph of samples, with the number of threads and of neighbours by default, and weights of edges."""

    option: Graph
    n_jobs: int | None
    most: int = 10
    edge_weights: EdgeWeights = "binary"

    def graph(
        self, points: Any, k: int | None, distinct: tuple[np.ndarray, np.ndarray] | None, rows: RowIndex
    ) -> NeighborGraph:
        """Return the neighbourhood graph of distinct rows.

        Parameters
        ----------
        points : array of shape (m, n_features) or (m, m)
            The distinct rows.
        k : int or None
            The number of neighbours, :meth:`count`.
        distinct : tuple (first, vertex) or None
            Index of the first sample that is equal to each row, and the row that each sample is equal to;
            None if all samples are distinct.
        rows : RowIndex
            Index of the samples, which recognises the points if all samples are distinct.
        """
        option, search = self.option, self.option.search
        if k is not None:
            of = "samples" if distinct is None else "distinct samples"
            check_enough("n_neighbors", k, k + 1, points.shape[0], of)
        if isinstance(option, RadiusGraph) and isinstance(search, str):
            search = "exact"
        if search in ("auto", "exact"):
            check_search_work(option.metric, points.shape[0])
        index = neighbor_index(
            points, option.metric, option.metric_params, self.n_jobs, search, distinct, rows
        )
        if isinstance(option, RadiusGraph):
            return radius_graph(index, option.radius)
        if k is None:
            return spanning_tree(index)
        if isinstance(option, KNNGraph):
            return nearest_neighbor_graph(index, k, option.symmetrize, rows, self.n_jobs)
        return add_spanning_tree(nearest_neighbor_graph(index, k, "union", rows, self.n_jobs))

    def count(self, n_distinct: int) -> int | None:
        """Return the number of nearest neighbours that are connected; None if the graph has no such number.

        By default it is ``most``, or a quarter of few distinct samples but at least 5.
        """
        given = None if isinstance(self.option, RadiusGraph) else self.option.n_neighbors
        if given is None and isinstance(self.option, KNNGraph):
            return min(self.most, max(5, n_distinct // 4), n_distinct - 1)
        return given


def given_neighborhood(
    estimator: Any, most: int = 10, *, name: str = "graph", weights: EdgeWeights | None = None
) -> Neighborhood:
    """Return the graph that the parameter ``name`` describes, or else ``n_neighbors`` and ``metric``.

    ``weights`` is the default kind of edge weights, None if the method uses the lengths of edges.
    """
    graph, n_neighbors, metric = getattr(estimator, name), estimator.n_neighbors, estimator.metric
    if not isinstance(graph, Graph):  # None, or the name of a graph
        kind = SpanningTree if graph == "spanning_tree" else KNNGraph
        metric = "precomputed" if graph == "precomputed_nearest_neighbors" else metric
        return Neighborhood(kind(n_neighbors, metric), estimator.n_jobs, most, weights or "binary")
    for other, value, default in (("n_neighbors", n_neighbors, None), ("metric", metric, "euclidean")):
        if value != default:
            raise ValueError(
                f"{other}={value!r} is not used with {name}={graph!r}; leave it out, or set it in that object"
            )
    if weights is None and (graph.weights is not None or graph.width is not None):
        raise ValueError(f"{graph!r} has weights, but the method uses the lengths of edges; leave them out")
    weights = graph.weights or weights or "binary"
    if graph.width is not None and weights != "heat":
        raise ValueError(f"width={graph.width!r} is for weights='heat', got {weights!r}; leave out width")
    return Neighborhood(graph, estimator.n_jobs, most, weights)


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
    neighborhood : Neighborhood
        The description of the graph.
    weights : ndarray of shape (m,) or None
        Weights of the vertices, the sums over the samples equal to each; None if samples have no weights.
    table : array or None
        The precomputed distances, if equal samples were merged; otherwise None.
    """

    graph: NeighborGraph
    vertex: np.ndarray
    attributes: Mapping[str, Any]
    neighborhood: Neighborhood
    weights: np.ndarray | None = None
    table: Any = None

    def split(
        self,
        on_disconnected: Action,
        max_components: int | None = None,
        choices: Sequence[str] = ON_DISCONNECTED,
    ) -> Split:
        """Return the affinities of the parts that are embedded; see :func:`eigenscape.pieces.split_graph`."""
        split = split_graph(self.graph, on_disconnected, max_components, choices)
        kind, width = self.neighborhood.edge_weights, self.neighborhood.option.width
        kernels: list[BoundKernel]
        if kind == "local":
            m = self.graph.n_vertices
            k = self.neighborhood.count(m) or Neighborhood(KNNGraph(), None).count(m)
            assert k is not None
            kernels = [local_affinity(part, k) for part in split.parts]
        else:
            kernels = [
                GraphAffinity(part, edge_weight(kind, part.distances.data, width)) for part in split.parts
            ]
        return replace(split, parts=tuple(Affinity(kernel) for kernel in kernels))

    def result(
        self,
        maps: Sequence[Any],
        split: Split,
        n_components: int,
        attributes: Mapping[str, Any] | None = None,
        *,
        has_kernel: bool = True,
    ) -> FitResult:
        """Join the embeddings of the parts; return the fit result, with further fitted attributes."""
        vertex: np.ndarray | None = self.vertex
        embedding: Any = join(maps, split, n_components, self.weights)
        if self.table is not None:
            first, vertex, weights = self.graph.samples, None, self.weights
            assert first is not None
            if weights is not None:
                weights = np.bincount(first, weights=weights, minlength=len(self.vertex))
            embedding = embed_columns(embedding, first, self.vertex, self.table, n_components, weights)
        labels, described = split.labels[self.vertex], {**self.attributes, **(attributes or {})}
        components = {"component_labels_": labels, "n_connected_components_": int(labels.max()) + 1}
        kernel = split.parts[0].kernel if isinstance(split.parts[0], Affinity) else None
        if isinstance(kernel, GraphAffinity) and kernel.weight.kind == "heat":
            described["width_"] = kernel.weight.scale
        return FitResult(embedding, {**components, **described}, vertex, has_kernel=has_kernel)


def neighborhood_graph(
    X: Any, neighborhood: Neighborhood, n_components: int, weights: np.ndarray | None = None
) -> SampleGraph:
    """Return the neighbourhood graph of the distinct rows of ``X``, at least ``n_components + 1``.

    ``weights`` are the weights of the samples."""
    n_samples = X.shape[0]
    precomputed = neighborhood.option.metric == "precomputed"
    sparse_table = precomputed and sparse.issparse(X)
    rows = RowIndex(with_self(X) if sparse_table else X)
    first, vertex = rows.distinct()
    m = len(first)
    n_neighbors = neighborhood.count(m)
    if sparse_table and n_neighbors is not None:
        _check_stored(X, n_neighbors)
    if m < 2:
        raise ValueError(f"all {n_samples} rows are equal; there is nothing to embed")
    points = X if m == n_samples else X[first]
    merged = precomputed and points.shape[1] != m
    if merged:
        points = merge_columns(points, vertex, m) if sparse_table else points[:, first]
    distinct = None if m == n_samples else (first, vertex)
    graph = replace(neighborhood.graph(points, n_neighbors, distinct, rows), samples=first)
    check_enough("n_components", n_components, n_components + 1, m, "distinct samples")
    attributes: dict[str, Any] = {"degrees_": np.diff(graph.distances.indptr)[vertex]}
    if n_neighbors is not None:
        attributes |= {"n_neighbors_": n_neighbors, "neighbor_recall_": graph.index.recall}
    if weights is not None:
        weights = np.bincount(vertex, weights=weights)
    return SampleGraph(graph, vertex, attributes, neighborhood, weights, X if merged else None)


def _check_stored(table: Any, n_neighbors: int) -> None:
    """Raise ValueError if a row of a precomputed sparse graph has fewer than ``n_neighbors`` neighbours."""
    counts = np.diff(without_self(table).indptr)
    fewest = int(np.argmin(counts))
    if counts[fewest] < n_neighbors:
        raise ValueError(
            f"the precomputed graph contains {counts[fewest]} neighbours in row {fewest}, but"
            f" n_neighbors={n_neighbors} are needed; lower n_neighbors or store more distances per row"
        )


def check_anchors(
    estimator: Any, X: Any, neighborhood: Neighborhood | None, weights: np.ndarray | None
) -> int:
    """Return the number of anchors of ``approximation``; raise ValueError if other arguments allow none.

    ``neighborhood`` is None if the samples have no graph of rows."""
    anchors, n_components = estimator.approximation, estimator.n_components
    if neighborhood is None:
        raise ValueError(
            f"anchors need a graph of rows, got affinity={estimator.affinity!r}; use"
            " affinity='nearest_neighbors', or a Dictionary for a kernel between all samples"
        )
    count, metric, on_disconnected = anchors.n, neighborhood.option.metric, estimator.on_disconnected
    if count < n_components + 1:
        raise ValueError(
            f"{anchors!r} are too few for n_components={n_components}, which need at least"
            f" {n_components + 1}; raise n"
        )
    if is_sparse(X) or X.ndim == 1:
        raise ValueError(
            f"{_NOT_ROWS} {'sparse rows' if is_sparse(X) else 'objects'}; leave out approximation"
        )
    if metric not in ("euclidean", "l2"):
        raise ValueError(f"{_NOT_ROWS} metric={metric!r}; leave out approximation")
    if on_disconnected not in ("connect", "raise"):
        raise ValueError(
            f"anchors need one graph, got on_disconnected={on_disconnected!r}; use 'connect' or 'raise'"
        )
    refuse_weights(weights, "anchors", "the map counts every sample once")
    check_enough("approximation__n", count, count, len(distinct_rows(X)[0]), "distinct samples")
    return int(count)


def anchor_attributes(embedding: Embedding) -> dict[str, Any]:
    """Return the fitted attributes that describe the anchors."""
    return {"anchors_": embedding.kernel.weights.anchors}  # type: ignore[attr-defined]


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


def vertices(estimator: Any, X: Any, graph: Any) -> Vertices:
    """Return the given graph, or the neighbourhood graph of the distinct rows of ``X``.

    ``regularization`` is added to its diagonal.
    """
    vertex: np.ndarray | None = None
    if graph is None:
        affinity, vertex, attributes = neighbor_affinity(estimator, X)
        points, W = affinity.X, affinity.edges()
    else:
        points, W, labels = X, *_given_edges(graph, X.shape[0], estimator.on_disconnected)
        attributes = {"component_labels_": labels, "n_connected_components_": int(labels.max()) + 1}
    W = with_loops(W, estimator.regularization)
    degree = np.asarray(W.sum(axis=1)).ravel()
    return Vertices(as_float64(points), W, degree, vertex, {**attributes, "graph_": W})


def with_loops(W: sparse.csr_array, weight: float) -> sparse.csr_array:
    """Return ``W + weight I`` (Brand sec. 4)."""
    return sparse.csr_array(W + weight * sparse.eye_array(W.shape[0])) if weight else W


def neighbor_affinity(estimator: Any, X: Any) -> tuple[GraphAffinity, np.ndarray, dict[str, Any]]:
    """Return the neighbourhood graph of distinct rows, the vertex of each row, and fitted attributes."""
    kind = estimator._edge_weights
    neighborhood = given_neighborhood(estimator, _NEIGHBORS, name="affinity", weights=kind)
    if neighborhood.option.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' is not supported; pass the rows as X and the edges as graph= to fit"
        )
    if neighborhood.edge_weights == "local":
        raise ValueError("weights='local' are not supported here; use 'binary', 'heat' or 'inverse'")
    graph = neighborhood_graph(X, neighborhood, estimator.n_components)
    split = graph.split(estimator.on_disconnected, choices=("connect", "whole", "raise"))
    found = graph.result(split.parts, split, estimator.n_components)  # one part, in place of a map
    return found.embedding.kernel, graph.vertex, dict(found.attributes)


def _given_edges(graph: Any, n_samples: int, on_disconnected: str) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the validated edge weights of a graph of samples, and the component of each sample."""
    W = check_graph(graph)
    if W.shape[0] != n_samples:
        raise ValueError(
            f"graph has {W.shape[0]} vertices, but X has {n_samples} rows; row i of X must describe vertex i"
        )
    labels = component_labels(W)
    if labels.max() > 0 and on_disconnected != "whole":
        raise DisconnectedGraphError(
            f"the graph given has {labels.max() + 1} components and no distances by which to connect them;"
            " embed its largest component, or set on_disconnected='whole'"
        )
    return W, labels


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
