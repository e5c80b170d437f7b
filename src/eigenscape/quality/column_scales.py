"""Columns of a table whose scale dominates the distances between its rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from eigenscape._memory import row_blocks
from eigenscape._numbers import checked_sparse


class DominantColumns(NamedTuple):
    """Columns whose variance is most of the total variance.

    Attributes
    ----------
    columns : ndarray of shape (n_dominant,)
        Indices of the columns, the largest variance first.
    shares : ndarray of shape (n_dominant,)
        Their shares of the total variance.
    n_columns : int
        Number of columns that are not constant.
    effective : float
        Effective number of columns, the inverse of the sum of the squared shares of all columns.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import dominant_columns
    >>> X = np.random.default_rng(0).standard_normal((50, 4)) * [1, 100, 1, 1]
    >>> dominant_columns(X).columns
    array([1])
    """

    columns: np.ndarray
    shares: np.ndarray
    n_columns: int
    effective: float


def variance_shares(X: ArrayLike | sparse.csr_array) -> np.ndarray:
    r"""Compute the share of each column in the total variance.

    It is also the share of the column in the mean squared Euclidean distance between rows, which is twice
    the total variance.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_samples, n_features)
        The data. NaN is ignored.

    Returns
    -------
    ndarray of shape (n_features,)
        The shares. They are zero if all columns are constant.

    Examples
    --------
    >>> from eigenscape.quality import variance_shares
    >>> variance_shares([[0.0, 0.0, 7.0], [1.0, 3.0, 7.0]]).tolist()
    [0.1, 0.9, 0.0]
    """
    given: Any = X
    is_sparse = sparse.issparse(given)
    rows: Any = sparse.csr_array(checked_sparse(given)) if is_sparse else np.asarray(given)
    if rows.ndim != 2:
        raise ValueError(f"X must have shape (n_samples, n_features), got {rows.shape}")
    variance = mean_variance_axis(rows.astype(np.float64), 0)[1] if is_sparse else _dense_variance(rows)
    total = variance.sum()
    return variance / total if total > 0 else np.zeros_like(variance)


def dominant_columns(X: ArrayLike | sparse.csr_array) -> DominantColumns | None:
    """Find the columns whose scale dominates the Euclidean distances between rows.

    With shares :math:`s_j` of the columns in the total variance (:func:`variance_shares`), the effective
    number of columns is :math:`1 / \\sum_j s_j^2`. A few columns dominate if it is at most 5 and at most a
    third of the number of columns. The distances, and the map of a method that uses them, then depend
    mainly on these columns; standardise the columns unless their units are comparable. Images and other
    features of similar scale have a large effective number.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_samples, n_features)
        The data. NaN is ignored.

    Returns
    -------
    DominantColumns or None
        The columns with at least a tenth of the total variance, or None if no few columns dominate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from eigenscape.quality import dominant_columns
    >>> wine = load_wine()
    >>> found = dominant_columns(wine.data)
    >>> wine.feature_names[found.columns[0]], found.shares.round(3).tolist()
    ('proline', [0.998])
    >>> dominant_columns(load_iris().data) is None
    True
    """
    shares = variance_shares(X)
    n_columns = int(np.count_nonzero(shares))
    if n_columns < 2:
        return None
    effective = float(1 / np.square(shares).sum())
    # Two or three columns are dominated if a single one has about 95 % of the variance: 1.1 effective
    # columns.
    if effective > max(1.1, min(5.0, n_columns / 3)):
        return None
    order = np.argsort(-shares, kind="stable")
    chosen = order[shares[order] >= 0.1]
    return DominantColumns(chosen, shares[chosen], n_columns, effective)


def _dense_variance(X: np.ndarray) -> np.ndarray:
    """Return the variance of the finite values of each column, in blocks of rows."""
    blocks = list(row_blocks(len(X), 32 * max(1, X.shape[1])))
    total, count, squares = np.zeros((3, X.shape[1]))
    for rows in blocks:
        values = np.asarray(X[rows], dtype=np.float64)
        count += np.isfinite(values).sum(axis=0)
        total += np.where(np.isfinite(values), values, 0.0).sum(axis=0)
    count = np.maximum(count, 1)
    mean = total / count
    for rows in blocks:
        deviation = np.asarray(X[rows], dtype=np.float64) - mean
        squares += np.square(np.where(np.isfinite(deviation), deviation, 0.0)).sum(axis=0)
    variance = squares / count
    # a constant column deviates from its rounded mean by rounding
    return np.where(variance <= np.square(8 * np.finfo(np.float64).eps * mean), 0.0, variance)
