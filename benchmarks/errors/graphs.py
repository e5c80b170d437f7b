"""Error measures of methods on graphs: Laplacian eigenmaps, clustering, diffusion maps, LLE, Isomap."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score

from benchmarks.data import Data
from benchmarks.errors import neighbors, peers
from benchmarks.errors.shared import (
    MAX_RESIDUAL,
    MAX_ZERO_RESIDUAL,
    coefficient,
    is_eigenscape,
    own_residual,
    principal,
)

EPS = np.finfo(np.float64).eps


def laplacian(model: Any, data: Data) -> dict[str, Any]:
    """Return residual, recall, and r^2 of Laplacian eigenmaps.

    scikit-learn returns ``z = D^-1/2 v``; it ignores the loops of its graph in the degrees and in the solver.
    """
    Z = np.asarray(model.embedding_, dtype=np.float64)
    if type(model).__name__ == "Tapkee":
        found = {"r2": coefficient(Z, data.coordinates)}
        if peers.has_ties(data.X):
            return found
        return {**found, **laplacian_residual(peers.tapkee_graph(data.X), Z)}
    # Equal rows share a vertex of the graph: use the residuals computed by the estimator.
    if is_eigenscape(model) and model.kernel_.X.shape[0] != len(Z):
        return {"residual": float((model.residuals_ / (1 - model.eigenvalues_)).max())}
    W = sparse.csr_array(
        model.kernel_.base(model.kernel_.X) if is_eigenscape(model) else model.affinity_matrix_
    )
    error = {**laplacian_residual(W, Z), "r2": coefficient(Z, data.coordinates)}
    if is_eigenscape(model) and model.embedding_.dtype == np.float32:
        error["residual"] = own_residual(model)  # of the vectors in double precision
    return error if sparse.issparse(data.X) else {**error, "recall": neighbors.of_graph(W, data.X)}


def laplacian_residual(W: Any, Z: np.ndarray) -> dict[str, Any]:
    """Return the residual ``|L z - sigma D z|_{D^-1} / (sigma |z|_D)``, with the Rayleigh quotient ``sigma``.

    If the graph has several components, ``sigma`` may be zero: the residual may then be 1e-9, not relative.
    """
    W = W - sparse.diags_array(W.diagonal())
    D = np.asarray(W.sum(axis=1)).ravel()[:, None]
    LZ = D * Z - W @ Z
    size = (D * Z * Z).sum(axis=0)
    sigma = (Z * LZ).sum(axis=0) / size
    rest = np.sqrt(((LZ - sigma * D * Z) ** 2 / np.maximum(D, 1e-300)).sum(axis=0) / size)
    least = MAX_ZERO_RESIDUAL / MAX_RESIDUAL if connected_components(W)[0] > 1 else 0.0
    return {
        "residual": float((rest / np.maximum(np.abs(sigma), max(least, 1e-300))).max()),
        "eigenvalues": sigma.tolist(),
    }


def distortion(model: Any, data: Data) -> dict[str, Any]:
    """Return the distortion (Brand eq. 5) of an embedding by eigenscape on the graph of the model.

    It is used for kernel eigenmaps, whose coordinates are not eigenvectors of the graph.
    """
    W = model.graph_ if type(model).__name__ == "KernelEigenmap" else model.kernel_.base(model.kernel_.X)
    Z = np.asarray(model.embedding_, dtype=np.float64)
    D = np.asarray(W.sum(axis=1)).ravel()[:, None]
    Z = Z - (D * Z).sum(axis=0) / D.sum()
    value = np.trace(np.linalg.solve(Z.T @ (D * Z), Z.T @ (D * Z - W @ Z)))
    return {"distortion": float(value), "r2": coefficient(Z, data.coordinates)}


def alignment(model: Any, data: Data, M: Any = None) -> dict[str, Any]:
    """Return the residual ``|M y - mu y| / mu`` of LLE and its bound by rounding.

    The eigenvalues of LLE are close to the rounding error, which limits the accuracy of any solver.
    """
    if is_eigenscape(model):
        M = sparse.csr_array(sparse.eye_array(model.kernel_.gram.shape[0]) - model.kernel_.gram)
    elif M is None and peers.has_ties(data.X):
        return {"r2": coefficient(model.embedding_, data.coordinates)}
    elif M is None:
        M = peers.lle_matrix(data.X)
    M = sparse.csr_array(M)
    Y = np.asarray(model.embedding_, dtype=np.float64)
    Y = Y / np.linalg.norm(Y, axis=0)
    MY = M @ Y
    mu = (Y * MY).sum(axis=0)
    size = np.maximum(np.abs(mu), np.finfo(np.float64).tiny)
    rest = np.linalg.norm(MY - mu * Y, axis=0) / size
    if is_eigenscape(model) and model.embedding_.dtype == np.float32:
        rest = model.residuals_ / size  # of the vectors in double precision; rounded ones are less accurate
    # The same bound as that of the solvers of eigenscape.
    floor = 20 * EPS * np.sqrt(M.nnz / M.shape[0]) * float(abs(M).sum(axis=1).max()) / size
    worst = int(np.argmax(rest))
    return {
        "residual": float(rest[worst]),
        "floor": float(floor[worst]),
        "excess": float((rest / np.maximum(floor, MAX_RESIDUAL)).max()),
        "eigenvalues": mu.tolist(),
        "r2": coefficient(Y, data.coordinates),
    }


def clustering(model: Any, data: Data, vectors: np.ndarray | None = None) -> dict[str, Any]:
    """Return the agreement with the true clusters, and the residual if the model has eigenvectors.

    ``vectors`` are those of scikit-learn, whose first one is constant.
    """
    error: dict[str, Any] = {}
    if data.labels is not None:
        error["agreement"] = float(adjusted_rand_score(data.labels, model.labels_))
    if vectors is not None:
        W = sparse.csr_array(model.affinity_matrix_)
        first = 1 if connected_components(W)[0] == 1 else 0
        error["residual"] = laplacian_residual(W, vectors[:, first:])["residual"]
    elif is_eigenscape(model) and hasattr(model, "residuals_"):
        error["residual"] = own_residual(model)
    return error


def diffusion(model: Any, data: Data) -> dict[str, Any]:
    """Return the residual of the walk's eigenvectors relative to ``1 - eigenvalue``."""
    if type(model).__name__ == "ScanpyDiffusionMap":
        return {**peers.scanpy_diffusion(model), "recall": neighbors.of_graph(model.graph_, data.X)}
    return {"residual": own_residual(model)} if is_eigenscape(model) else {}


def graph_only(model: Any, data: Data) -> dict[str, Any]:
    """Return the recall of the graph of UMAP, or of a neighbour search."""
    if hasattr(model, "neighbors_"):
        return {"recall": neighbors.of_lists(model.neighbors_, data.X)}
    return {"recall": neighbors.of_graph(sparse.csr_array(model.graph_), data.X)}


def isomap(model: Any, data: Data) -> dict[str, Any]:
    """Return the residual with the geodesic distances of the model, and r^2."""
    if is_eigenscape(model):
        K = model.kernel_(model.kernel_.X)
        landmarks = model.embedding_[model.landmarks_] if model.n_landmarks else None
        residual = principal(model, lambda V: K @ V, landmarks)
    elif type(model).__name__ == "Tapkee":  # its matrix of directed distances is not symmetric
        return {"r2": coefficient(model.embedding_, data.coordinates)}
    else:
        residual = principal(
            model,
            lambda V: np.concatenate(
                [-0.5 * (rows * rows) @ V for rows in np.array_split(model.dist_matrix_, 50)]
            ),
        )
    return {"residual": residual, "r2": coefficient(model.embedding_, data.coordinates)}
