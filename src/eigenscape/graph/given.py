"""Neighbour indexes made from objects of the user: a searcher with ``kneighbors``, or neighbour lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse
from sklearn.base import clone

from eigenscape._typing import Rows
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.graph.foreign import exact_lengths
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.graph.search import NeighborIndex, RadiusQuery, RowSearch
from eigenscape.graph.sparse_distances import distance_table, nearest_entries

#: Number of neighbours requested first by a radius search, and the factor by which it grows.
_FIRST, _GROWTH = 16, 4
#: Number of points, and of their neighbours, by which the recall of an index is measured.
_SAMPLE, _NEIGHBORS = 200, 10


@runtime_checkable
class NeighborSearcher(Protocol):
    """Interface of scikit-learn's neighbour searchers, such as ``sklearn.neighbors.NearestNeighbors``."""

    def kneighbors(self, X: Any, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices of the nearest fitted samples, of shape (n_new, n_neighbors)."""
        ...


class SearcherIndex(RowSearch):
    """Index that delegates to an object with scikit-learn's ``kneighbors``, fitted to the rows ``X``.

    An object with ``get_params`` is cloned and the clone fitted, so the object itself is not modified. Other
    objects are used as they are and must have been fitted to the same rows, or to all samples, of which
    ``group`` (n_samples,) are the rows ``X``. ``exact`` searches parts of the rows and new points among each
    other, if the object cannot be fitted to these.
    """

    known_symmetric = False

    def __init__(
        self,
        X: Rows,
        searcher: NeighborSearcher,
        group: np.ndarray | None = None,
        exact: NeighborIndex | None = None,
    ) -> None:
        self.X, self.n_points, self._exact = X, X.shape[0], exact
        self._refit = hasattr(searcher, "get_params") and hasattr(searcher, "fit")
        self._searcher = clone(searcher).fit(X) if self._refit else searcher
        fitted = getattr(self._searcher, "n_samples_fit_", self.n_points)
        self._group = group if group is not None and fitted == len(group) != self.n_points else None
        if fitted != self.n_points and self._group is None:
            samples = f"{self.n_points} distinct ones" if group is None else f"{len(group)} samples"
            raise ValueError(
                f"neighbors={type(searcher).__name__} was fitted to {fitted} samples, but there are"
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
        name = f"neighbors={type(self._searcher).__name__}"
        distances, indices = (np.asarray(part) for part in self._searcher.kneighbors(Y, n_neighbors=k))
        indices, distances = _check_lists(indices, distances, (Y.shape[0], k), n_samples, name)
        recompute = getattr(self._searcher, "recompute", None)
        if recompute is not None:
            rows = indices if self._group is None else self._group[indices]
            distances = exact_lengths(Y, self.X, rows, recompute)
        return _sorted_lists(indices, distances)

    def measure_recall(self, exact: NeighborIndex) -> None:
        """Set ``recall``: the fraction of the nearest neighbours of a sample that the object finds."""
        sample = np.linspace(0, self.n_points - 1, min(_SAMPLE, self.n_points)).astype(np.intp)
        k = min(_NEIGHBORS, self.n_points)
        found, true = self.nearest(self.X[sample], k)[0], exact.nearest(self.X[sample], k)[0]
        self.recall = float(np.mean(found <= true[:, -1:] * (1 + 1e-6)))

    def search_radius(self, Y: Rows, radii: np.ndarray) -> sparse.csr_array:
        """Request more and more neighbours, until the last one is farther away than the largest radius."""
        limit, k = float(radii.max(initial=0.0)), min(_FIRST, self.n_points)
        pending = np.arange(Y.shape[0])
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        while len(pending):
            length, index = self.nearest(Y[pending], k)
            done = (length[:, -1] > limit) | (k == self.n_points)
            row, place = np.nonzero((length <= radii[index]) & done[:, None])
            parts.append((pending[row], index[row, place], length[row, place]))
            pending, k = pending[~done], min(_GROWTH * k, self.n_points)
        rows, columns, lengths = (np.concatenate(part) for part in zip(*parts, strict=True))
        return distance_table(rows, columns, lengths, (Y.shape[0], self.n_points))

    def radius_query(self, radii: np.ndarray) -> RadiusQuery:
        return RadiusQuery(self, radii)

    def subset(self, which: np.ndarray) -> NeighborIndex:
        if self._exact is not None:
            return self._exact.subset(which)
        if not self._refit:
            raise ValueError(
                f"neighbors={type(self._searcher).__name__} cannot be fitted to a part of the samples, which"
                " a disconnected graph requires; give it the methods fit and get_params, or connect the graph"
            )
        return SearcherIndex(self.X[which], self._searcher)

    def over(self, Z: Rows) -> NeighborIndex:
        if self._exact is not None:
            return index_over(self._exact, Z)
        if not self._refit:
            raise UndefinedKernelError(
                f"neighbors={type(self._searcher).__name__} cannot be fitted to new points, so the distances"
                " between these are not known; give it the methods fit and get_params"
            )
        return SearcherIndex(Z, self._searcher)


@dataclass(frozen=True, eq=False)
class NeighborListIndex:
    """Index whose neighbours of the training points are given; all other searches use ``base``."""

    base: NeighborIndex
    table: sparse.csr_array  # (n_points, n_points) distances to the neighbours given
    search_if_short: bool = False  # whether ``base`` is searched if the lists are too short

    known_symmetric = False

    @property
    def n_points(self) -> int:
        return self.base.n_points

    @property
    def recall(self) -> float:
        return self.base.recall

    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        table = self.table
        counts = np.diff(table.indptr)
        if counts.min() < k and self.search_if_short:
            return self.base.nearest_others_graph(k)
        if counts.min() < k:
            poorest = int(np.argmin(counts))
            raise ValueError(
                f"neighbors=(indices, distances) lists {counts[poorest]} distinct other samples for distinct"
                f" sample {poorest}, but n_neighbors={k} are needed; list more neighbours or lower"
                " n_neighbors"
            )
        return nearest_entries(table, k)

    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        return self.base.nearest(Y, k)

    def nearest_graph(self, Y: Rows, k: int) -> sparse.csr_array:
        return self.base.nearest_graph(Y, k)

    def radius_graph(self, Y: Rows, radii: np.ndarray) -> sparse.csr_array:
        return self.base.radius_graph(Y, radii)

    def radius_query(self, radii: np.ndarray) -> Any:
        return self.base.radius_query(radii)

    def vertices(self) -> RowIndex | DistanceRowIndex:
        return self.base.vertices()

    def points(self, which: np.ndarray) -> Any:
        return self.base.points(which)

    def subset(self, which: np.ndarray) -> NeighborIndex:
        return self.base.subset(which)

    def restrict(self, Y: Rows, which: np.ndarray) -> Rows:
        return self.base.restrict(Y, which)


def index_over(index: NeighborIndex, Z: Rows) -> NeighborIndex:
    """Return an index of other points, with the metric of ``index``."""
    if isinstance(index, NeighborListIndex):
        return index_over(index.base, Z)
    if isinstance(index, RowSearch):
        return index.over(Z)
    raise UndefinedKernelError(
        f"neighbors={type(index).__name__} indexes the training points only, so the distances between new"
        " points are not known; use neighbors='exact', or an object with kneighbors, fit and get_params"
    )


def neighbor_list_index(
    base: NeighborIndex,
    lists: tuple[Any, Any],
    distinct: tuple[np.ndarray, np.ndarray] | None,
    search_if_short: bool = False,
) -> NeighborListIndex:
    """Return an index whose neighbours of the training points are the given lists.

    Parameters
    ----------
    base : NeighborIndex
        Index of the distinct rows, for new points.
    lists : tuple (indices, distances)
        Two arrays of shape (n_samples, k). A sample may be listed among its own neighbours, in any column.
    distinct : tuple (first, group) or None
        Result of :func:`~eigenscape.graph.row_index.distinct_rows`, if the samples were reduced to distinct
        rows. Lists of duplicates are dropped, and duplicates within a list are merged.
    search_if_short : bool, default=False
        Whether ``base`` is searched if more neighbours are needed than are listed, instead of an error.
    """
    n = base.n_points if distinct is None else len(distinct[1])
    first, group = (np.arange(n), np.arange(n)) if distinct is None else distinct
    indices, distances = (np.asarray(part) for part in lists)
    shape = (n, indices.shape[1] if indices.ndim == 2 else 0)
    indices, distances = _check_lists(indices, distances, shape, n, "neighbors=(indices, distances)")
    row, place = np.nonzero(group[indices[first]] != np.arange(len(first))[:, None])
    column, length = group[indices[first][row, place]], distances[first][row, place]
    order = np.lexsort((length, column, row))  # of several duplicates the nearest is kept
    row, column, length = row[order], column[order], length[order]
    new = np.ones(len(row), dtype=bool)
    new[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    table = distance_table(row[new], column[new], length[new], (len(first), len(first)))
    return NeighborListIndex(base, table, search_if_short)


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
