"""scikit-learn's Isomap with neighbours, shortest paths and eigenvectors from eigenscape."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.manifold._isomap import Isomap as _Isomap
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted

from eigenscape._memory import row_blocks
from eigenscape.accel._kernel_pca import KernelPCA
from eigenscape.accel._loss import centered_loss, distance_kernel, require_between
from eigenscape.accel._neighbors import kneighbors_graph, radius_neighbors_graph
from eigenscape.accel._paths import shortest_path
from eigenscape.accel._rebind import rebound
from eigenscape.accel._record import is_few, left, ran_here, recorded
from eigenscape.accel._settings import FEW

_fit_transform = rebound(
    _Isomap._fit_transform,
    kneighbors_graph=kneighbors_graph,
    radius_neighbors_graph=radius_neighbors_graph,
    shortest_path=shortest_path,
    KernelPCA=KernelPCA,
)


class Isomap(_Isomap):
    """:class:`sklearn.manifold.Isomap`, computed by eigenscape.

    Parameters and attributes are the same; ``loss`` measures the error of the expansion.
    """

    def _fit_transform(self, X: Any) -> None:
        with recorded("Isomap.fit"):
            _fit_transform(self, X)

    def transform(self, X: Any) -> Any:
        """Transform X, as :meth:`sklearn.manifold.Isomap.transform`, in blocks of rows."""
        check_is_fitted(self)
        with recorded("Isomap.transform"):
            if is_few(self.nbrs_.n_samples_fit_, "compiled"):
                left("paths of new points", FEW)
                return super().transform(X)
            if self.dist_matrix_.dtype != np.float64 or getattr(X, "dtype", None) == np.float32:
                left("paths of new points", "float32")
                return super().transform(X)
            return self._transform_in_blocks(X)

    def _transform_in_blocks(self, X: Any) -> np.ndarray:
        """Continue the paths from the neighbours of each new point, without a matrix for all new points."""
        from eigenscape.graph.geodesics import extend_geodesics, half_squares

        entries = self._entry_edges(X)
        m = self.nbrs_.n_samples_fit_
        parts = []
        for rows in row_blocks(entries.shape[0], 24.0 * m):
            lengths = extend_geodesics(entries[rows], self.dist_matrix_)
            parts.append(self.kernel_pca_.transform(half_squares(lengths)))
        ran_here("paths of new points")
        return np.concatenate(parts)

    def _entry_edges(self, X: Any) -> sparse.csr_array:
        """Return the distances (n_new, n_samples) to the neighbours of each new point."""
        if self.n_neighbors is not None:
            distances, indices = self.nbrs_.kneighbors(X)
        else:
            distances, indices = self.nbrs_.radius_neighbors(X)
        ends = np.concatenate([[0], np.cumsum([len(row) for row in indices])])
        shape = len(indices), self.nbrs_.n_samples_fit_
        return sparse.csr_array((np.concatenate(distances), np.concatenate(indices), ends), shape=shape)

    def loss(self, X: Any = None, between: Any = None) -> float:
        """Compute the mean squared error of the kernel's expansion in its eigenfunctions (Bengio sec. 4).

        The kernel is ``-d^2 / 2`` of the geodesic distances, centred. Two new points are joined by a path
        through the training points, or by an edge if one is as near to the other as its neighbours.
        scikit-learn has no such method.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), optional
            Held-out points, at least 2, as for ``transform``. If None, the training points.
        between : array-like of shape (n_new, n_new), optional
            For ``metric="precomputed"``: the distances among the held-out points.

        Returns
        -------
        float
        """
        from eigenscape.graph.geodesics import extend_geodesics

        check_is_fitted(self)
        center = self.kernel_pca_._centerer
        with recorded("Isomap.loss"):
            ran_here("loss")
            if X is None:
                return centered_loss(
                    lambda block: distance_kernel(self.dist_matrix_[block]),
                    center.K_fit_rows_,
                    center.K_fit_all_,
                    self.embedding_,
                    training=True,
                )
            entries, lengths = self._entry_edges(X), self.dist_matrix_.astype(np.float64, copy=False)
            to_train = extend_geodesics(entries, lengths)  # (n_new, n)
            direct = self._edges_between(X, entries, between)
            columns = np.ascontiguousarray(to_train.T)
            return centered_loss(
                lambda block: distance_kernel(
                    np.minimum(extend_geodesics(entries[block], columns), direct[block])
                ),
                distance_kernel(to_train).mean(axis=1),
                center.K_fit_all_,
                self.transform(X),
                training=False,
            )

    def _edges_between(self, X: Any, entries: sparse.csr_array, between: Any) -> np.ndarray:
        """Return the distances (n_new, n_new) of new points that are neighbours, infinite for others."""
        n = entries.shape[0]
        if self.metric == "precomputed":
            distances = require_between(between, n)
        else:
            search = self.nbrs_
            params = search.effective_metric_params_ or {}
            distances = pairwise_distances(X, metric=search.effective_metric_, **params)
        if self.n_neighbors is None:
            reach = np.full(n, self.radius)
        else:
            reach = entries.max(axis=1).toarray().ravel()
        return np.where(distances <= np.maximum(reach[:, None], reach), distances, np.inf)
