"""Estimation of the intrinsic dimension."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from eigenscape.graph.row_index import distinct_rows
from eigenscape.quality._validation import check_integer
from eigenscape.quality.distance_blocks import Distances
from eigenscape.quality.estimate import sample_indices
from eigenscape.quality.residual import geodesic_blocks

_METHODS = ("auto", "scikit-dimension", "eigengap", "residual variance")
#: Eigenvalues below this share of the largest are treated as noise of the sampled neighbourhoods.
_EIGENVALUE_FLOOR = 0.05
#: Residual variances below this are treated as errors of the graph distances.
_RESIDUAL_FLOOR = 1e-4


class Dimension(NamedTuple):
    """Result of :func:`intrinsic_dimension`; ``float(dimension)`` is the value.

    Attributes
    ----------
    value : float
        The estimated dimension.
    method : str
        The method used.
    details : dict
        The result of each method computed, with its spectrum or its residual variances.
    """

    value: float
    method: str
    details: dict[str, Any]

    def __float__(self) -> float:
        return self.value


def intrinsic_dimension(
    X: ArrayLike,
    *,
    method: Literal["auto", "scikit-dimension", "eigengap", "residual variance"] = "auto",
    n_neighbors: int = 20,
    n_samples: int | None = 500,
    most: int = 10,
    random_state: int | None = 0,
) -> Dimension:
    """Estimate the intrinsic dimension of the data.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        The data.
    method : {"auto", "scikit-dimension", "eigengap", "residual variance"}, default="auto"
        - "scikit-dimension": the maximum-likelihood estimate from nearest-neighbour distances (Levina and
          Bickel 2005), computed by the optional package scikit-dimension. It need not be an integer, and
          underestimates high dimensions.
        - "eigengap": local PCA of the neighbourhoods of sampled points. The dimension is the position of the
          largest ratio of successive mean eigenvalues, at most ``n_neighbors``.
        - "residual variance": classical MDS of the geodesic distances of sampled points, on the graph of
          ``n_neighbors // 2`` neighbours, as in Isomap. The dimension is the last component that halves the
          residual variance.
        - "auto": "scikit-dimension" if the package is installed, otherwise the smaller of the other two:
          noise increases the first, curvature and short cuts in the graph increase the second.
    n_neighbors : int, default=20
        Number of neighbours; reduced if there are fewer distinct rows.
    n_samples : int or None, default=500
        Number of points whose neighbourhoods are examined. If None, all points.
    most : int, default=10
        Largest number of components tried by "residual variance".
    random_state : int or None, default=0
        Seed of the sample.

    Returns
    -------
    Dimension
        The estimate, the method used, and the results of each method.

    Raises
    ------
    ModuleNotFoundError
        If ``method="scikit-dimension"`` and the package is not installed.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape.quality import intrinsic_dimension
    >>> X, _ = make_swiss_roll(1000, random_state=0)
    >>> intrinsic_dimension(X, method="eigengap").value
    2.0
    """
    if method not in _METHODS:
        raise ValueError(f"method={method!r} is not known; choose one of {', '.join(map(repr, _METHODS))}")
    check_integer("n_neighbors", n_neighbors, 1)
    check_integer("most", most, 1)
    installed = find_spec("skdim") is not None
    if method == "scikit-dimension" and not installed:
        raise ModuleNotFoundError(
            "method='scikit-dimension' needs the package scikit-dimension; install it or use method='auto'"
        )
    points = _distinct_points(X)
    n_neighbors = min(n_neighbors, len(points) - 1)
    which = sample_indices(len(points), n_samples, random_state)
    if method == "scikit-dimension" or (method == "auto" and installed):
        value = _maximum_likelihood(points, which, n_neighbors)
        return Dimension(value, "scikit-dimension", {"scikit-dimension": value})
    details: dict[str, Any] = {}
    if method in ("eigengap", "auto"):
        details["eigengap"], details["spectrum"] = _local_pca(points, which, n_neighbors)
    if method in ("residual variance", "auto"):
        details["residual variance"], details["residual variances"] = _geodesic_mds(
            points, which, max(n_neighbors // 2, 1), most
        )
    value = min(details[name] for name in ("eigengap", "residual variance") if name in details)
    return Dimension(float(value), "eigengap and residual variance" if method == "auto" else method, details)


def _distinct_points(X: ArrayLike) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions (samples, features), got shape {X.shape}")
    bad = int((~np.isfinite(X)).any(axis=1).sum())
    if bad:
        raise ValueError(f"X must be finite, but {bad} rows contain NaN or infinity; remove them")
    points = X[distinct_rows(X)[0]]
    if len(points) < 3:
        raise ValueError(f"the intrinsic dimension needs at least 3 distinct rows, got {len(points)}")
    return points


def _maximum_likelihood(points: np.ndarray, which: np.ndarray, k: int) -> float:
    squares, indices = Distances(points).nearest(which, k)
    # MLE uses the distances alone, but requires rows of at least two columns.
    rows = points if points.shape[1] > 1 else np.column_stack([points, np.zeros(len(points))])
    model = import_module("skdim.id").MLE()
    return float(model.fit(rows[which], precomputed_knn_arrays=(np.sqrt(squares), indices)).dimension_)


def _local_pca(points: np.ndarray, which: np.ndarray, k: int) -> tuple[int, np.ndarray]:
    """Return the position of the largest eigengap of the mean local spectrum, and the spectrum."""
    neighborhoods = np.column_stack([which, Distances(points).nearest(which, k)[1]])
    rank = min(k, points.shape[1])
    spectrum = np.zeros(rank + 1)
    for indices in neighborhoods:
        local = points[indices] - points[indices].mean(axis=0)
        values = np.square(linalg.svdvals(local))[:rank]
        spectrum[: len(values)] += values / values.sum()
    spectrum /= len(neighborhoods)
    raised = np.maximum(spectrum, _EIGENVALUE_FLOOR * spectrum[0])
    return int(np.argmax(raised[:-1] / raised[1:])) + 1, spectrum[:-1]


def _geodesic_mds(
    points: np.ndarray, which: np.ndarray, k: int, max_dimension: int
) -> tuple[int, np.ndarray]:
    """Return the last component that halves the residual variance, and the residual variances."""
    lengths = np.concatenate([block[:, which] for _, block in geodesic_blocks(points, which, k)])
    lengths = (lengths + lengths.T) / 2
    squares = np.square(lengths)
    mean = squares.mean(axis=0)
    values, vectors = linalg.eigh(-(squares - mean - mean[:, None] + mean.mean()) / 2)
    count = min(max_dimension, int((values > 1e-10 * values[-1]).sum()))
    coordinates = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1][:, :count]
    upper = np.triu_indices(len(which), 1)
    residuals, embedded = [], np.zeros(len(upper[0]))
    for column in coordinates.T:
        embedded += np.square(column[upper[0]] - column[upper[1]])
        residuals.append(1 - np.corrcoef(np.sqrt(embedded), lengths[upper])[0, 1] ** 2)
    curve = np.array(residuals)
    raised = np.concatenate([[1.0], curve]) + _RESIDUAL_FLOOR
    halved = np.flatnonzero(raised[1:] < raised[:-1] / 2)
    return int(halved[-1]) + 1 if len(halved) else 1, curve
