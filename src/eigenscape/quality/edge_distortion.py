"""Distortion of the edges of a graph by an embedding (Brand eq. 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from eigenscape._numbers import checked_sparse
from eigenscape._typing import Matrix
from eigenscape.solvers.generalized import generalized_eigh


def distortion(Y: ArrayLike, W: Matrix) -> float:
    """Compute the distortion of the edges of a graph by an embedding (Brand eq. 5).

    ``sum_k sum_ij (y_ik - y_jk)^2 W_ij / 2``, after ``Y`` is centred by its D-mean and transformed linearly
    so that ``Y' D Y = I``. The value is invariant to linear transformations of the coordinates, so
    embeddings of one graph in the same number of dimensions are comparable between methods. The minimum is
    the sum of ``1 - lambda_k`` over the coordinates of the graph itself; constant coordinates contribute 0.

    Parameters
    ----------
    Y : array-like of shape (n_vertices, n_components)
        Coordinates.
    W : ndarray or sparse array of shape (n_vertices, n_vertices)
        Symmetric, non-negative edge weights.

    Returns
    -------
    float
        The distortion.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import distortion
    >>> path = np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1)
    >>> round(distortion(np.array([[-1.0], [0.0], [1.0]]), path), 12)
    1.0
    """
    degree = np.asarray(checked_sparse(W, "W").sum(axis=1)).ravel()
    Y = np.asarray(Y, dtype=np.float64)
    centered = Y - degree @ Y / degree.sum()
    gram = centered.T @ (degree[:, None] * centered)
    return float(generalized_eigh(laplacian_form(centered, W), gram, order="smallest").values.sum())


def remove_loops(W: Matrix) -> Matrix:
    """Return the edges between different vertices.

    ``D - W`` does not depend on loops; large ones would cancel with a loss of precision.
    """
    if not sparse.issparse(W):
        return W - np.diag(np.diagonal(W))
    edges = sparse.coo_array(W)
    between = edges.row != edges.col
    return sparse.csr_array((edges.data[between], (edges.row[between], edges.col[between])), shape=W.shape)


def laplacian_form(Y: np.ndarray, W: Matrix) -> np.ndarray:
    """Return ``Y'(D - W)Y`` of shape (d, d), with ``D`` the diagonal matrix of the degrees."""
    edges = remove_loops(W)
    return Y.T @ (np.asarray(edges.sum(axis=1)).reshape(-1, 1) * Y - edges @ Y)
