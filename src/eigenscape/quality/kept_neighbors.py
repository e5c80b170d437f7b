"""Share of the nearest neighbours that an embedding keeps, compared with chance."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike
from scipy import sparse

from eigenscape.quality.distance_blocks import Metric, paired_distances
from eigenscape.quality.intervals import Estimate, mean_estimate, sample_indices
from eigenscape.quality.neighbor_preservation import neighbor_ranks


class NeighborsKept(NamedTuple):
    """Result of :func:`neighbors_kept`.

    ``float(kept)`` is the share.

    Attributes
    ----------
    share : Estimate
        Mean share of the nearest neighbours that are kept, and its 95 % interval.
    chance : float
        Expected share of a random embedding, ``n_neighbors / (n_samples - 1)``.
    n_neighbors : int
        Number of neighbours.
    n_points : int
        Number of points among which the neighbours were searched.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import neighbors_kept
    >>> X = np.random.default_rng(0).standard_normal((101, 2))
    >>> kept = neighbors_kept(X, 2 * X)
    >>> float(kept), kept.chance, kept.n_neighbors
    (1.0, 0.1, 10)
    """

    share: Estimate
    chance: float
    n_neighbors: int
    n_points: int

    def __float__(self) -> float:
        return self.share.value

    @property
    def beyond_chance(self) -> float:
        """``(share - chance) / (1 - chance)``: 0 for a random embedding, 1 if all neighbours are kept."""
        return (self.share.value - self.chance) / (1 - self.chance)


def neighbors_kept(
    X: ArrayLike | sparse.csr_array,
    embedding: ArrayLike,
    n_neighbors: int = 10,
    n_samples: int | None = 1000,
    random_state: int | None = 0,
    metric: Metric = "euclidean",
) -> NeighborsKept:
    r"""Compute the share of the nearest neighbours in the data that are nearest neighbours in the embedding.

    .. math:: Q = \frac1{k n} \sum_i |N^X_k(i) \cap N^Y_k(i)|

    is the value of :func:`coranking_curve` at :math:`k` (Lee and Verleysen 2009), with an interval. A random
    embedding keeps :math:`k / (n - 1)` of the neighbours; ``beyond_chance`` is the share rescaled by it (Lee
    et al. 2013).

    Trustworthiness and continuity divide the ranks of false neighbours by ``n``. In a large sample they are
    close to 1 as soon as neighbours come from the same region: a trustworthiness of 0.95 of 70 000 points
    allows a mean rank of 3500. Compare them with this share.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_points, n_features)
        The data, or distances (n_points, n_points) if ``metric="precomputed"``.
    embedding : array-like of shape (n_points, n_components)
        Coordinates of the embedding.
    n_neighbors : int, default=10
        Number of neighbours.
    n_samples : int or None, default=1000
        Number of sampled points. Each is compared with all points. If None or at least ``n_points``, the
        exact value is computed.
    random_state : int or None, default=0
        Seed of the sample.
    metric : str or callable, default="euclidean"
        Metric of the data. Distances in the embedding are Euclidean.

    Returns
    -------
    NeighborsKept
        The share with its 95 % interval, and the share expected by chance. Points as close in the data as
        the last neighbour count as neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import neighbors_kept
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> float(neighbors_kept(X, 2 * X))
    1.0
    >>> kept = neighbors_kept(X, X[::-1])  # another point's place
    >>> bool(abs(kept.beyond_chance) < 0.05)
    True
    """
    data, embedded = paired_distances(X, embedding, metric)
    n = data.n_points
    which = sample_indices(n, n_samples, random_state)
    ranks = neighbor_ranks(data, embedded, n_neighbors, which)
    share = mean_estimate((ranks <= n_neighbors).mean(axis=1), n)
    interval = Estimate(share.value, max(share.low, 0.0), min(share.high, 1.0))
    return NeighborsKept(interval, n_neighbors / (n - 1), n_neighbors, n)
