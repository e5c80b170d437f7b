"""Manifold Parzen windows."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import NOT_NEGATIVE, check_count, check_enough, check_parameters, with_constructor
from eigenscape.estimators._method import Seed
from eigenscape.estimators._rows import validate_rows
from eigenscape.estimators._running import averaged, rowwise, running
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import distinct_rows
from eigenscape.methods.manifold_parzen import ParzenDensity, choose_parameters, local_tangents

#: Candidates of parameters that are "auto"; noise relative to the squared distance of nearest neighbours.
_NEIGHBORS, _COMPONENTS, _NOISES = (5, 10, 20, 40, 80), (0, 1, 2, 3, 5, 8, 12), np.geomspace(0.02, 5, 9)


@with_constructor
class ManifoldParzen(DensityMixin, BaseEstimator):
    r"""Density by Gaussians along the local tangents of the data (manifold Parzen windows).

    .. math:: p(x) = \frac 1 n \sum_i N(x;\, x_i,\, V_i S_i V_i' + \sigma^2 I),

    where :math:`S_i` and :math:`V_i` are the leading eigenvalues and eigenvectors of the covariance of the
    nearest neighbours around :math:`x_i` (Vincent and Bengio 2003). Near a manifold this needs far fewer
    samples than Gaussians of equal width in all directions. Time and memory of ``score_samples`` are
    proportional to the number of training rows; reduce many features first, for example by PCA.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        Number of nearest neighbours of the local covariances.
    n_components : int or "auto", default="auto"
        Number of tangent directions; 0 is the usual kernel density estimate.
    noise : float or "auto", default="auto"
        Variance :math:`\sigma^2` in all directions.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    cv : int, default=3
        Number of folds. Parameters that are "auto" are chosen by the largest mean log density of rows left
        out. Leave-one-out is not used, because a row would then be a neighbour of the rows that predict it.
    max_rows : int, default=1000
        Number of rows, drawn at random, from which parameters are chosen.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    n_neighbors_ : int
    n_components_ : int
    noise_ : float
        Parameters used.
    cv_score_ : float
        Mean log density of rows left out. Set if a parameter was "auto".
    cv_scores_ : ndarray of shape (n_candidates, 4)
        Neighbours, components, noise and score of all candidates. Set if a parameter was "auto".
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from sklearn.neighbors import KernelDensity
    >>> from eigenscape import ManifoldParzen
    >>> X, _ = make_swiss_roll(1200, noise=0.1, random_state=0)
    >>> model = ManifoldParzen().fit(X[:900])
    >>> model.n_components_
    2
    >>> widths = (0.3, 0.6, 1.0, 1.5)
    >>> kernel = max(KernelDensity(bandwidth=width).fit(X[:900]).score(X[900:]) / 300 for width in widths)
    >>> bool(model.score(X[900:]) > kernel + 0.5)
    True
    """

    n_neighbors: int | Literal["auto"] = "auto"
    n_components: int | Literal["auto"] = "auto"
    noise: float | Literal["auto"] = "auto"
    _: KW_ONLY
    cv: int = 3
    max_rows: int = 1000
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _limits: ClassVar = {"n_components": NOT_NEGATIVE}

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the density.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self
        """
        check_parameters(self)
        X = validate_rows(self, X, reset=True, dtype=np.float64, ensure_min_samples=2)
        if self.n_neighbors != "auto":
            check_enough("n_neighbors", self.n_neighbors, self.n_neighbors + 1, len(X))
        with running(self):
            k, d, noise = self._chosen(X)
            tangents = local_tangents(X, k, min(d, k, X.shape[1]), self.n_jobs)
        self._density_ = ParzenDensity(X, tangents, noise, self.n_jobs)
        self.n_neighbors_, self.n_components_, self.noise_ = k, tangents.variances.shape[1], noise
        return self

    def _chosen(self, X: np.ndarray) -> tuple[int, int, float]:
        """Return the parameters, chosen by cross-validation if they are "auto"."""
        given = (self.n_neighbors, self.n_components, self.noise)
        if "auto" not in given:
            return int(given[0]), int(given[1]), float(given[2])
        rng = check_random_state(self.random_state)
        n_folds = min(self.cv, len(X))
        rows = rng.permutation(len(X))[: self.max_rows]
        X = X[rows]
        smallest = len(X) - -(-len(X) // n_folds)  # rows of the smallest training set
        if smallest < 2:
            raise ValueError(
                f"cv={self.cv} needs more samples to choose parameters, got n_samples={len(X)}; pass"
                " n_neighbors, n_components and noise"
            )
        most = smallest - 1
        k = [c for c in _NEIGHBORS if c <= most] or [most]
        d = sorted({min(c, X.shape[1]) for c in _COMPONENTS})
        chosen = choose_parameters(
            X,
            k if self.n_neighbors == "auto" else [min(self.n_neighbors, most)],
            d if self.n_components == "auto" else [min(self.n_components, X.shape[1], most)],
            _noises(X) if self.noise == "auto" else [float(self.noise)],
            list(KFold(n_folds).split(X)),
            self.n_jobs,
        )
        self.cv_score_, self.cv_scores_ = chosen.score, np.array(chosen.scores)
        n_neighbors = chosen.n_neighbors if self.n_neighbors == "auto" else self.n_neighbors
        n_components = chosen.n_components if self.n_components == "auto" else self.n_components
        return int(n_neighbors), int(n_components), chosen.noise

    @rowwise(None, dtype=np.float64)
    def score_samples(self, X: Any) -> np.ndarray:
        """Compute the logarithm of the density at any points.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new,)
        """
        check_is_fitted(self)
        with running(self):
            return self._density_.log_density(validate_rows(self, X, reset=False, dtype=np.float64))

    @averaged
    def score(self, X: Any, y: object = None) -> float:
        """Compute the mean logarithm of the density.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw random points from the density.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=None
            Seed. If None, every call draws other points.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        check_count("n_samples", n_samples)
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        return self._density_.draw(n_samples, np.random.default_rng(seed))

    def tangents(self, X: Any) -> np.ndarray:
        """Return the tangent directions of the nearest training row of any points.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new, n_components_, n_features)
            Orthonormal, the direction of the largest local variance first.
        """
        check_is_fitted(self)
        with running(self):
            X = validate_rows(self, X, reset=False, dtype=np.float64)
            return self._density_.nearest_directions(X)


def _noises(X: np.ndarray) -> list[float]:
    """Return candidates for the noise: multiples of the mean squared distance to the nearest other row."""
    distinct = X[distinct_rows(X)[0]]
    if len(distinct) < 2:
        raise ValueError("all samples are equal, so the noise has no scale; pass noise")
    distances = neighbor_index(distinct).nearest(distinct, 2)[0][:, 1]
    return [float(noise) for noise in np.mean(distances**2) / X.shape[1] * _NOISES]
