"""Error measures, computed here from each method's own matrix and embedding, not taken from what the method
says.

``residual`` is relative to the eigenvalue that matters, the worst over the components; ``floor`` is what
rounding alone may do to it and ``excess`` the worst component's residual in units of what is still right;
``r2`` are squared correlations of the known coordinates with their regression on the embedding; ``agreement``
is the adjusted Rand index with the true clusters; ``of_means`` is the error of imputed values, in units of
that of column means; ``left_out`` is the part of new rows that a dictionary does not explain; ``distortion``
is how much a map stretches the edges of its graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from benchmarks import cluster_dictionaries, clusters
from benchmarks.data import SETS, Data

EPS = np.finfo(np.float64).eps
#: A relative residual above this is a wrong answer.
WRONG = 1e-3
#: An aligned error above this is not accurate enough to compare times by.
ACCURATE = 1e-6


def is_ours(model: Any) -> bool:
    """Whether the model is eigenscape's."""
    return type(model).__module__.startswith("eigenscape")


def coefficient(embedding: np.ndarray, coordinates: np.ndarray | None) -> list[float] | None:
    """r^2 of each known coordinate after linear regression on the embedding."""
    if coordinates is None:
        return None
    design = np.column_stack(
        [np.ones(len(embedding)), embedding / np.maximum(np.abs(embedding).max(axis=0), 1e-300)]
    )
    rest = coordinates - design @ np.linalg.lstsq(design, coordinates, rcond=None)[0]
    return (1 - rest.var(axis=0) / coordinates.var(axis=0)).tolist()


def laplacian(model: Any, data: Data) -> dict[str, Any]:
    """``|L z - sigma D z|_{D^-1} / (sigma |z|_D)``, ``sigma`` the Rayleigh quotient.

    scikit-learn returns ``z = D^-1/2 v`` for the degrees without the loops that its graph has; its solver
    drops the loops too."""
    Z = np.asarray(model.embedding_, dtype=np.float64)
    if is_ours(model) and model.kernel_.X.shape[0] != len(
        Z
    ):  # equal rows share a vertex: the estimator's own proof
        return {"residual": float((model.residuals_ / (1 - model.eigenvalues_)).max())}
    W = sparse.csr_array(model.kernel_.base(model.kernel_.X) if is_ours(model) else model.affinity_matrix_)
    W = W - sparse.diags_array(W.diagonal())
    D = np.asarray(W.sum(axis=1)).ravel()[:, None]
    LZ = D * Z - W @ Z
    size = (D * Z * Z).sum(axis=0)
    sigma = (Z * LZ).sum(axis=0) / size
    rest = np.sqrt(((LZ - sigma * D * Z) ** 2 / D).sum(axis=0) / size)
    return {
        "residual": float((rest / sigma).max()),
        "eigenvalues": sigma.tolist(),
        "r2": coefficient(Z, data.coordinates),
    }


def stretched(model: Any, data: Data) -> dict[str, Any]:
    """Distortion (Brand eq. 5) of a map of ours on the graph it was learnt on: a kernel eigenmap is no
    eigenvector of it."""
    W = model.graph_ if type(model).__name__ == "KernelEigenmap" else model.kernel_.base(model.kernel_.X)
    Z = np.asarray(model.embedding_, dtype=np.float64)
    D = np.asarray(W.sum(axis=1)).ravel()[:, None]
    Z = Z - (D * Z).sum(axis=0) / D.sum()
    value = np.trace(np.linalg.solve(Z.T @ (D * Z), Z.T @ (D * Z - W @ Z)))
    return {"distortion": float(value), "r2": coefficient(Z, data.coordinates)}


def alignment(model: Any, data: Data, M: Any = None) -> dict[str, Any]:
    """``|M y - mu y| / mu``; the eigenvalues of LLE come close to rounding, which bounds what any solver can
    reach."""
    if is_ours(model):
        M = sparse.csr_array(sparse.eye_array(model.kernel_.gram.shape[0]) - model.kernel_.gram)
    Y = np.asarray(model.embedding_, dtype=np.float64)
    Y = Y / np.linalg.norm(Y, axis=0)
    MY = M @ Y
    mu = (Y * MY).sum(axis=0)
    size = np.maximum(np.abs(mu), np.finfo(np.float64).tiny)
    rest = np.linalg.norm(MY - mu * Y, axis=0) / size
    floor = (
        20 * EPS * np.sqrt(M.nnz / M.shape[0]) * float(abs(M).sum(axis=1).max()) / size
    )  # what eigenscape allows itself
    worst = int(np.argmax(rest))
    return {
        "residual": float(rest[worst]),
        "floor": float(floor[worst]),
        "excess": float((rest / np.maximum(floor, WRONG)).max()),
        "eigenvalues": mu.tolist(),
        "r2": coefficient(Y, data.coordinates),
    }


def clustering(model: Any, data: Data) -> dict[str, Any]:
    """Agreement with the true clusters (scikit-learn keeps no eigenvectors to check)."""
    return {"agreement": float(adjusted_rand_score(data.labels, model.labels_))}


def principal(
    model: Any, product: Callable[[np.ndarray], np.ndarray], embedding: np.ndarray | None = None
) -> float:
    """``|K v - l v| / l`` for the centred ``K = P K P`` whose uncentred product is given."""
    V = np.asarray(model.embedding_ if embedding is None else embedding, dtype=np.float64)
    V = V / np.linalg.norm(V, axis=0)
    KV = product(V - V.mean(axis=0))
    KV = KV - KV.mean(axis=0)
    values = (V * KV).sum(axis=0)
    return float((np.linalg.norm(KV - values * V, axis=0) / values).max())


def kernel_pca(model: Any, data: Data) -> dict[str, Any]:
    """Residual with the Gaussian kernel written out here."""
    if is_ours(model):
        return {"residual": principal(model, lambda V: gaussian(data.X, data.X, model.gamma, V))}
    scores = model.eigenvectors_  # scikit-learn keeps no embedding_
    return {"residual": principal(model, lambda V: gaussian(data.X, data.X, model.gamma, V), scores)}


def gaussian(Y: np.ndarray, X: np.ndarray, gamma: float, V: np.ndarray) -> np.ndarray:
    """``exp(-gamma |y - x|^2) V`` (n_new, c) in blocks."""
    squares = (X * X).sum(axis=1)
    parts = []
    for start in range(0, len(Y), 500):
        rows = Y[start : start + 500]
        distances = (rows * rows).sum(axis=1)[:, None] + squares - 2 * rows @ X.T
        parts.append(np.exp(-gamma * np.maximum(distances, 0)) @ V)
    return np.concatenate(parts)


def aligned(model: Any, data: Data) -> dict[str, Any]:
    """Held-out points against exact kernel PCA of the same training points, after linear regression (Ouimet
    sec. 5).

    Mean squared difference relative to the mean square of the exact coordinates; one above 1e-6 is not
    accurate enough here."""
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
    return {"aligned": error, "excess": error / ACCURATE}


def classical_mds(model: Any, data: Data) -> dict[str, Any]:
    """Residual; centred squared Euclidean distances are the scalar products ``X X'`` of the centred rows."""
    X = data.X - data.X.mean(axis=0)
    return {"residual": principal(model, lambda V: X @ (X.T @ V))}


def components(model: Any, data: Data) -> dict[str, Any]:
    """``|S e - l e| / l`` of each direction, with the scatter matrix applied here."""
    V = np.asarray(model.components_, dtype=np.float64).T
    mean = np.asarray(data.X.mean(axis=0)).ravel()
    projected = data.X @ V - mean @ V
    SV = data.X.T @ projected - np.outer(mean, projected.sum(axis=0))
    values = (V * SV).sum(axis=0)
    return {"residual": float((np.linalg.norm(SV - values * V, axis=0) / values).max())}


def imputation(model: Any, data: Data) -> dict[str, Any]:
    """Root mean squared error of the values filled in, in units of that of column means."""
    missing = np.isnan(data.X)
    filled = model.impute(data.X) if is_ours(model) else model.filled_
    by_mean = np.broadcast_to(np.nanmean(data.X, axis=0), data.X.shape)
    error, plain = (
        np.sqrt(np.mean(np.square(guess - data.coordinates)[missing])) for guess in (filled, by_mean)
    )
    return {"of_means": float(error / plain)}


def isomap(model: Any, data: Data) -> dict[str, Any]:
    """Residual with the method's own geodesics, and r^2."""
    if is_ours(model):
        K = model.kernel_(model.kernel_.X)
        own = (
            model.embedding_[model.landmarks_] if model.n_landmarks else None
        )  # the points that the kernel is of
        residual = principal(model, lambda V: K @ V, own)
    else:
        residual = principal(
            model,
            lambda V: np.concatenate(
                [-0.5 * (rows * rows) @ V for rows in np.array_split(model.dist_matrix_, 50)]
            ),
        )
    return {"residual": residual, "r2": coefficient(model.embedding_, data.coordinates)}


def nothing(_model: Any, _data: Data) -> dict[str, Any]:
    """No error measure: the work is a yardstick."""
    return {}


def made_components(model: Any, data: Data) -> dict[str, Any]:
    """``|S c - l c| / l`` for the scatter matrix of all rows, summed here block by block."""
    count, total, scatter = 0, 0.0, 0.0
    for number, size in enumerate(data.X.chunks[0]):
        rows = clusters.made_block(number, size).astype(np.float64)
        count, total, scatter = count + size, total + rows.sum(axis=0), scatter + rows.T @ rows
    S = scatter - np.outer(total, total) / count
    C = np.asarray(model.components_, dtype=np.float64).T
    values = (C * (S @ C)).sum(axis=0)
    return {"residual": float((np.linalg.norm(S @ C - values * C, axis=0) / values).max())}


def left_out(model: Any, _: Data) -> dict[str, Any]:
    """Mean of ``1 - k' M^-1 k`` over new rows: what the span of the dictionary leaves out of them, before
    centring."""
    rows, members = (
        cluster_dictionaries.made_block(10**6, 5000).astype(np.float64),
        np.asarray(model.dictionary_, dtype=np.float64),
    )
    k, M = (
        np.exp(-cluster_dictionaries.GAMMA * cdist(some, members, "sqeuclidean")) for some in (rows, members)
    )
    return {"left_out": float(1 - (k * np.linalg.solve(M, k.T).T).sum(axis=1).mean())}


def placed(model: Any, train: Data, new: Data, coordinates: np.ndarray) -> dict[str, Any]:
    """New points: kernel PCA against the projection written out, the others by r^2 with the known
    coordinates."""
    if new.coordinates is not None:
        return {"r2": coefficient(coordinates, new.coordinates)}
    if is_ours(model):
        weights = model.embedding_ / model.eigenvalues_  # v / sqrt(l)
    else:
        weights = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    mean = gaussian(train.X, train.X, model.gamma, weights).mean(axis=0)
    exact = gaussian(new.X, train.X, model.gamma, weights) - mean
    return {"residual": float(np.linalg.norm(coordinates - exact) / np.linalg.norm(exact))}


MEASURES = {
    "laplacian": laplacian,
    "stretched": stretched,
    "alignment": alignment,
    "clustering": clustering,
    "kernel_pca": kernel_pca,
    "classical_mds": classical_mds,
    "isomap": isomap,
    "aligned": aligned,
    "components": components,
    "imputation": imputation,
    "made_components": made_components,
    "left_out": left_out,
    "nothing": nothing,
}
