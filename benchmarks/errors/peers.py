"""Error measures of libraries that do not return their matrix, which is computed here from the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph
from sklearn.neighbors import kneighbors_graph

from benchmarks.cases.model import NEIGHBORS
from benchmarks.errors.shared import MAX_RESIDUAL, MAX_ZERO_RESIDUAL


def has_ties(X: np.ndarray) -> bool:
    """Return whether the last neighbour of some row is as near as the next one, so that graphs may differ."""
    distances = kneighbors_graph(X, NEIGHBORS + 1, mode="distance").data.reshape(len(X), -1)
    last, following = np.sort(distances)[:, -2:].T
    return bool((following <= last * (1 + 1e-7)).any())


def tapkee_graph(X: np.ndarray) -> Any:
    """Return the graph ``C + C'`` of tapkee, ``C`` the nearest neighbours with weight 1."""
    C = sparse.csr_array(kneighbors_graph(X, NEIGHBORS))
    return sparse.csr_array(C + C.T)


def lle_matrix(X: np.ndarray) -> Any:
    """Return the matrix ``(I - W)'(I - W)`` of LLE with the regularisation of tapkee and scikit-learn."""
    W = barycenter_kneighbors_graph(np.asarray(X, dtype=np.float64), NEIGHBORS, reg=1e-3)
    R = sparse.eye_array(len(X)) - sparse.csr_array(W)
    return sparse.csr_array(R.T @ R)


def scanpy_diffusion(model: Any) -> dict[str, Any]:
    """Return the residual of scanpy's vectors with its transition matrix (``alpha = 1``).

    The vectors are in single precision, whose rounding is accepted; a graph with several components has
    eigenvalues of one, to which no residual is relative.
    """
    W = sparse.csr_array(model.graph_).astype(np.float64)
    q = np.asarray(W.sum(axis=0)).ravel()
    K = sparse.diags_array(1 / q) @ W @ sparse.diags_array(1 / q)
    z = np.sqrt(np.asarray(K.sum(axis=0)).ravel())
    T = sparse.diags_array(1 / z) @ K @ sparse.diags_array(1 / z)
    V = np.asarray(model.embedding_, dtype=np.float64)
    V = V / np.linalg.norm(V, axis=0)
    TV = T @ V
    values = (V * TV).sum(axis=0)
    rest = np.linalg.norm(TV - values * V, axis=0)
    rounding = 10 * np.finfo(model.embedding_.dtype).eps
    gaps = np.maximum(np.abs(1 - values), MAX_ZERO_RESIDUAL / MAX_RESIDUAL)
    return {
        "residual": float((rest / gaps).max()),
        "floor": float((rounding / gaps).max()),
        "excess": float((rest / np.maximum(MAX_RESIDUAL * gaps, rounding)).max()),
    }
