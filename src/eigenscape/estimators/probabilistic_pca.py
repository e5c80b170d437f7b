"""Probabilistic PCA."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._parameters import with_constructor
from eigenscape._warnings import warn
from eigenscape.estimators._latent import GaussianMixin, training_samples, warn_if_stopped
from eigenscape.estimators._linear import LinearMixin, check_rank
from eigenscape.estimators._method import Memory, Method, Seed
from eigenscape.estimators._running import by_blocks, fitting
from eigenscape.exceptions import NoiseFloorWarning
from eigenscape.methods.observed_data import ObservedData
from eigenscape.methods.ppca_fit import PPCAOptions, PPCASamples, WeightedSamples, fit_ppca
from eigenscape.methods.probabilistic_pca import (
    Posterior,
    compute_posterior,
    orthonormal_directions,
)
from eigenscape.methods.tuning import TUNING


@with_constructor
class ProbabilisticPCA(GaussianMixin, LinearMixin):
    r"""PCA as a Gaussian model with latent coordinates: likelihoods, missing values, sampling.

    Maximises the likelihood of :math:`y = W x + \mu + \epsilon`, :math:`x \sim N(0, I)`, :math:`\epsilon \sim
    N(0, \sigma^2 I)` (Burges sec. 1.2). Complete data have the closed solution :math:`W = U (\Lambda -
    \sigma^2 I)^{1/2}`, :math:`\sigma^2` the mean of the discarded eigenvalues (Burges eq. 1.8, corrected, and
    1.9). NaN is a missing value in all methods: EM then maximises the likelihood of the observed values. As
    the noise goes to zero the coordinates converge to whitened PCA.

    Parameters
    ----------
    n_components : int, "bayes" or "mle", default=2
        Number of latent coordinates. ``n_features`` of them leave no variance to the noise, which causes a
        warning. "bayes": the number kept by automatic relevance determination (Bishop 1999). "mle": the
        number with the largest evidence (Minka 2000), for complete data. The model is then the
        maximum-likelihood model with that number.
    method : {"auto", "closed", "em"}, default="auto"
        "auto" uses the closed form for complete data and parameter-expanded EM otherwise.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.

    Other Parameters
    ----------------
    tol : float, default=1e-8
        EM stops after a step that increases the log-likelihood per observed value by at most ``tol``.
    max_iter : int, default=1000
        Maximum number of steps of EM.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, by decreasing variance.
    loadings_ : ndarray of shape (n_features, n_components)
        :math:`W`, whose columns are along the components.
    mean_ : ndarray of shape (n_features,)
        Mean :math:`\mu`.
    noise_variance_ : float
        :math:`\sigma^2`.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the model along each component, with noise: the leading eigenvalues of its covariance.
    n_components_ : int
        Number of coordinates.
    log_likelihood_ : float
        Log-likelihood of the observed values of the training samples.
    log_likelihoods_ : list of float
        Log-likelihood after each step of EM; a single value for a closed form.
    n_iter_ : int
        Number of steps of EM; 1 for the closed form.
    converged_ : bool
        Whether EM stopped because the log-likelihood rose by no more than ``tol``.
    method_ : str
        Method used: "closed" or "em".
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import ProbabilisticPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 6)) + 0.1 * rng.standard_normal((200, 6))
    >>> gaps = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    >>> model = ProbabilisticPCA(n_components=2).fit(gaps)
    >>> model.method_
    'em'
    >>> by_model, by_mean = model.impute(gaps), np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)
    >>> bool(np.linalg.norm(by_model - X) < np.linalg.norm(by_mean - X) / 5)
    True
    >>> ProbabilisticPCA(n_components="bayes").fit(X).n_components_
    2
    """

    n_components: int | Literal["bayes", "mle"] = 2
    _: KW_ONLY
    method: Literal["auto", "closed", "em"] = "auto"
    tol: float = 1e-8
    max_iter: int = 1000
    random_state: Seed = 0
    verbose: bool = False

    _method = Method("probabilistic-pca", aliases=("ppca",), linear=True, memory=Memory(copies=5))
    _meaning = "The coordinates are the posterior means of a Gaussian latent variable model."

    @by_blocks("ppca.fit")
    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the maximum-likelihood model.

        Parameters
        ----------
        X : array-like or dask collection of shape (n_samples, n_features)
            Training data, NaN for missing values. Every row and every column needs an observed value.
        y : ignored
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights. A weight of 2 is equivalent to repeating the sample.

        Returns
        -------
        self
        """
        with fitting(self):
            self._fit(WeightedSamples(*training_samples(self, X, sample_weight)))
        return self

    def _fit(self, samples: PPCASamples) -> None:
        """Find the model of validated samples."""
        options = self._options(samples)
        result = fit_ppca(samples, options)
        self._set_model(result)
        model = result.model
        self.components_ = orthonormal_directions(model.loadings).T
        self.explained_variance_ = np.square(np.linalg.norm(model.loadings, axis=0)) + model.noise
        self.n_components_ = model.loadings.shape[1]
        self.method_ = options.method
        warn_if_stopped(self)
        if result.noise_at_floor:
            warn(
                f"n_components={self.n_components_} dimensions leave no variance to the noise: it was"
                f" set to {model.noise:.3g}, {TUNING.ppca_noise:g} of the mean variance, and likelihoods"
                " depend on it; lower n_components, or use PCA",
                NoiseFloorWarning,
            )

    def _options(self, samples: PPCASamples) -> PPCAOptions:
        """Validate the parameters."""
        n, d = samples.shape
        if isinstance(self.n_components, str):
            if d < 2:
                raise ValueError(
                    f"n_components={self.n_components!r} needs at least 2 features, got n_features={d}"
                )
        else:
            check_rank(self.n_components, n, d)
        if self.method == "closed" and not samples.complete:
            raise ValueError(
                "method='closed' needs complete data, but X has missing values (NaN); use 'em' or 'auto'"
            )
        if self.n_components == "mle" and (not samples.complete or n <= d):
            raise ValueError(
                "n_components='mle' needs complete data with more samples than features; use 'bayes' or an"
                " integer"
            )
        seed = self._seed()
        method: Literal["closed", "em"] = "em" if self.method == "em" or not samples.complete else "closed"
        return PPCAOptions(self.n_components, method, self.tol, self.max_iter, seed)

    def _posterior(self, data: ObservedData) -> Posterior:
        return compute_posterior(self._model_, data)

    def get_covariance(self) -> np.ndarray:
        """Compute the covariance ``W W' + s^2 I`` of the model, of shape (n_features, n_features)."""
        self._check_fitted()
        return self._model_.covariance()
