"""Choice of a neighbour index; all indexes have the same interface for training points and new ones.

* ``TreeIndex``: SciPy's k-d tree, exact, for dense rows of at most 16 features and Minkowski metrics.
* ``BlockIndex``: blocks of the distance matrix, exact, for everything else. Lower bounds of Euclidean
  distances are computed by a matrix product in single precision, in a few principal directions if these
  suffice, and candidates are compared by exact distances, so that the result does not depend on the blocks.
* ``ApproximateIndex``: instead of blocks, for many dense rows (30 000, or 11 000 of 784 features) and a
  Euclidean or cosine metric, unless ``neighbors="exact"``. Its recall is measured and reported.
* ``PrecomputedIndex``: a precomputed matrix of distances, dense or sparse.
* ``SearcherIndex``: an object of the user with ``kneighbors``, see :func:`neighbor_index`.

Ties are broken by row number. The result for a query does not depend on other queries.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from eigenscape._typing import Rows, is_sparse
from eigenscape.graph.approximate import ApproximateIndex
from eigenscape.graph.blocks import BlockIndex, Metric, resolve_metric_params
from eigenscape.graph.given import NeighborSearcher, SearcherIndex, listed_neighbors
from eigenscape.graph.precomputed import PrecomputedIndex
from eigenscape.graph.search import NeighborIndex, RowSearch
from eigenscape.graph.tree import TreeIndex
from eigenscape.graph.tuning import TUNING

__all__ = ["NeighborIndex", "NeighborSearcher", "Neighbors", "neighbor_index"]

STRATEGIES = ("auto", "exact", "approximate")
APPROXIMATE_METRICS = ("euclidean", "l2", "cosine")

_MINKOWSKI = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "l1": 1.0, "cityblock": 1.0, "chebyshev": np.inf}

#: Values of ``neighbors``: the name of a strategy, an index, a searcher, or ``(indices, distances)``.
Neighbors: TypeAlias = (
    Literal["auto", "exact", "approximate"] | NeighborIndex | NeighborSearcher | tuple[Any, Any]
)


def neighbor_index(
    X: Rows,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    neighbors: Neighbors = "auto",
    distinct: tuple[np.ndarray, np.ndarray] | None = None,
) -> NeighborIndex:
    """Return an index that searches the rows of ``X``.

    Parameters
    ----------
    X : ndarray or csr_array of shape (m, n_features), or (m, m) if ``metric="precomputed"``
        Points, which should be distinct.
    metric : str or callable, default="euclidean"
        Metric of scikit-learn, a function of two rows, or "precomputed".
    metric_params : dict or None, default=None
        Additional arguments of the metric.
    n_jobs : int or None, default=None
        Number of threads.
    neighbors : {"auto", "exact", "approximate"}, object or tuple, default="auto"
        How neighbours are searched.

        - "auto": exact search, or approximate search if it is much faster (see the module's description).
        - "exact": exact search.
        - "approximate": approximate search, for dense rows and the metrics "euclidean", "l2" and "cosine".
        - A :class:`NeighborIndex` of the same rows, or of all samples if ``distinct`` is given.
        - An object with scikit-learn's ``kneighbors(X, n_neighbors)``, such as
          ``sklearn.neighbors.NearestNeighbors``, fitted or not. It is cloned and the clone fitted to ``X``;
          the object itself is not modified. Its own metric is used. An object without ``get_params`` is used
          as it is and must have been fitted to ``X``.
        - A tuple ``(indices, distances)`` of two arrays of shape (n_samples, k): the neighbours of the
          training points, with or without the points themselves. New points are searched exactly by
          ``metric``.
    distinct : tuple (first, group), optional
        Result of :func:`~eigenscape.graph.row_index.distinct_rows`, if ``X`` holds the distinct rows of a
        larger set of samples to which an index or ``(indices, distances)`` refers.

    Returns
    -------
    NeighborIndex

    Raises
    ------
    ValueError
        If ``neighbors`` does not suit the metric or the data.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import NearestNeighbors
    >>> from eigenscape.graph.neighbors import neighbor_index
    >>> X = np.arange(6.0)[:, None]
    >>> index = neighbor_index(X, neighbors=NearestNeighbors(algorithm="ball_tree"))
    >>> index.nearest(np.array([[2.2]]), 2)[1].tolist()
    [[2, 3]]
    """
    if not isinstance(neighbors, str):
        return _given_index(X, metric, metric_params, n_jobs, neighbors, distinct)
    if metric == "precomputed":
        return PrecomputedIndex(X)
    params = resolve_metric_params(metric, metric_params, X)
    power = None if params else _MINKOWSKI.get(str(metric))
    if metric == "minkowski" and set(params) <= {"p"}:
        power = float(params.get("p", 2.0))
    few_features = (
        power is not None and power >= 1 and not is_sparse(X) and X.shape[1] <= TUNING.tree_features
    )
    able = metric in APPROXIMATE_METRICS and not params and not is_sparse(X)
    if neighbors == "approximate" and not able:
        raise ValueError(
            f"neighbors='approximate' supports dense rows and the metrics {', '.join(APPROXIMATE_METRICS)},"
            f" got metric={metric!r}"
        )
    slow = able and not few_features and X.shape[0] ** 2 * (X.shape[1] + 64.0) > TUNING.exact_operations
    large = able and not few_features and X.shape[0] > TUNING.exact_points
    if neighbors == "approximate" or (neighbors == "auto" and (slow or large)):
        return ApproximateIndex(np.asarray(X), str(metric), n_jobs)
    if few_features and power is not None:
        return TreeIndex(np.asarray(X), power, n_jobs)
    return BlockIndex(X, metric, params, n_jobs)


def _given_index(
    X: Rows,
    metric: Metric,
    metric_params: dict[str, Any] | None,
    n_jobs: int | None,
    neighbors: Any,
    distinct: tuple[np.ndarray, np.ndarray] | None,
) -> NeighborIndex:
    """Return the index for an object of the user."""
    name, m = type(neighbors).__name__, X.shape[0]
    if metric == "precomputed":
        raise ValueError(
            f"neighbors={name} cannot be combined with a precomputed matrix of distances, in which neighbours"
            " are searched; use neighbors='auto'"
        )
    if isinstance(neighbors, tuple):
        if len(neighbors) != 2:
            raise ValueError(f"neighbors must be a tuple (indices, distances), got {len(neighbors)} elements")
        index = neighbor_index(X, metric, metric_params, n_jobs, "exact")
        assert isinstance(index, RowSearch)
        index.listed, index.known_symmetric = listed_neighbors(*neighbors, m, distinct), False
        return index
    if isinstance(neighbors, type):
        raise ValueError(f"neighbors must be an object, got the class {neighbors.__name__}")
    if isinstance(neighbors, NeighborIndex):
        if distinct is not None and neighbors.n_points == len(distinct[1]) != m:
            return neighbors.subset(distinct[0])
        if neighbors.n_points != m:
            raise ValueError(f"neighbors={name} indexes {neighbors.n_points} points, but there are {m}")
        return neighbors
    if isinstance(neighbors, NeighborSearcher):
        return SearcherIndex(X, neighbors, None if distinct is None else distinct[1])
    shown = repr(neighbors) if isinstance(neighbors, str | int | float | None) else name
    raise ValueError(
        f"neighbors={shown} is not known; choose 'auto', 'exact' or 'approximate', or pass an object with"
        " kneighbors(X, n_neighbors), a tuple (indices, distances) or a NeighborIndex"
    )
