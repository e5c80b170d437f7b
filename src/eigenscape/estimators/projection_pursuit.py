"""The ProjectionPursuit estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from eigenscape._progress import reporting
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._linear import LinearMixin
from eigenscape.estimators._validation import check_choice, check_count, check_positive
from eigenscape.methods.projection_pursuit import (
    AnalyticObjective,
    NumericalObjective,
    Objective,
    pursue,
    whiten,
)
from eigenscape.methods.pursuit_index import INDICES
from eigenscape.solvers.pairs import canonical_signs


class ProjectionPursuit(LinearMixin, Estimator):
    r"""The least normal projections of the data, one after another.

    On whitened data :math:`z` (mean zero, unit covariance) finds unit vectors

    .. math:: w_r = \arg\max I(w' z) \quad\text{subject to}\quad w \perp w_1, \dots, w_{r-1},

    where the index :math:`I` is zero for a normal distribution. Most projections of high-dimensional data are
    near-normal, whatever the data (Burges sec. 1, fig. 1.1;
    :func:`eigenscape.quality.sphere_projection_density`), so that one which is not is worth seeing; but data
    may have structure that no projection shows, and with few samples for each variable the largest index is
    large by chance.

    Parameters
    ----------
    n_components : int, default=2
        Number of directions.
    index : {"negentropy", "kurtosis", "friedman-tukey"} or function, default="negentropy"
        "negentropy": Hyvarinen's approximation, robust, sees asymmetry and tails. "kurtosis": the squared
        excess kurtosis. "friedman-tukey": the mean density at the points, less that of a normal sample:
        clumps. From a normal projection to one with two equal clumps it first falls, so that it needs many
        starts in more than a few dimensions. A function takes one projection (an array of length n_samples,
        of mean zero and unit variance) and returns a number to be made large; its gradient is taken by
        differences, at two calls for each variable.
    n_init : int, default=10
        Random starts for each direction; the best is taken.
    max_iter : int, default=500
        Steps of the search for one direction.
    tol : float, default=1e-6
        A search has converged when its next step would be shorter, in radians.
    random_state : int, RandomState or None, default=0
        For the starts.
    verbose : bool, default=False
        Show the progress.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Projections of the training data, uncorrelated and of unit variance.
    components_ : ndarray of shape (n_components, n_features)
        Directions in the space of the data, in the order in which they were found.
    patterns_ : ndarray of shape (n_components, n_features)
        Covariance of each coordinate with the data; ``inverse_transform`` adds these to the mean.
    index_values_ : ndarray of shape (n_components,)
    start_values_ : ndarray of shape (n_components, n_init)
        Where every start ended: many equal largest values speak for a global maximum.
    converged_ : ndarray of bool of shape (n_components,)
    n_iter_ : int
        Steps of the longest search.
    mean_ : ndarray of shape (n_features,)
    n_features_in_ : int

    Examples
    --------
    Two clumps, hidden by a rotation and by normal variables of larger variance.

    >>> import numpy as np
    >>> from eigenscape import ProjectionPursuit
    >>> rng = np.random.default_rng(0)
    >>> X = 5 * rng.standard_normal((500, 4))
    >>> X[:, 0] = rng.choice([-1, 1], 500) + 0.1 * rng.standard_normal(500)
    >>> X = X @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    >>> clumps = ProjectionPursuit(n_components=1).fit_transform(X)
    >>> bool(np.abs(np.abs(clumps) - 1).max() < 0.5)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        index: str | Callable[[np.ndarray], float] = "negentropy",
        n_init: int = 10,
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.index = index
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Search for the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._reset()
        objective = self._checked()
        rows = self._rows(X, reset=True)
        if self.n_components > min(rows.shape[0] - 1, rows.shape[1]):
            raise ValueError(
                f"n_components={self.n_components} needs at least {self.n_components + 1} samples and {self.n_components} features,"
                f" got n_samples={rows.shape[0]} and n_features={rows.shape[1]}; lower n_components"
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with reporting(self.verbose):
            white = whiten(rows.astype(np.float64), self.n_components)
            found = pursue(white.Z, objective, self.n_components, self.n_init, self.max_iter, self.tol, seed)
        projected = white.Z @ found.directions.T
        directions = found.directions.T * np.sign((canonical_signs(projected) * projected).sum(axis=0))
        self.mean_ = white.mean
        self.components_, self.patterns_ = (white.whitener @ directions).T, directions.T @ white.dewhitener
        self.index_values_, self.start_values_ = found.values, found.start_values
        self.converged_ = found.steps <= self.tol
        self.n_iter_ = int(found.n_iter.max())
        self.embedding_ = self._like(rows, (rows - self.mean_) @ self.components_.T)
        self._report(found.steps)
        return self

    def _checked(self) -> Objective:
        """The index, after all parameters were looked at."""
        check_count("n_components", self.n_components)
        check_count("n_init", self.n_init)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)
        if callable(self.index):
            return NumericalObjective(self.index)
        check_choice("index", self.index, tuple(INDICES))
        return AnalyticObjective(INDICES[self.index])

    def _report(self, steps: np.ndarray) -> None:
        late = np.flatnonzero(~self.converged_)
        if len(late):
            warnings.warn(
                f"the search for component(s) {', '.join(map(str, late))} stopped after max_iter={self.max_iter} steps with"
                f" {steps[late].max():.1g} radians still to go (tol={self.tol:g}); raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
