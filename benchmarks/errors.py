"""Error measures, computed independently of the estimators from matrix and embedding of each method.

``residual``
    Largest residual of an eigenvector relative to its eigenvalue; ``floor`` is the part that rounding may
    cause, and ``excess`` is the largest residual relative to the largest accepted one.
``r2``
    Squared correlations of the known coordinates with their regression on the embedding.
``agreement``
    Adjusted Rand index with the true clusters.
``aligned``
    Error of held-out points compared with exact kernel PCA after linear regression.
``of_means``
    Error of imputed values relative to that of column means.
``left_out``
    Part of new rows that is not in the span of a dictionary.
``distortion``
    Distortion of the edges of the graph (Brand eq. 5).
``recall``
    Part of the true nearest neighbours that are neighbours in the graph of a model.
``accuracy``
    Part of new rows whose class is that of most of their ten nearest training rows in the embedding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

from benchmarks import cluster_dictionaries, clusters, neighbors, peer_errors
from benchmarks.data import SETS, Data

EPS = np.finfo(np.float64).eps
#: Largest relative residual of a correct result.
MAX_RESIDUAL = 1e-3
#: Largest aligned error of a result that is accurate enough for a comparison of times.
MAX_ALIGNED_ERROR = 1e-6
#: Largest residual of an eigenvalue of zero of a graph with several components.
MAX_ZERO_RESIDUAL = 1e-9
#: Smallest recall of a correct neighbour search.
MIN_RECALL = 0.9


def is_right(error: dict[str, Any]) -> bool:
    """Return whether a result is accurate enough to be compared by its time."""
    excess = error.get("excess", error.get("residual", 0.0) / MAX_RESIDUAL)
    recall = error.get("recall")
    return bool(excess <= 1 and (recall is None or recall >= MIN_RECALL))


def is_eigenscape(model: Any) -> bool:
    """Return whether a model is an estimator of eigenscape."""
    return type(model).__module__.startswith("eigenscape")


def coefficient(embedding: np.ndarray, coordinates: np.ndarray | None) -> list[float] | None:
    """Return r^2 of each known coordinate after linear regression on the embedding."""
    if coordinates is None:
        return None
    design = np.column_stack(
        [np.ones(len(embedding)), embedding / np.maximum(np.abs(embedding).max(axis=0), 1e-300)]
    )
    rest = coordinates - design @ np.linalg.lstsq(design, coordinates, rcond=None)[0]
    return (1 - rest.var(axis=0) / coordinates.var(axis=0)).tolist()


def laplacian(model: Any, data: Data) -> dict[str, Any]:
    """Return residual, recall, and r^2 of Laplacian eigenmaps.

    scikit-learn returns ``z = D^-1/2 v``; it ignores the loops of its graph in the degrees and in the solver.
    """
    Z = np.asarray(model.embedding_, dtype=np.float64)
    if type(model).__name__ == "Tapkee":
        found = {"r2": coefficient(Z, data.coordinates)}
        if peer_errors.has_ties(data.X):
            return found
        return {**found, **laplacian_residual(peer_errors.tapkee_graph(data.X), Z)}
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
    elif M is None and peer_errors.has_ties(data.X):
        return {"r2": coefficient(model.embedding_, data.coordinates)}
    elif M is None:
        M = peer_errors.lle_matrix(data.X)
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


def own_residual(model: Any) -> float:
    """Return the largest residual that a model of eigenscape reports, relative to ``1 - eigenvalue``."""
    gaps = np.maximum(np.abs(1 - model.eigenvalues_), MAX_ZERO_RESIDUAL / MAX_RESIDUAL)
    return float((model.residuals_ / gaps).max())


def diffusion(model: Any, data: Data) -> dict[str, Any]:
    """Return the residual of the walk's eigenvectors relative to ``1 - eigenvalue``."""
    if type(model).__name__ == "ScanpyDiffusionMap":
        return {**peer_errors.scanpy_diffusion(model), "recall": neighbors.of_graph(model.graph_, data.X)}
    return {"residual": own_residual(model)} if is_eigenscape(model) else {}


def graph_only(model: Any, data: Data) -> dict[str, Any]:
    """Return the recall of the graph of UMAP, or of a neighbour search."""
    if hasattr(model, "neighbors_"):
        return {"recall": neighbors.of_lists(model.neighbors_, data.X)}
    return {"recall": neighbors.of_graph(sparse.csr_array(model.graph_), data.X)}


def principal(
    model: Any, product: Callable[[np.ndarray], np.ndarray], embedding: np.ndarray | None = None
) -> float:
    """Return the largest ``|K v - l v| / l`` of the centred ``K``, given the product with the uncentred."""
    V = np.asarray(model.embedding_ if embedding is None else embedding, dtype=np.float64)
    V = V / np.linalg.norm(V, axis=0)
    KV = product(V - V.mean(axis=0))
    KV = KV - KV.mean(axis=0)
    values = (V * KV).sum(axis=0)
    return float((np.linalg.norm(KV - values * V, axis=0) / values).max())


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


def known_coordinates(model: Any, data: Data) -> dict[str, Any]:
    """Return r^2 of the known coordinates."""
    return {"r2": coefficient(model.embedding_, data.coordinates)}


def no_measure(_model: Any, _data: Data) -> dict[str, Any]:
    """Return no error measure, for jobs whose time is only a reference."""
    return {}


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


def out_of_sample(model: Any, train: Data, new: Data, coordinates: np.ndarray) -> dict[str, Any]:
    """Return the error of embedded new points.

    It is r^2 with the known coordinates; for kernel PCA with a Gaussian kernel the relative error of the
    coordinates compared with an independent implementation of the projection; for graphs the recall of their
    neighbours; and if the rows have classes, the accuracy in the embedding.
    """
    if new.coordinates is not None:
        return {"r2": coefficient(coordinates, new.coordinates)}
    if type(model).__name__ == "KernelPCA":
        return projection(model, train, new, coordinates) if model.kernel == "rbf" else {}
    error: dict[str, Any] = {}
    if new.labels is not None and hasattr(model, "embedding_"):
        nearest = KNeighborsClassifier(10).fit(model.embedding_, train.labels)
        error["accuracy"] = float((nearest.predict(coordinates) == new.labels).mean())
    found = neighbors.of_model(model, train.X, new.X)
    return error if found is None else {**error, "recall": found}


def projection(model: Any, train: Data, new: Data, coordinates: np.ndarray) -> dict[str, Any]:
    """Return the relative error of the coordinates of new points by kernel PCA."""
    if is_eigenscape(model):
        weights = model.embedding_ / model.eigenvalues_  # v / sqrt(l)
    else:
        weights = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    mean = gaussian(train.X, train.X, model.gamma, weights).mean(axis=0)
    exact = gaussian(new.X, train.X, model.gamma, weights) - mean
    return {"residual": float(np.linalg.norm(coordinates - exact) / np.linalg.norm(exact))}


MEASURES = {
    "laplacian": laplacian,
    "distortion": distortion,
    "alignment": alignment,
    "clustering": clustering,
    "kernel_pca": kernel_pca,
    "classical_mds": classical_mds,
    "isomap": isomap,
    "aligned": aligned,
    "components": components,
    "imputation": imputation,
    "dask_components": dask_components,
    "left_out": left_out,
    "diffusion": diffusion,
    "graph_only": graph_only,
    "cosine_pca": cosine_pca,
    "coordinates": known_coordinates,
    "none": no_measure,
}
