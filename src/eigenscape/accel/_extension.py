"""Places of new points in spectral embeddings, for which scikit-learn has no method.

The embedding solves ``A z = (1 - s) D z``, ``A`` the affinities without the diagonal and ``D`` their sums. A
new point ``x`` is placed by the same equation, its Nystrom formula (Bengio eq. 20):

    ``z(x) = sum_j a(x, x_j) z_j / ((1 - s) sum_j a(x, x_j))``

It joins the graph by the rule that built it, without changing the neighbours of training points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._threads import single_blas_thread
from eigenscape.exceptions import RankError
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import RowIndex

#: Eigenvalues ``1 - s`` below this are rounding errors of zero.
_ZERO = 1e-9


def place(Y: np.ndarray, X: np.ndarray, affinities: Any, A: Any, Z: np.ndarray) -> np.ndarray:
    """Return the coordinates (n_new, r) of the points ``Y``; those of training points are rows of ``Z``.

    Parameters
    ----------
    Y : ndarray of shape (n_new, n_features)
    X : ndarray of shape (n, n_features)
        Training points.
    affinities : callable
        Returns the affinities (b, n) of some new points.
    A : ndarray or sparse matrix of shape (n, n)
        Affinities of the training points.
    Z : ndarray of shape (n, r)
        Their coordinates.
    """
    out = np.empty((len(Y), Z.shape[1]))
    train = RowIndex(X).find(Y)
    known, new = np.flatnonzero(train >= 0), np.flatnonzero(train < 0)
    out[known] = Z[train[known]]
    values = _eigenvalues(A, Z)
    if len(new) and (np.abs(values) < _ZERO).any():
        raise RankError(
            "an eigenvalue of the affinities is zero, so its coordinate has no value at new points; lower"
            " n_components"
        )
    for block in row_blocks(len(new), 16.0 * len(X)):
        rows = affinities(Y[new[block]])
        sums = np.asarray(rows.sum(axis=1)).ravel()
        weighted = (rows @ Z) / values
        out[new[block]] = np.divide(
            weighted, sums[:, None], out=np.zeros_like(weighted), where=sums[:, None] > 0
        )
    return out


def _eigenvalues(A: Any, Z: np.ndarray) -> np.ndarray:
    """Return ``1 - s`` of each column: Rayleigh quotients of the affinities without their diagonal."""
    diagonal = A.diagonal()
    degrees = np.asarray(A.sum(axis=0)).ravel() - diagonal
    products = np.asarray(A @ Z) - diagonal[:, None] * Z
    return (Z * products).sum(axis=0) / (degrees[:, None] * Z**2).sum(axis=0)


def neighbor_affinities(X: np.ndarray, k: int, n_jobs: int | None) -> Any:
    """Return a function that computes the affinities of new points in a graph of ``k`` neighbours.

    An edge has weight 1/2 for each of its ends that is among the nearest neighbours of the other.
    """
    index = neighbor_index(X, n_jobs=n_jobs, neighbors="exact")
    with single_blas_thread():
        radii = index.nearest(X, k)[0][:, -1]

    def affinities(Y: np.ndarray) -> sparse.csr_array:
        with single_blas_thread():
            # One neighbour less, since each training point was the first of its own.
            near, within = index.nearest_graph(Y, max(k - 1, 1)), index.radius_graph(Y, radii)
        for graph in (near, within):
            graph.data[:] = 0.5
        return sparse.csr_array(near + within)

    return affinities


def training_rows(X: Any) -> np.ndarray | None:
    """Return training points to keep for :func:`place`: rows in double precision, or None if sparse."""
    return None if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def require_rows(rows: np.ndarray | None) -> np.ndarray:
    """Return the training points, or raise ValueError if they were sparse."""
    if rows is None:
        raise ValueError("new points can be placed only if the training data are dense; pass a dense array")
    return rows
