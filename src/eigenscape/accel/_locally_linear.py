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
from eigenscape.accel._neighbors import nearest_or_theirs
from eigenscape.accel._rebind import rebound, validated
from eigenscape.accel._record import is_few, left, ran_here, recorded
from eigenscape.accel._settings import FEW
from eigenscape.accel._solve import UnsupportedProblemError, lowest
from eigenscape.exceptions import UndefinedKernelError

_original = theirs._locally_linear_embedding
#: Regularisation below which local problems are singular, and their solutions rounding errors.
_LEAST_REG = 1e-12
#: Regularisation that scikit-learn uses in modified LLE, whatever ``reg``.
_MODIFIED_REG = 1e-3


def _embed(X: Any, *, n_neighbors: int, n_components: int, **options: Any) -> tuple[np.ndarray, float]:
    """Return the embedding and its squared error, as scikit-learn's function with the same arguments."""
    method, reg = options.get("method", "standard"), options.get("reg", 1e-3)
    n_jobs = options.get("n_jobs")
    searcher = NearestNeighbors(n_neighbors=n_neighbors + 1, n_jobs=n_jobs).fit(X)
    try:
        columns = _neighbors(searcher, n_neighbors, n_components, method, reg, n_jobs)
        if method != "standard" and len(np.unique(columns)) < len(columns):
            # Their rows of the matrix are zero, and its null space has more dimensions than are wanted.
            raise UnsupportedProblemError("points that are no neighbours of others")
        from eigenscape.methods.lle import alignment_matrix

        with single_blas_thread():
            factor = _factor(np.asarray(searcher._fit_X), columns, method, n_components, reg, n_jobs)
        values, vectors = lowest(
            alignment_matrix(factor),
            np.ones(len(columns)),
            n_components + 1,
            factor=factor,
            laplacian=False,
            n_jobs=n_jobs,
        )
    except UnsupportedProblemError as reason:
        left("embedding", str(reason), instead=True)
        return _original(X, n_neighbors=n_neighbors, n_components=n_components, **options)
    return vectors[:, 1:], values[1:].sum()


def _neighbors(
    searcher: NearestNeighbors, k: int, n_components: int, method: str, reg: float, n_jobs: int | None
) -> np.ndarray:
    """Return the neighbours (n, k) of each point, if the embedding can be computed here."""
    n, n_features = searcher._fit_X.shape
    if is_few(n, "dense"):
        raise UnsupportedProblemError(FEW)
    # scikit-learn raises the errors for parameters that do not suit the data.
    if (
        n_components > n_features
        or k >= n
        or (k <= n_components * (n_components + 3) // 2 and method == "hessian")
    ):
        raise UnsupportedProblemError("invalid parameters")
    if method == "modified":
        raise UnsupportedProblemError("method='modified'")
    if method == "standard" and reg < _LEAST_REG:
        raise UnsupportedProblemError(f"reg={reg!r}")
    found = nearest_or_theirs(searcher, k, n_jobs=n_jobs)
    if found is None:
        raise UnsupportedProblemError("neighbours")
    distances, columns = found
    if (distances[:, 0] == 0).any():
        # scikit-learn may count a point among its own neighbours.
        raise UnsupportedProblemError("equal rows")
    if connected_components(_pattern(columns, n), directed=False)[0] > 1:
        raise UnsupportedProblemError("graph of several components")  # a null vector for each of them
    return columns


def _pattern(columns: np.ndarray, n_points: int) -> sparse.csr_array:
    """Return the graph (n, n_points) of the neighbours (n, k)."""
    n, k = columns.shape
    ends = np.arange(0, columns.size + 1, k)
    return sparse.csr_array((np.ones(columns.size), columns.ravel(), ends), shape=(n, n_points))


def _factor(
    X: np.ndarray, columns: np.ndarray, method: str, n_components: int, reg: float, n_jobs: int | None
) -> sparse.csr_array:
    """Return the factor ``F`` of scikit-learn's matrix ``M = F'F``.

    Its Hessian estimator uses all vectors orthogonal to the tangent space, so that it equals LTSA's.
    """
    from eigenscape.kernels.local import RowGram, barycentric_weights
    from eigenscape.methods.lle import modified_factor, tangent_factor

    pattern = _pattern(columns, len(columns))
    if method == "standard":
        weights = barycentric_weights(RowGram(X), pattern, reg, n_jobs)
        return sparse.csr_array(sparse.eye_array(len(columns)) - weights)
    if method == "modified":
        return modified_factor(RowGram(X), pattern, n_components, _MODIFIED_REG, n_jobs)
    return tangent_factor(RowGram(X), pattern, n_components, n_jobs)


_fit_transform = rebound(theirs.LocallyLinearEmbedding._fit_transform, _locally_linear_embedding=_embed)
_function = rebound(theirs.locally_linear_embedding, _locally_linear_embedding=_embed)


class LocallyLinearEmbedding(theirs.LocallyLinearEmbedding):
    """:class:`sklearn.manifold.LocallyLinearEmbedding`, computed by eigenscape.

    Parameters and attributes are the same. ``transform`` gives training points their place in ``embedding_``,
    which scikit-learn's weights do not, and ``loss`` measures the error of the expansion.
    """

    def _fit_transform(self, X: Any) -> None:
        with recorded("LocallyLinearEmbedding.fit"):
            _fit_transform(self, X)

    def transform(self, X: Any) -> Any:
        """Transform new points, as :meth:`sklearn.manifold.LocallyLinearEmbedding.transform`."""
        check_is_fitted(self)
        with recorded("LocallyLinearEmbedding.transform"):
            rows = np.asarray(validate_data(self, X, reset=False), dtype=np.float64)
            train = np.asarray(self.nbrs_._fit_X)
            columns = self.nbrs_.kneighbors(rows, n_neighbors=self.n_neighbors, return_distance=False)
            if is_few(len(train), "dense"):
                left("weights", FEW)
                weights = theirs.barycenter_weights(rows, train, columns, reg=self.reg)  # (n_new, k)
                embedded = np.einsum("ij,ijk->ik", weights, self.embedding_[columns])
            else:
                embedded = self._weights_here(rows, train, columns) @ self.embedding_
                ran_here("weights")
            candidates = np.flatnonzero((train[columns, 0] == rows[:, :1]).any(axis=1))
            same = (train[columns[candidates]] == rows[candidates, None, :]).all(axis=2)
            known, first = candidates[same.any(axis=1)], same[same.any(axis=1)].argmax(axis=1)
            embedded[known] = self.embedding_[columns[known, first]]
            return embedded

    def _weights_here(self, rows: np.ndarray, train: np.ndarray, columns: np.ndarray) -> sparse.csr_array:
        """Return the weights (n_new, n) of the neighbours ``columns`` (n_new, k) of new points."""
        from eigenscape.kernels.local import RowGram, barycentric_weights

        with single_blas_thread():
            pattern = _pattern(columns, len(train))
            return barycentric_weights(RowGram(train), pattern, self.reg, self.n_jobs, rows)

    def loss(self, X: None = None) -> float:
        """Compute the mean squared error of the kernel's expansion in its eigenfunctions (Bengio sec. 4).

        The kernel is ``I - M`` on the training points, ``M`` the matrix of the method; it is not defined
        between new points, so that ``X`` must be None. scikit-learn has no such method.

        Returns
        -------
        float
        """
        from eigenscape.methods.lle import alignment_matrix

        check_is_fitted(self)
        if X is not None:
            raise UndefinedKernelError(
                "the kernel of locally linear embedding is not defined between new points; call loss()"
            )
        with recorded("LocallyLinearEmbedding.loss"):
            ran_here("loss")
            train = np.asarray(self.nbrs_._fit_X, dtype=np.float64)
            columns = self.nbrs_.kneighbors(train, self.n_neighbors + 1, return_distance=False)[:, 1:]
            factor = _factor(train, columns, self.method, self.n_components, self.reg, self.n_jobs)
            kernel = sparse.eye_array(len(train)) - alignment_matrix(factor)
            kept = 1 - np.square(factor @ self.embedding_).sum(axis=0)  # eigenvalues of I - M
            return max(float(np.square(kernel.data).sum() - 1 - np.square(kept).sum()), 0.0) / len(train) ** 2


def _recorded(*args: Any, **kwargs: Any) -> Any:
    with recorded("locally_linear_embedding"):
        return _function(*args, **kwargs)


locally_linear_embedding = validated(theirs.locally_linear_embedding, _recorded, __name__)
