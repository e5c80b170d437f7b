"""What estimators share whose map is linear: one matrix there, another back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from eigenscape._progress import stage
from eigenscape.estimators._collections import CollectionMixin, refuse_collection, rowwise


class LinearEstimator(CollectionMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Subclasses define ``__init__`` and ``fit``, which sets ``mean_``, ``components_`` and ``patterns_``."""

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the map."""

    @rowwise()
    def transform(self, X: Any) -> np.ndarray:
        """Project points: ``(x - mean) components'``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new, n_components)
        """
        check_is_fitted(self, "components_")
        X = self._rows(X, reset=False)
        with stage("projection"):
            return self._like(X, (X - self.mean_) @ self.components_.T)

    @rowwise("n_features_in_", of="_n_features_out")
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Points with the given coordinates: ``mean + t patterns``; ``transform`` gives the coordinates back.

        Parameters
        ----------
        X : array-like of shape (n_new, n_components)

        Returns
        -------
        ndarray of shape (n_new, n_features)
        """
        check_is_fitted(self, "components_")
        X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        if X.shape[1] != len(self.patterns_):
            raise ValueError(
                f"X has {X.shape[1]} coordinates, but {type(self).__name__} has {len(self.patterns_)} components"
            )
        return self._like(X, X @ self.patterns_ + self.mean_)

    def _rows(self, X: Any, reset: bool) -> np.ndarray:
        refuse_collection(self, X)
        return validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=2 if reset else 1
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @staticmethod
    def _like(X: np.ndarray, values: np.ndarray) -> np.ndarray:
        """float32 out where float32 came in."""
        return values.astype(X.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
