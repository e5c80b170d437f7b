"""Reference distances of the data, with which the distances on a map are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from sklearn.base import BaseEstimator

from eigenscape.app.report import _points
from eigenscape.app.report._points import Points, as_dense, sample_rows
from eigenscape.app.report._refits import UnmeasuredError
from eigenscape.app.report._texts import LIMITS
from eigenscape.estimators._base import Estimator
from eigenscape.kernels.pairwise import evaluate_pairs
from eigenscape.options import flattened


@dataclass(frozen=True, eq=False)
class ReferenceData:
    """Rows and a metric, or a matrix of distances, of the points with the indices ``rows``."""

    data: Any
    metric: str | Callable[..., float]
    rows: np.ndarray
    text: str  # how distances in the data are measured

    def select(self, embedding: np.ndarray) -> np.ndarray:
        """Return the coordinates of the points of the reference."""
        return embedding if len(self.rows) == len(embedding) else embedding[self.rows]


def reference_distances(
    model: BaseEstimator, points: Points, seed: int, metric: str | None = None
) -> ReferenceData:
    """Return the reference distances; raise :class:`UnmeasuredError` if there are none.

    If ``metric`` is None, the metric of the model is used.
    """
    if not _points.has_rows(model, points):
        return (_pairwise_reference if _points.is_pairwise(model) else _object_reference)(model, points, seed)
    metric = _metric_of(model) if metric is None else metric
    name = "Euclidean" if metric == "euclidean" else metric
    text = f"distances in the data are {name} distances between rows"
    rows = sample_rows(points.n, LIMITS.streamed_rows if points.stream else points.n, seed)
    if points.stream:
        text += f", among {len(rows)} rows sampled from the stream" if len(rows) < points.n else ""
        return ReferenceData(points.take(rows), metric, rows, text)
    if not sparse.issparse(points.X) and not _all_finite(points.X):
        raise UnmeasuredError("distances between rows with missing values are undefined")
    return ReferenceData(points.X, metric, rows, text)


def _metric_of(model: BaseEstimator) -> str:
    """Return the metric of the model if it is a name without parameters, else "euclidean"."""
    parameters = flattened(model.get_params(deep=False))
    metric = parameters.get("metric", "euclidean")
    named = isinstance(metric, str) and metric != "precomputed" and not parameters.get("metric_params")
    return metric if named else "euclidean"


def _all_finite(X: np.ndarray) -> bool:
    return all(bool(np.isfinite(X[start : start + 65536]).all()) for start in range(0, len(X), 65536))


def _pairwise_reference(model: BaseEstimator, points: Points, seed: int) -> ReferenceData:
    """Return the distances of a precomputed matrix."""
    X, kind = points.X, _points.pairwise_kind(model)
    if X.shape[0] != X.shape[1]:
        raise UnmeasuredError("distances to landmarks do not determine the neighbours of a point")
    if kind == "distance" and not sparse.issparse(X):
        text = "distances in the data are the given ones"
        return ReferenceData(X, "precomputed", np.arange(points.n), text)
    rows = sample_rows(points.n, LIMITS.pairwise_points, seed)
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
    among = f", among {len(rows)} randomly sampled points" if len(rows) < points.n else ""
    return ReferenceData(distances, "precomputed", rows, f"distances in the data are {how}{among}")


def _path_lengths(graph: sparse.csr_array, rows: np.ndarray) -> np.ndarray:
    """Return shortest path lengths (r, r); twice the longest if there is no path."""
    symmetric = sparse.csr_array(graph.maximum(graph.T)) if graph.nnz else graph
    blocks = np.array_split(rows, range(200, len(rows), 200))  # blocks (200, n) of all lengths
    lengths = np.concatenate(
        [shortest_path(symmetric, directed=False, indices=block)[:, rows] for block in blocks]
    )
    reached = np.isfinite(lengths)
    return np.where(reached, lengths, 2 * lengths[reached].max())


def _kernel_distances(kernel: np.ndarray) -> np.ndarray:
    """Return ``sqrt(k(x, x) + k(y, y) - 2 k(x, y))``."""
    diagonal = np.diag(kernel)
    return np.sqrt(np.maximum(diagonal[:, None] + diagonal - 2 * kernel, 0.0))


def _object_reference(model: BaseEstimator, points: Points, seed: int) -> ReferenceData:
    """Evaluate the model's function of two objects."""
    function = model._pairwise() if isinstance(model, Estimator) else None
    if not callable(function):
        raise UnmeasuredError("the data are objects, and the model has no function of two objects")
    rows = sample_rows(points.n, LIMITS.objects, seed)
    objects = np.empty(len(rows), dtype=object)
    objects[:] = [points.X[i] for i in rows]
    with _points.without_warnings():
        values = evaluate_pairs(function, objects, objects)
    metric = model._pairwise_parameter == "metric"
    how = "computed by the given function" if metric else "those implied by the given function"
    distances = values if metric else _kernel_distances(values)
    text = f"distances in the data are {how}, among {len(rows)} objects"
    return ReferenceData(distances, "precomputed", rows, text)
