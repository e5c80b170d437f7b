"""Factor analysis."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._parameters import with_constructor
from eigenscape._warnings import warn
from eigenscape.estimators._latent import GaussianMixin, training_samples, warn_if_stopped
from eigenscape.estimators._linear import LinearMixin, check_rank
from eigenscape.estimators._method import Memory, Method, Seed
from eigenscape.estimators._running import fitting
from eigenscape.exceptions import NoiseFloorWarning
from eigenscape.methods.factor_analysis import factor_posterior, fit_factors
from eigenscape.methods.observed_data import ObservedData
from eigenscape.methods.probabilistic_pca import Posterior
from eigenscape.methods.tuning import TUNING


@with_constructor
class FactorAnalysis(GaussianMixin, LinearMixin):
    r"""Factor analysis: a Gaussian model with latent coordinates and a noise variance for each feature.

    Maximises the likelihood of :math:`y = W x + \mu + \epsilon`, :math:`x \sim N(0, I)`, :math:`\epsilon \sim
    N(0, \Psi)` with diagonal :math:`\Psi` (Burges eq. 1.7). :class:`ProbabilisticPCA` is the case :math:`\Psi
    = \sigma^2 I`, which suits features in the same units. Factor analysis suits features in any units: with
    features multiplied by constants, the loadings and the noise are multiplied likewise, and the latent
    coordinates are the same. There is no closed form. For complete data the likelihood is maximised in
    turn over :math:`W`, given :math:`\Psi`, and by a step of EM over :math:`\Psi`. NaN is a missing value in
    all methods: parameter-expanded EM then maximises the likelihood of the observed values. The likelihood
    rises in each step; it may have several local maxima.

    Parameters
    ----------
    n_components : int, default=2
        Number of latent coordinates :math:`q`. For :math:`d` features the model is determined only if
        :math:`(d - q)^2 \ge d + q`; otherwise many models have the same likelihood.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.

        Used if values are missing.

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
    loadings_ : ndarray of shape (n_features, n_components)
        :math:`W`, rotated so that :math:`W' \Psi^{-1} W` is diagonal, largest first: the latent coordinates
        are independent given :math:`y`.
    components_ : ndarray of shape (n_components, n_features)
        The transpose of ``loadings_``.
    mean_ : ndarray of shape (n_features,)
        Mean :math:`\mu`.
    noise_variance_ : ndarray of shape (n_features,)
        The diagonal of :math:`\Psi`.
    n_components_ : int
        Number of coordinates.
    log_likelihood_ : float
        Log-likelihood of the observed values of the training samples.
    log_likelihoods_ : list of float
        Log-likelihood after each step of EM; a single value for a closed form.
    n_iter_ : int
        Number of steps.
    converged_ : bool
        Whether EM stopped because the log-likelihood rose by no more than ``tol``.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import FactorAnalysis
    >>> rng = np.random.default_rng(0)
    >>> noise = np.array([0.1, 0.1, 0.1, 2.0, 2.0, 2.0])
    >>> X = rng.standard_normal((500, 1)) + noise * rng.standard_normal((500, 6))
    >>> model = FactorAnalysis(n_components=1).fit(X)
    >>> bool(abs(np.sqrt(model.noise_variance_) / noise - 1).max() < 0.1)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    tol: float = 1e-8
    max_iter: int = 1000
    random_state: Seed = 0
    verbose: bool = False

    _shapes: ClassVar = {"noise_variance_": "features"}
    _method = Method(
        "factor-analysis",
        aliases=("fa",),
        linear=True,
        scale_free=True,
        collections=False,
        memory=Memory(copies=7),
    )
    _meaning = (
        "The coordinates are the posterior means of a Gaussian latent variable model with a noise"
        " variance for each feature."
    )

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the maximum-likelihood model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
            data, weights = training_samples(self, X, sample_weight)
            check_rank(self.n_components, *data.shape)
            seed = self._seed()
            result = fit_factors(data, weights, self.n_components, self.tol, self.max_iter, seed)
            self._set_model(result)
            self.components_, self.n_components_ = self.loadings_.T, self.n_components
        warn_if_stopped(self)
        if len(result.at_floor):
            shown = ", ".join(map(str, result.at_floor[:5])) + (", ..." if len(result.at_floor) > 5 else "")
            warn(
                f"the factors explain feature(s) {shown} completely: the noise was set to"
                f" {TUNING.factor_noise:g} of the variance, and likelihoods depend on it; lower n_components,"
                " or drop features that are functions of others",
                NoiseFloorWarning,
            )
        return self

    def _posterior(self, data: ObservedData) -> Posterior:
        return factor_posterior(self._model_, data)

    def get_covariance(self) -> np.ndarray:
        """Compute the covariance ``W W' + Psi`` of the model, of shape (n_features, n_features)."""
        self._check_fitted()
        return self._model_.covariance()
