"""Factor analysis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._progress import reporting
from eigenscape._warnings import warn
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._collections import check_in_memory
from eigenscape.estimators._docs import documented
from eigenscape.estimators._latent import GaussianMixin, LatentMixin, warn_if_stopped
from eigenscape.estimators._linear import LinearMixin, check_rank
from eigenscape.estimators._validation import (
    check_count,
    check_input,
    check_positive,
    check_weights,
    valid_rows,
)
from eigenscape.exceptions import NoiseFloorWarning
from eigenscape.methods.factor_analysis import NOISE_FLOOR, FactorModel, factor_posterior, fit_factors
from eigenscape.methods.observed_data import ObservedData, observed_data
from eigenscape.methods.probabilistic_pca import Posterior


@documented
class FactorAnalysis(GaussianMixin, LatentMixin, LinearMixin, Estimator):
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
    {tol/em} {max_iter/em} {random_state}
        Used if values are missing.
    {verbose}

    Attributes
    ----------
    loadings_ : ndarray of shape (n_features, n_components)
        :math:`W`, rotated so that :math:`W' \Psi^{-1} W` is diagonal, largest first: the latent coordinates
        are independent given :math:`y`.
    components_ : ndarray of shape (n_components, n_features)
        The transpose of ``loadings_``.
    {mean_/latent}
    noise_variance_ : ndarray of shape (n_features,)
        The diagonal of :math:`\Psi`.
    {n_components_} {log_likelihood_} {log_likelihoods_}
    n_iter_ : int
        Number of steps.
    {converged_} {n_features_in_}

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

    _model_: FactorModel

    def __init__(
        self,
        n_components: int = 2,
        *,
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = 0,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the maximum-likelihood model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, NaN for missing values. Every row and every column needs an observed value.
        {y} {sample_weight}

        Returns
        -------
        self
        """
        self._reset()
        check_in_memory(self, X)
        with reporting(self.verbose):
            X = check_input(self, X, reset=True)
            X, weights = valid_rows(X, check_weights(sample_weight, X))
            check_rank(check_count("n_components", self.n_components), *X.shape)
            check_positive("tol", self.tol)
            check_count("max_iter", self.max_iter)
            seed = self._seed()
            data = observed_data(np.ascontiguousarray(X), training=True)  # the same sums in any layout
            result = fit_factors(data, weights, self.n_components, self.tol, self.max_iter, seed)
        self._set_model(result)
        self.components_, self.n_components_ = self.loadings_.T, self.n_components
        warn_if_stopped(self)
        if len(result.at_floor):
            shown = ", ".join(map(str, result.at_floor[:5])) + (", ..." if len(result.at_floor) > 5 else "")
            warn(
                f"the factors explain feature(s) {shown} completely: the noise was set to {NOISE_FLOOR:g} of"
                " the variance, and likelihoods depend on it; lower n_components, or drop features that are"
                " functions of others",
                NoiseFloorWarning,
            )
        return self

    def _posterior(self, data: ObservedData) -> Posterior:
        return factor_posterior(self._model_, data)

    def get_covariance(self) -> np.ndarray:
        """Compute the covariance ``W W' + Psi`` of the model, of shape (n_features, n_features)."""
        self._check_fitted()
        return self._model_.covariance()
