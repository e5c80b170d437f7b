"""Code shared by probabilistic models: training samples with missing values, imputation and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eigenscape import distributed
from eigenscape.distributed import is_collection
from eigenscape.estimators._collections import averaged, check_weight, rowwise, validate_blocks, weight_blocks
from eigenscape.estimators._docs import documented
from eigenscape.estimators._running import running
from eigenscape.estimators._validation import check_input, check_weights, valid_rows
from eigenscape.methods.missing import ObservedData, observed_data
from eigenscape.methods.ppca_fit import WeightedSamples

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


@documented
class LatentMixin:
    """``impute``, ``score_samples`` and ``score`` by the hooks ``_expected`` and ``_log_density``."""

    _sparse: str | None = None
    _no_sparse = "zeros and missing values are ambiguous; pass a dense array with NaN for missing values"
    _missing = True
    _has_embedding = False
    verbose: bool
    _match_dtype: Any
    _check_fitted: Any

    def _expected(self, data: ObservedData) -> np.ndarray:
        """Compute the expectation (n, d) of samples given their observed values. A hook."""
        raise NotImplementedError

    def _log_density(self, data: ObservedData) -> np.ndarray:
        """Compute the log-likelihood (n,) of the observed values of samples. A hook."""
        raise NotImplementedError

    @rowwise("n_features_in_")
    def impute(self, X: Any) -> np.ndarray:
        """Replace missing values by their expectation given the observed values of the sample.

        Parameters
        ----------
        {X/missing}

        Returns
        -------
        ndarray of shape (n_new, n_features)
        """
        X, data = self._observed(X)
        with running(self):
            return self._match_dtype(X, data.filled(self._expected(data)))

    @rowwise(None, dtype=np.float64)
    def score_samples(self, X: Any) -> np.ndarray:
        """Compute the log-likelihood of the observed values of each sample.

        Parameters
        ----------
        {X/missing}

        Returns
        -------
        ndarray of shape (n_new,)
        """
        _, data = self._observed(X)
        with running(self):
            return self._log_density(data)

    @averaged
    def score(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Compute the mean log-likelihood of the samples; see ``score_samples``.

        Parameters
        ----------
        {X/missing} {y}
        sample_weight : array-like of shape (n_new,), optional
            Sample weights. Not accepted for dask collections.

        Returns
        -------
        float
        """
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(self.score_samples(X), weights=weights))

    def _observed(self, X: Any) -> tuple[np.ndarray, ObservedData]:
        """Validate new samples."""
        self._check_fitted()
        X = check_input(self, X, reset=False)
        return X, observed_data(X, training=False)


def training_samples(
    estimator: BaseEstimator, X: Any, sample_weight: ArrayLike | None
) -> WeightedSamples | distributed.BlockRows:
    """Validate the training data of a probabilistic model, an array or a dask collection."""
    if is_collection(X):
        rows = distributed.BlockRows(validate_blocks(estimator, X, reset=True), weight_blocks(sample_weight))
        check_weight(rows.weight, sample_weight)
        return rows
    X = check_input(estimator, X, reset=True)
    X, weights = valid_rows(X, check_weights(sample_weight, X))
    return WeightedSamples(observed_data(X, training=True), weights)
