"""Probabilistic PCA."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from eigenscape._progress import stage
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._docs import documented
from eigenscape.estimators._latent import LatentMixin, training_samples
from eigenscape.estimators._linear import LinearMixin, check_rank
from eigenscape.estimators._running import running
from eigenscape.estimators._validation import check_choice, check_count, check_positive
from eigenscape.exceptions import NoiseFloorWarning, NotConvergedWarning
from eigenscape.methods.missing import ObservedData, observed_data
from eigenscape.methods.ppca_fit import NOISE_FLOOR, PPCAOptions, PPCASamples, fit_ppca
from eigenscape.methods.probabilistic_pca import (
    LatentGaussian,
    compute_posterior,
    draw_samples,
    orthonormal_directions,
)


@documented
class ProbabilisticPCA(LatentMixin, LinearMixin, Estimator):
    r"""PCA as a Gaussian model with latent coordinates: likelihoods, missing values, sampling.

    Maximises the likelihood of :math:`y = W x + \mu + \epsilon`, :math:`x \sim N(0, I)`, :math:`\epsilon \sim
    N(0, \sigma^2 I)` (Burges sec. 1.2). Complete data have the closed solution :math:`W = U (\Lambda -
    \sigma^2 I)^{1/2}`, :math:`\sigma^2` the mean of the discarded eigenvalues (Burges eq. 1.8, corrected, and
    1.9). NaN is a missing value in all methods: EM then maximises the likelihood of the observed values. As
    the noise goes to zero the coordinates become those of whitened PCA.

    Parameters
    ----------
    n_components : int, "bayes" or "mle", default=2
        Number of latent coordinates. ``n_features`` of them leave no variance to the noise, which causes a
        warning. "bayes": the number kept by automatic relevance determination (Bishop 1999). "mle": the
        number with the largest evidence (Minka 2000), for complete data. The model is then the
        maximum-likelihood model with that number.
    method : {"auto", "closed", "em"}, default="auto"
        "auto" uses the closed form for complete data and parameter-expanded EM otherwise.
    {tol/em} {max_iter/em} {random_state} {verbose}

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, by decreasing variance.
    loadings_ : ndarray of shape (n_features, n_components)
        :math:`W`, whose columns are along the components.
    {mean_/latent}
    noise_variance_ : float
        :math:`\sigma^2`.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the model along each component, with noise: the leading eigenvalues of its covariance.
    {n_components_} {log_likelihood_} {log_likelihoods_}
    n_iter_ : int
        Number of steps of EM; 1 for the closed form.
    {converged_}
    method_ : str
        Method used: "closed" or "em".
    {n_features_in_}

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

    _model_: LatentGaussian

    def __init__(
        self,
        n_components: int | Literal["bayes", "mle"] = 2,
        *,
        method: Literal["auto", "closed", "em"] = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = 0,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the maximum-likelihood model.

        Parameters
        ----------
        {X/observed} {y} {sample_weight}

        Returns
        -------
        self
        """
        self._reset()
        with running(self):
            samples = training_samples(self, X, sample_weight)
            options = self._options(samples)
            result = fit_ppca(samples, options)
        self._model_ = model = result.model
        self.mean_, self.loadings_, self.noise_variance_ = model.mean, model.loadings, model.noise
        self.components_ = orthonormal_directions(model.loadings).T
        self.explained_variance_ = np.square(np.linalg.norm(model.loadings, axis=0)) + model.noise
        self.n_components_ = model.loadings.shape[1]
        self.method_ = options.method
        self.log_likelihoods_, self.log_likelihood_ = result.log_likelihoods, result.log_likelihoods[-1]
        self.n_iter_, self.converged_ = max(1, len(result.log_likelihoods) - 1), result.converged
        if not result.converged:
            gain = result.log_likelihoods[-1] - result.log_likelihoods[-2]
            warnings.warn(
                f"EM did not converge in max_iter={self.max_iter} steps: the last step raised the"
                f" log-likelihood by {gain:.3g}; raise max_iter or tol={self.tol:g}",
                NotConvergedWarning,
                stacklevel=2,
            )
        if result.noise_at_floor:
            warnings.warn(
                f"n_components={self.n_components_} dimensions leave no variance to the noise: it was"
                f" set to {model.noise:.3g}, {NOISE_FLOOR:g} of the mean variance, and likelihoods depend on"
                " it; lower n_components, or use PCA",
                NoiseFloorWarning,
                stacklevel=2,
            )
        return self

    def _options(self, samples: PPCASamples) -> PPCAOptions:
        """Validate the parameters."""
        n, d = samples.shape
        check_choice("method", self.method, ("auto", "closed", "em"))
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ("bayes", "mle"))
            if d < 2:
                raise ValueError(
                    f"n_components={self.n_components!r} needs at least 2 features, got n_features={d}"
                )
        else:
            check_rank(check_count("n_components", self.n_components), n, d)
        if self.method == "closed" and not samples.complete:
            raise ValueError(
                "method='closed' needs complete data, but X has missing values (NaN); use 'em' or 'auto'"
            )
        if self.n_components == "mle" and (not samples.complete or n <= d):
            raise ValueError(
                "n_components='mle' needs complete data with more samples than features; use 'bayes' or an"
                " integer"
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        method: Literal["closed", "em"] = "em" if self.method == "em" or not samples.complete else "closed"
        return PPCAOptions(self.n_components, method, self.tol, self.max_iter, seed)

    def _transform(self, X: np.ndarray) -> np.ndarray:
        """Compute the posterior means of the latent coordinates given the observed values."""
        with stage("projection"):
            return compute_posterior(self._model_, observed_data(X, training=False)).means

    def _inverse(self, Y: np.ndarray) -> np.ndarray:
        return Y @ self.loadings_.T + self.mean_

    def _expected(self, data: ObservedData) -> np.ndarray:
        return compute_posterior(self._model_, data).means @ self.loadings_.T + self.mean_

    def _log_density(self, data: ObservedData) -> np.ndarray:
        return compute_posterior(self._model_, data).log_likelihood

    def posterior(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Compute the posterior distribution of the latent coordinates.

        Parameters
        ----------
        {X/missing}

        Returns
        -------
        means : ndarray of shape (n_new, n_components)
        covariances : ndarray of shape (n_new, n_components, n_components)
        """
        X, data = self._observed(X)
        posterior = compute_posterior(self._model_, data)
        return self._match_dtype(X, posterior.means), self._match_dtype(
            X, self.noise_variance_ * posterior.inverses[data.group]
        )

    def get_covariance(self) -> np.ndarray:
        """Compute the covariance ``W W' + s^2 I`` of the model, of shape (n_features, n_features)."""
        self._check_fitted()
        return self._model_.covariance()

    def sample(
        self, n_samples: int = 1, random_state: int | np.random.RandomState | None = None
    ) -> np.ndarray:
        """Draw samples from the model.

        Parameters
        ----------
        {n_samples} {random_state/draw}

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        self._check_fitted()
        random = check_random_state(self.random_state if random_state is None else random_state)
        return draw_samples(self._model_, check_count("n_samples", n_samples), random)
