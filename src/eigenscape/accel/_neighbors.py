"""scikit-learn's graph of nearest neighbours, searched by eigenscape."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.neighbors import kneighbors_graph as _kneighbors_graph
from sklearn.neighbors import radius_neighbors_graph as _radius_neighbors_graph

from eigenscape._memory import row_blocks
from eigenscape._threads import single_blas_thread
from eigenscape.accel._record import is_few, left, ran_here
from eigenscape.accel._settings import FEW

#: Distances that differ by less than this part may be in another order in scikit-learn, which rounds them.
_TIE = 1e-7


def kneighbors_graph(
    X: Any,
    n_neighbors: int,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: Any = None,
    include_self: Any = False,
    n_jobs: int | None = None,
) -> Any:
    """Return ``sklearn.neighbors.kneighbors_graph`` with the same arguments."""
    searcher = X if isinstance(X, NearestNeighbors) else None
    if searcher is None:
        searcher = NearestNeighbors(
            n_neighbors=n_neighbors, metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs
        ).fit(X)
    reason = _reason(searcher, n_neighbors)
    if reason:
        left("neighbours", reason)
        return _kneighbors_graph(
            searcher,
            n_neighbors,
            mode=mode,
            metric=metric,
            p=p,
            metric_params=metric_params,
            include_self=include_self,
            n_jobs=n_jobs,
        )
    distances, neighbors = nearest(searcher, n_neighbors, with_self=bool(include_self), n_jobs=n_jobs)
    n = len(neighbors)
    data = np.ones(n * n_neighbors) if mode == "connectivity" else distances.ravel()
    # The one without neighbours has the class (matrix or array) that scikit-learn is configured to return.
    like = type(_without_names(searcher).kneighbors_graph(searcher._fit_X[:1], n_neighbors=1))
    return like((data, neighbors.ravel(), np.arange(0, n * n_neighbors + 1, n_neighbors)), shape=(n, n))


def radius_neighbors_graph(*args: Any, **kwargs: Any) -> Any:
    """Return ``sklearn.neighbors.radius_neighbors_graph``, and record that it is scikit-learn's."""
    left("neighbours", "radius")
    return _radius_neighbors_graph(*args, **kwargs)


def nearest_or_theirs(
    searcher: NearestNeighbors, k: int, *, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return :func:`nearest` without the points themselves, searched by scikit-learn if they are few.

    None if the search is left to scikit-learn for another reason, which is recorded.
    """
    reason = _reason(searcher, k)
    if not reason:
        return nearest(searcher, k, with_self=False, n_jobs=n_jobs)
    left("neighbours", reason)
    if reason != FEW:
        return None
    distances, neighbors = _without_names(searcher).kneighbors(searcher._fit_X, k + 1)
    return distances[:, 1:], neighbors[:, 1:]


def nearest(
    searcher: NearestNeighbors, k: int, *, with_self: bool, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and indices (n, k) of the nearest neighbours of each training point.

    Rows with ties, about which neighbours belong to the graph, are searched by scikit-learn, too.
    """
    from eigenscape.graph.neighbors import neighbor_index

    X = np.asarray(searcher._fit_X)
    count = k if with_self else k + 1
    index: Any = neighbor_index(X, n_jobs=n_jobs, search="exact")
    with single_blas_thread():
        distances, neighbors = index.nearest_all(count + 1)
    tied = np.flatnonzero(distances[:, count - 1] >= (1 - _TIE) * distances[:, count])
    distances, neighbors = distances[:, :count], neighbors[:, :count]
    if len(tied):
        # All rows are searched: which of two neighbours is taken depends on the number of rows.
        neighbors[tied] = _without_names(searcher).kneighbors(X, count, return_distance=False)[tied]
    for block in row_blocks(len(tied), 16.0 * count * X.shape[1]):
        rows = tied[block]
        between = X[neighbors[rows]] - X[rows][:, None, :]
        distances[rows] = np.sqrt(np.einsum("ijk,ijk->ij", between, between))
    ran_here("neighbours")
    return (distances, neighbors) if with_self else _without_self(distances, neighbors)


def _without_names(searcher: NearestNeighbors) -> NearestNeighbors:
    """Return the search without names of features: rows of its own array have none, about which it warns."""
    if hasattr(searcher, "feature_names_in_"):
        searcher = copy.copy(searcher)
        del searcher.feature_names_in_
    return searcher


def _without_self(distances: np.ndarray, neighbors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Remove each point from its own neighbours, or the first neighbour if it is not among them."""
    other = neighbors != np.arange(len(neighbors))[:, None]
    other[other.all(axis=1), 0] = False
    shape = len(neighbors), neighbors.shape[1] - 1
    return distances[other].reshape(shape), neighbors[other].reshape(shape)


def _reason(searcher: NearestNeighbors, k: int) -> str:
    """Return why scikit-learn searches these neighbours, or an empty string."""
    X = searcher._fit_X
    if sparse.issparse(X) or searcher.effective_metric_ == "precomputed":
        return "sparse rows" if sparse.issparse(X) else "precomputed distances"
    if searcher.effective_metric_ != "euclidean" or searcher.effective_metric_params_:
        metric = searcher.effective_metric_
        return "metric is a function" if callable(metric) else f"metric={metric!r}"
    if np.asarray(X).dtype != np.float64:
        return f"{np.asarray(X).dtype} rows"
    if is_few(len(X), "compiled"):
        return FEW
    with np.errstate(over="ignore"):
        if not np.isfinite(np.vdot(X, X)):
            return "squares of rows overflow"
    return "" if k + 2 <= len(X) else "n_neighbors near n_samples"
