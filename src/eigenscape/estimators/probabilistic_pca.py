"""The ProbabilisticPCA estimator."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from eigenscape._progress import reporting, stage
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._collections import averaged, rowwise
from eigenscape.estimators._projective import training_rows
from eigenscape.estimators._validation import check_choice, check_count, check_input, check_positive
from eigenscape.exceptions import NoiseFloorWarning, NotConvergedWarning
from eigenscape.methods.missing import Observed, observed
from eigenscape.methods.ppca_fit import NOISE_FLOOR, PPCAOptions, PPCAResult, PPCASamples, fit_ppca
from eigenscape.methods.probabilistic_pca import draw_samples, infer, orthonormal_directions


class ProbabilisticPCA(Estimator):
    r"""PCA as a Gaussian model with latent coordinates: likelihoods, missing values, samples.

    Maximises the likelihood of :math:`y = W x + \mu + \epsilon`, :math:`x \sim N(0, I)`, :math:`\epsilon \sim
    N(0, \sigma^2 I)` (Burges sec. 1.2). Complete data have the closed solution :math:`W = U (\Lambda -
    \sigma^2 I)^{1/2}`, :math:`\sigma^2` the mean of the discarded eigenvalues (Burges eq. 1.8, corrected, and
    1.9). **NaN means missing**, in ``fit`` and everywhere else: then EM maximises the likelihood of what was
    observed. As the noise goes to zero the coordinates become those of whitened PCA.

    Parameters
    ----------
    n_components : int, "bayes" or "mle", default=2
        Number of latent coordinates; with ``n_features`` of them none is left to the noise, and a warning
        says so. "bayes": those that automatic relevance determination leaves (Bishop 1999), with values
        missing or not. "mle": the number with the largest evidence (Minka 2000), for complete data. The model
        is then the most likely one with that number.
    method : {"auto", "closed", "em"}, default="auto"
        "auto" takes the closed form for complete data and EM (parameter-expanded) otherwise.
    tol : float, default=1e-8
        EM stops when a step raises the log-likelihood by no more than this for each value observed.
    max_iter : int, default=1000
        Steps of EM.
    random_state : int, RandomState or None, default=0
        For ``sample``, and for start vectors where few components of a large matrix are wanted.
    verbose : bool, default=False
        Show the stages of the work.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, by decreasing variance.
    loadings_ : ndarray of shape (n_features, n_components)
        :math:`W`, its columns along the components.
    mean_ : ndarray of shape (n_features,)
    noise_variance_ : float
        :math:`\sigma^2`.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the model along each component, noise included: the leading eigenvalues of its covariance.
    n_components_ : int
    log_likelihood_ : float
        Of the training data (what was observed of them).
    log_likelihoods_ : list of float
        After each step of EM; for the closed form the one value.
    n_iter_, converged_ : int, bool
        Steps of EM (1 for the closed form), and whether it stopped because the likelihood did.
    method_ : str
        "closed" or "em".

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

    _sparse = None
    _no_sparse = (
        "it could not tell a zero from a missing value; pass a dense array with NaN where values are missing"
    )
    _has_embedding = False
    _missing = True

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        method: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the most likely model.

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
            choice = self._choice(rows)
            found = fit_ppca(rows, choice)
        self.method_ = choice.method
        self._publish(found)
        return self

    def _choice(self, rows: PPCASamples) -> PPCAOptions:
        n, d = rows.shape
        check_choice("method", self.method, ("auto", "closed", "em"))
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        wish = self.n_components
        if isinstance(wish, str):
            check_choice("n_components", wish, ("bayes", "mle"))
            if d < 2:
                raise ValueError(f"n_components={wish!r} needs at least 2 features, got n_features={d}")
        elif check_count("n_components", wish) > min(n - 1, d):
            needs = f"n_components={wish} needs at least {wish + 1} samples and {wish} features"
            raise ValueError(f"{needs}, got n_samples={n}, n_features={d}; lower n_components")
        if self.method == "closed" and not rows.complete:
            raise ValueError(
                "method='closed' needs complete data, and X has missing values (NaN); use method='em' or 'auto'"
            )
        if wish == "mle" and (not rows.complete or n <= d):
            raise ValueError(
                "n_components='mle' needs complete data with more samples than features; use 'bayes' or a number"
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        em = self.method == "em" or not rows.complete
        return PPCAOptions(wish, "em" if em else "closed", self.tol, self.max_iter, seed)

    def _publish(self, found: PPCAResult) -> None:
        """The fitted attributes, and what is to be said about them."""
        self._model_ = model = found.model
        lengths = np.linalg.norm(model.loadings, axis=0)
        self.mean_, self.loadings_, self.noise_variance_ = model.mean, model.loadings, model.noise
        self.components_ = orthonormal_directions(model.loadings).T
        self.explained_variance_ = np.square(lengths) + model.noise
        self.n_components_ = model.loadings.shape[1]
        self.log_likelihoods_, self.log_likelihood_ = found.log_likelihoods, found.log_likelihoods[-1]
        self.n_iter_, self.converged_ = max(1, len(found.log_likelihoods) - 1), found.converged
        if not found.converged:
            gain = found.log_likelihoods[-1] - found.log_likelihoods[-2]
            warnings.warn(
                f"EM did not converge in max_iter={self.max_iter} steps: the last one still raised the log-likelihood by"
                f" {gain:.3g}; raise max_iter or loosen tol={self.tol:g}",
                NotConvergedWarning,
                stacklevel=3,
            )
        if found.noise_at_floor:
            warnings.warn(
                f"n_components={self.n_components_} dimensions leave nothing to the noise: its variance was kept at"
                f" {model.noise:.3g}, {NOISE_FLOOR:g} of the mean variance, and likelihoods depend on it; lower n_components, or use PCA",
                NoiseFloorWarning,
                stacklevel=3,
            )

    def _transform(self, X: np.ndarray) -> np.ndarray:
        """Compute the posterior means of the latent coordinates, given the observed values of each row."""
        with stage("projection"):
            return infer(self._model_, observed(X, training=False)).means

    def posterior(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means (n_new, n_components) and covariances (n_new, n_components, n_components) of the
        latent coordinates."""
        X, data = self._data(X)
        found = infer(self._model_, data)
        return self._like(X, found.means), self._like(X, self.noise_variance_ * found.inverses[data.group])

    @rowwise("n_features_in_", of="_n_features_out")
    def inverse_transform(self, X: Any) -> np.ndarray:
        """The mean ``W x + mu`` of the data that have the latent coordinates ``X`` (n, n_components)."""
        check_is_fitted(self, "components_")
        Z = check_array(X, dtype=[np.float64, np.float32])
        if Z.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {Z.shape[1]} coordinates, but the model has n_components_={self.n_components_}"
            )
        return self._like(Z, Z @ self.loadings_.T + self.mean_)

    @rowwise("n_features_in_")
    def impute(self, X: Any) -> np.ndarray:
        """``X`` with each missing value replaced by its expectation given the values observed in its row."""
        X, data = self._data(X)
        return self._like(X, data.filled(infer(self._model_, data).means @ self.loadings_.T + self.mean_))

    @rowwise(None, dtype=np.float64)
    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood (n_new,) of each row, of what is observed of it."""
        _, data = self._data(X)
        return infer(self._model_, data).log_likelihood

    @averaged
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log-likelihood of the rows."""
        return float(np.average(self.score_samples(X), weights=sample_weight))

    def get_covariance(self) -> np.ndarray:
        """Covariance of the model, ``W W' + s^2 I`` (n_features, n_features)."""
        check_is_fitted(self, "components_")
        return self._model_.covariance()

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows drawn from the model (n_samples, n_features); ``random_state=None`` takes the estimator's."""
        check_is_fitted(self, "components_")
        random = check_random_state(self.random_state if random_state is None else random_state)
        return draw_samples(self._model_, check_count("n_samples", n_samples), random)

    def _data(self, X: Any) -> tuple[np.ndarray, Observed]:
        check_is_fitted(self, "components_")
        X = check_input(self, X, reset=False)
        return X, observed(X, training=False)
