"""``transform`` and ``inverse_transform`` of linear maps."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from eigenscape._progress import stage
from eigenscape.estimators._collections import check_in_memory, rowwise


class LinearMixin:
    """``transform`` and ``inverse_transform`` by ``mean_``, ``components_`` and ``patterns_``."""

    _sparse = None
    _no_sparse = "centring would make it dense; pass X.toarray()"
    _like: Any
    mean_: np.ndarray
    components_: np.ndarray
    patterns_: np.ndarray

    def _transform(self, X: np.ndarray) -> np.ndarray:
        with stage("projection"):
            return (X - self.mean_) @ self.components_.T

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
        check_in_memory(self, X)
        return validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=2 if reset else 1
        )
