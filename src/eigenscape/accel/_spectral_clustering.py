"""scikit-learn's SpectralClustering with neighbours and eigenvectors from eigenscape."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.cluster import _spectral as theirs
from sklearn.metrics import pairwise_distances_argmin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenscape.accel._extension import (
    KernelAffinities,
    NeighborAffinities,
    new_loss,
    place,
    require_rows,
    training_loss,
    training_rows,
)
from eigenscape.accel._laplacian import spectral_embedding
from eigenscape.accel._neighbors import kneighbors_graph
from eigenscape.accel._rebind import rebound, validated
from eigenscape.accel._record import ran_here, recorded


def _has_rows(estimator: Any) -> bool:
    return not (callable(estimator.affinity) or str(estimator.affinity).startswith("precomputed"))


def _can_predict(estimator: Any) -> bool:
    return _has_rows(estimator) and estimator.assign_labels == "kmeans"


class SpectralClustering(theirs.SpectralClustering):
    """:class:`sklearn.cluster.SpectralClustering`, computed by eigenscape.

    Parameters and attributes are the same; ``predict`` assigns new points to the clusters, and ``loss``
    measures the error of the expansion.
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Perform spectral clustering, as :meth:`sklearn.cluster.SpectralClustering.fit`."""
        maps = []

        def embed(*args: Any, **kwargs: Any) -> np.ndarray:
            maps.append(spectral_embedding(*args, **kwargs))
            return maps[0]

        body = rebound(
            theirs.SpectralClustering.fit, _spectral_embedding=embed, kneighbors_graph=kneighbors_graph
        )
        with recorded("SpectralClustering.fit"):
            body(self, X, y)
        # For `predict` and `loss`.
        self._map_, self._rows_ = maps[0], training_rows(X) if _has_rows(self) else None
        return self

    @available_if(_can_predict)
    def predict(self, X: Any) -> np.ndarray:
        """Assign new points to the clusters; training points keep their labels.

        A new point is placed in the spectral map by the Nystrom formula and belongs to the nearest mean of a
        cluster. scikit-learn has no such method. It is available with rows, not with precomputed affinities,
        and ``assign_labels="kmeans"``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new,)
        """
        from eigenscape.graph.row_index import RowIndex

        check_is_fitted(self)
        Y = validate_data(self, X, dtype=np.float64, reset=False)
        with recorded("SpectralClustering.predict"):
            ran_here("new points")
            rows = require_rows(self._rows_)
            placed = place(Y, rows, self._affinities(rows), self.affinity_matrix_, self._map_)
            clusters = np.unique(self.labels_)
            means = np.stack([self._map_[self.labels_ == label].mean(axis=0) for label in clusters])
            labels = clusters[pairwise_distances_argmin(placed, means)]
            train = RowIndex(rows).find(Y)
            return np.where(train >= 0, self.labels_[train], labels).astype(self.labels_.dtype)

    def loss(self, X: Any = None) -> float:
        """Compute the mean squared error of the kernel's expansion in its eigenfunctions (Bengio sec. 4).

        The kernel are the affinities between different points, divided by the roots of their
        sums. scikit-learn has no such method.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), optional
            Held-out points, at least 2; not with precomputed affinities. If None, the training points.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        with recorded("SpectralClustering.loss"):
            ran_here("loss")
            if X is None:
                return training_loss(self.affinity_matrix_, self._map_)
            rows = require_rows(self._rows_)
            Y = validate_data(self, X, dtype=np.float64, reset=False)
            return new_loss(Y, rows, self._affinities(rows), self.affinity_matrix_, self._map_)

    def _affinities(self, rows: np.ndarray) -> KernelAffinities | NeighborAffinities:
        """Return the affinities of new points."""
        if self.affinity == "nearest_neighbors":
            return NeighborAffinities.of(rows, self.n_neighbors, self.n_jobs)
        params = dict(self.kernel_params or {})
        params.update(gamma=self.gamma, degree=self.degree, coef0=self.coef0)  # in scikit-learn's order
        return KernelAffinities(
            rows, lambda Y, Z: pairwise_kernels(Y, Z, metric=self.affinity, filter_params=True, **params)
        )


_function = rebound(theirs.spectral_clustering, SpectralClustering=SpectralClustering)


def _recorded(*args: Any, **kwargs: Any) -> Any:
    with recorded("spectral_clustering"):
        return _function(*args, **kwargs)


spectral_clustering = validated(theirs.spectral_clustering, _recorded, __name__)
