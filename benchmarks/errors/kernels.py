"""Error measures of kernel PCA and its new points, scaling, PCA, imputation and dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist
from sklearn.preprocessing import normalize

from benchmarks import cluster_dictionaries, clusters
from benchmarks.data import SETS, Data
from benchmarks.errors.shared import MAX_ALIGNED_ERROR, is_eigenscape, principal


def kernel_pca(model: Any, data: Data) -> dict[str, Any]:
    """Return the residual with an independent implementation of the Gaussian kernel."""
    scores = None if is_eigenscape(model) else model.eigenvectors_  # scikit-learn has no attribute embedding_
    return {"residual": principal(model, lambda V: gaussian(data.X, data.X, model.gamma, V), scores)}


def cosine_pca(model: Any, data: Data) -> dict[str, Any]:
    """Return the residual of kernel PCA with the cosine kernel, or of PCA of the same rows."""
    if hasattr(model, "components_"):
        return components(model, data)
    X = normalize(data.X.astype(np.float64))
    return {"residual": principal(model, lambda V: X @ (X.T @ V))} if is_eigenscape(model) else {}


def gaussian(Y: np.ndarray, X: np.ndarray, gamma: float, V: np.ndarray) -> np.ndarray:
    """Return ``exp(-gamma |y - x|^2) V`` (n_new, c), computed in blocks."""
    Y, X = Y.astype(np.float64), X.astype(np.float64)
    squares = (X * X).sum(axis=1)
    parts = []
    for start in range(0, len(Y), 500):
        rows = Y[start : start + 500]
        distances = (rows * rows).sum(axis=1)[:, None] + squares - 2 * rows @ X.T
        parts.append(np.exp(-gamma * np.maximum(distances, 0)) @ V)
    return np.concatenate(parts)


def projection(model: Any, train: Data, new: Data, coordinates: np.ndarray) -> dict[str, Any]:
    """Return the relative error of the coordinates of new points by kernel PCA."""
    if is_eigenscape(model):
        weights = model.embedding_ / model.eigenvalues_  # v / sqrt(l)
    else:
        weights = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    mean = gaussian(train.X, train.X, model.gamma, weights).mean(axis=0)
    exact = gaussian(new.X, train.X, model.gamma, weights) - mean
    return {"residual": float(np.linalg.norm(coordinates - exact) / np.linalg.norm(exact))}


def aligned(model: Any, data: Data) -> dict[str, Any]:
    """Return the error of held-out points compared with exact kernel PCA after regression (Ouimet sec. 5).

    It is the mean squared difference relative to the mean square of the exact coordinates, and must not
    exceed 1e-6.
    """
    n = len(data.X)
    new = SETS["sheet"](n + 2000).X[n:]
    K = np.exp(-model.gamma * cdist(data.X, data.X, "sqeuclidean"))
    means = K.mean(axis=0)
    K -= means[:, None]
    K -= means - means.mean()
    values, vectors = eigsh(K, k=3)
    exact = (np.exp(-model.gamma * cdist(new, data.X, "sqeuclidean")) - means) @ (vectors / np.sqrt(values))
    exact -= exact.mean(axis=0)
    design = np.column_stack([np.ones(len(new)), model.transform(new)])
    rest = exact - design @ np.linalg.lstsq(design, exact, rcond=None)[0]
    error = float(np.square(rest).sum() / np.square(exact).sum())
    return {"aligned": error, "excess": error / MAX_ALIGNED_ERROR}


def classical_mds(model: Any, data: Data) -> dict[str, Any]:
    """Return the residual with the matrix of scalar products ``X X'`` of the centred rows."""
    X = data.X.astype(np.float64)
    X -= X.mean(axis=0)
    return {"residual": principal(model, lambda V: X @ (X.T @ V))}


def components(model: Any, data: Data) -> dict[str, Any]:
    """Return the largest ``|S e - l e| / l`` of the components, with the scatter matrix ``S``."""
    V = np.asarray(model.components_, dtype=np.float64).T
    mean = np.asarray(data.X.mean(axis=0)).ravel()
    projected = data.X @ V - mean @ V
    SV = data.X.T @ projected - np.outer(mean, projected.sum(axis=0))
    values = (V * SV).sum(axis=0)
    return {"residual": float((np.linalg.norm(SV - values * V, axis=0) / values).max())}


def imputation(model: Any, data: Data) -> dict[str, Any]:
    """Return the root mean squared error of imputed values relative to that of column means."""
    missing = np.isnan(data.X)
    filled = model.impute(data.X) if is_eigenscape(model) else model.filled_
    by_mean = np.broadcast_to(np.nanmean(data.X, axis=0), data.X.shape)
    error, plain = (
        np.sqrt(np.mean(np.square(guess - data.coordinates)[missing])) for guess in (filled, by_mean)
    )
    return {"of_means": float(error / plain)}


def dask_components(model: Any, data: Data) -> dict[str, Any]:
    """Return the largest ``|S c - l c| / l`` of the components, with ``S`` summed block by block."""
    count, total, scatter = 0, 0.0, 0.0
    for number, size in enumerate(data.X.chunks[0]):
        rows = clusters.generate_block(number, size).astype(np.float64)
        count, total, scatter = count + size, total + rows.sum(axis=0), scatter + rows.T @ rows
    S = scatter - np.outer(total, total) / count
    C = np.asarray(model.components_, dtype=np.float64).T
    values = (C * (S @ C)).sum(axis=0)
    return {"residual": float((np.linalg.norm(S @ C - values * C, axis=0) / values).max())}


def left_out(model: Any, _: Data) -> dict[str, Any]:
    """Return the mean of ``1 - k' M^-1 k`` over new rows, their part outside the span of the dictionary."""
    rows, members = (
        cluster_dictionaries.generate_block(10**6, 5000).astype(np.float64),
        np.asarray(model.dictionary_, dtype=np.float64),
    )
    k, M = (
        np.exp(-cluster_dictionaries.GAMMA * cdist(some, members, "sqeuclidean")) for some in (rows, members)
    )
    return {"left_out": float(1 - (k * np.linalg.solve(M, k.T).T).sum(axis=1).mean())}
