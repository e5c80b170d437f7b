"""Residual variance of the distances of an embedding (Tenenbaum et al. 2000)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._numbers import checked_sparse
from eigenscape.graph.components import component_labels, connect
from eigenscape.graph.geodesics import geodesics_to_landmarks
from eigenscape.graph.neighborhood import nearest_neighbor_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import distinct_rows
from eigenscape.quality.distance_blocks import Distances, Metric, paired_distances
from eigenscape.quality.intervals import sample_indices


def residual_variance(
    X: ArrayLike | sparse.csr_array,
    embedding: ArrayLike,
    *,
    metric: Metric = "euclidean",
    n_neighbors: int = 10,
    n_samples: int | None = 500,
    random_state: int | None = 0,
) -> float:
    r"""Compute ``1 - R^2`` between the distances in the data and in the embedding.

    :math:`R` is their correlation over pairs of different points. The residual variance is invariant to the
    scale of the embedding. With geodesic distances, its decrease with the number of components shows how
    many the data need (Tenenbaum et al. 2000).

    Parameters
    ----------
    X : array-like or sparse array of shape (n_points, n_features)
        The data, or distances (n_points, n_points) if ``metric="precomputed"``.
    embedding : array-like of shape (n_points, n_components)
        Coordinates of the embedding.
    metric : str or callable, default="euclidean"
        Metric of the data. "geodesic" is the length of the shortest path in the graph of the ``n_neighbors``
        nearest neighbours, whose components are joined by their shortest edges.
    n_neighbors : int, default=10
        Number of neighbours of the graph. Ignored unless ``metric="geodesic"``.
    n_samples : int or None, default=500
        Number of sampled points. Each is paired with all points. If None, all pairs are used.
    random_state : int or None, default=0
        Seed of the sample.

    Returns
    -------
    float
        0 if the distances are proportional, 1 if they are uncorrelated.

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
    data, embedded = paired_distances(X, embedding, "euclidean" if geodesic else metric)
    which = sample_indices(data.n_points, n_samples, random_state)
    blocks = geodesic_blocks(X, which, n_neighbors) if geodesic else _distance_blocks(data, which)
    moments = _PairMoments()
    for queries, distances in blocks:
        moments.add(distances, embedded.distances(queries))
    variances, covariance = moments.variances, moments.covariance
    if min(variances) <= 0:
        raise ValueError(
            "all distances of the data or of the embedding are equal, so there is no variance to explain"
        )
    return float(max(1 - covariance**2 / (variances[0] * variances[1]), 0.0))


class _PairMoments:
    """First and second moments of two sets of distances, accumulated over pairs of different points.

    Values are shifted by the means of the first block, to avoid cancellation.
    """

    def __init__(self) -> None:
        self.shift: np.ndarray | None = None
        self.count = 0
        self.first, self.second = np.zeros(2), np.zeros((2, 2))

    def add(self, *pair: np.ndarray) -> None:
        """Add two blocks of distances (b, n), which are overwritten.

        Each row contains the distance 0 of a point to itself, whose contribution is subtracted.
        """
        if self.shift is None:
            self.shift = np.array([block.mean() for block in pair])
        for block, shift in zip(pair, self.shift, strict=True):
            block -= shift
        rows = len(pair[0])
        flat = [block.ravel() for block in pair]
        self.count += len(flat[0]) - rows
        self.first += np.array([values.sum() for values in flat]) + rows * self.shift
        products = np.array([[a @ b for a in flat] for b in flat])
        self.second += products - rows * np.outer(self.shift, self.shift)

    @property
    def _central(self) -> np.ndarray:
        return self.second - np.outer(self.first, self.first) / self.count

    @property
    def variances(self) -> np.ndarray:
        """Variances (2,) times the number of pairs; 0 if below rounding errors."""
        central = np.diagonal(self._central)
        return np.where(central > 1e-13 * np.diagonal(self.second), central, 0.0)

    @property
    def covariance(self) -> float:
        return float(self._central[0, 1])


def _distance_blocks(data: Distances, which: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for queries in data.query_blocks(which, arrays=2):
        yield queries, data.distances(queries)


def geodesic_blocks(
    X: ArrayLike | sparse.csr_array, which: np.ndarray, n_neighbors: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of the indices ``which`` and their geodesic distances (b, n) to all rows of ``X``."""
    X = sparse.csr_array(checked_sparse(X)) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    first, group = distinct_rows(X)
    if not 1 <= n_neighbors <= len(first) - 1:
        raise ValueError(
            f"n_neighbors={n_neighbors} must lie between 1 and the number of distinct rows minus one,"
            f" {len(first) - 1}"
        )
    graph = nearest_neighbor_graph(neighbor_index(X[first]), n_neighbors)
    graph = connect(graph, component_labels(graph.distances))
    for rows in row_blocks(len(which), 24 * X.shape[0], budget=2**28):
        lengths = geodesics_to_landmarks(graph, group[which[rows]])  # (m, b)
        yield which[rows], lengths.T[:, group]
