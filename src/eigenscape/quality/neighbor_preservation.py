"""Trustworthiness and continuity (Venna and Kaski 2001)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from eigenscape._native.loops import count_below
from eigenscape._parameters import check_count
from eigenscape.quality.distance_blocks import Distances, Metric, paired_distances
from eigenscape.quality.intervals import Estimate, sample_indices, share_estimate


def trustworthiness(
    X: ArrayLike | sparse.csr_array,
    embedding: ArrayLike,
    n_neighbors: int = 10,
    metric: Metric = "euclidean",
) -> float:
    """Measure whether neighbours in the embedding are neighbours in the data.

    Each of the ``n_neighbors`` nearest neighbours in the embedding that is not among those in the data is
    penalised by its rank in the data. The sum is divided by its maximum for this ``n_neighbors``, and equal
    distances share the lower rank, so the result lies between 0 and 1 also with ties and for ``n_neighbors``
    above ``n_samples / 2``.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_samples, n_features)
        The data, or distances (n_samples, n_samples) if ``metric="precomputed"``.
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the embedding.
    n_neighbors : int, default=10
        Number of neighbours.
    metric : str or callable, default="euclidean"
        Metric of the data. Distances in the embedding are Euclidean.

    Returns
    -------
    float
        1 if all neighbourhoods agree, 0 in the worst case.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import continuity, trustworthiness
    >>> t = np.linspace(0, 5.5, 200)  # an open ring, projected to a line: neighbours there may be far apart
    >>> ring, line = np.column_stack([np.cos(t), np.sin(t)]), np.cos(t)[:, None]
    >>> bool(trustworthiness(ring, line) < continuity(ring, line))
    True
    """
    data, embedded = paired_distances(X, embedding, metric)
    return 1.0 - float(_penalties(data, embedded, n_neighbors, np.arange(data.n_points)).mean())


def continuity(
    X: ArrayLike | sparse.csr_array,
    embedding: ArrayLike,
    n_neighbors: int = 10,
    metric: Metric = "euclidean",
) -> float:
    """Measure whether neighbours in the data are neighbours in the embedding.

    This is :func:`trustworthiness` with the data and the embedding exchanged.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_samples, n_features)
        The data, or distances (n_samples, n_samples) if ``metric="precomputed"``.
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the embedding.
    n_neighbors : int, default=10
        Number of neighbours.
    metric : str or callable, default="euclidean"
        Metric of the data. Distances in the embedding are Euclidean.

    Returns
    -------
    float
        1 if all neighbourhoods agree, 0 in the worst case.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import continuity
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> continuity(X, 3 * X)
    1.0
    """
    data, embedded = paired_distances(X, embedding, metric)
    return 1.0 - float(_penalties(embedded, data, n_neighbors, np.arange(data.n_points)).mean())


def sampled_trustworthiness(
    X: ArrayLike | sparse.csr_array,
    embedding: ArrayLike,
    n_neighbors: int = 10,
    n_samples: int | None = 1000,
    random_state: int | None = 0,
    metric: Metric = "euclidean",
) -> Estimate:
    """Estimate :func:`trustworthiness` from a random sample of points.

    Every sampled point is ranked against all points, so the estimate is unbiased. Time is proportional to the
    sample size times the number of points; memory in addition to the data is bounded, and dense data may be a
    :class:`numpy.memmap`.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_points, n_features)
        The data, or distances (n_points, n_points) if ``metric="precomputed"``.
    embedding : array-like of shape (n_points, n_components)
        Coordinates of the embedding.
    n_neighbors : int, default=10
        Number of neighbours.
    n_samples : int or None, default=1000
        Sample size. If None or at least ``n_points``, the exact value is computed.
    random_state : int or None, default=0
        Seed of the sample.
    metric : str or callable, default="euclidean"
        Metric of the data. Distances in the embedding are Euclidean.

    Returns
    -------
    Estimate
        The value and its 95 % interval. Its lower end accounts for rare misplaced points that may be absent
        from the sample. The interval of an exact value has width zero.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import sampled_trustworthiness, trustworthiness
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> estimate = sampled_trustworthiness(X, X[:, :2], n_samples=200)
    >>> estimate.low < trustworthiness(X, X[:, :2]) < estimate.high
    True
    """
    data, embedded = paired_distances(X, embedding, metric)
    return _sampled(data, embedded, n_neighbors, n_samples, random_state)


def sampled_continuity(
    X: ArrayLike | sparse.csr_array,
    embedding: ArrayLike,
    n_neighbors: int = 10,
    n_samples: int | None = 1000,
    random_state: int | None = 0,
    metric: Metric = "euclidean",
) -> Estimate:
    """Estimate :func:`continuity` from a random sample of points.

    Every sampled point is ranked against all points, so the estimate is unbiased. Time is proportional to the
    sample size times the number of points; memory in addition to the data is bounded, and dense data may be a
    :class:`numpy.memmap`.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_points, n_features)
        The data, or distances (n_points, n_points) if ``metric="precomputed"``.
    embedding : array-like of shape (n_points, n_components)
        Coordinates of the embedding.
    n_neighbors : int, default=10
        Number of neighbours.
    n_samples : int or None, default=1000
        Sample size. If None or at least ``n_points``, the exact value is computed.
    random_state : int or None, default=0
        Seed of the sample.
    metric : str or callable, default="euclidean"
        Metric of the data. Distances in the embedding are Euclidean.

    Returns
    -------
    Estimate
        The value and its 95 % interval, as computed by :func:`sampled_trustworthiness`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import continuity, sampled_continuity
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> estimate = sampled_continuity(X, X[:, :2], n_samples=200)
    >>> estimate.low < continuity(X, X[:, :2]) < estimate.high
    True
    """
    data, embedded = paired_distances(X, embedding, metric)
    return _sampled(embedded, data, n_neighbors, n_samples, random_state)


def _sampled(
    reference: Distances, compared: Distances, k: int, n_samples: int | None, random_state: int | None
) -> Estimate:
    which = sample_indices(reference.n_points, n_samples, random_state)
    penalty = share_estimate(_penalties(reference, compared, k, which), reference.n_points)
    return Estimate(1 - penalty.value, max(1 - penalty.high, 0.0), min(1 - penalty.low, 1.0))


def _penalties(reference: Distances, compared: Distances, k: int, which: np.ndarray) -> np.ndarray:
    """Return the penalty of each point for its neighbours in ``compared``, relative to the worst case."""
    ranks = neighbor_ranks(reference, compared, k, which)
    return np.maximum(ranks - k, 0).sum(axis=1) / _worst_penalty(reference.n_points, k)


def neighbor_ranks(reference: Distances, compared: Distances, k: int, which: np.ndarray) -> np.ndarray:
    """Return the ranks (s, k) in ``reference`` of the ``k`` nearest neighbours in ``compared``.

    The nearest point in ``reference`` has rank 1; equal distances share the lower rank.
    """
    n = reference.n_points
    check_count("n_neighbors", k)
    if not 1 <= k <= n - 2:
        raise ValueError(f"n_neighbors={k} must lie between 1 and n_samples - 2 = {n - 2}")
    ranks = []
    for queries in reference.query_blocks(which, arrays=2):
        neighbors = compared.nearest(queries, k)[1]
        distance = reference.ranking_of_others(queries)
        counts = np.empty(neighbors.shape, dtype=np.int64)
        count_below(distance, np.take_along_axis(distance, neighbors, axis=1), counts)
        ranks.append(1 + counts)
    return np.concatenate(ranks)


def _worst_penalty(n: int, k: int) -> float:
    """Return the largest sum of ``max(rank - k, 0)`` over the neighbours of a point."""
    intruders = min(k, n - 1 - k)  # their ranks are n - 1, n - 2, ... in the worst case
    return intruders * (n - 1 - k) - intruders * (intruders - 1) / 2


def mean_excess_rank(score: float, n: int, k: int) -> float:
    """Return the mean of ``max(rank - k, 0)`` over all neighbours for a trustworthiness or continuity."""
    return (1 - score) * _worst_penalty(n, k) / k
