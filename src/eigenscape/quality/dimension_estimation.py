"""Estimation of the intrinsic dimension from the distances to nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, stats

from eigenscape._numbers import check_numbers, checked_sparse
from eigenscape._parameters import check_count
from eigenscape._typing import Rows, is_sparse
from eigenscape.graph.blocks import Metric
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import distinct_rows
from eigenscape.graph.search import without_own
from eigenscape.quality.intervals import sample_indices

_METHODS = ("maximum likelihood", "two neighbors")


class Dimension(NamedTuple):
    """Result of :func:`intrinsic_dimension`; ``float(dimension)`` is the value.

    Attributes
    ----------
    value : float
        The estimated dimension, not an integer in general.
    low, high : float
        Ends of the 95 % interval of its sampling error. The bias is not included: the interval need not
        contain the true dimension.
    method : str
        The method used.
    details : dict
        "n_distinct", the number of distinct rows; "n_queries", the number of points whose neighbours were
        searched; "n_neighbors"; for "maximum likelihood" also "by_n_neighbors", the estimates for
        ``2 .. n_neighbors`` neighbours. They decrease if noise has more dimensions than the data.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import intrinsic_dimension
    >>> line = np.random.default_rng(0).random((500, 1)) @ np.ones((1, 6))
    >>> dimension = intrinsic_dimension(line)
    >>> dimension.low < dimension.value < dimension.high, round(dimension.value)
    (True, 1)
    """

    value: float
    low: float
    high: float
    method: str
    details: dict[str, Any]

    def __float__(self) -> float:
        return self.value


def intrinsic_dimension(
    X: ArrayLike | sparse.csr_array,
    *,
    method: Literal["maximum likelihood", "two neighbors"] = "maximum likelihood",
    n_neighbors: int = 20,
    metric: Metric = "euclidean",
    n_samples: int | None = 1000,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Dimension:
    r"""Estimate the intrinsic dimension of the data.

    In a neighbourhood where the density of a ``d``-dimensional distribution is constant, the number of points
    within a distance ``t`` grows as ``t^d``. With the distances :math:`T_1 \le \dots \le T_k` from a point to
    its nearest neighbours, the logarithms of their ratios have mean ``1 / d``:

    .. math:: \frac 1 d = \frac 1 {n (k - 1)} \sum_{i=1}^n \sum_{j=1}^{k-1} \log \frac{T_k(x_i)}{T_j(x_i)}.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_points, n_features), or (n_points, n_points)
        The data, or distances if ``metric="precomputed"``. Equal rows count once.
    method : {"maximum likelihood", "two neighbors"}, default="maximum likelihood"
        - "maximum likelihood": the formula above, the estimator of Levina and Bickel (2005) with the average
          over points of MacKay and Ghahramani (2005), who average inverse dimensions.
        - "two neighbors": the slope of the line through the origin that fits ``-log(1 - F)`` as a function of
          ``log(T_2 / T_1)``, where ``F`` is the empirical distribution of the ratio without its largest 10 %
          (Facco et al. 2017). It measures the smallest scale: its bias is smaller, its variance larger, and
          noise increases it more.
    n_neighbors : int, default=20
        Number of neighbours ``k`` of "maximum likelihood"; reduced if there are fewer distinct rows.
    metric : str or callable, default="euclidean"
        Metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    n_samples : int or None, default=1000
        Number of points whose neighbours are searched, among all points. If None, all points.
    random_state : int or None, default=0
        Seed of the sample and of the halves from which the interval is computed.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    Dimension
        The estimate with the interval of its sampling error.

    Notes
    -----
    The interval is Student's, with the variance of the estimates from 20 random halves of the points: the
    errors of different points are not independent, because their neighbourhoods overlap. It is infinite for
    fewer than six distinct rows. It covers the sampling error only, not the bias: of 100 samples of 1000
    points, the intervals of "maximum likelihood" contain the mean of the estimates 97 times for a square and
    98 times for a Gaussian in three dimensions, but the true dimension 28 times (estimates are 1.93 on
    average) and 65 times (3.06). The wider intervals of "two neighbors" contain it 98 and 99 times.

    Both estimators are too low in high dimension, where even the nearest neighbours are as far as the
    boundary or the curvature: exact estimates need a number of points that is exponential in ``d``. With 2000
    points "maximum likelihood" gives 4.5 to 5 for cubes, Gaussians and spheres of dimension 5, 8.2 to 9.1 for
    dimension 10, and 14.4 to 15.6 for dimension 20; "two neighbors" gives 15 to 18 for dimension 20. Noise in
    more dimensions than the data increases both where the distances to the neighbours are not large compared
    with it; more neighbours reduce its effect.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape.quality import intrinsic_dimension
    >>> X, _ = make_swiss_roll(1000, random_state=0)
    >>> round(intrinsic_dimension(X).value, 1)
    1.9
    """
    if method not in _METHODS:
        raise ValueError(f"method={method!r} is not known; choose one of {', '.join(map(repr, _METHODS))}")
    check_count("n_neighbors", n_neighbors, 2)
    points = _distinct_points(X, metric)
    n = points.shape[0]
    k = min(n_neighbors, n - 1) if method == "maximum likelihood" else 2
    which = sample_indices(n, n_samples, random_state)
    lengths, indices = _neighbors(points, metric, which, k, n_jobs)
    estimate = _levina_bickel if method == "maximum likelihood" else _facco
    inverse = estimate(np.log(lengths[:, :k]))
    if inverse == 0:
        raise ValueError(
            f"the {k} nearest neighbours of a point are equally far, for every point, so the dimension cannot"
            " be estimated from their distances; use method='maximum likelihood' or increase n_neighbors"
        )
    half = _half_width(estimate, lengths, indices, which, k, n, random_state)
    details: dict[str, Any] = {"n_distinct": n, "n_queries": len(which), "n_neighbors": k}
    if method == "maximum likelihood":
        with np.errstate(divide="ignore"):
            details["by_n_neighbors"] = np.array(
                [1 / np.float64(_levina_bickel(np.log(lengths[:, :j]))) for j in range(2, k + 1)]
            )
    low = 1 / (inverse + half)
    high = 1 / (inverse - half) if half < inverse else np.inf
    return Dimension(1 / inverse, low, high, method, details)


def _levina_bickel(logs: np.ndarray) -> float:
    """Return ``1 / d`` from the logarithms (n, k) of sorted distances, averaged over points."""
    return float(np.mean(logs[:, -1:] - logs[:, :-1]))


def _facco(logs: np.ndarray) -> float:
    """Return ``1 / d`` from the logarithms (n, 2) of two sorted distances, by the slope of a line."""
    n = len(logs)
    kept = min(int(0.9 * n), n - 1)  # without the largest tenth (Facco et al.)
    x = np.sort(logs[:, 1] - logs[:, 0])[:kept]
    y = -np.log1p(-np.arange(1, kept + 1) / n)
    return float((x @ x) / max(float(x @ y), np.finfo(np.float64).tiny))


def _neighbors(
    points: Rows, metric: Metric, which: np.ndarray, k: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and indices of about ``3 k`` neighbours, so that a random half has ``k``."""
    count = min(3 * k + 10, points.shape[0] - 1)
    index = neighbor_index(points, metric, n_jobs=n_jobs, search="exact")
    lengths, indices = index.nearest(points[which], count + 1)
    indices, lengths = without_own(which, indices, lengths)
    if not lengths.min() > 0:
        row = int(which[np.argmin(lengths.min(axis=1))])
        raise ValueError(
            f"metric={metric!r} has the distance {lengths.min():g} between distinct rows (row {row} of the"
            " distinct rows), and the logarithms of distances are needed; choose another metric, or remove"
            " such rows"
        )
    return lengths, indices


def _half_width(
    estimate: Callable[[np.ndarray], float],
    lengths: np.ndarray,
    indices: np.ndarray,
    which: np.ndarray,
    k: int,
    n: int,
    random_state: int | None,
) -> float:
    """Return half the 95 % interval of ``1 / d``, from its variance over random halves of the points.

    Over subsets of ``b`` of ``n`` points the variance of a mean is ``1 / b - 1 / n`` times the variance of a
    value.
    """
    b = n // 2
    k = min(k, b - 1)
    if k < 2:
        return np.inf
    rng = np.random.default_rng(random_state)
    values, n_halves = [], 20
    for _ in range(n_halves):
        absent = np.ones(n, dtype=bool)
        absent[rng.choice(n, b, replace=False)] = False
        queries = ~absent[which]
        missing = absent[indices[queries]]
        order = np.argsort(missing, axis=1, kind="stable")[:, :k]  # present ones first, sorted by distance
        complete = ~np.take_along_axis(missing, order, axis=1)[:, -1]
        if complete.sum() < 2:
            return np.inf
        values.append(estimate(np.log(np.take_along_axis(lengths[queries], order, axis=1)[complete])))
    deviation = np.std(values, ddof=1) * np.sqrt(b / (n - b))
    return float(stats.t.ppf(0.975, n_halves - 1) * deviation)


def _distinct_points(X: ArrayLike | sparse.csr_array, metric: Metric) -> Rows:
    """Return the distinct rows, or the distances between distinct points."""
    checked_sparse(X)
    points: Rows = sparse.csr_array(X).astype(np.float64) if is_sparse(X) else np.asarray(X, dtype=np.float64)
    if points.ndim != 2:
        raise ValueError(f"X must have two dimensions (samples, features), got shape {points.shape}")
    finite = np.isfinite(points.data if is_sparse(points) else points)
    if not finite.all():
        bad = "some values are" if finite.ndim == 1 else f"{int((~finite).any(axis=1).sum())} rows contain"
        raise ValueError(f"X must be finite, but {bad} NaN or infinity; remove them")
    check_numbers(points)
    if metric == "precomputed":
        points = _distinct_distances(points)
    else:
        points = points[np.sort(distinct_rows(points)[0])]
    if points.shape[0] < 3:
        raise ValueError(f"the intrinsic dimension needs at least 3 distinct rows, got {points.shape[0]}")
    return points


def _distinct_distances(distances: Rows) -> np.ndarray:
    if is_sparse(distances) or distances.shape[0] != distances.shape[1]:
        kind = "sparse" if is_sparse(distances) else "dense"
        raise ValueError(
            f"metric='precomputed' needs a dense square matrix of distances, got a {kind} matrix of shape"
            f" {distances.shape}"
        )
    # A point is kept unless an earlier one has the distance 0 from it.
    kept = np.flatnonzero([np.argmin(row[: i + 1] > 0) == i for i, row in enumerate(distances)])
    return distances if len(kept) == len(distances) else distances[np.ix_(kept, kept)]
