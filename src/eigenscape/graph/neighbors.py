"""Choice of a neighbour index; all indexes have the same interface for training points and new ones.

* ``TreeIndex``: SciPy's k-d tree, exact, for dense rows of few features and Minkowski metrics: up to 6
  features, and up to 16 if a search visits few leaves of the tree, which samples of the rows tell.
* ``BlockIndex``: blocks of the distance matrix, exact, for everything else. Lower bounds of Euclidean
  distances are computed by a matrix product in single precision, in a few principal directions if these
  suffice, and candidates are compared by exact distances, so that the result does not depend on the blocks.
* ``ApproximateIndex``: instead of blocks, for many dense rows (30 000, or 11 000 of 784 features) and a
  Euclidean or cosine metric, unless ``search="exact"``. Its recall is measured and reported.
* ``PrecomputedIndex``: a precomputed matrix of distances, dense or sparse.
* ``SearcherIndex``: an object of the user with ``kneighbors``, see :func:`neighbor_index`.

Ties are broken by the values of the rows, in a precomputed matrix and by an object of the user by row number.
The result for a query does not depend on other queries.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from scipy import sparse
from sklearn.base import clone

from eigenscape._typing import Rows, is_sparse
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.graph.approximate import ApproximateIndex
from eigenscape.graph.blocks import BlockIndex, Metric, resolve_metric_params
from eigenscape.graph.precomputed import PrecomputedIndex
from eigenscape.graph.row_index import RowIndex
from eigenscape.graph.search import NeighborIndex, RowSearch
from eigenscape.graph.sparse_distances import distance_table
from eigenscape.graph.tree import TreeIndex, visited_leaves
from eigenscape.graph.tuning import TUNING


@runtime_checkable
class NeighborSearcher(Protocol):
    """Interface of scikit-learn's neighbour searchers, such as ``sklearn.neighbors.NearestNeighbors``."""

    def kneighbors(self, X: Any, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices of the nearest fitted samples, of shape (n_new, n_neighbors)."""
        ...


class SearcherIndex(RowSearch):
    """Index that delegates to an object with scikit-learn's ``kneighbors``, fitted to the rows ``X``.

    An object with ``get_params`` is cloned and the clone fitted, so the object itself is not modified. Other
    objects are used as they are and must have been fitted to the same rows, or to all samples, for which
    ``group`` (n_samples,) holds the numbers of their rows in ``X``.
    """

    known_symmetric = False

    def __init__(self, X: Rows, searcher: NeighborSearcher, group: np.ndarray | None = None) -> None:
        self.X, self.n_points = X, X.shape[0]
        self._refit = hasattr(searcher, "get_params") and hasattr(searcher, "fit")
        self._searcher = clone(searcher).fit(X) if self._refit else searcher
        fitted = getattr(self._searcher, "n_samples_fit_", self.n_points)
        self._group = group if group is not None and fitted == len(group) != self.n_points else None
        if fitted != self.n_points and self._group is None:
            samples = f"{self.n_points} distinct ones" if group is None else f"{len(group)} samples"
            raise ValueError(
                f"search={type(searcher).__name__} was fitted to {fitted} samples, but there are"
                f" {samples}; fit it to the same rows as the estimator"
            )

    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        if self._group is None:
            return self._nearest_samples(Y, k, self.n_points)
        n_samples = len(self._group)
        count = min(2 * k, n_samples)
        while True:  # until there are k distinct rows among the nearest samples
            length, index = self._nearest_samples(Y, count, n_samples)
            index = self._group[index]
            repeated = np.zeros(index.shape, dtype=bool)
            order = np.argsort(index, axis=1, kind="stable")
            ranked = np.take_along_axis(index, order, axis=1)
            np.put_along_axis(repeated[:, :], order[:, 1:], ranked[:, 1:] == ranked[:, :-1], axis=1)
            if count == n_samples or (~repeated).sum(axis=1).min(initial=k) >= k:
                break
            count = min(2 * count, n_samples)
        first = np.argsort(repeated, axis=1, kind="stable")[:, :k]
        return _sorted_lists(
            np.take_along_axis(index, first, axis=1), np.take_along_axis(length, first, axis=1)
        )

    def _nearest_samples(self, Y: Rows, k: int, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices (n_new, k) of the nearest fitted samples."""
        name = f"search={type(self._searcher).__name__}"
        distances, indices = (np.asarray(part) for part in self._searcher.kneighbors(Y, n_neighbors=k))
        indices, distances = _check_lists(indices, distances, (Y.shape[0], k), n_samples, name)
        return _sorted_lists(indices, distances)

    def search_radius(self, Y: Rows, reach: np.ndarray) -> sparse.csr_array:
        """Request more and more neighbours, until the last one is farther away than the largest radius."""
        limit, k = float(reach.max(initial=0.0)), min(16, self.n_points)
        pending = np.arange(Y.shape[0])
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        while len(pending):
            length, index = self.nearest(Y[pending], k)
            done = (length[:, -1] > limit) | (k == self.n_points)
            row, place = np.nonzero((length <= reach[index]) & done[:, None])
            parts.append((pending[row], index[row, place], length[row, place]))
            pending, k = pending[~done], min(4 * k, self.n_points)
        rows, columns, lengths = (np.concatenate(part) for part in zip(*parts, strict=True))
        return distance_table(rows, columns, lengths, (Y.shape[0], self.n_points))

    def subset(self, which: np.ndarray) -> SearcherIndex:
        if not self._refit:
            raise ValueError(
                f"search={type(self._searcher).__name__} cannot be fitted to a part of the samples, which"
                " a disconnected graph requires; give it the methods fit and get_params, or connect the graph"
            )
        return SearcherIndex(self.X[which], self._searcher)

    def over(self, Z: Rows) -> SearcherIndex:
        if not self._refit:
            raise UndefinedKernelError(
                f"search={type(self._searcher).__name__} cannot be fitted to new points, so the distances"
                " between these are not known; give it the methods fit and get_params"
            )
        return SearcherIndex(Z, self._searcher)


def listed_neighbors(
    indices: Any, distances: Any, n_points: int, distinct: tuple[np.ndarray, np.ndarray] | None
) -> sparse.csr_array:
    """Return the given neighbours of the indexed points as a sparse matrix (n_points, n_points) of distances.

    Parameters
    ----------
    indices, distances : array-like of shape (n_samples, k)
        A sample may be listed among its own neighbours, in any column.
    n_points : int
        Number of indexed points.
    distinct : tuple (first, group) or None
        Result of :func:`~eigenscape.graph.row_index.distinct_rows`, if the samples were reduced to distinct
        rows. Lists of duplicates are dropped, and duplicates within a list are merged.
    """
    first, group = (np.arange(n_points), np.arange(n_points)) if distinct is None else distinct
    indices, distances, n = np.asarray(indices), np.asarray(distances), len(group)
    shape = (n, indices.shape[1] if indices.ndim == 2 else 0)
    indices, distances = _check_lists(indices, distances, shape, n, "search=(indices, distances)")
    row, place = np.nonzero(group[indices[first]] != np.arange(len(first))[:, None])
    column, length = group[indices[first][row, place]], distances[first][row, place]
    order = np.lexsort((length, column, row))  # the nearest of several duplicates is kept
    row, column, length = row[order], column[order], length[order]
    new = np.ones(len(row), dtype=bool)
    new[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    return distance_table(row[new], column[new], length[new], (len(first), len(first)))


def _check_lists(
    indices: np.ndarray, distances: np.ndarray, shape: tuple[int, int], n_points: int, name: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return neighbour lists as integers and floats, or raise an error that begins with ``name``."""
    if indices.ndim != 2 or indices.shape != shape or distances.shape != shape:
        raise ValueError(
            f"{name} must be two arrays of shape {shape if shape[1] else f'({shape[0]}, k)'},"
            f" got indices of shape {indices.shape} and distances of shape {distances.shape}"
        )
    if indices.dtype.kind not in "iu":
        swapped = "; the order is (indices, distances)" if distances.dtype.kind in "iu" else ""
        raise ValueError(f"{name}: indices must be integers, got {indices.dtype}{swapped}")
    if indices.min(initial=0) < 0 or indices.max(initial=0) >= n_points:
        wrong = int(indices.min() if indices.min() < 0 else indices.max())
        raise ValueError(f"{name}: indices must be between 0 and {n_points - 1}, got {wrong}")
    if distances.dtype.kind not in "iuf":
        raise ValueError(f"{name}: distances must be real numbers, got {distances.dtype}")
    distances = distances.astype(np.float64)
    if not (np.isfinite(distances).all() and (distances >= 0).all()):
        row = int(np.flatnonzero(~(np.isfinite(distances) & (distances >= 0)).all(axis=1))[0])
        raise ValueError(f"{name}: distances must be finite and not negative; check row {row}")
    return indices.astype(np.intp), distances


def _sorted_lists(indices: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and indices, each list sorted by distance and then by index."""
    order = np.lexsort((indices, distances), axis=1)
    return np.take_along_axis(distances, order, axis=1), np.take_along_axis(indices, order, axis=1)


__all__ = ["NeighborIndex", "NeighborSearcher", "Neighbors", "neighbor_index"]

STRATEGIES = ("auto", "exact", "approximate")
APPROXIMATE_METRICS = ("euclidean", "l2", "cosine")

_MINKOWSKI = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "l1": 1.0, "cityblock": 1.0, "chebyshev": np.inf}

#: Values of ``search``: the name of a strategy, an index, a searcher, or ``(indices, distances)``.
Neighbors: TypeAlias = (
    Literal["auto", "exact", "approximate"] | NeighborIndex | NeighborSearcher | tuple[Any, Any]
)


def neighbor_index(
    X: Rows,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    search: Neighbors = "auto",
    distinct: tuple[np.ndarray, np.ndarray] | None = None,
    rows: RowIndex | None = None,
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
    search : {"auto", "exact", "approximate"}, object or tuple, default="auto"
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
    rows : RowIndex, optional
        Index that recognises the rows of ``X``, if it has been computed.

    Returns
    -------
    NeighborIndex

    Raises
    ------
    ValueError
        If ``search`` does not suit the metric or the data.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import NearestNeighbors
    >>> from eigenscape.graph.neighbors import neighbor_index
    >>> X = np.arange(6.0)[:, None]
    >>> index = neighbor_index(X, search=NearestNeighbors(algorithm="ball_tree"))
    >>> index.nearest(np.array([[2.2]]), 2)[1].tolist()
    [[2, 3]]
    """
    if not isinstance(search, str):
        return _given_index(X, metric, metric_params, n_jobs, search, distinct)
    if metric == "precomputed":
        return PrecomputedIndex(X)
    params = resolve_metric_params(metric, metric_params, X)
    power = None if params else _MINKOWSKI.get(str(metric))
    if metric == "minkowski" and set(params) <= {"p"}:
        power = float(params.get("p", 2.0))
    able = metric in APPROXIMATE_METRICS and not params and not is_sparse(X)
    if search == "approximate" and not able:
        raise ValueError(
            f"search='approximate' supports dense rows and the metrics {', '.join(APPROXIMATE_METRICS)},"
            f" got metric={metric!r}"
        )
    slow = X.shape[0] ** 2 * (X.shape[1] + 64.0) > TUNING.exact_operations
    large = able and search == "auto" and (slow or X.shape[0] > TUNING.exact_points)
    if search != "approximate" and power is not None and _tree_is_fast(X, power, large):
        return TreeIndex(np.asarray(X), power, n_jobs)
    if search == "approximate" or large:
        return ApproximateIndex(np.asarray(X), str(metric), n_jobs, rows)
    return BlockIndex(X, metric, params, n_jobs)


def _tree_is_fast(X: Rows, power: float, large: bool) -> bool:
    """Return whether a k-d tree is faster than blocks or, for ``large`` data, than approximate search."""
    always, most = TUNING.tree_features
    if is_sparse(X) or power < 1 or X.shape[1] > most:
        return False
    if X.shape[1] <= always or power != 2 or X.shape[0] < TUNING.sampled_rows:
        return True
    limit = TUNING.leaf_fraction * X.shape[0]
    return visited_leaves(np.asarray(X)) < (min(limit, TUNING.most_leaves) if large else limit)


def _given_index(
    X: Rows,
    metric: Metric,
    metric_params: dict[str, Any] | None,
    n_jobs: int | None,
    search: Any,
    distinct: tuple[np.ndarray, np.ndarray] | None,
) -> NeighborIndex:
    """Return the index for an object of the user."""
    name, m = type(search).__name__, X.shape[0]
    if metric == "precomputed":
        raise ValueError(
            f"search={name} cannot be combined with a precomputed matrix of distances, in which neighbours"
            " are searched; use search='auto'"
        )
    if isinstance(search, tuple):
        if len(search) != 2:
            raise ValueError(f"search must be a tuple (indices, distances), got {len(search)} elements")
        index = neighbor_index(X, metric, metric_params, n_jobs, "exact")
        assert isinstance(index, RowSearch)
        index.listed, index.known_symmetric = listed_neighbors(*search, m, distinct), False
        return index
    if isinstance(search, type):
        raise ValueError(f"search must be an object, got the class {search.__name__}")
    if isinstance(search, NeighborIndex):
        if distinct is not None and search.n_points == len(distinct[1]) != m:
            return search.subset(distinct[0])
        if search.n_points != m:
            raise ValueError(f"search={name} indexes {search.n_points} points, but there are {m}")
        return search
    if isinstance(search, NeighborSearcher):
        return SearcherIndex(X, search, None if distinct is None else distinct[1])
    shown = repr(search) if isinstance(search, str | int | float | None) else name
    raise ValueError(
        f"search={shown} is not known; choose 'auto', 'exact' or 'approximate', or pass an object with"
        " kneighbors(X, n_neighbors), a tuple (indices, distances) or a NeighborIndex"
    )
