"""Reference distances of the data, with which the distances on a map are compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from sklearn.base import BaseEstimator

from eigenscape.app.report._points import Points, has_rows, is_pairwise, pairwise_function, pairwise_kind
from eigenscape.app.report._tuning import TUNING
from eigenscape.kernels.pairwise import evaluate_pairs
from eigenscape.options import flattened

#: Maximum number of points of a pairwise matrix, and of objects with a distance function.
_MAX_PAIRWISE, _MAX_OBJECTS = 2000, 400


@dataclass(frozen=True, eq=False)
class ReferenceData:
    """Rows and a metric, or a matrix of distances, of the points with the indices ``rows`` (None: of all)."""

    data: Any
    metric: str | Callable[..., float]
    rows: np.ndarray | None
    text: str  # how distances in the data are measured

    def select(self, embedding: np.ndarray) -> np.ndarray:
        """Return the coordinates of the points of the reference."""
        return embedding if self.rows is None else embedding[self.rows]


def reference_distances(
    model: BaseEstimator, points: Points, seed: int, metric: str | None = None
) -> ReferenceData | str:
    """Return the reference distances, or the reason why there are none.

    If ``metric`` is None, the metric of the model is used.
    """
    if not has_rows(model, points):
        return _pairwise_reference(model, points, seed)
    metric = _metric_of(model) if metric is None else metric
    name = "Euclidean" if metric == "euclidean" else metric
    text = f"distances in the data are {name} distances between rows"
    if points.stream:
        rows = sample_rows(points.n, TUNING.streamed_rows, seed)
        everything = len(rows) == points.n
        text = text if everything else f"{text}, among {len(rows)} rows sampled from the stream"
        return ReferenceData(points.take(rows), metric, None if everything else rows, text)
    if not sparse.issparse(points.X) and not _all_finite(points.X):
        return "distances between rows with missing values are undefined"
    return ReferenceData(points.X, metric, None, text)


def _metric_of(model: BaseEstimator) -> str:
    """Return the metric of the model if it is a name without parameters, else "euclidean"."""
    parameters = flattened(model.get_params(deep=False))
    metric = parameters.get("metric", "euclidean")
    named = isinstance(metric, str) and metric != "precomputed" and not parameters.get("metric_params")
    return metric if named else "euclidean"


def sample_rows(n: int, max_rows: int, seed: int) -> np.ndarray:
    """Return at most ``max_rows`` of ``n`` indices, ascending."""
    return (
        np.arange(n)
        if n <= max_rows
        else np.sort(np.random.default_rng(seed).choice(n, max_rows, replace=False))
    )


def as_dense(X: Any) -> np.ndarray:
    """Return a dense array of floats."""
    return np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)


def _all_finite(X: np.ndarray) -> bool:
    return all(bool(np.isfinite(X[start : start + 65536]).all()) for start in range(0, len(X), 65536))


def _pairwise_reference(model: BaseEstimator, points: Points, seed: int) -> ReferenceData | str:
    """Return the distances of a precomputed matrix or of objects, or the reason why there are none."""
    X = points.X
    if not is_pairwise(model):
        return _object_reference(model, points, seed)
    if X.shape[0] != X.shape[1]:
        return "distances to landmarks do not determine the neighbours of a point"
    kind = pairwise_kind(model)
    if kind == "distance" and not sparse.issparse(X):
        return ReferenceData(X, "precomputed", None, "distances in the data are the given ones")
    rows = sample_rows(points.n, _MAX_PAIRWISE, seed)
    chosen = None if len(rows) == points.n else rows
    if kind == "distance":
        distances, how = _path_lengths(X, rows), "path lengths in the given graph"
    elif kind == "kernel":
        distances, how = _kernel_distances(as_dense(X[rows][:, rows])), "those implied by the given kernel"
    elif isinstance(X, sparse.csr_array):
        lengths = X.astype(np.float64)
        lengths.eliminate_zeros()
        lengths.data = 1.0 / lengths.data
        distances = _path_lengths(lengths, rows)
        how = "path lengths in the given graph, with the inverse weight as the length of an edge"
    else:
        block = np.asarray(X[rows][:, rows])
        distances = block.max() - block.astype(np.float64)
        np.fill_diagonal(distances, 0.0)
        how = "the given similarities, subtracted from the largest"
    text = f"distances in the data are {how}"
    text = text if chosen is None else f"{text}, among {len(rows)} randomly sampled points"
    return ReferenceData(distances, "precomputed", chosen, text)


def _path_lengths(graph: sparse.csr_array, rows: np.ndarray) -> np.ndarray:
    """Return shortest path lengths (r, r); twice the longest if there is no path."""
    symmetric = sparse.csr_array(graph.maximum(graph.T)) if graph.nnz else graph
    parts = []
    for start in range(0, len(rows), 200):
        parts.append(shortest_path(symmetric, directed=False, indices=rows[start : start + 200])[:, rows])
    lengths = np.concatenate(parts)
    reached = np.isfinite(lengths)
    return np.where(reached, lengths, 2 * lengths[reached].max())


def _kernel_distances(kernel: np.ndarray) -> np.ndarray:
    """Return ``sqrt(k(x, x) + k(y, y) - 2 k(x, y))``."""
    diagonal = np.diag(kernel)
    return np.sqrt(np.maximum(diagonal[:, None] + diagonal - 2 * kernel, 0.0))


def _object_reference(model: BaseEstimator, points: Points, seed: int) -> ReferenceData | str:
    """Evaluate the model's function of two objects."""
    parameter, function = pairwise_function(model)
    if not callable(function):
        return "the data are objects, and the model has no function of two objects"
    rows = sample_rows(points.n, _MAX_OBJECTS, seed)
    objects = np.empty(len(rows), dtype=object)
    objects[:] = [points.X[i] for i in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = evaluate_pairs(function, objects, objects)
    metric = parameter == "metric"
    how = "computed by the given function" if metric else "those implied by the given function"
    return ReferenceData(
        values if metric else _kernel_distances(values),
        "precomputed",
        None if len(rows) == points.n else rows,
        f"distances in the data are {how}, among {len(rows)} objects",
    )
