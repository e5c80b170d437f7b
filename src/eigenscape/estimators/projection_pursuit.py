"""Projection pursuit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigenscape._parameters import with_constructor
from eigenscape._warnings import warn
from eigenscape.estimators._linear import LinearMixin, check_rank, check_rows
from eigenscape.estimators._method import Memory, Method, Seed
from eigenscape.estimators._running import fitting
from eigenscape.methods.projection_pursuit import (
    INDICES,
    AnalyticObjective,
    NumericalObjective,
    Objective,
    pursue,
    whiten,
)
from eigenscape.solvers.pairs import canonical_signs


@with_constructor
class ProjectionPursuit(LinearMixin):
    r"""The least normal projections of the data, one at a time.

    On whitened data :math:`z` (mean zero, unit covariance) finds unit vectors

    .. math:: w_r = \arg\max I(w' z) \quad\text{subject to}\quad w \perp w_1, \dots, w_{r-1},

    where the index :math:`I` is zero for a normal distribution. Most projections of high-dimensional data are
    nearly normal, whatever the data (Burges sec. 1, fig. 1.1;
    :func:`eigenscape.quality.sphere_projection_density`), so that projections that are not are interesting.
    But data may have structure that no projection shows, and with few samples per variable the largest index
    is large by chance.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    index : {"negentropy", "kurtosis", "friedman-tukey"} or callable, default="negentropy"
        "negentropy": the approximation of Hyvarinen, robust to outliers, which measures asymmetry and tails.
        "kurtosis": the squared excess kurtosis. "friedman-tukey": the mean density at the points minus the
        mean density of a normal sample, large for clusters; from a normal projection to one with two equal
        clusters it first falls, so that it needs many starts in more than a few dimensions. A function takes
        one projection (an array of length n_samples, of mean zero and unit variance) and returns a number to
        be maximised; its gradient is computed by differences, with two calls for each variable.
    random_state : int, RandomState instance or None, default=0
        Seed of the starts. If None, results may differ between calls.

    Other Parameters
    ----------------
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
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.

        They are uncorrelated and of unit variance.
    components_ : ndarray of shape (n_components, n_features)
        Directions in the space of the data, in the order in which they were found.
    patterns_ : ndarray of shape (n_components, n_features)
        Covariance of each coordinate with the data; ``inverse_transform`` adds multiples of these to the
        mean.
    index_values_ : ndarray of shape (n_components,)
        Index of each projection.
    start_values_ : ndarray of shape (n_components, n_init)
        Index at the end of each start. Many equal largest values indicate a global maximum.
    converged_ : ndarray of bool of shape (n_components,)
        Whether the search for each direction converged.
    n_iter_ : int
        Number of steps of the longest search.
    mean_ : ndarray of shape (n_features,)
        Mean of the training samples.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    Two clusters, hidden by a rotation and by normal variables of larger variance.

    >>> import numpy as np
    >>> from eigenscape import ProjectionPursuit
    >>> rng = np.random.default_rng(0)
    >>> X = 5 * rng.standard_normal((500, 4))
    >>> X[:, 0] = rng.choice([-1, 1], 500) + 0.1 * rng.standard_normal(500)
    >>> X = X @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    >>> clusters = ProjectionPursuit(n_components=1).fit_transform(X)
    >>> bool(np.abs(np.abs(clusters) - 1).max() < 0.5)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    index: Literal["negentropy", "kurtosis", "friedman-tukey"] | Callable[[np.ndarray], float] = "negentropy"
    n_init: int = 10
    max_iter: int = 500
    tol: float = 1e-6
    random_state: Seed = 0
    verbose: bool = False

    _method = Method(
        "projection-pursuit",
        aliases=("pursuit",),
        linear=True,
        scale_free=True,
        collections=False,
        memory=Memory(copies=4),
    )
    _meaning = "The coordinates are the projections with the least Gaussian distributions."

    def fit(self, X: Any, y: object = None) -> Self:
        """Find the directions.

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
        with fitting(self):
            objective = self._objective()
            rows = check_rows(self, X)
            check_rank(self.n_components, *rows.shape)
            seed = self._seed()
            white = whiten(rows.astype(np.float64), self.n_components)
            result = pursue(white.Z, objective, self.n_components, self.n_init, self.max_iter, self.tol, seed)
            projected = white.Z @ result.directions.T
            directions = result.directions.T * np.sign((canonical_signs(projected) * projected).sum(axis=0))
            self.mean_ = white.mean
            self.components_, self.patterns_ = (
                (white.whitener @ directions).T,
                directions.T @ white.dewhitener,
            )
            self.index_values_, self.start_values_ = result.values, result.start_values
            self.converged_ = result.steps <= self.tol
            self.n_iter_ = int(result.n_iter.max())
            self.embedding_ = self._match_dtype(rows, (rows - self.mean_) @ self.components_.T)
            late = np.flatnonzero(~self.converged_)
            if len(late):
                warn(
                    f"the search for component(s) {', '.join(map(str, late))} did not converge in"
                    f" max_iter={self.max_iter} steps: the next step would be {result.steps[late].max():.1g}"
                    f" radians (tol={self.tol:g}); raise max_iter or tol",
                    ConvergenceWarning,
                )
        return self

    def _objective(self) -> Objective:
        """Validate the parameters and return the objective of the search."""
        if callable(self.index):
            return NumericalObjective(self.index)
        return AnalyticObjective(INDICES[self.index])
