"""scikit-learn's ClassicalMDS with eigenvectors from eigenscape."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import linalg
from sklearn import manifold
from sklearn.base import _fit_context
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenscape._memory import row_blocks
from eigenscape.accel._loss import centered_loss, distance_kernel, require_between
from eigenscape.accel._rebind import rebound
from eigenscape.accel._record import left, ran_here, recorded
from eigenscape.accel._solve import UnsupportedProblemError, leading

_ClassicalMDS: Any = getattr(manifold, "ClassicalMDS", object)  # old versions have none


class ClassicalMDS(_ClassicalMDS):
    """:class:`sklearn.manifold.ClassicalMDS`, computed by eigenscape.

    Parameters and attributes are the same; ``transform`` places new points, and ``loss`` measures the error
    of the expansion.
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Compute and return the embedding, as :meth:`sklearn.manifold.ClassicalMDS.fit_transform`."""

        def eigh(B: Any) -> Any:
            try:
                return leading(B, min(self.n_components, len(B)))
            except UnsupportedProblemError as reason:
                left("eigenvectors", str(reason))
                return linalg.eigh(B)

        body = rebound(_ClassicalMDS.fit_transform, linalg=SimpleNamespace(eigh=eigh))
        with recorded("ClassicalMDS.fit"):
            embedding = body(self, X, y)
        self._rows_ = None if self.metric == "precomputed" else np.array(X)  # for `transform`
        return embedding

    def transform(self, X: Any) -> np.ndarray:
        """Place new points by the Nystrom formula, as Gower does; training points get their coordinates.

        scikit-learn has no such method.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New points; for ``metric="precomputed"`` their distances (n_new, n_samples) to the training
            points.

        Returns
        -------
        ndarray of shape (n_new, n_components)
            The coordinate of an eigenvalue of zero is 0.
        """
        check_is_fitted(self)
        Y = validate_data(self, X, reset=False)
        with recorded("ClassicalMDS.transform"):
            ran_here("new points")
            positive = self.eigenvalues_ > 1e-12 * np.abs(self.eigenvalues_).max(initial=0.0)
            axes = np.zeros_like(self.embedding_)
            axes[:, positive] = self.embedding_[:, positive] / self.eigenvalues_[positive]
            means = self._training_means()
            parts = []
            for rows in row_blocks(len(Y), 16.0 * len(axes)):
                parts.append((self._kernel_of(Y[rows]) - means) @ axes)  # the axes are centred
            return np.concatenate(parts)

    def loss(self, X: Any = None, between: Any = None) -> float:
        """Compute the mean squared error of the kernel's expansion in its eigenfunctions (Bengio sec. 4).

        The kernel is ``-d^2 / 2``, centred. scikit-learn has no such method.

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
        check_is_fitted(self)
        training = self._training_means()
        with recorded("ClassicalMDS.loss"):
            ran_here("loss")
            if X is None:
                return centered_loss(
                    lambda block: distance_kernel(self.dissimilarity_matrix_[block]),
                    training,
                    training.mean(),
                    self.embedding_,
                    training=True,
                )
            Y = validate_data(self, X, reset=False)
            table = require_between(between, len(Y)) if self._rows_ is None else None
            blocks = row_blocks(len(Y), 16.0 * len(training))
            return centered_loss(
                lambda block: distance_kernel(
                    self._distances(Y[block], Y) if table is None else table[block]
                ),
                np.concatenate([self._kernel_of(Y[rows]).mean(axis=1) for rows in blocks]),
                training.mean(),
                self.transform(X),
                training=False,
            )

    def _training_means(self) -> np.ndarray:
        """Return the mean (n,) of the kernel of each training point and all of them."""
        D = self.dissimilarity_matrix_
        return np.concatenate(
            [distance_kernel(D[rows]).mean(axis=1) for rows in row_blocks(len(D), 16.0 * len(D))]
        )

    def _kernel_of(self, Y: np.ndarray) -> np.ndarray:
        """Return the kernel (n_new, n) of new points and the training points, before it is centred."""
        return distance_kernel(Y if self._rows_ is None else self._distances(Y, self._rows_))

    def _distances(self, Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return pairwise_distances(Y, Z, metric=self.metric, **(self.metric_params or {}))
