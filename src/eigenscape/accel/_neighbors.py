"""scikit-learn's graph of nearest neighbours, searched by eigenscape."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import neighbors as theirs
from sklearn.neighbors import NearestNeighbors

from eigenscape._memory import row_blocks
from eigenscape._threads import single_blas_thread
from eigenscape.accel._record import UnsupportedProblemError, replaces

#: Distances that differ by less than this part may be in another order in scikit-learn, which rounds them.
_TIE = 1e-7


def kneighbors_graph(X: Any, n_neighbors: int, **options: Any) -> Any:
    """Return ``sklearn.neighbors.kneighbors_graph`` with the same arguments."""
    if not isinstance(X, NearestNeighbors):
        search = {name: value for name, value in options.items() if name not in ("mode", "include_self")}
        X = NearestNeighbors(n_neighbors=n_neighbors, **search).fit(X)
    return _graph(X, n_neighbors, **options)


@replaces("neighbours", theirs.kneighbors_graph)
def _graph(
    searcher: NearestNeighbors,
    n_neighbors: int,
    *,
    mode: str = "connectivity",
    include_self: bool = False,
    n_jobs: int | None = None,
    **_: Any,
) -> Any:
    _require_supported(searcher, n_neighbors)
    distances, neighbors = _nearest(searcher, n_neighbors, include_self, n_jobs)
    n = len(neighbors)
    data = np.ones(n * n_neighbors) if mode == "connectivity" else distances.ravel()
    # The one without neighbours has the class (matrix or array) that scikit-learn is configured to return.
    like = type(_without_names(searcher).kneighbors_graph(searcher._fit_X[:1], n_neighbors=1))
    return like((data, neighbors.ravel(), np.arange(0, n * n_neighbors + 1, n_neighbors)), shape=(n, n))


@replaces("neighbours", theirs.radius_neighbors_graph)
def radius_neighbors_graph(*_: Any, **__: Any) -> Any:
    """Return ``sklearn.neighbors.radius_neighbors_graph``, and record that it is scikit-learn's."""
    raise UnsupportedProblemError("radius")


def _nearest(
    searcher: NearestNeighbors, k: int, with_self: bool, n_jobs: int | None
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


def _require_supported(searcher: NearestNeighbors, k: int) -> None:
    """Raise UnsupportedProblemError with the reason why scikit-learn searches these neighbours."""
    X, metric = searcher._fit_X, searcher.effective_metric_
    require_plain(X)
    if metric != "euclidean" or searcher.effective_metric_params_:
        raise UnsupportedProblemError("metric is a function" if callable(metric) else f"metric={metric!r}")
    if k + 2 > len(X):
        raise UnsupportedProblemError("n_neighbors near n_samples")


def require_plain(X: Any) -> None:
    """Raise UnsupportedProblemError unless rows are dense, in double precision, with finite squares."""
    if sparse.issparse(X) or X.dtype != np.float64:
        raise UnsupportedProblemError("sparse rows" if sparse.issparse(X) else f"{X.dtype} rows")
    with np.errstate(over="ignore"):
        if not np.isfinite(np.vdot(X, X)):
            raise UnsupportedProblemError("squares of rows overflow")
