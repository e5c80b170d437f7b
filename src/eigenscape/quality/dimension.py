"""How many coordinates data need."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from eigenscape.graph.row_index import distinct_rows
from eigenscape.quality.arguments import check_whole
from eigenscape.quality.estimate import sample_points
from eigenscape.quality.residual import geodesic_blocks
from eigenscape.quality.spaces import Space, nearest_others

METHODS = ("auto", "scikit-dimension", "eigengap", "residual variance")
#: Eigenvalues below this share of the largest are as good as zero: sampled neighbourhoods tell no better.
_FLOOR = 0.05
#: Residual variances below this are as good as zero: paths along a graph tell no better.
_EXPLAINED = 1e-4


class Dimension(NamedTuple):
    """An intrinsic dimension, and how it was found. ``float(dimension)`` is the value."""

    value: float
    method: str  # what was used
    details: dict[str, Any]  # what each way of finding it gave

    def __float__(self) -> float:
        return self.value


def intrinsic_dimension(
    X: Any,
    *,
    method: str = "auto",
    n_neighbors: int = 20,
    n_samples: int | None = 500,
    most: int = 10,
    random_state: int | None = 0,
) -> Dimension:
    """How many coordinates the data need near most of their points.

    * "scikit-dimension": the maximum-likelihood estimate from distances to the nearest neighbours (Levina and Bickel), by that package
      where it is installed. It need not be whole, and falls short in high dimensions.
    * "eigengap": principal components of the neighbourhoods of sampled points; the number before the largest ratio of one mean
      eigenvalue to the next. At most ``n_neighbors``.
    * "residual variance": classical MDS of the geodesic distances of sampled points, as Isomap does, through half as many
      neighbours; the last coordinate that halves the residual variance.
    * "auto": the first where it is installed. Otherwise the smaller of the other two: noise raises the one, and curvature that
      no flat map can show, or short cuts in the graph, the other.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        The data.
    method : {"auto", "scikit-dimension", "eigengap", "residual variance"}, default="auto"
        See above; the result says which was used.
    n_neighbors : int, default=20
        Neighbours of each point (less one than there are distinct rows, at most).
    n_samples : int or None, default=500
        Points whose neighbourhoods are looked at, among all points; None for all.
    most : int, default=10
        Coordinates tried by "residual variance".
    random_state : int or None, default=0
        Which points.

    Returns
    -------
    Dimension
        ``value``, ``method`` and ``details``.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape.quality import intrinsic_dimension
    >>> X, _ = make_swiss_roll(1000, random_state=0)
    >>> intrinsic_dimension(X, method="eigengap").value
    2.0
    """
    if method not in METHODS:
        raise ValueError(f"method={method!r} is not known; choose one of {', '.join(map(repr, METHODS))}")
    check_whole("n_neighbors", n_neighbors)
    check_whole("most", most)
    installed = find_spec("skdim") is not None
    if method == "scikit-dimension" and not installed:
        raise ModuleNotFoundError(
            "method='scikit-dimension' needs the package scikit-dimension; install it or use method='auto'"
        )
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions (points, features), got shape {X.shape}")
    if not np.isfinite(X).all():
        raise ValueError(
            f"X must be finite numbers, and {(~np.isfinite(X)).any(axis=1).sum()} rows are not; leave them out"
        )
    points = X[distinct_rows(X)[0]]
    if len(points) < 3:
        raise ValueError(f"a dimension needs at least 3 distinct rows, got {len(points)}")
    if min(n_neighbors, most) < 1:
        raise ValueError(f"n_neighbors={n_neighbors} and most={most} must be at least 1")
    n_neighbors = min(n_neighbors, len(points) - 1)
    which = sample_points(len(points), n_samples, random_state)
    if method == "scikit-dimension" or (method == "auto" and installed):
        value = _by_likelihood(points, which, n_neighbors)
        return Dimension(value, "scikit-dimension", {"scikit-dimension": value})
    details: dict[str, Any] = {}
    if method in ("eigengap", "auto"):
        details["eigengap"], details["spectrum"] = _by_gap(points, which, n_neighbors)
    if method in ("residual variance", "auto"):
        details["residual variance"], details["residual variances"] = _by_residual(
            points, which, max(n_neighbors // 2, 1), most
        )
    value = min(details[name] for name in ("eigengap", "residual variance") if name in details)
    return Dimension(float(value), "eigengap and residual variance" if method == "auto" else method, details)


def _by_likelihood(points: np.ndarray, which: np.ndarray, k: int) -> float:
    from skdim.id import MLE

    length, number = nearest_others(Space(points), which, k)
    # The package asks for the rows too, but looks at the distances alone; it takes no single column.
    rows = points if points.shape[1] > 1 else np.column_stack([points, np.zeros(len(points))])
    return float(MLE().fit(rows[which], precomputed_knn_arrays=(np.sqrt(length), number)).dimension_)


def _by_gap(points: np.ndarray, which: np.ndarray, k: int) -> tuple[int, np.ndarray]:
    """Principal components of neighbourhoods: the last before the largest fall of their mean spectrum, and
    the spectrum."""
    number = np.column_stack([which, nearest_others(Space(points), which, k)[1]])
    rank = min(k, points.shape[1])
    spectrum = np.zeros(rank + 1)
    for around in number:
        local = points[around] - points[around].mean(axis=0)
        values = np.square(linalg.svdvals(local))[:rank]
        spectrum[: len(values)] += values / values.sum()
    spectrum /= len(number)
    raised = np.maximum(spectrum, _FLOOR * spectrum[0])
    return int(np.argmax(raised[:-1] / raised[1:])) + 1, spectrum[:-1]


def _by_residual(points: np.ndarray, which: np.ndarray, k: int, most: int) -> tuple[int, np.ndarray]:
    """Classical MDS of geodesic distances between sampled points: how many coordinates are enough, and what
    each number leaves."""
    lengths = np.concatenate([block[:, which] for _, block in geodesic_blocks(points, which, k)])
    lengths = (lengths + lengths.T) / 2
    squares = np.square(lengths)
    mean = squares.mean(axis=0)
    values, vectors = linalg.eigh(-(squares - mean - mean[:, None] + mean.mean()) / 2)
    count = min(most, int((values > 1e-10 * values[-1]).sum()))
    coordinates = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1][:, :count]
    upper = np.triu_indices(len(which), 1)
    left, seen = [], np.zeros(len(upper[0]))
    for column in coordinates.T:
        seen += np.square(column[upper[0]] - column[upper[1]])
        left.append(1 - np.corrcoef(np.sqrt(seen), lengths[upper])[0, 1] ** 2)
    curve = np.array(left)
    raised = np.concatenate([[1.0], curve]) + _EXPLAINED
    halved = np.flatnonzero(raised[1:] < raised[:-1] / 2)
    return int(halved[-1]) + 1 if len(halved) else 1, curve
