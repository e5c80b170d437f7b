"""scikit-learn's trustworthiness, in blocks of rows: no matrix of all distances is stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.manifold import _t_sne as theirs
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from eigenscape._memory import row_blocks
from eigenscape._native import loops
from eigenscape._threads import parallel_map
from eigenscape.accel._rebind import function
from eigenscape.accel._record import UnsupportedProblemError, replaces

#: Metrics whose value for two rows depends on these rows only.
_METRICS = ("euclidean", "l2", "cosine", "manhattan", "l1", "cityblock", "chebyshev", "sqeuclidean")


@replaces("ranks", theirs.trustworthiness)
def _trustworthiness(X: Any, X_embedded: Any, *, n_neighbors: int = 5, metric: Any = "euclidean") -> float:
    n = _num_samples(X)
    if metric not in _METRICS:
        raise UnsupportedProblemError("metric is a function" if callable(metric) else f"metric={metric!r}")
    if n_neighbors >= n / 2:
        raise UnsupportedProblemError("invalid parameters")  # scikit-learn raises the error
    X = check_array(X, accept_sparse="csr")
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(X_embedded)
    nearest = search.kneighbors(return_distance=False)

    def penalty(rows: slice) -> int:
        distances = pairwise_distances(X[rows], X, metric=metric)
        ranks = _ranks(distances, nearest[rows], rows.start)
        return int(np.maximum(ranks - n_neighbors, 0).sum())

    total = sum(parallel_map(penalty, row_blocks(n, 32.0 * n)))
    return np.float64(1.0 - total * (2.0 / (n * n_neighbors * (2.0 * n - 3.0 * n_neighbors - 1.0))))


def _count_below(distances: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Count the entries of each row (b, n) below some values (b, k)."""
    counts = np.empty(values.shape, dtype=np.int64)
    loops.count_below(distances, values, counts)
    return counts


def _ranks(distances: np.ndarray, neighbors: np.ndarray, first: int) -> np.ndarray:
    """Return the ranks (b, k) of ``neighbors`` (b, k) in rows of distances (b, n), the nearest being 1.

    ``first`` is the number of the first row, whose distance to itself does not count. Equal distances are in
    the order that NumPy's sort gives them, as in scikit-learn.
    """
    distances = np.ascontiguousarray(distances, dtype=np.float64)
    inside = np.arange(len(distances))
    distances[inside, first + inside] = np.inf
    values = np.take_along_axis(distances, neighbors, axis=1)
    ranks = _count_below(distances, values) + 1
    equal = _count_below(distances, np.nextafter(values, np.inf)) - ranks
    for row in np.flatnonzero((equal > 0).any(axis=1)):
        place = np.empty(distances.shape[1], dtype=np.intp)
        place[np.argsort(distances[row])] = np.arange(1, len(place) + 1)
        ranks[row] = place[neighbors[row]]
    return ranks


trustworthiness = function(theirs.trustworthiness, __name__, _trustworthiness)
