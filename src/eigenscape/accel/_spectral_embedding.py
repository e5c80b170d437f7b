"""scikit-learn's SpectralEmbedding with neighbours and eigenvectors from eigenscape."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.manifold import _spectral_embedding as theirs
from sklearn.utils import check_random_state, check_symmetric

from eigenscape._typing import is_sparse
from eigenscape._warnings import warn
from eigenscape.accel._neighbors import kneighbors_graph
from eigenscape.accel._rebind import function, method, rebound
from eigenscape.accel._record import UnsupportedProblemError, replaces
from eigenscape.accel._solve import lowest


@replaces("eigenvectors", theirs._spectral_embedding)
def embed(
    adjacency: Any,
    *,
    n_components: int = 8,
    eigen_solver: str | None = None,
    random_state: Any = None,
    eigen_tol: Any = "auto",  # noqa: ARG001
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> np.ndarray:
    """Return ``sklearn.manifold.spectral_embedding`` with the same arguments.

    ``eigen_solver`` and ``eigen_tol`` have no effect on a solution that is computed here.
    """
    if eigen_solver == "amg":
        raise UnsupportedProblemError("eigen_solver='amg'")
    count = n_components + 1 if drop_first else n_components
    vectors = _solve(adjacency, count, norm_laplacian)
    _draw_start(adjacency.shape[0], count, eigen_solver, check_random_state(random_state))
    embedding = theirs._deterministic_vector_sign_flip(vectors.T)
    return embedding[1:].T if drop_first else embedding.T


def _solve(adjacency: Any, count: int, norm_laplacian: bool) -> np.ndarray:
    """Return the ``count`` smallest eigenvectors of the Laplacian, divided by the root of the degrees."""
    adjacency = check_symmetric(adjacency)
    values = adjacency.data if is_sparse(adjacency) else adjacency
    if values.dtype.kind != "f" or (values < 0).any():
        raise UnsupportedProblemError("affinities that are not positive floating-point numbers")
    dtype, adjacency = values.dtype, adjacency.astype(np.float64, copy=False)
    labels = np.zeros(adjacency.shape[0], dtype=np.int32)
    if is_sparse(adjacency) or not np.all(adjacency[0]):  # no point is joined with all others
        labels = connected_components(sparse.csr_array(adjacency), directed=False)[1]
    laplacian, degrees = theirs.csgraph_laplacian(adjacency, normed=norm_laplacian, return_diag=True)
    if norm_laplacian and (np.bincount(labels) == 1).any():
        raise UnsupportedProblemError("isolated points")
    if count > len(labels):
        raise UnsupportedProblemError("more components than points")
    laplacian = theirs._set_diag(laplacian, 1, norm_laplacian)
    null = degrees if norm_laplacian else np.ones(len(labels))
    matrix = sparse.csr_array(laplacian) if is_sparse(laplacian) else laplacian
    if labels.any():
        vectors = _by_components(matrix, null, count, labels, norm_laplacian)
        warn("Graph is not fully connected, spectral embedding may not work as expected.")
    else:
        _, vectors = lowest(matrix, null, count, laplacian=norm_laplacian)
    return (vectors / degrees[:, None] if norm_laplacian else vectors).astype(dtype, copy=False)


def _by_components(
    matrix: Any, null: np.ndarray, count: int, labels: np.ndarray, norm_laplacian: bool
) -> np.ndarray:
    """Solve each connected component: the null vector of the whole graph first, then ascending.

    The null space has a dimension for each component, and no basis of it is distinguished. This one begins
    with the vector that a connected graph has.
    """
    n_parts = labels.max() + 1
    parts = np.where(labels[:, None] == np.arange(1, n_parts), null[:, None], 0.0)
    basis, _ = np.linalg.qr(np.column_stack([null, parts]))
    if count <= n_parts:
        return basis[:, :count]
    values, columns = [], []
    for part in range(n_parts):
        rows = np.flatnonzero(labels == part)
        wanted = min(count - n_parts + 1, len(rows))
        low, vectors = lowest(matrix[rows][:, rows], null[rows], wanted, laplacian=norm_laplacian)
        values.append(low[1:])
        whole = np.zeros((len(labels), wanted - 1))
        whole[rows] = vectors[:, 1:]
        columns.append(whole)
    smallest = np.argsort(np.concatenate(values), kind="stable")[: count - n_parts]
    return np.column_stack([basis, np.concatenate(columns, axis=1)[:, smallest]])


def _draw_start(n: int, count: int, eigen_solver: str | None, random_state: np.random.RandomState) -> None:
    """Draw the numbers that scikit-learn's solver takes, so that the k-means after it starts the same."""
    if eigen_solver in (None, "arpack"):
        random_state.uniform(-1, 1, n)
    elif n >= 5 * count + 1:
        random_state.standard_normal(size=(n, count + 1))


class SpectralEmbedding(theirs.SpectralEmbedding):
    """:class:`sklearn.manifold.SpectralEmbedding`, computed by eigenscape."""

    _get_affinity_matrix = rebound(
        theirs.SpectralEmbedding._get_affinity_matrix, kneighbors_graph=kneighbors_graph
    )
    fit = method("SpectralEmbedding.fit", theirs.SpectralEmbedding.fit, _spectral_embedding=embed)


spectral_embedding = function(theirs.spectral_embedding, __name__, _spectral_embedding=embed)
