"""Mixtures of probabilistic PCA."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from eigenscape._parameters import check_count, check_enough, with_constructor
from eigenscape._progress import stage
from eigenscape._warnings import warn
from eigenscape.estimators._latent import LatentMixin, training_samples, warn_if_stopped
from eigenscape.estimators._method import Memory, Method, Seed
from eigenscape.estimators._running import by_blocks, fitting, rowwise, running
from eigenscape.exceptions import NoiseFloorWarning
from eigenscape.methods.mixture_ppca import (
    Membership,
    Mixture,
    MixtureOptions,
    MixtureSamples,
    WeightedMixtureSamples,
    canonical_mixture,
    draw_mixture_samples,
    membership,
    n_parameters,
    run_mixture_em,
)
from eigenscape.methods.observed_data import ObservedData, observed_data
from eigenscape.methods.ppca_fit import PPCASamples, WeightedSamples, noise_floor
from eigenscape.methods.probabilistic_pca import EMResult, orthonormal_directions
from eigenscape.solvers import SolverConfig


@with_constructor
class MixturePPCA(LatentMixin):
    r"""Mixture of probabilistic PCA models: several planes, with the membership of each sample.

    Maximises the likelihood of :math:`p(y) = \sum_k \pi_k N(y; \mu_k, W_k W_k' + \sigma_k^2 I)` by EM that
    starts from k-means partitions (Burges sec. 1.2; Tipping and Bishop 1999B). Given the responsibilities,
    each model has the closed form of probabilistic PCA; with missing values (NaN), a step of its EM is used.

    Parameters
    ----------
    n_mixtures : int, default=2
        Number of planes.
    n_components : int, default=2
        Number of dimensions of each plane. ``n_features`` of them leave no variance to the noise, which
        causes a warning.
    random_state : int, RandomState instance or None, default=0
        Seed of k-means and of ``sample``. If None, results may differ between calls.

    Other Parameters
    ----------------
    n_init : int, default=5
        Number of starts; the result of largest likelihood is kept.
    noise_floor : float, default=1e-6
        Smallest noise variance, relative to the mean variance of the features. Without it, a plane that fits
        a few samples exactly would have infinite likelihood.
    tol : float, default=1e-7
        EM stops after a step that increases the log-likelihood per observed value by at most ``tol``.
    max_iter : int, default=500
        Maximum number of steps of EM.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    weights_ : ndarray of shape (n_mixtures,)
        Mixing proportions :math:`\pi_k`, largest first.
    means_ : ndarray of shape (n_mixtures, n_features)
        :math:`\mu_k`.
    components_ : ndarray of shape (n_mixtures, n_components, n_features)
        Orthonormal directions of each plane, by decreasing variance.
    loadings_ : ndarray of shape (n_mixtures, n_features, n_components)
        :math:`W_k`.
    noise_variances_ : ndarray of shape (n_mixtures,)
        :math:`\sigma_k^2`.
    degenerate_ : ndarray of bool of shape (n_mixtures,)
        Whether the noise of a plane is at the floor or it has fewer samples than a plane requires. Such
        planes cause a warning.
    log_likelihood_ : float
        Log-likelihood of the observed values of the training samples.
    log_likelihoods_ : list of float
        Log-likelihood after each step of EM; a single value for a closed form.
    n_iter_ : int
        Number of steps of EM of the best start.
    converged_ : bool
        Whether EM stopped because the log-likelihood rose by no more than ``tol``.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import MixturePPCA
    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.standard_normal((2, 100, 1)) * np.eye(4)[:2, None, :]
    >>> X = np.concatenate([first - 2, second + 2]) + 0.05 * rng.standard_normal((200, 4))
    >>> model = MixturePPCA(n_mixtures=2, n_components=1).fit(X)
    >>> np.bincount(model.predict(X)).tolist()
    [100, 100]
    >>> np.sort(np.abs(model.components_[:, 0, :2]).argmax(axis=1)).tolist()
    [0, 1]
    """

    n_mixtures: int = 2
    n_components: int = 2
    _: KW_ONLY
    n_init: int = 5
    noise_floor: float = 1e-6
    tol: float = 1e-7
    max_iter: int = 500
    random_state: Seed = 0
    verbose: bool = False

    _shapes: ClassVar = {
        "weights_": "mixtures",
        "means_": "mixtures features",
        "loadings_": "mixtures features components",
        "components_": "mixtures components features",
        "noise_variances_": "mixtures",
        "degenerate_": "mixtures",
    }
    _method = Method("mixture-ppca", aliases=("mppca",), clusters="n_mixtures", memory=Memory(copies=6.5))
    _meaning = "The coordinates are posterior means of a mixture of probabilistic PCA models."

    @by_blocks("mixture.fit")
    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the mixture of largest likelihood.

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
            given = WeightedSamples(*training_samples(self, X, sample_weight))
            self._fit(given, WeightedMixtureSamples(given))
        return self

    def _fit(self, given: PPCASamples, samples: MixtureSamples) -> None:
        """Find the mixture of validated samples, ``given`` also as samples of one model."""
        self._check_parameters(*given.shape)
        random = check_random_state(self.random_state)
        options = MixtureOptions(
            noise_floor(given.variance, self.noise_floor),
            self.n_components + 1.0,
            self.tol,
            self.max_iter,
            SolverConfig(seed=int(random.randint(2**31 - 1))),
        )
        result = self._best_result(samples, options, random)
        self._mixture_ = mixture = canonical_mixture(result.model, samples)
        self.weights_ = mixture.proportions
        self.means_ = np.stack([model.mean for model in mixture.models])
        self.loadings_ = np.stack([model.loadings for model in mixture.models])
        self.components_ = np.stack([orthonormal_directions(model.loadings).T for model in mixture.models])
        self.noise_variances_ = np.array([model.noise for model in mixture.models])
        lost = self.weights_ * given.weight < options.min_weight
        self.degenerate_ = (self.noise_variances_ <= options.min_noise) | lost
        self.log_likelihoods_, self.log_likelihood_ = result.log_likelihoods, result.log_likelihoods[-1]
        self.n_iter_, self.converged_ = len(result.log_likelihoods) - 1, result.converged
        warn_if_stopped(self)
        self._warn_if_degenerate(options)

    def _best_result(
        self, samples: MixtureSamples, options: MixtureOptions, random: np.random.RandomState
    ) -> EMResult[Mixture]:
        """Return the result of largest likelihood over several starts, each from its own k-means."""
        rows, weights = samples.starting_rows(options.solver.seed)
        results = []
        for _ in range(self.n_init):
            clusters = KMeans(self.n_mixtures, n_init=1, random_state=random.randint(2**31 - 1))
            with warnings.catch_warnings():  # missing clusters are reported as degenerate
                warnings.simplefilter("ignore", ConvergenceWarning)
                clusters.fit(rows, sample_weight=weights)
            start = samples.start(clusters.cluster_centers_, self.n_components, options)
            results.append(run_mixture_em(start, samples, options))
        return max(results, key=lambda result: result.log_likelihoods[-1])

    def _check_parameters(self, n_samples: int, n_features: int) -> None:
        check_enough("n_components", self.n_components, self.n_components, n_features, "features")
        check_enough("n_mixtures", self.n_mixtures, self.n_mixtures * (self.n_components + 1), n_samples)

    def _warn_if_degenerate(self, options: MixtureOptions) -> None:
        if self.degenerate_.any():
            planes = ", ".join(map(str, np.flatnonzero(self.degenerate_)))
            warn(
                f"plane(s) {planes} of the mixture have no noise (its variance was set to"
                f" {options.min_noise:.3g}, noise_floor={self.noise_floor:g}) or no samples;"
                " lower n_mixtures or n_components",
                NoiseFloorWarning,
            )

    @rowwise(None, dtype=np.int64)
    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable plane of each sample.

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
            return np.argmax(self._membership(data).log_responsibilities, axis=1)

    def fit_predict(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> np.ndarray:
        """Fit to ``X`` and return the most probable plane of each training sample."""
        return self.fit(X, y, sample_weight).predict(X)

    @rowwise("n_mixtures")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Compute the probability of each plane given the observed values of a sample.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples, NaN for missing values.

        Returns
        -------
        ndarray of shape (n_new, n_mixtures)
        """
        X, data = self._observed(X)
        with running(self):
            return self._match_dtype(X, np.exp(self._membership(data).log_responsibilities))

    def _transform(self, X: np.ndarray) -> np.ndarray:
        """Compute latent coordinates in the plane that :meth:`predict` returns; comparable within it only."""
        result = self._membership(observed_data(X, training=False))
        means = np.stack([posterior.means for posterior in result.posteriors])  # (k, n, q)
        return means[np.argmax(result.log_responsibilities, axis=1), np.arange(len(X))]

    def bic(self, X: Any) -> float:
        """Compute the Bayesian information criterion on ``X``; lower is better."""
        values = self.score_samples(X)
        return float(-2 * values.sum() + n_parameters(self._mixture_) * np.log(len(values)))

    def aic(self, X: Any) -> float:
        """Compute the Akaike information criterion on ``X``; lower is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * n_parameters(self._mixture_))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw samples from the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of samples.
        random_state : int, RandomState instance or None, default=None
            Seed. If None, ``random_state`` of the estimator is used.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Samples, in the order of their planes.
        planes : ndarray of shape (n_samples,)
            Plane of each sample.
        """
        self._check_fitted()
        random = check_random_state(self.random_state if random_state is None else random_state)
        return draw_mixture_samples(self._mixture_, check_count("n_samples", n_samples), random)

    def _expected(self, data: ObservedData) -> np.ndarray:
        result = self._membership(data)
        responsibilities = np.exp(result.log_responsibilities)
        expected = np.zeros(data.shape)
        for k, (posterior, model) in enumerate(zip(result.posteriors, self._mixture_.models, strict=True)):
            expected += responsibilities[:, k, None] * (posterior.means @ model.loadings.T + model.mean)
        return expected

    def _log_density(self, data: ObservedData) -> np.ndarray:
        return self._membership(data).log_likelihood

    def _membership(self, data: ObservedData) -> Membership:
        with stage("projection"):
            return membership(self._mixture_, data)
