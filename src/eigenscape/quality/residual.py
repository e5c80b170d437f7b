"""How much of the distances a map does not explain (Tenenbaum's residual variance)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape.graph.components import component_labels, connect
from eigenscape.graph.geodesics import geodesics_to_landmarks
from eigenscape.graph.neighborhood import nearest_neighbor_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import distinct_rows
from eigenscape.quality.estimate import sample_points
from eigenscape.quality.spaces import Space, two_spaces


def residual_variance(
    X: Any,
    embedding: Any,
    *,
    metric: str | Callable = "euclidean",
    n_neighbors: int = 10,
    n_samples: int | None = 500,
    random_state: int | None = 0,
) -> float:
    r"""``1 - R^2``: the share of the variance of the data's distances that distances on the map do not
    explain.

    :math:`R` is the correlation of the two kinds of distance over pairs of different points. 0 is a perfect
    map, whatever its scale; 1 knows nothing. For Isomap the data's distances are geodesic, and its fall with
    the number of coordinates shows how many the data need (Tenenbaum et al.).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, n_features)
        The data, or their distances (n, n) with ``metric="precomputed"``.
    embedding : array-like of shape (n, n_components)
        The map.
    metric : str or callable, default="euclidean"
        How distances in the data are measured. "geodesic" measures along the graph of the ``n_neighbors``
        nearest neighbours, its components joined by their shortest edges.
    n_neighbors : int, default=10
        For "geodesic".
    n_samples : int or None, default=500
        Pairs are formed of this many points and all others; None for all pairs.
    random_state : int or None, default=0
        Which points.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape import Isomap
    >>> from eigenscape.quality import residual_variance
    >>> X, _ = make_swiss_roll(500, random_state=0)
    >>> flat = Isomap(n_neighbors=8).fit_transform(X)
    >>> residual_variance(X, flat, metric="geodesic", n_neighbors=8) < 0.01 < 0.5 < residual_variance(X, flat)
    True
    """
    geodesic = metric == "geodesic"
    data, picture = two_spaces(X, embedding, "euclidean" if geodesic else metric)
    which = sample_points(data.n_points, n_samples, random_state)
    lengths = geodesic_blocks(X, which, n_neighbors) if geodesic else _blocks(data, which)
    moments = _Moments()
    for queries, own in lengths:
        moments.add(own, picture.distances(queries))
    variances, covariance = moments.variances, moments.covariance
    if min(variances) <= 0:
        raise ValueError(
            "all distances of the data or of the map are equal, so they have no variance to explain"
        )
    return float(max(1 - covariance**2 / (variances[0] * variances[1]), 0.0))


class _Moments:
    """Sums over pairs of different points, around the means of the first block: near enough to the mean to
    keep the digits."""

    def __init__(self) -> None:
        self.shift: np.ndarray | None = None
        self.count = 0
        self.first, self.second = np.zeros(2), np.zeros((2, 2))

    def add(self, *pair: np.ndarray) -> None:
        """Two blocks of distances (b, n), which are changed. Each row has one zero in both, that of a point
        to itself, which is no pair."""
        if self.shift is None:
            self.shift = np.array([block.mean() for block in pair])
        for block, shift in zip(pair, self.shift, strict=True):
            block -= shift
        rows = len(pair[0])
        flat = [block.ravel() for block in pair]
        self.count += len(flat[0]) - rows
        self.first += np.array([values.sum() for values in flat]) + rows * self.shift
        self.second += np.array([[a @ b for a in flat] for b in flat]) - rows * np.outer(
            self.shift, self.shift
        )

    @property
    def _central(self) -> np.ndarray:
        return self.second - np.outer(self.first, self.first) / self.count

    @property
    def variances(self) -> tuple[float, float]:
        central = self._central
        least = 1e-13 * np.diagonal(self.second)  # what rounding leaves of equal distances
        return tuple(np.where(np.diagonal(central) > least, np.diagonal(central), 0.0))

    @property
    def covariance(self) -> float:
        return float(self._central[0, 1])


def _blocks(space: Space, which: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for queries in space.query_blocks(which, arrays=2):
        yield queries, space.distances(queries)


def geodesic_blocks(X: Any, which: np.ndarray, n_neighbors: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Points out of ``which`` and their geodesic distances (b, n) to all rows, block by block."""
    X = np.asarray(X, dtype=np.float64) if not hasattr(X, "tocsr") else X.tocsr()
    first, group = distinct_rows(X)
    if not 1 <= n_neighbors <= len(first) - 1:
        raise ValueError(
            f"n_neighbors={n_neighbors} must lie between 1 and the number of distinct rows less one, {len(first) - 1}"
        )
    graph = nearest_neighbor_graph(neighbor_index(X[first]), n_neighbors)
    graph = connect(graph, component_labels(graph.distances))
    for rows in row_blocks(len(which), 24 * X.shape[0], budget=2**28):
        lengths = geodesics_to_landmarks(graph, group[which[rows]])  # (m, b)
        yield which[rows], lengths.T[:, group]
