"""Neighbourhood preservation at all sizes, from the co-ranking matrix (Lee and Verleysen 2009)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from eigenscape.quality.distance_blocks import Distances, Metric, paired_distances
from eigenscape.quality.intervals import sample_indices


def coranking_curve(
    X: ArrayLike | sparse.csr_array,
    embedding: ArrayLike,
    n_neighbors: int | Sequence[int] | np.ndarray | None = None,
    n_samples: int | None = 1000,
    random_state: int | None = 0,
    metric: Metric = "euclidean",
) -> tuple[np.ndarray, np.ndarray]:
    r"""Compute the share of the ``k`` nearest neighbours that an embedding preserves, for many ``k``.

    .. math:: Q_{NX}(k) = \frac1{k n} \sum_i |N^X_k(i) \cap N^Y_k(i)|,

    the mean of the upper left block of the co-ranking matrix (Lee and Verleysen 2009). The value is 1 for a
    perfect embedding and ``k / (n - 1)`` in expectation for a random one. A curve that starts low and rises
    belongs to an embedding that preserves the global structure but not the local one.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_points, n_features)
        The data, or distances (n_points, n_points) if ``metric="precomputed"``.
    embedding : array-like of shape (n_points, n_components)
        Coordinates of the embedding.
    n_neighbors : int, sequence of int or None, default=None
        Neighbourhood sizes ``k``. If None, about thirty sizes from 1 to ``n_points - 1`` (at most 10 000),
        evenly spaced on a logarithmic scale.
    n_samples : int or None, default=1000
        Number of sampled points. Each is compared with all points. If None, all points.
    random_state : int or None, default=0
        Seed of the sample.
    metric : str or callable, default="euclidean"
        Metric of the data. Distances in the embedding are Euclidean.

    Returns
    -------
    sizes : ndarray of shape (n_sizes,)
        The neighbourhood sizes, ascending.
    shares : ndarray of shape (n_sizes,)
        The preserved shares.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import coranking_curve
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> sizes, shares = coranking_curve(X, X @ [[0.0, 2.0], [-2.0, 0.0]])
    >>> bool((shares == 1).all())
    True
    """
    data, embedded = paired_distances(X, embedding, metric)
    sizes = _neighborhood_sizes(n_neighbors, data.n_points)
    which = sample_indices(data.n_points, n_samples, random_state)
    common = np.zeros(len(sizes))
    for queries in data.query_blocks(which, arrays=4):
        near, mapped = (_nearest(distances, queries, int(sizes.max())) for distances in (data, embedded))
        common += _count_common(near, mapped, sizes)
    return sizes, common / (sizes * len(which))


def _neighborhood_sizes(n_neighbors: int | Sequence[int] | np.ndarray | None, n: int) -> np.ndarray:
    if n < 3:
        raise ValueError(f"at least 3 samples are needed to compare neighbours, got {n}")
    if n_neighbors is None:
        return np.unique(np.geomspace(1, min(n - 1, 10_000), 30).round().astype(np.intp))
    sizes = np.unique(np.atleast_1d(np.asarray(n_neighbors)))
    if sizes.dtype.kind not in "iu" or not len(sizes) or sizes[0] < 1 or sizes[-1] > n - 1:
        raise ValueError(
            f"n_neighbors={n_neighbors!r} must be integers between 1 and n_samples - 1 = {n - 1}"
        )
    return sizes.astype(np.intp)


def _nearest(distances: Distances, queries: np.ndarray, k: int) -> np.ndarray:
    """Return the ``k`` nearest other points (b, k), nearest first.

    Equal distances are ordered by index, except at the boundary of the partition.
    """
    values = distances.ranking_of_others(queries)
    partial = k < distances.n_points - 1
    chosen = np.argpartition(values, k - 1, axis=1) if partial else np.argsort(values, axis=1)
    chosen = np.sort(chosen[:, :k], axis=1)
    order = np.argsort(np.take_along_axis(values, chosen, axis=1), axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1)


def _count_common(near: np.ndarray, mapped: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Count the points among the first ``k`` of both lists, for each ``k`` in ``sizes``, over all rows."""
    entries = []
    for by_data, by_embedding in zip(near, mapped, strict=True):
        _, first, second = np.intersect1d(by_data, by_embedding, assume_unique=True, return_indices=True)
        entries.append(np.maximum(first, second) + 1)  # the smallest k with the point in both lists
    return np.searchsorted(np.sort(np.concatenate(entries)), sizes, side="right").astype(np.float64)
