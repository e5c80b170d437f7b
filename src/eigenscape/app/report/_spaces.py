"""Who is near whom in the data, whatever form they have: what measures of a map compare it with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from eigenscape.app.report._subject import Points, has_rows, is_pairwise, pairwise_function, pairwise_kind
from eigenscape.kernels.pairwise import evaluate_pairs

#: Pairwise values are turned into distances between at most so many points; functions of two objects are
#: called for fewer.
_MOST_PAIRS, _MOST_OBJECTS = 2000, 400
#: Rows taken from a stream.
_MOST_STREAMED = 20_000


@dataclass(frozen=True, eq=False)
class Truth:
    """Data that tell who is near whom: rows with a metric, or distances. ``rows`` are the points meant, None
    for all."""

    data: Any
    metric: Any
    rows: np.ndarray | None
    words: str  # how nearness in the data is measured

    def of(self, embedding: np.ndarray) -> np.ndarray:
        """The part of an embedding that the data speak of."""
        return embedding if self.rows is None else embedding[self.rows]


def truth_of(model: Any, points: Points, seed: int, metric: str | None = None) -> Truth | str:
    """What to compare a map with, or in words why there is nothing. ``metric`` None: that of the model."""
    if not has_rows(model, points):
        return _pairwise_truth(model, points, seed)
    metric = _metric_of(model) if metric is None else metric
    words = f"nearness in the data is {metric} distance between rows"
    if points.stream:
        rows = sampled_rows(points.n, _MOST_STREAMED, seed)
        data = points.take(rows)
        where = f"{words}, among {len(rows)} rows taken from the stream" if len(rows) < points.n else words
        return Truth(data, metric, None if len(rows) == points.n else rows, where)
    if not sparse.issparse(points.X) and not _finite(points.X):
        return "rows with missing values have no distances to one another"
    return Truth(points.X, metric, None, words)


def _metric_of(model: Any) -> str:
    """The metric that the model was asked to use, where it has a name and no parameters."""
    chosen = model.get_params().get("metric", "euclidean")
    return (
        chosen
        if isinstance(chosen, str) and chosen != "precomputed" and not model.get_params().get("metric_params")
        else "euclidean"
    )


def sampled_rows(n: int, most: int, seed: int) -> np.ndarray:
    """At most so many of ``n`` rows, in order."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def _finite(X: np.ndarray) -> bool:
    return all(bool(np.isfinite(X[start : start + 65536]).all()) for start in range(0, len(X), 65536))


def _pairwise_truth(model: Any, points: Points, seed: int) -> Truth | str:
    X = points.X
    if not is_pairwise(model):
        return _objects_truth(model, points, seed)
    if X.shape[0] != X.shape[1]:
        return "a table of distances to landmarks alone does not tell who is near whom"
    kind = pairwise_kind(model)
    if kind == "distance" and not sparse.issparse(X):
        return Truth(X, "precomputed", None, "nearness in the data is the distance given")
    rows = sampled_rows(points.n, _MOST_PAIRS, seed)
    some = "" if len(rows) == points.n else f", among {len(rows)} points taken at random"
    chosen = None if len(rows) == points.n else rows
    if kind == "distance":
        return Truth(
            _paths(X, rows),
            "precomputed",
            chosen,
            f"nearness in the data is the length of paths through the graph given{some}",
        )
    block = X[rows][:, rows]
    if kind == "kernel":
        block = np.asarray(block.todense()) if sparse.issparse(block) else np.asarray(block, dtype=np.float64)
        own = np.diag(block)
        squares = np.maximum(own[:, None] + own - 2 * block, 0.0)
        return Truth(
            np.sqrt(squares),
            "precomputed",
            chosen,
            f"nearness in the data is the distance that the kernel given implies{some}",
        )
    if sparse.issparse(X):
        steps = sparse.csr_array(X, dtype=np.float64, copy=True)
        steps.eliminate_zeros()
        steps.data = 1.0 / steps.data
        words = f"nearness in the data is the length of paths through the graph given, an edge being as long as its weight is small{some}"
        return Truth(_paths(steps, rows), "precomputed", chosen, words)
    distance = block.max() - np.asarray(block, dtype=np.float64)
    np.fill_diagonal(distance, 0.0)
    return Truth(distance, "precomputed", chosen, f"nearness in the data is the similarity given{some}")


def _paths(graph: sparse.csr_array, rows: np.ndarray) -> np.ndarray:
    """Lengths (r, r) of shortest paths between some vertices; twice the longest where there is no path."""
    either = sparse.csr_array(graph.maximum(graph.T)) if graph.nnz else graph
    parts = []
    for start in range(0, len(rows), 200):
        parts.append(shortest_path(either, directed=False, indices=rows[start : start + 200])[:, rows])
    lengths = np.concatenate(parts)
    reached = np.isfinite(lengths)
    return np.where(reached, lengths, 2 * lengths[reached].max())


def _objects_truth(model: Any, points: Points, seed: int) -> Truth | str:
    """Distances of objects, by the function that the model was given."""
    parameter, function = pairwise_function(model)
    if not callable(function):
        return "the data are objects, and the model has no function of two of them"
    rows = sampled_rows(points.n, _MOST_OBJECTS, seed)
    objects = np.empty(len(rows), dtype=object)
    objects[:] = [points.X[i] for i in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = evaluate_pairs(function, objects, objects)
    chosen = None if len(rows) == points.n else rows
    if parameter == "metric":
        return Truth(
            values,
            "precomputed",
            chosen,
            f"nearness in the data is the distance function given, among {len(rows)} objects",
        )
    own = np.diag(values)
    distances = np.sqrt(np.maximum(own[:, None] + own - 2 * values, 0.0))
    return Truth(
        distances,
        "precomputed",
        chosen,
        f"nearness in the data is what the function given implies, among {len(rows)} objects",
    )
