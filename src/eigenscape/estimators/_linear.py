"""Code shared by linear maps: ``inverse_transform`` and the validation of the number of components."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._progress import stage
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._rows import given_coordinates, validate_rows
from eigenscape.estimators._running import rowwise
from eigenscape.methods.component_count import NComponents


class LinearMixin(Estimator):
    """``transform`` and ``inverse_transform`` by ``mean_``, ``components_`` and ``patterns_``.

    Estimators with other formulas implement the hooks ``_transform`` and ``_inverse``.
    """

    _sparse: str | None = None
    _no_sparse = "centring would make it dense; pass X.toarray()"
    mean_: np.ndarray
    components_: np.ndarray
    patterns_: np.ndarray

    def _transform(self, X: np.ndarray) -> np.ndarray:
        with stage("projection"):
            return (X - self.mean_) @ self.components_.T

    def _inverse(self, Y: np.ndarray) -> np.ndarray:
        """Compute the rows of the given coordinates. A hook."""
        return Y @ self.patterns_ + self.mean_

    @rowwise("n_features_in_", of="_n_features_out")
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Compute rows with the given coordinates.

        Parameters
        ----------
        X : array-like of shape (n_new, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_new, n_features)
            Rows that ``transform`` maps to ``X``. For a dask collection, a lazy dask array.
        """
        self._check_fitted()
        Y = given_coordinates(self, X)
        return self._match_dtype(Y, self._inverse(Y))


def check_rows(estimator: Any, X: Any) -> Any:
    """Validate training data of at least two samples; record the number and names of features."""
    rows = validate_rows(
        estimator, X, reset=True, accept_sparse=estimator._sparse or False, ensure_min_samples=2
    )
    return rows if isinstance(rows, np.ndarray) else sparse.csr_array(rows)


def check_n_components(n_components: Any, n_samples: int, n_features: int) -> NComponents:
    """Return ``n_components`` of PCA: a valid integer, a ratio of the variance, "mle" or None."""
    got = f"got n_samples={n_samples}, n_features={n_features}"
    if n_components is None:
        return None
    if isinstance(n_components, str):
        if n_features < 2 or n_samples <= n_features:
            needs = "at least 2 features" if n_features < 2 else "more samples than features"
            raise ValueError(f"n_components='mle' needs {needs}, {got}; pass an integer")
        return "mle"
    if isinstance(n_components, numbers.Real) and not isinstance(n_components, numbers.Integral):
        ratio = float(n_components)
        if 0 < ratio < 1:
            return ratio
        raise ValueError(
            f"n_components={n_components!r} is a ratio of the variance and must be between 0 and 1;"
            " pass an integer for a number of components"
        )
    check_rank(n_components, n_samples, n_features)
    return n_components


def check_rank(n_components: int, n_samples: int, n_features: int) -> None:
    """Raise an error if centred samples cannot have ``n_components`` directions."""
    if n_components > min(n_samples - 1, n_features):
        raise ValueError(
            f"n_components={n_components} needs at least {n_components + 1} samples and {n_components}"
            f" features, got n_samples={n_samples}, n_features={n_features}; lower n_components"
        )
