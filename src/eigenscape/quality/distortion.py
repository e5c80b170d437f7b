"""How much a map stretches the edges of a graph (Brand eq. 5)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.solvers.generalized import generalized_eigh


def distortion(Y: np.ndarray, W: Any) -> float:
    """``sum_k sum_ij (y_ik - y_jk)^2 W_ij / 2`` after the D-mean of ``Y`` is removed and ``Y' D Y = I`` is
    made (Brand eq. 5).

    Maps of one graph into the same number of dimensions compare by it, whatever their method's scale: no
    linear change of the coordinates alters it. The least possible is the sum of ``1 - l_k`` over the graph's
    own coordinates; a coordinate that is constant counts nothing.

    Parameters
    ----------
    Y : ndarray of shape (n_vertices, n_components)
        Coordinates.
    W : ndarray or sparse array of shape (n_vertices, n_vertices)
        Symmetric edge weights, none negative.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import distortion
    >>> path = np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1)
    >>> round(distortion(np.array([[-1.0], [0.0], [1.0]]), path), 12)
    1.0
    """
    degree = np.asarray(W.sum(axis=1)).ravel()
    Y = np.asarray(Y, dtype=np.float64)
    Y = Y - degree @ Y / degree.sum()
    size = Y.T @ (degree[:, None] * Y)
    return float(generalized_eigh(stretch(Y, W), size, order="smallest").values.sum())


def without_loops(W: Any) -> Any:
    """The edges between different vertices. ``D - W`` is theirs alone; a heavy loop in both costs the digits
    of their difference."""
    if not sparse.issparse(W):
        return W - np.diag(np.diagonal(W))
    edges = sparse.coo_array(W)
    between = edges.row != edges.col
    return sparse.csr_array((edges.data[between], (edges.row[between], edges.col[between])), shape=W.shape)


def stretch(Y: np.ndarray, W: Any) -> np.ndarray:
    """``Y'(D - W)Y`` (d, d), ``D`` the degrees."""
    edges = without_loops(W)
    return Y.T @ (np.asarray(edges.sum(axis=1)).reshape(-1, 1) * Y - edges @ Y)
