"""Neighbour indexes made from objects of the user: a searcher with ``kneighbors``, or neighbour lists."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse
from sklearn.base import clone

from eigenscape._typing import Rows
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.graph.search import RowSearch
from eigenscape.graph.sparse_distances import distance_table


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
                f"neighbors={type(self._searcher).__name__} cannot be fitted to a part of the samples, which"
                " a disconnected graph requires; give it the methods fit and get_params, or connect the graph"
            )
        return SearcherIndex(self.X[which], self._searcher)

    def over(self, Z: Rows) -> SearcherIndex:
        if not self._refit:
            raise UndefinedKernelError(
                f"neighbors={type(self._searcher).__name__} cannot be fitted to new points, so the distances"
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
    indices, distances = _check_lists(indices, distances, shape, n, "neighbors=(indices, distances)")
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
