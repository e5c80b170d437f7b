"""Projection pursuit regression."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenscape._numbers import check_numbers, without_mask
from eigenscape._parameters import NOT_NEGATIVE, Limits, check_parameters, with_constructor
from eigenscape._progress import reporting
from eigenscape.estimators._method import Seed
from eigenscape.estimators._rows import validate_rows
from eigenscape.estimators._verify import verify
from eigenscape.methods.pursuit_regression import PursuitOptions, fit_pursuit_regression


@with_constructor
class ProjectionPursuitRegressor(RegressorMixin, BaseEstimator):
    r"""Regression by a sum of smooth functions of projections.

    Finds unit directions :math:`w_m` and smooth functions :math:`g_m` (smoothing splines) that minimise

    .. math:: \sum_i \left( y_i - \bar y - \sum_m g_m(w_m' z_i) \right)^2,

    where :math:`z` are the standardised features: one term at a time, each new one followed by cycles that
    fit all terms again (Friedman and Stuetzle 1981; Burges sec. 1). Interactions of features are found
    without listing them, as :math:`x_1 x_2 = ((x_1 + x_2)^2 - (x_1 - x_2)^2) / 4`.

    Parameters
    ----------
    n_terms : int, default=5
        Largest number of terms.
    random_state : int, RandomState instance or None, default=0
        Seed of the starts and of the folds. If None, results may differ between calls.

    Other Parameters
    ----------------
    cv : int or None, default=5
        Number of folds of the cross-validation that chooses the number of terms, at most the number of
        samples. Terms are added while they lower the squared error of the samples left out by more than its
        standard error. If None, ``min_gain`` alone decides. This is faster, but terms are fitted to noise
        unless there are many samples for each feature.
    min_gain : float, default=0.005
        Smallest share of the variance of the training values that a further term must explain, with and
        without ``cv``.
    n_init : int, default=5
        Number of random starts for each direction. A linear start and two starts that look for curvature are
        added.
    max_iter : int, default=30
        Maximum number of steps of the search for one direction, and of cycles over all terms.
    tol : float, default=1e-3
        A search ends when a step lowers the squared error by less than the fraction ``tol``.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    directions_ : ndarray of shape (n_terms_, n_features)
        Unit directions in the standardised features.
    n_terms_ : int
        Number of terms.
    unexplained_ : ndarray of shape (n_terms_ + 1,)
        Share of the variance of the training values that 0, 1, ... terms do not explain.
    n_iter_ : int
        Largest number of cycles over all terms.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import ProjectionPursuitRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (200, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> model = ProjectionPursuitRegressor(n_terms=2, cv=2).fit(X[:150], y[:150])
    >>> model.score(X[150:], y[150:]) > 0.95
    True
    """

    n_terms: int = 5
    _: KW_ONLY
    cv: int | None = 5
    min_gain: float = 0.005
    n_init: int = 5
    max_iter: int = 30
    tol: float = 1e-3
    random_state: Seed = 0
    verbose: bool = False

    verify = verify
    _check_rows = staticmethod(validate_rows)
    _limits: ClassVar = {"n_init": NOT_NEGATIVE, "min_gain": Limits(0, below=1)}

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the regression function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Target values.

        Returns
        -------
        self
        """
        check_parameters(self)
        X, y = validate_data(
            self, without_mask(X, False), y, dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        check_numbers(X, training=True)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        options = PursuitOptions(
            self.n_terms, self.min_gain, self.n_init, self.max_iter, self.tol, seed, self.cv
        )
        with reporting(self.verbose):
            self._map_, self.unexplained_, self.n_iter_ = fit_pursuit_regression(
                X, y.astype(np.float64), options
            )
        self.n_terms_ = len(self._map_.terms)
        directions = [term.direction for term in self._map_.terms]
        self.directions_ = np.array(directions).reshape(self.n_terms_, X.shape[1])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Compute the regression function at any points.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Points. Beyond the training data each term is continued linearly.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        check_is_fitted(self)
        return self._map_(validate_rows(self, X, reset=False, dtype=np.float64))
