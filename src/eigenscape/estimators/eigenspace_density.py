"""Density and novelty in the space of eigenfunctions.

See docs/decisions/estimators-density.md.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import check_count, check_enough, check_parameters, with_constructor
from eigenscape._progress import stage
from eigenscape.estimators._embedder import check_embedder, copy_features
from eigenscape.estimators._method import Method, Seed
from eigenscape.estimators._rows import take_rows
from eigenscape.estimators._running import averaged, rowwise, running
from eigenscape.estimators._span import measure_span, resolve_span, span_rounding
from eigenscape.estimators.kernel_pca import KernelPCA
from eigenscape.kernels.base import n_points
from eigenscape.methods.eigenspace_density import GammaTail, GaussianDensity

#: Coordinates of the default embedder.
_COORDINATES = 10
#: Numbers of Gaussians to choose from, and the least number of rows for each.
_MIXTURES, _ROWS_PER_GAUSSIAN = (1, 2, 3, 5, 8, 12, 20, 30), 5
#: Share of rows like the training rows that are called outliers if contamination is "auto".
_FALSE_ALARMS = 0.01


class _Fold(NamedTuple):
    """Coordinates of rows that an embedder was fitted to and of rows left out, at unit variance."""

    fitted: np.ndarray
    left_out: np.ndarray
    span: np.ndarray  # distances of the rows left out from the span


@with_constructor
class EigenspaceDensity(DensityMixin, BaseEstimator):
    r"""Density of coordinates by a mixture of Gaussians, and outliers by density and distance from the span.

    .. math:: p(z) = \sum_k w_k N(z;\, \mu_k, \Sigma_k), \qquad
        \delta(x) = k(x, x) - \sum_r \lambda_r f_r(x)^2,

    where :math:`z(x)` are the coordinates of ``embedder`` (Bengio sec. 6) and :math:`\delta` is the squared
    distance of a row from the span of the eigenfunctions in feature space (Ouimet eq. 5; Hoffmann 2007). A
    row is unusual if its coordinates are, or if the coordinates do not describe it: its score is
    :math:`\log P(p \le p(z(x))) + \log P(\delta \ge \delta(x))`, the sum of the logarithms of the two
    probabilities that a row like the training rows is at least as unusual. Both are measured on rows left
    out of the fit.

    These are densities of coordinates, not of rows: compare them for one embedder only.

    Parameters
    ----------
    embedder : estimator or None, default=None
        Any estimator with ``transform``. If None, KernelPCA with 10 components. Maps that place every row
        among the training rows, such as maps of neighbourhood graphs, do not show outliers by their density;
        the distance from the span is then the distance of a row from its reconstruction.
    n_mixtures : int or "auto", default="auto"
        Number of Gaussians. "auto" has the largest mean log density of rows left out.
    contamination : float or "auto", default="auto"
        Share of the training rows, in (0, 0.5], that ``predict`` calls outliers. "auto": the training rows
        are taken to be usual, and one in a hundred rows left out is called an outlier.
    prefit : bool, default=False
        Whether ``embedder`` is fitted already, for example to a stream. It is then used as it is.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds and of the mixtures.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    reg_covar : float, default=1e-3
        Added to the variances of the Gaussians, relative to the variance of a coordinate.
    span_distance : {"auto", "kernel", "inverse", "none"}, default="auto"
        Distance of a row from the span. "kernel": in feature space, for kernels of two rows. "inverse": the
        squared distance of a row from ``inverse_transform`` of its coordinates. "none": only the density
        counts. "auto" is the first of these that ``embedder`` has.
    cv : int, default=3
        Number of folds in which rows are left out: of the embedder too, unless it is fitted already.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    n_mixtures_ : int
        Number of Gaussians.
    weights_ : ndarray of shape (n_mixtures_,)
    means_ : ndarray of shape (n_mixtures_, n_coordinates)
    covariances_ : ndarray of shape (n_mixtures_, n_coordinates, n_coordinates)
        Weights, means and covariances of the Gaussians.
    cv_scores_ : ndarray of shape (n_candidates, 2)
        Number of Gaussians and mean log density of rows left out (of coordinates at unit variance).
    span_distance_ : {"kernel", "inverse", "none"}
        Distance from the span that is used.
    offset_ : float
        Score below which a row is an outlier.
    embedder_ : estimator
        The fitted embedder.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from eigenscape import EigenspaceDensity
    >>> X, y = load_digits(return_X_y=True)
    >>> zeros, others = X[y == 0], X[y != 0]
    >>> model = EigenspaceDensity().fit(zeros[:120])
    >>> bool((model.predict(zeros[120:]) == 1).mean() > 0.9), bool((model.predict(others) == -1).mean() > 0.9)
    (True, True)
    """

    embedder: Any = None
    n_mixtures: int | Literal["auto"] = "auto"
    _: KW_ONLY
    reg_covar: float = 1e-3
    span_distance: Literal["auto", "kernel", "inverse", "none"] = "auto"
    contamination: float | Literal["auto"] = "auto"
    cv: int = 3
    prefit: bool = False
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("eigenspace-density", command="density")

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the embedder, the mixture of its coordinates, and the threshold of outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, in the form that ``embedder`` takes.
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self
        """
        self._check_parameters(X)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with running(self):
            self.embedder_ = self.embedder if self.prefit else self._new_embedder(X).fit(X)
            coordinates = self._coordinates(self.embedder_, X)
            copy_features(self, self.embedder_)
            self.span_distance_ = resolve_span(self.embedder_, take_rows(X, np.arange(2)), self.span_distance)
            n_distinct = len(np.unique(np.round(coordinates / _scale(coordinates), 9), axis=0))
            with stage("cross-validation"):
                folds = self._folds(X, coordinates, seed)
                self.n_mixtures_, left_out = self._choose_mixtures(folds, n_distinct, seed)
            scale = _scale(coordinates)
            self._density_ = _density(self._mixture(coordinates / scale, self.n_mixtures_, seed), scale)
            self._rarity_ = GammaTail.of(-left_out)
            span = np.concatenate([fold.span for fold in folds])
            self._span_tail_ = None
            if self.span_distance_ != "none":  # a map that loses nothing has distances of rounding errors
                rounding = span_rounding(self.embedder_, X, self.span_distance_)
                self._span_tail_ = GammaTail.of(span, rounding)
            if self.contamination == "auto":
                self.offset_ = float(np.quantile(self._join(left_out, span), _FALSE_ALARMS))
            else:
                self.offset_ = float(np.quantile(self._scores(X, coordinates), self.contamination))
        self.weights_, self.means_ = self._density_.weights, self._density_.means * scale
        self.covariances_ = self._density_.covariances()
        return self

    def _check_parameters(self, X: Any) -> None:
        check_parameters(self)
        check_embedder(self, X, "transform", "an estimator with transform, such as KernelPCA(10) or PCA(10)")
        if self.contamination != "auto" and not 0 < self.contamination <= 0.5:
            raise ValueError(f"contamination={self.contamination!r} must be 'auto' or a number in (0, 0.5]")

    def _new_embedder(self, X: Any) -> Any:
        if self.embedder is not None:
            return clone(self.embedder)
        smallest = n_points(X) - -(-n_points(X) // self.cv)  # rows of the smallest fold
        return KernelPCA(
            max(1, min(_COORDINATES, smallest - 1)), n_jobs=self.n_jobs, random_state=self.random_state
        )

    def _folds(self, X: Any, coordinates: np.ndarray, seed: int) -> list[_Fold]:
        """Return the coordinates of rows left out, of the embedder too unless it is fitted already."""
        n_rows = len(coordinates)
        check_enough("cv", self.cv, 2 * self.cv, n_rows)
        folds = []
        for fitted, left_out in KFold(self.cv, shuffle=True, random_state=seed).split(coordinates):
            embedder, inside = self.embedder_, coordinates[fitted]
            if not self.prefit:
                rows = take_rows(X, fitted)
                embedder = clone(self.embedder_).fit(rows)
                inside = self._coordinates(embedder, rows)
            scale, rows = _scale(inside), take_rows(X, left_out)
            outside = np.asarray(embedder.transform(rows), dtype=np.float64)
            folds.append(_Fold(inside / scale, outside / scale, self._span(embedder, rows)))
        return folds

    def _choose_mixtures(self, folds: list[_Fold], n_distinct: int, seed: int) -> tuple[int, np.ndarray]:
        """Return the number of Gaussians, and the log densities of rows left out with it."""
        smallest = min(len(fold.fitted) for fold in folds)
        counts = [k for k in _MIXTURES if k <= min(n_distinct, max(1, smallest // _ROWS_PER_GAUSSIAN))]
        if self.n_mixtures != "auto":
            check_enough("n_mixtures", self.n_mixtures, self.n_mixtures, smallest, "training samples")
            counts = [int(self.n_mixtures)]
        found: list[np.ndarray] = []
        for count in counts:
            found.append(np.concatenate([self._left_out(fold, count, seed) for fold in folds]))
            means = [float(values.mean()) for values in found]
            if len(means) - 1 - int(np.argmax(means)) >= 2:  # two steps below the best
                break
        self.cv_scores_ = np.column_stack([counts[: len(means)], means])
        best = int(np.argmax(means))
        return counts[best], found[best]

    def _left_out(self, fold: _Fold, count: int, seed: int) -> np.ndarray:
        """Return the log densities of the rows left out of a fold."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture = self._mixture(fold.fitted, count, seed)
        return _density(mixture, np.ones(fold.fitted.shape[1])).log_density_of_scaled(fold.left_out)

    def _mixture(self, Z: np.ndarray, count: int, seed: int) -> GaussianMixture:
        """Return a mixture fitted to coordinates of unit variance."""
        return GaussianMixture(count, reg_covar=self.reg_covar, random_state=seed).fit(Z)

    def _coordinates(self, embedder: Any, X: Any) -> np.ndarray:
        """Return the coordinates of the rows that the embedder was fitted to."""
        known = None if self.prefit else getattr(embedder, "embedding_", None)
        found = np.asarray(embedder.transform(X) if known is None else known, dtype=np.float64)
        if found.ndim != 2:
            raise ValueError(
                f"transform of {type(embedder).__name__} returns {found.ndim} dimensions; it must return"
                " coordinates of shape (n_samples, n_coordinates)"
            )
        return found

    def _span(self, embedder: Any, X: Any) -> np.ndarray:
        if self.span_distance_ == "none":
            return np.zeros(n_points(X))
        return measure_span(embedder, X, self.span_distance_)

    def _join(self, log_density: np.ndarray, span: np.ndarray) -> np.ndarray:
        """Return the scores of rows, given log densities of unit-variance coordinates and distances."""
        scores = self._rarity_.log_probability(-log_density)
        return scores if self._span_tail_ is None else scores + self._span_tail_.log_probability(span)

    def _scores(self, X: Any, coordinates: np.ndarray) -> np.ndarray:
        density = self._density_
        return self._join(
            density.log_density_of_scaled(coordinates / density.scale), self._span(self.embedder_, X)
        )

    @rowwise(None, dtype=np.float64)
    def score_samples(self, X: Any) -> np.ndarray:
        """Compute the logarithm of the density of the coordinates of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new,)
        """
        return self._density_.log_density(self._place(X))

    @averaged
    def score(self, X: Any, y: object = None) -> float:
        """Compute the mean logarithm of the density of the coordinates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    @rowwise(None, dtype=np.float64)
    def span_distances(self, X: Any) -> np.ndarray:
        """Compute the squared distances of rows from the span of the map.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new,)
            Zeros if ``span_distance_`` is "none".
        """
        self._check_fitted()
        with running(self):
            return self._span(self.embedder_, X)

    @rowwise(None, dtype=np.float64)
    def decision_function(self, X: Any) -> np.ndarray:
        """Compute how usual rows are: positive for inliers, negative for outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new,)
            Sum of the logarithms of two probabilities, minus ``offset_``: the probability that a row has at
            most this density, and the probability that it has at least this distance from the span.
        """
        coordinates = self._place(X)
        with running(self):
            return self._scores(X, coordinates) - self.offset_

    @rowwise(None, dtype=np.int64)
    def predict(self, X: Any) -> np.ndarray:
        """Return 1 for usual rows and -1 for outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)

        Returns
        -------
        ndarray of int of shape (n_new,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: Any, y: object = None) -> np.ndarray:
        """Fit, and return 1 for usual training rows and -1 for outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        ndarray of int of shape (n_samples,)
        """
        return self.fit(X).predict(X)

    def sample_coordinates(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw random coordinates from the density.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=None
            Seed. If None, every call draws other coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_coordinates)
        """
        self._check_fitted()
        check_count("n_samples", n_samples)
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        return self._density_.draw(n_samples, np.random.default_rng(seed))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw random coordinates and return rows by the inverse map of the embedder.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=None
            Seed. If None, every call draws other rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)

        Raises
        ------
        AttributeError
            If the embedder has no inverse map; ``sample_coordinates`` needs none.
        """
        coordinates = self.sample_coordinates(n_samples, random_state)
        try:
            inverse = self.embedder_.inverse_transform
        except AttributeError as error:
            raise AttributeError(
                f"sample needs an inverse map: {error}; use sample_coordinates, or another embedder"
            ) from error
        with running(self):
            return np.asarray(inverse(coordinates))

    def _place(self, X: Any) -> np.ndarray:
        self._check_fitted()
        with running(self):
            return np.asarray(self.embedder_.transform(X), dtype=np.float64)

    def _check_fitted(self) -> None:
        check_is_fitted(self, "_density_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = KernelPCA() if self.embedder is None or isinstance(self.embedder, type) else self.embedder
        tags.input_tags = get_tags(inner).input_tags
        return tags


def _scale(coordinates: np.ndarray) -> np.ndarray:
    """Return the standard deviations of coordinates, 1 for coordinates that are constant up to rounding."""
    spread = coordinates.std(axis=0)
    return np.where(spread > 1e-12 * spread.max(initial=0.0), spread, 1.0)


def _density(mixture: GaussianMixture, scale: np.ndarray) -> GaussianDensity:
    return GaussianDensity(mixture.weights_, mixture.means_, mixture.precisions_cholesky_, scale)
