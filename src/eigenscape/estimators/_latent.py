"""Code shared by probabilistic models: training samples with missing values, imputation and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from eigenscape._parameters import check_count
from eigenscape._progress import stage
from eigenscape._warnings import warn
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._method import Seed
from eigenscape.estimators._rows import check_input, check_weights, valid_rows
from eigenscape.estimators._running import averaged, rowwise, running
from eigenscape.exceptions import NotConvergedWarning
from eigenscape.methods.factor_analysis import FactorResult
from eigenscape.methods.observed_data import ObservedData, observed_data
from eigenscape.methods.ppca_fit import PPCAResult
from eigenscape.methods.probabilistic_pca import Posterior, draw_samples


class LatentMixin(Estimator):
    """``impute``, ``score_samples`` and ``score`` by the hooks ``_expected`` and ``_log_density``."""

    _sparse: str | None = None
    _no_sparse = "zeros and missing values are ambiguous; pass a dense array with NaN for missing values"
    _missing = True
    _has_embedding = False

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
        X : array-like of shape (n_new, n_features)
            Samples, NaN for missing values.

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
        X : array-like of shape (n_new, n_features)
            Samples, NaN for missing values.

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
        X : array-like of shape (n_new, n_features)
            Samples, NaN for missing values.
        y : ignored
            Not used, present for API consistency.
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


class GaussianMixin(LatentMixin):
    """Methods of one model ``y = W x + mu + e`` with ``x ~ N(0, I)``; subclasses define ``_posterior``."""

    def _posterior(self, data: ObservedData) -> Posterior:
        """Compute the posterior of the latent coordinates of samples. A hook."""
        raise NotImplementedError

    def _set_model(self, result: PPCAResult | FactorResult) -> None:
        """Set the attributes of a fitted model and of the steps of its likelihood."""
        self._model_ = model = result.model
        self.mean_, self.loadings_, self.noise_variance_ = model.mean, model.loadings, model.noise
        self.log_likelihoods_, self.log_likelihood_ = result.log_likelihoods, result.log_likelihoods[-1]
        self.n_iter_, self.converged_ = max(1, len(result.log_likelihoods) - 1), result.converged

    def _transform(self, X: np.ndarray) -> np.ndarray:
        """Compute the posterior means of the latent coordinates given the observed values."""
        with stage("projection"):
            return self._posterior(observed_data(X, training=False)).means

    def _inverse(self, Y: np.ndarray) -> np.ndarray:
        return Y @ self.loadings_.T + self.mean_

    def _expected(self, data: ObservedData) -> np.ndarray:
        return self._inverse(self._posterior(data).means)

    def _log_density(self, data: ObservedData) -> np.ndarray:
        return self._posterior(data).log_likelihood

    def posterior(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Compute the posterior distribution of the latent coordinates.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples, NaN for missing values.

        Returns
        -------
        means : ndarray of shape (n_new, n_components)
        covariances : ndarray of shape (n_new, n_components, n_components)
        """
        X, data = self._observed(X)
        posterior = self._posterior(data)
        return self._match_dtype(X, posterior.means), self._match_dtype(X, posterior.covariances(data.group))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw samples from the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of samples.
        random_state : int, RandomState instance or None, default=None
            Seed. If None, ``random_state`` of the estimator is used.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        self._check_fitted()
        random = check_random_state(self.random_state if random_state is None else random_state)
        return draw_samples(self._model_, check_count("n_samples", n_samples), random)


def warn_if_stopped(estimator: Any) -> None:
    """Warn that EM ended at ``max_iter`` steps; called by ``fit``."""
    if estimator.converged_:
        return
    gain = estimator.log_likelihoods_[-1] - estimator.log_likelihoods_[-2]
    warn(
        f"EM did not converge in max_iter={estimator.max_iter} steps: the last step raised the"
        f" log-likelihood by {gain:.3g}; raise max_iter or tol={estimator.tol:g}",
        NotConvergedWarning,
    )


def training_samples(
    estimator: Any, X: Any, sample_weight: ArrayLike | None
) -> tuple[ObservedData, np.ndarray]:
    """Validate the training data of a probabilistic model; also return their weights."""
    X = check_input(estimator, X, reset=True)
    X, weights = valid_rows(X, check_weights(sample_weight, X))
    return observed_data(np.ascontiguousarray(X), training=True), weights  # the same sums in any layout
