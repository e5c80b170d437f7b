"""Neighbours before and after: trustworthiness and continuity (Venna and Kaski)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenscape.quality.arguments import check_whole
from eigenscape.quality.estimate import Estimate, sample_points, share_estimate
from eigenscape.quality.spaces import Space, nearest_others, to_others, two_spaces


def trustworthiness(
    X: Any, embedding: Any, n_neighbors: int = 10, metric: str | Callable = "euclidean"
) -> float:
    """How far neighbours on the map are neighbours in the data: 1 is perfect, 0 the worst possible.

    Every point among the ``n_neighbors`` nearest on the map that is not among those in the data is charged by
    how far down the data's ranking it stands. Points equally far share the better rank, and the sum is
    divided by the largest it can be for this ``n_neighbors``, so the result stays within 0 and 1 for ties and
    for ``n_neighbors`` beyond ``n / 2`` too.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, n_features)
        The data, or their distances (n, n) with ``metric="precomputed"``.
    embedding : array-like of shape (n, n_components)
        The map.
    n_neighbors : int, default=10
        How many neighbours count.
    metric : str or callable, default="euclidean"
        Of the data; the map is Euclidean.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import continuity, trustworthiness
    >>> t = np.linspace(0, 5.5, 200)  # a ring with a gap, flattened on a line: near points of the line may be far apart
    >>> ring, line = np.column_stack([np.cos(t), np.sin(t)]), np.cos(t)[:, None]
    >>> bool(trustworthiness(ring, line) < continuity(ring, line))
    True
    """
    data, picture = two_spaces(X, embedding, metric)
    return 1.0 - float(_charges(data, picture, n_neighbors, np.arange(data.n_points)).mean())


def continuity(X: Any, embedding: Any, n_neighbors: int = 10, metric: str | Callable = "euclidean") -> float:
    """How far neighbours in the data are neighbours on the map: trustworthiness with the two exchanged."""
    data, picture = two_spaces(X, embedding, metric)
    return 1.0 - float(_charges(picture, data, n_neighbors, np.arange(data.n_points)).mean())


def sampled_trustworthiness(
    X: Any,
    embedding: Any,
    n_neighbors: int = 10,
    n_samples: int | None = 1000,
    random_state: int | None = 0,
    metric: str | Callable = "euclidean",
) -> Estimate:
    """:func:`trustworthiness` from a sample of points, each ranked exactly against all, with a 95 % interval.

    Trustworthiness is a mean over points, so the mean over a sample has no bias, and the spread within the
    sample gives the interval, which leaves room below for rare bad points that the sample may have missed.
    Time grows as ``n_samples * n``; memory beside the data is bounded, and dense data may be a
    :class:`numpy.memmap`. With ``n_samples`` of ``n`` or more the exact value comes out, with an interval of
    width zero.

    Parameters
    ----------
    X, embedding, n_neighbors, metric
        As for :func:`trustworthiness`.
    n_samples : int or None, default=1000
        Points to ask; None for all.
    random_state : int or None, default=0
        Which points.

    Returns
    -------
    Estimate
        ``value``, ``low`` and ``high``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import sampled_trustworthiness, trustworthiness
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> estimate = sampled_trustworthiness(X, X[:, :2], n_samples=200)
    >>> estimate.low < trustworthiness(X, X[:, :2]) < estimate.high
    True
    """
    data, picture = two_spaces(X, embedding, metric)
    return _sampled(data, picture, n_neighbors, n_samples, random_state)


def sampled_continuity(
    X: Any,
    embedding: Any,
    n_neighbors: int = 10,
    n_samples: int | None = 1000,
    random_state: int | None = 0,
    metric: str | Callable = "euclidean",
) -> Estimate:
    """:func:`continuity` from a sample of points, as :func:`sampled_trustworthiness`."""
    data, picture = two_spaces(X, embedding, metric)
    return _sampled(picture, data, n_neighbors, n_samples, random_state)


def _sampled(truth: Space, claim: Space, k: int, n_samples: int | None, random_state: int | None) -> Estimate:
    which = sample_points(truth.n_points, n_samples, random_state)
    charge = share_estimate(_charges(truth, claim, k, which), truth.n_points)
    return Estimate(1 - charge.value, max(1 - charge.high, 0.0), min(1 - charge.low, 1.0))


def _charges(truth: Space, claim: Space, k: int, which: np.ndarray) -> np.ndarray:
    """What each of the points ``which`` is charged for its claimed neighbours, as a share of the worst
    possible."""
    from eigenscape._compiled.ranks import count_below

    n = truth.n_points
    check_whole("n_neighbors", k)
    if not 1 <= k <= n - 2:
        raise ValueError(f"n_neighbors={k} must lie between 1 and n_samples - 2 = {n - 2}")
    charges = []
    for queries in truth.query_blocks(which, arrays=2):
        claimed = nearest_others(claim, queries, k)[1]
        distance = to_others(truth, queries)
        rank = 1 + count_below(
            distance, np.take_along_axis(distance, claimed, axis=1)
        )  # equals share the better rank
        charges.append(np.maximum(rank - k, 0).sum(axis=1))
    intruders = min(k, n - 1 - k)  # at worst these ranks are n - 1, n - 2, ...
    worst = intruders * (n - 1 - k) - intruders * (intruders - 1) / 2
    return np.concatenate(charges) / worst
