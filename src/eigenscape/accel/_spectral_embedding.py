"""scikit-learn's SpectralEmbedding with neighbours and eigenvectors from eigenscape."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.manifold import _spectral_embedding as theirs
from sklearn.metrics.pairwise import rbf_kernel
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
    with_constant,
)
from eigenscape.accel._laplacian import spectral_embedding as _embed
from eigenscape.accel._neighbors import kneighbors_graph
from eigenscape.accel._rebind import rebound, validated
from eigenscape.accel._record import ran_here, recorded

_fit = rebound(theirs.SpectralEmbedding.fit, _spectral_embedding=_embed)
_affinity = rebound(theirs.SpectralEmbedding._get_affinity_matrix, kneighbors_graph=kneighbors_graph)
_function = rebound(theirs.spectral_embedding, _spectral_embedding=_embed)


def _has_rows(estimator: Any) -> bool:
    return estimator.affinity in ("nearest_neighbors", "rbf")


class SpectralEmbedding(theirs.SpectralEmbedding):
    """:class:`sklearn.manifold.SpectralEmbedding`, computed by eigenscape.

    Parameters and attributes are the same; ``transform`` places new points, and ``loss`` measures the error
    of the expansion.
    """

    def _get_affinity_matrix(self, X: Any, Y: Any = None) -> Any:
        self._rows_ = training_rows(X) if _has_rows(self) else None  # for `transform`
        return _affinity(self, X, Y)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> SpectralEmbedding:
        """Fit the model, as :meth:`sklearn.manifold.SpectralEmbedding.fit`."""
        with recorded("SpectralEmbedding.fit"):
            return _fit(self, X, y)

    @available_if(_has_rows)
    def transform(self, X: Any) -> np.ndarray:
        """Place new points by the Nystrom formula; training points keep their coordinates.

        scikit-learn has no such method. It is available with ``affinity="nearest_neighbors"`` and ``"rbf"``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new, n_components)
        """
        check_is_fitted(self)
        Y = validate_data(self, X, dtype=np.float64, reset=False)
        with recorded("SpectralEmbedding.transform"):
            ran_here("new points")
            rows = require_rows(self._rows_)
            affinities = self._affinities(rows)
            return place(Y, rows, affinities, self.affinity_matrix_, self.embedding_)

    def loss(self, X: Any = None) -> float:
        """Compute the mean squared error of the kernel's expansion in its eigenfunctions (Bengio sec. 4).

        The kernel are the affinities between different points, divided by the roots of their
        sums. scikit-learn has no such method.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), optional
            Held-out points, at least 2, where ``transform`` is available. If None, the training points.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        with recorded("SpectralEmbedding.loss"):
            ran_here("loss")
            A = self.affinity_matrix_
            Z = with_constant(A, self.embedding_)
            if X is None:
                return training_loss(A, Z)
            rows = require_rows(self._rows_)
            Y = validate_data(self, X, dtype=np.float64, reset=False)
            return new_loss(Y, rows, self._affinities(rows), A, Z)

    def _affinities(self, rows: np.ndarray) -> KernelAffinities | NeighborAffinities:
        """Return the affinities of new points."""
        if self.affinity == "rbf":
            return KernelAffinities(rows, lambda Y, Z: rbf_kernel(Y, Z, gamma=self.gamma_))
        return NeighborAffinities.of(rows, self.n_neighbors_, self.n_jobs)


def _recorded(*args: Any, **kwargs: Any) -> Any:
    with recorded("spectral_embedding"):
        return _function(*args, **kwargs)


spectral_embedding = validated(theirs.spectral_embedding, _recorded, __name__)
