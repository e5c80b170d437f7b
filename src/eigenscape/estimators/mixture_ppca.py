"""The MixturePPCA estimator."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenscape import distributed
from eigenscape._progress import reporting, stage
from eigenscape.distributed import is_collection
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._collections import averaged, rowwise
from eigenscape.estimators._projective import training_rows
from eigenscape.estimators._validation import check_count, check_input, check_positive
from eigenscape.exceptions import NoiseFloorWarning, NotConvergedWarning
from eigenscape.methods.missing import Observed, observed
from eigenscape.methods.mixture_ppca import (
    Membership,
    Mixture,
    MixtureOptions,
    MixtureResult,
    MixtureSamples,
    WeightedMixtureSamples,
    canonical_mixture,
    draw_mixture_samples,
    membership,
    n_parameters,
    run_mixture_em,
)
from eigenscape.methods.ppca_fit import noise_floor
from eigenscape.methods.probabilistic_pca import orthonormal_directions
from eigenscape.solvers import SolverConfig


class MixturePPCA(Estimator):
    r"""Several planes at once: a mixture of probabilistic PCA models, which also says which plane a point
    belongs to.

    Maximises the likelihood of :math:`p(y) = \sum_k \pi_k N(y; \mu_k, W_k W_k' + \sigma_k^2 I)` by EM from
    partitions of k-means (Burges sec. 1.2; Tipping and Bishop 1999B). With the responsibilities of a step
    each part has the closed form of :class:`ProbabilisticPCA`; where values are missing (NaN), a step of its
    EM.

    Parameters
    ----------
    n_mixtures : int, default=2
        Number of planes.
    n_components : int, default=2
        Dimensions of each; with ``n_features`` of them none is left to the noise, and a warning says so.
    n_init : int, default=5
        Starts; the most likely outcome is kept.
    noise_floor : float, default=1e-6
        Least noise variance, relative to the mean variance of the features. A plane that fits a few points
        exactly would otherwise have infinite likelihood.
    tol : float, default=1e-7
        EM stops when a step raises the log-likelihood by no more than this for each value observed.
    max_iter : int, default=500
        Steps of EM, for each start.
    random_state : int, RandomState or None, default=0
        For k-means and ``sample``.
    verbose : bool, default=False
        Show the stages of the work.

    Attributes
    ----------
    weights_ : ndarray of shape (n_mixtures,)
        Shares :math:`\pi_k`.
    means_ : ndarray of shape (n_mixtures, n_features)
    components_ : ndarray of shape (n_mixtures, n_components, n_features)
        Orthonormal directions of each plane, by decreasing variance.
    loadings_ : ndarray of shape (n_mixtures, n_features, n_components)
        :math:`W_k`.
    noise_variances_ : ndarray of shape (n_mixtures,)
        :math:`\sigma_k^2`.
    degenerate_ : ndarray of bool of shape (n_mixtures,)
        Parts whose noise is at the floor, or that have fewer rows than a plane needs. A warning names them.
    log_likelihood_, log_likelihoods_ : float, list of float
        Of the training data at the end, and after each step of the best start.
    n_iter_, converged_ : int, bool
        Steps of the best start, and whether it stopped because the likelihood did.

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

    _sparse = None
    _no_sparse = (
        "it could not tell a zero from a missing value; pass a dense array with NaN where values are missing"
    )
    _has_embedding = False
    _missing = True

    def __init__(
        self,
        n_mixtures: int = 2,
        n_components: int = 2,
        *,
        n_init: int = 5,
        noise_floor: float = 1e-6,
        tol: float = 1e-7,
        max_iter: int = 500,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.n_mixtures = n_mixtures
        self.n_components = n_components
        self.n_init = n_init
        self.noise_floor = noise_floor
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the most likely mixture.

        Parameters
        ----------
        X : array-like or dask collection of shape (n_samples, n_features)
            NaN for missing values. Every row and every column needs a value.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How often each row stands.

        Returns
        -------
        self
        """
        self._reset()
        with reporting(self.verbose):
            rows = training_rows(self, X, sample_weight)
            self._check_parameters(*rows.shape)
            random = check_random_state(self.random_state)
            floor = noise_floor(rows.variance, self.noise_floor)
            solver = SolverConfig(seed=int(random.randint(2**31 - 1)))
            rules = MixtureOptions(floor, self.n_components + 1.0, self.tol, self.max_iter, solver)
            members = distributed.BlockMembers(rows) if is_collection(X) else WeightedMixtureSamples(rows)
            best = self._best(members, rules, random)
            mixture = canonical_mixture(best.mixture, members)
        self._publish(best, mixture, rules, rows.weight)
        return self

    def _best(
        self, members: MixtureSamples, rules: MixtureOptions, random: np.random.RandomState
    ) -> MixtureResult:
        """The most likely of several climbs, each from its own k-means."""
        filled, weights = members.starting_rows(rules.solver.seed)
        climbs = []
        for _ in range(self.n_init):
            clusters = KMeans(self.n_mixtures, n_init=1, random_state=random.randint(2**31 - 1))
            with (
                warnings.catch_warnings()
            ):  # fewer clusters than asked for are reported at the end, as parts without rows
                warnings.simplefilter("ignore", ConvergenceWarning)
                clusters.fit(filled, sample_weight=weights)
            begin = members.start(clusters.cluster_centers_, self.n_components, rules)
            climbs.append(run_mixture_em(begin, members, rules))
        return max(climbs, key=lambda climb: climb.log_likelihoods[-1])

    def _check_parameters(self, n: int, d: int) -> None:
        for name in ("n_mixtures", "n_components", "n_init", "max_iter"):
            check_count(name, getattr(self, name))
        check_positive("tol", self.tol)
        check_positive("noise_floor", self.noise_floor)
        if self.n_components > d:
            raise ValueError(
                f"n_components={self.n_components} needs at least {self.n_components} features, got n_features={d}; lower n_components"
            )
        least = self.n_mixtures * (self.n_components + 1)
        if n < least:
            raise ValueError(
                f"n_mixtures={self.n_mixtures} planes of n_components={self.n_components} need at least {least} samples, got"
                f" n_samples={n}; lower n_mixtures or n_components"
            )

    def _publish(self, best: MixtureResult, mixture: Mixture, rules: MixtureOptions, weight: float) -> None:
        """The fitted attributes, and what is to be said about them."""
        self._mixture_ = mixture
        self.weights_ = mixture.proportions
        self.means_ = np.stack([part.mean for part in mixture.models])
        self.loadings_ = np.stack([part.loadings for part in mixture.models])
        self.components_ = np.stack([orthonormal_directions(part.loadings).T for part in mixture.models])
        self.noise_variances_ = np.array([part.noise for part in mixture.models])
        self.degenerate_ = (self.noise_variances_ <= rules.min_noise) | (
            self.weights_ * weight < rules.min_weight
        )
        self.log_likelihoods_, self.log_likelihood_ = best.log_likelihoods, best.log_likelihoods[-1]
        self.n_iter_, self.converged_ = len(best.log_likelihoods) - 1, best.converged
        if not best.converged:
            warnings.warn(
                f"EM did not converge in max_iter={self.max_iter} steps: the last one still raised the log-likelihood by"
                f" {best.log_likelihoods[-1] - best.log_likelihoods[-2]:.3g}; raise max_iter or loosen tol={self.tol:g}",
                NotConvergedWarning,
                stacklevel=3,
            )
        if self.degenerate_.any():
            warnings.warn(
                f"part(s) {', '.join(map(str, np.flatnonzero(self.degenerate_)))} of the mixture leave nothing to the noise (its"
                f" variance is kept at {rules.min_noise:.3g}, noise_floor={self.noise_floor:g}) or have lost their points; lower"
                " n_mixtures or n_components",
                NoiseFloorWarning,
                stacklevel=3,
            )

    @rowwise(None, dtype=np.int64)
    def predict(self, X: Any) -> np.ndarray:
        """The plane (n_new,) that each row most probably belongs to."""
        return np.argmax(self._membership(X)[2].log_responsibilities, axis=1)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and return the plane of each training row."""
        return self.fit(X, y, sample_weight).predict(X)

    @rowwise("n_mixtures")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability (n_new, n_mixtures) of each plane given what is observed of a row."""
        X, _, found = self._membership(X)
        return self._like(X, np.exp(found.log_responsibilities))

    def _transform(self, X: np.ndarray) -> np.ndarray:
        """Compute latent coordinates in the plane that :meth:`predict` returns; comparable within it only."""
        found = self._responsibilities(observed(X, training=False))
        means = np.stack([posterior.means for posterior in found.posteriors])  # (k, n, q)
        return means[np.argmax(found.log_responsibilities, axis=1), np.arange(len(X))]

    @rowwise("n_features_in_")
    def impute(self, X: Any) -> np.ndarray:
        """``X`` with each missing value replaced by its expectation given the values observed in its row,
        over all planes."""
        X, data, found = self._membership(X)
        shares = np.exp(found.log_responsibilities)
        planes = zip(shares.T, found.posteriors, self._mixture_.models, strict=True)
        fill = sum(
            share[:, None] * (posterior.means @ part.loadings.T + part.mean)
            for share, posterior, part in planes
        )
        return self._like(X, data.filled(fill))

    @rowwise(None, dtype=np.float64)
    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood (n_new,) of each row, of what is observed of it."""
        return self._membership(X)[2].log_likelihood

    @averaged
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log-likelihood of the rows."""
        return float(np.average(self.score_samples(X), weights=sample_weight))

    def bic(self, X: Any) -> float:
        """Bayesian information criterion on ``X``: lower is better."""
        values = self.score_samples(X)
        return float(-2 * values.sum() + n_parameters(self._mixture_) * np.log(len(values)))

    def aic(self, X: Any) -> float:
        """Akaike information criterion on ``X``: lower is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * n_parameters(self._mixture_))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Rows drawn from the model (n_samples, n_features) and their planes, plane by plane; None takes the
        estimator's seed."""
        check_is_fitted(self, "components_")
        random = check_random_state(self.random_state if random_state is None else random_state)
        return draw_mixture_samples(self._mixture_, check_count("n_samples", n_samples), random)

    def _membership(self, X: Any) -> tuple[np.ndarray, Observed, Membership]:
        check_is_fitted(self, "components_")
        X = check_input(self, X, reset=False)
        data = observed(X, training=False)
        with reporting(self.verbose):
            return X, data, self._responsibilities(data)

    def _responsibilities(self, data: Observed) -> Membership:
        with stage("projection"):
            return membership(self._mixture_, data)
