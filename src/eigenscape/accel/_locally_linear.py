"""scikit-learn's LocallyLinearEmbedding with neighbours, weights and eigenvectors from eigenscape."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.manifold import _locally_linear as theirs
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenscape._threads import single_blas_thread
from eigenscape.accel._neighbors import kneighbors_graph, require_plain
from eigenscape.accel._rebind import function, method
from eigenscape.accel._record import UnsupportedProblemError, recorded, replaces
from eigenscape.accel._solve import lowest

#: Regularisation below which local problems are singular, and their solutions rounding errors.
_LEAST_REG = 1e-12


@replaces("embedding", theirs._locally_linear_embedding, instead=True)
def _embed(X: Any, *, n_neighbors: int, n_components: int, **options: Any) -> tuple[np.ndarray, float]:
    """Return the embedding and its squared error, as scikit-learn's function with the same arguments.

    Its Hessian estimator uses all vectors orthogonal to the tangent space, so that it equals LTSA's.
    """
    standard, n_jobs = options.get("method", "standard") == "standard", options.get("n_jobs")
    searcher = NearestNeighbors(n_neighbors=n_neighbors + 1, n_jobs=n_jobs).fit(X)
    rows, n = searcher._fit_X, searcher.n_samples_fit_
    _require_supported(rows, n_neighbors, n_components, options)
    graph = _graph(searcher, n_neighbors, n_jobs)
    if not standard and len(np.unique(graph.indices)) < n:
        # Their rows of the matrix are zero, and its null space has more dimensions than are wanted.
        raise UnsupportedProblemError("points that are no neighbours of others")
    from eigenscape.kernels.local import RowGram, barycentric_weights
    from eigenscape.methods.lle import alignment_matrix, tangent_factor

    gram = RowGram(np.asarray(rows))
    with single_blas_thread():
        if standard:
            weights = barycentric_weights(gram, graph, options.get("reg", 1e-3), n_jobs)
            factor = sparse.csr_array(sparse.eye_array(n) - weights)
        else:
            factor = tangent_factor(gram, graph, n_components, n_jobs)
    matrix, null = alignment_matrix(factor), np.ones(n)  # M = F'F
    values, vectors = lowest(matrix, null, n_components + 1, factor=factor, laplacian=False, n_jobs=n_jobs)
    return vectors[:, 1:], values[1:].sum()


def _require_supported(X: Any, k: int, n_components: int, options: dict[str, Any]) -> None:
    """Raise UnsupportedProblemError if the embedding cannot be computed here."""
    n, n_features = X.shape
    method, reg = options.get("method", "standard"), options.get("reg", 1e-3)
    # scikit-learn raises the errors for parameters that do not suit the data.
    few_for_hessian = method == "hessian" and k <= n_components * (n_components + 3) // 2
    if n_components > n_features or k + 2 > n or few_for_hessian:
        raise UnsupportedProblemError("parameters that do not suit the data")
    if method == "modified":
        raise UnsupportedProblemError("method='modified'")
    if method == "standard" and reg < _LEAST_REG:
        raise UnsupportedProblemError(f"reg={reg!r}")
    require_plain(X)


def _graph(searcher: NearestNeighbors, k: int, n_jobs: int | None) -> sparse.csr_array:
    """Return the distances (n, n) to the neighbours of each point, a connected graph."""
    graph = sparse.csr_array(kneighbors_graph(searcher, k, mode="distance", n_jobs=n_jobs))
    if (graph.data == 0).any():
        # scikit-learn may count a point among its own neighbours.
        raise UnsupportedProblemError("equal rows")
    if connected_components(graph, directed=False)[0] > 1:
        raise UnsupportedProblemError("graph of several components")  # a null vector for each of them
    return graph


class LocallyLinearEmbedding(theirs.LocallyLinearEmbedding):
    """:class:`sklearn.manifold.LocallyLinearEmbedding`, computed by eigenscape."""

    _fit_transform = method(
        "LocallyLinearEmbedding.fit",
        theirs.LocallyLinearEmbedding._fit_transform,
        _locally_linear_embedding=_embed,
    )

    @recorded("LocallyLinearEmbedding.transform")
    @replaces("weights", theirs.LocallyLinearEmbedding.transform)
    def transform(self, X: Any) -> Any:
        """Transform new points, as :meth:`sklearn.manifold.LocallyLinearEmbedding.transform`.

        The weights are computed in batches.
        """
        check_is_fitted(self)
        train = np.asarray(self.nbrs_._fit_X)
        from eigenscape.kernels.local import RowGram, barycentric_weights

        rows = np.asarray(validate_data(self, X, reset=False), dtype=np.float64)
        graph = sparse.csr_array(self.nbrs_.kneighbors_graph(rows, self.n_neighbors))  # (n_new, n)
        with single_blas_thread():
            weights = barycentric_weights(RowGram(train), graph, self.reg, self.n_jobs, rows)
        return weights @ self.embedding_


locally_linear_embedding = function(
    theirs.locally_linear_embedding, __name__, _locally_linear_embedding=_embed
)
