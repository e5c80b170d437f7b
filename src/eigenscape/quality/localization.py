"""Coordinates that single points or a handful determine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class LocalizedCoordinate(NamedTuple):
    """A coordinate that few points carry.

    Attributes
    ----------
    coordinate : int
        Index of the coordinate.
    ratio : float
        Its :func:`participation_ratio`.
    points : ndarray of shape (n_carrying,)
        Indices of the points that carry it, the largest contribution first.
    share : float
        Share of the sum of squares of the centred coordinate that these points have, at least 0.5.
    spread : float
        Standard deviation of all other points in the coordinate, divided by the range of the coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import localized_coordinates
    >>> Y = np.random.default_rng(0).standard_normal((100, 2))
    >>> Y[7, 1] = 200
    >>> [(found.coordinate, found.points.tolist()) for found in localized_coordinates(Y)]
    [(1, [7])]
    """

    coordinate: int
    ratio: float
    points: np.ndarray
    share: float
    spread: float


def participation_ratio(embedding: ArrayLike) -> np.ndarray:
    r"""Compute the effective number of points that carry each coordinate.

    .. math:: p_r = \frac{(\sum_i (y_{ir} - \bar y_r)^2)^2}{\sum_i (y_{ir} - \bar y_r)^4},

    the number of points divided by the kurtosis of the coordinate (Bell and Dean 1970). It is ``n`` if all
    points deviate from the mean by the same amount, ``n / 3`` for a normal distribution, and ``m`` if ``m``
    of very many points are apart from the others, which coincide. An eigenvector of a graph or a kernel with
    a ratio of a few points describes these points (outliers, a component that is almost disconnected, or a
    rare group) and nothing of the others.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the embedding. Rows with NaN or infinite values are ignored.

    Returns
    -------
    ndarray of shape (n_components,)
        The ratios, at least 1; NaN for a coordinate that is constant up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import participation_ratio
    >>> spread, single = np.linspace(-1, 1, 1000), np.eye(1000)[0]
    >>> participation_ratio(np.column_stack([spread, single])).round().astype(int).tolist()
    [556, 1]
    """
    shares = _contributions(_finite_rows(_as_coordinates(embedding))[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1.0 / np.square(shares).sum(axis=0)


def localized_coordinates(embedding: ArrayLike) -> list[LocalizedCoordinate]:
    """Find the coordinates that single points or a handful determine, and these points.

    A coordinate is localised if its :func:`participation_ratio` is at most 1 % of the points, where 5 points
    are always few and 30 are not, and at most a tenth of the points. The points that carry it are the points
    of largest contribution: as many as the ratio, rounded up, without points that contribute less than a
    quarter of ``1 / ratio``. Together they must contribute half of the sum of squares.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the embedding. Rows with NaN or infinite values are ignored.

    Returns
    -------
    list of LocalizedCoordinate
        The localised coordinates with the points that carry them, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import localized_coordinates
    >>> embedding = np.random.default_rng(0).standard_normal((500, 2))
    >>> embedding[17, 1] = 1000.0
    >>> [(found.coordinate, found.points.tolist()) for found in localized_coordinates(embedding)]
    [(1, [17])]
    """
    coordinates, rows = _finite_rows(_as_coordinates(embedding))
    shares, ratios = _contributions(coordinates), participation_ratio(coordinates)
    limit = min(float(np.clip(0.01 * len(rows), 5, 30)), 0.1 * len(rows))
    found = []
    for index in np.flatnonzero(ratios <= limit):
        ratio, values = float(ratios[index]), coordinates[:, index]
        order = np.argsort(-shares[:, index], kind="stable")
        largest = order[: int(np.ceil(ratio * (1 - 1e-9)))]  # the ratio of one point may exceed 1 by rounding
        carrying = largest[shares[largest, index] >= 0.25 / ratio]  # at least half as far from the mean
        share = float(shares[carrying, index].sum())
        if share >= 0.5:
            spread = _relative_spread(values, np.delete(values, carrying))
            found.append(LocalizedCoordinate(int(index), ratio, rows[carrying], share, spread))
    return found


def _relative_spread(values: np.ndarray, others: np.ndarray) -> float:
    """Return the standard deviation of some values divided by the range of all."""
    low, scale = values.min(), float(np.abs(values).max())
    return float((others / scale).std() / (values.max() / scale - low / scale))


def _as_coordinates(embedding: ArrayLike) -> np.ndarray:
    coordinates = np.asarray(embedding, dtype=np.float64)
    if coordinates.ndim != 2:
        raise ValueError(f"embedding must have shape (n_samples, n_components), got {coordinates.shape}")
    return coordinates


def _finite_rows(coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows without NaN and infinity, and their indices."""
    rows = np.flatnonzero(np.isfinite(coordinates).all(axis=1))
    return (coordinates, rows) if len(rows) == len(coordinates) else (coordinates[rows], rows)


def _contributions(coordinates: np.ndarray) -> np.ndarray:
    """Return the share of each point in the sum of squares of each centred coordinate; NaN if it is zero."""
    if len(coordinates) == 0:
        return np.full((1, coordinates.shape[1]), np.nan)
    largest = np.abs(coordinates).max(axis=0)
    scaled = coordinates / np.where(largest > 0, largest, 1.0)  # squares neither overflow nor underflow
    squares = np.square(scaled - scaled.mean(axis=0))
    total = squares.sum(axis=0)
    constant = total <= len(squares) * (4 * np.finfo(np.float64).eps) ** 2
    return squares / np.where(constant, np.nan, total)
