"""How many neighbours a map keeps, for neighbourhoods of every size (Lee and Verleysen's co-ranking
matrix)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenscape.quality.estimate import sample_points
from eigenscape.quality.spaces import Space, to_others, two_spaces

#: The default grid goes no farther: beyond, a map of very many points is judged by its distances, not by its
#: neighbours.
_LARGEST = 10_000


def coranking_curve(
    X: Any,
    embedding: Any,
    n_neighbors: Any = None,
    n_samples: int | None = 1000,
    random_state: int | None = 0,
    metric: str | Callable = "euclidean",
) -> tuple[np.ndarray, np.ndarray]:
    r"""Share of the ``k`` nearest neighbours in the data that are among the ``k`` nearest on the map, for
    many ``k``.

    .. math:: Q_{NX}(k) = \frac1{k n} \sum_i |N^X_k(i) \cap N^Y_k(i)|,

    the upper left block of the co-ranking matrix (Lee and Verleysen). 1 is perfect; a random map has ``k / (n
    - 1)``. A map that is right at large and wrong at small has a curve that begins low.

    Parameters
    ----------
    X, embedding, metric
        As for :func:`trustworthiness`.
    n_neighbors : int, sequence of int or None, default=None
        The sizes ``k``. None: about thirty from 1 to ``n - 1`` (10 000 at most), evenly spaced on a
        logarithmic scale.
    n_samples : int or None, default=1000
        Points whose neighbours are compared, each against all; None for all points.
    random_state : int or None, default=0
        Which points.

    Returns
    -------
    sizes, shares : ndarray of shape (n_sizes,)

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import coranking_curve
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> sizes, shares = coranking_curve(X, X @ [[0.0, 2.0], [-2.0, 0.0]])
    >>> bool((shares == 1).all())
    True
    """
    data, picture = two_spaces(X, embedding, metric)
    sizes = _sizes(n_neighbors, data.n_points)
    which = sample_points(data.n_points, n_samples, random_state)
    common = np.zeros(len(sizes))
    for queries in data.query_blocks(which, arrays=4):
        near, mapped = (_nearest(space, queries, int(sizes.max())) for space in (data, picture))
        common += _in_common(near, mapped, sizes)
    return sizes, common / (sizes * len(which))


def _sizes(n_neighbors: Any, n: int) -> np.ndarray:
    if n < 3:
        raise ValueError(f"neighbours need at least 3 points to be compared, got {n}")
    if n_neighbors is None:
        return np.unique(np.geomspace(1, min(n - 1, _LARGEST), 30).round().astype(np.intp))
    sizes = np.unique(np.atleast_1d(np.asarray(n_neighbors)))
    if sizes.dtype.kind not in "iu" or not len(sizes) or sizes[0] < 1 or sizes[-1] > n - 1:
        raise ValueError(
            f"n_neighbors={n_neighbors!r} must be whole numbers between 1 and n_samples - 1 = {n - 1}"
        )
    return sizes.astype(np.intp)


def _nearest(space: Space, queries: np.ndarray, k: int) -> np.ndarray:
    """The ``k`` nearest others of each query, nearest first, (b, k); ties by row number as far as a partition
    lets them."""
    distance = to_others(space, queries)
    chosen = (
        np.argpartition(distance, k - 1, axis=1)[:, :k]
        if k < space.n_points - 1
        else np.argsort(distance, axis=1)[:, :k]
    )
    chosen = np.sort(chosen, axis=1)
    return np.take_along_axis(
        chosen, np.argsort(np.take_along_axis(distance, chosen, axis=1), axis=1, kind="stable"), axis=1
    )


def _in_common(near: np.ndarray, mapped: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """How many points are among the first ``k`` of both lists, for every ``k`` of ``sizes``, summed over the
    rows."""
    worse = []
    for mine, theirs in zip(near, mapped, strict=True):
        _, place, other = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
        worse.append(np.maximum(place, other) + 1)  # the smallest k that has the point in both
    return np.searchsorted(np.sort(np.concatenate(worse)), sizes, side="right").astype(np.float64)
