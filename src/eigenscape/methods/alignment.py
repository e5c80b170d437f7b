"""Alignment matrices: how far a map is from locally linear, as a quadratic form.

Each neighbourhood ``i`` says which changes of the map it forbids, by vectors on its points; the sum of their squares is
``y' M y``. All of these matrices are sparse, positive semi-definite and vanish on constants.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from eigenscape._progress import stage
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.local import barycentric_weights, neighborhoods


def alignment_matrix(graph: NeighborGraph, method: str, n_components: int, reg: float) -> sparse.csr_array:
    """``M`` (m, m) of one of the methods ``standard``, ``modified``, ``hessian``, ``ltsa``."""
    X = np.asarray(graph.vertices.X, dtype=np.float64)
    with stage("local solves"):
        if method == "standard":
            weights = barycentric_weights(X, X, graph.neighbors, reg)
            step = sparse.csr_array(sparse.eye_array(len(X)) - weights)
            matrix = step.T @ step  # (I - W)'(I - W), Bengio sec. 2.6
        else:
            patches = {"modified": _modified, "hessian": _hessian, "ltsa": _tangent}[method]
            matrix = _assemble(patches(X, graph.neighbors, n_components, reg), len(X))
    matrix = sparse.csr_array((matrix + matrix.T) / 2)
    matrix.sort_indices()
    return matrix


#: Points of a batch of neighbourhoods (b, p) and their quadratic forms (b, p, p).
Patch = tuple[np.ndarray, np.ndarray]


def _assemble(patches: Iterator[Patch], m: int) -> sparse.csr_array:
    rows, columns, values = [], [], []
    for points, forms in patches:
        p = points.shape[1]
        rows.append(np.repeat(points, p, axis=1).ravel())
        columns.append(np.tile(points, (1, p)).ravel())
        values.append(forms.ravel())
    return sparse.csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(m, m))


def _tangent(X: np.ndarray, neighbors: sparse.csr_array, d: int, _reg: float) -> Iterator[Patch]:
    """Local tangent space alignment (Zhang and Zha): what is left of the map off the affine functions on the tangent plane."""
    for points, tangent in _tangents(X, neighbors, d):
        b, p, _ = tangent.shape
        affine = np.concatenate([np.full((b, p, 1), 1 / np.sqrt(p)), tangent], axis=2)
        yield points, np.eye(p) - affine @ affine.transpose(0, 2, 1)


def _hessian(X: np.ndarray, neighbors: sparse.csr_array, d: int, _reg: float) -> Iterator[Patch]:
    """Hessian eigenmaps (Donoho and Grimes): the quadratic part of the map on the tangent plane."""
    first, second = np.triu_indices(d)
    for points, tangent in _tangents(X, neighbors, d):
        b, p, _ = tangent.shape
        squares = tangent[:, :, first] * tangent[:, :, second]
        basis, _ = np.linalg.qr(np.concatenate([np.ones((b, p, 1)), tangent, squares], axis=2))
        curvature = basis[:, :, 1 + d :]  # (b, p, d (d + 1) / 2)
        yield points, curvature @ curvature.transpose(0, 2, 1)


def _tangents(X: np.ndarray, neighbors: sparse.csr_array, d: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Neighbourhoods with their centre (b, p) and orthonormal tangent coordinates (b, p, d)."""
    for rows, columns in neighborhoods(neighbors, X.shape[1]):
        points = np.concatenate([rows[:, None], columns], axis=1)
        patch = X[points]
        patch = patch - patch.mean(axis=1, keepdims=True)
        _, vectors = np.linalg.eigh(patch @ patch.transpose(0, 2, 1))
        yield points, vectors[:, :, : -d - 1 : -1]


def _modified(X: np.ndarray, neighbors: sparse.csr_array, d: int, reg: float) -> Iterator[Patch]:
    """Modified LLE (Zhang and Wang): several weight vectors a neighbourhood instead of one."""
    batches = [(rows, columns, *_local_spectrum(X, rows, columns)) for rows, columns in neighborhoods(neighbors, X.shape[1])]
    # Ratio of the variance off and on the tangent plane; its median separates noise from curvature.
    ratios = np.concatenate([_ratio(values[:, d:].sum(axis=1), values[:, :d].sum(axis=1)) for _, _, values, _ in batches])
    typical = float(np.median(ratios))
    for rows, columns, values, vectors in batches:
        k = columns.shape[1]
        pattern = sparse.csr_array((np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, k)), shape=(len(rows), len(X)))
        weights = barycentric_weights(X[rows], X, pattern, reg).data.reshape(len(rows), k)
        tails = np.cumsum(values[:, ::-1], axis=1)[:, : k - d]  # sums of the 1, 2, ... k - d smallest
        heads = values.sum(axis=1, keepdims=True) - tails
        slack = 1e-12 * values.sum(axis=1, keepdims=True)  # an exact plane has ratios of 0 up to rounding
        counts = np.maximum((tails <= typical * heads + slack).sum(axis=1), 1)
        for s in np.unique(counts):
            pick = np.flatnonzero(counts == s)
            points = np.concatenate([rows[pick, None], columns[pick]], axis=1)
            yield points, _multiple_weights(vectors[pick][:, :, k - s :], weights[pick])


def _local_spectrum(X: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (b, k), largest first, and vectors of the local Gram matrices."""
    spread = X[columns] - X[rows][:, None, :]
    values, vectors = np.linalg.eigh(spread @ spread.transpose(0, 2, 1))
    return np.maximum(values[:, ::-1], 0.0), vectors[:, :, ::-1]


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def _multiple_weights(V: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """``sum_l u_l u_l'`` with ``u_l`` = (-1, l-th weight vector); ``V`` (b, k, s) spans the near-null space of the local Gram matrix."""
    b, _, s = V.shape
    sums = V.sum(axis=1)  # V' 1, (b, s)
    alpha = np.linalg.norm(sums, axis=1) / np.sqrt(s)
    h = alpha[:, None] - sums
    norm = np.linalg.norm(h, axis=1, keepdims=True)
    h = np.divide(h, norm, out=np.zeros_like(h), where=norm > 1e-12)
    reflected = V - 2 * (V @ h[:, :, None]) @ h[:, None, :]  # V (I - 2 h h')
    many = (1 - alpha)[:, None, None] * weights[:, :, None] + reflected  # (b, k, s), columns sum to one
    stacked = np.concatenate([np.full((b, 1, s), -1.0), many], axis=1)
    return stacked @ stacked.transpose(0, 2, 1)
