"""Projection pursuit density estimation."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import check_count, check_enough, check_parameters, with_constructor
from eigenscape._progress import reporting, stage
from eigenscape._warnings import warn
from eigenscape.estimators._method import Seed
from eigenscape.estimators._rows import validate_rows
from eigenscape.estimators._verify import verify
from eigenscape.exceptions import RankError
from eigenscape.methods.projection_pursuit import INDICES, AnalyticObjective, pursue, whiten
from eigenscape.methods.pursuit_density import PursuitDensity, fit_marginal


@with_constructor
class ProjectionPursuitDensity(DensityMixin, BaseEstimator):
    r"""A normal density, corrected along the projections that are least normal.

    .. math:: p(x) = p_0(x) \prod_m \frac{f_m(w_m' z)}{\varphi(w_m' z)},

    with the normal density :math:`p_0` of the mean and covariance of the data, the whitened data :math:`z`,
    orthogonal directions :math:`w_m` from projection pursuit, and the densities :math:`f_m` of the projected
    data (kernel estimates; Friedman, Stuetzle and Schroeder 1984; Burges sec. 1). All estimates are of one
    variable, so that many features cost little. Because the directions are orthogonal, the density has the
    integral one and can be sampled; but the coordinates :math:`w_m' z` are independent in the model, and
    structure that needs several of them at once is not represented.

    Parameters
    ----------
    n_components : int or None, default=None
        Largest number of directions; as many as features if None.
    index : {"negentropy", "kurtosis", "friedman-tukey"}, default="negentropy"
        Measure of the departure from a normal distribution; see :class:`ProjectionPursuit`.
    random_state : int, RandomState instance or None, default=0
        Seed of the starts. If None, results may differ between calls.

    Other Parameters
    ----------------
    min_gain : float, default=0.01
        Smallest gain in the mean log density of points left out by which a direction is kept.
    n_init : int, default=10
        Number of random starts for each direction; the best is kept.
    max_iter : int, default=500
        Maximum number of steps of the search for one direction.
    tol : float, default=1e-6
        A search has converged if its next step would be shorter than ``tol``, in radians.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    directions_ : ndarray of shape (n_components_, n_features)
        Orthonormal directions in the whitened data.
    gains_ : ndarray of shape (n_components_,)
        Gain of each direction in the mean log density of points left out.
    n_components_ : int
        Number of directions.
    n_iter_ : int
        Number of steps of the longest search.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import ProjectionPursuitDensity
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((600, 5))
    >>> X[:, 0] += 4 * rng.choice([-1, 1], 600)
    >>> model = ProjectionPursuitDensity().fit(X[:400])
    >>> model.n_components_
    1
    >>> model.sample(3, random_state=0).shape, model.score_samples(X[400:]).shape
    ((3, 5), (200,))
    """

    n_components: int | None = None
    _: KW_ONLY
    min_gain: float = 0.01
    index: Literal["negentropy", "kurtosis", "friedman-tukey"] = "negentropy"
    n_init: int = 10
    max_iter: int = 500
    tol: float = 1e-6
    random_state: Seed = 0
    verbose: bool = False

    verify = verify
    _check_rows = staticmethod(validate_rows)

    def fit(self, X: Any, y: object = None) -> Self:
        """Estimate the density.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, more samples than features.
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self
        """
        check_parameters(self)
        X = validate_rows(self, X, reset=True, dtype=np.float64, ensure_min_samples=2)
        n_features = X.shape[1]
        count = n_features if self.n_components is None else self.n_components
        check_enough("n_components", count, count, n_features, "features")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        white = whiten(X, 1)
        rank = white.Z.shape[1]
        if rank < n_features:
            raise RankError(
                f"the {len(X)} samples vary along only {rank} of n_features={n_features} directions, and"
                " their density is not defined; use more samples, or reduce them by"
                f" PCA(n_components={rank}) first"
            )
        objective = AnalyticObjective(INDICES[self.index])
        rng, estimates = np.random.default_rng(seed), []
        with reporting(self.verbose):
            found = pursue(white.Z, objective, count, self.n_init, self.max_iter, self.tol, seed)
            with stage("marginals", total=count) as advance:
                for direction in found.directions:
                    estimates.append(fit_marginal(white.Z @ direction, rng))
                    advance(1)
        kept = [m for m, (_, gain) in enumerate(estimates) if gain >= self.min_gain]
        self.directions_, self.gains_ = found.directions[kept], np.array([estimates[m][1] for m in kept])
        self.n_components_, self.n_iter_ = len(kept), int(found.n_iter.max())
        marginals = [estimates[m][0] for m in kept]
        self._map_ = PursuitDensity(white.mean, white.whitener, white.dewhitener, self.directions_, marginals)
        if (found.steps[kept] > self.tol).any():
            warn(
                f"the search for a direction did not converge in max_iter={self.max_iter} steps; raise"
                " max_iter or tol",
                ConvergenceWarning,
            )
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Compute the log density of each sample.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        check_is_fitted(self)
        return self._map_.log_density(validate_rows(self, X, reset=False, dtype=np.float64))

    def score(self, X: Any, y: object = None) -> float:
        """Compute the mean log density of the samples.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples.
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

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
        check_is_fitted(self)
        check_count("n_samples", n_samples)
        seed = self.random_state if random_state is None else random_state
        rng = np.random.default_rng(int(check_random_state(seed).randint(2**31 - 1)))
        return self._map_.sample(n_samples, rng)
