"""Maps that are regressions of coordinates on rows."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import POSITIVE, with_constructor
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._embedder import check_embedder, fit_embedder
from eigenscape.estimators._method import Seed
from eigenscape.estimators._rows import check_coordinates, check_input
from eigenscape.estimators._running import fitting, running
from eigenscape.estimators.laplacian_eigenmaps import LaplacianEigenmaps
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.methods.fourier_ridge import RegressorMap, candidate_widths, fit_fourier_ridge
from eigenscape.pieces import PiecewiseEmbedding
from eigenscape.quality.loss import map_loss


@with_constructor
class ParametricMap(Estimator):
    r"""Coordinates of any embedder as a regression on the rows: small, fast and without training rows.

    .. math:: y_r(x) = b_r + \sum_j a_{jr} \cos(w_j'x) + c_{jr} \sin(w_j'x), \qquad
        \min \sum_i |y_r(x_i) - y_{ir}|^2 + \alpha_r (|a_r|^2 + |c_r|^2)

    with random frequencies :math:`w_j` (Rahimi and Recht 2008), or any other regressor. The Nystrom formula
    (Bengio eq. 20) needs all training rows and reproduces their coordinates; a regression needs neither, and
    smooths them. ``loss`` compares the two on held-out rows. Embedders without ``transform``, such as
    scikit-learn's TSNE, are accepted too and get one.

    Parameters
    ----------
    embedder : estimator or None, default=None
        Estimator with ``embedding_`` or ``transform``. If None, LaplacianEigenmaps with 2 components.
    regressor : estimator or None, default=None
        Regressor of scikit-learn for several outputs. If None, ridge regression on random Fourier features.
    gamma : float or "auto", default="auto"
        Width of the Gaussian kernel that the features approximate. "auto" has the least leave-one-out error
        among five widths around one over the median squared distance. Ignored if ``regressor`` is given.
    prefit : bool, default=False
        Whether ``embedder`` is fitted already, for example to a stream. It is then used as it is, and its
        ``transform`` gives the coordinates of ``X``.
    random_state : int, RandomState instance or None, default=0
        Seed of the random features. If None, results may differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    n_features : int, default=1000
        Number of random features. Ignored if ``regressor`` is given.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows by this map, not by the embedder.
    embedder_ : estimator
        The fitted embedder. It is not in files saved with ``compact=True``.
    gamma_ : float
        Width used. Set if ``regressor`` is None.
    leave_one_out_errors_ : ndarray of shape (n_components,)
        Root mean square errors of the coordinates of training rows, each predicted without its own, relative
        to their spread. Set if ``regressor`` is None.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape import LaplacianEigenmaps, ParametricMap
    >>> X, _ = make_swiss_roll(1500, random_state=0)
    >>> model = ParametricMap(LaplacianEigenmaps(2, n_neighbors=10)).fit(X[:1000])
    >>> model.transform(X[1000:]).shape
    (500, 2)
    >>> bool(model.loss(X[1000:]) < 1.1 * model.embedder_.loss(X[1000:]))
    True
    """

    embedder: Any = None
    regressor: Any = None
    _: KW_ONLY
    n_features: int = 1000
    gamma: float | Literal["auto"] = "auto"
    prefit: bool = False
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _limits: ClassVar = {"gamma": POSITIVE}

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the embedder, and the regression of its coordinates on the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self
        """
        with fitting(self):
            self._check_parameters(X)
            X = check_input(self, X, reset=True)
            embedder, targets = fit_embedder(self, X, lambda: self._default_embedder(X.shape[0]))
            targets = np.asarray(targets, dtype=np.float64)
            self._model_ = self._regression(X, targets.reshape(len(targets), -1))
            coordinates = self._model_.transform(X)
            self.embedding_, self.embedder_ = check_coordinates(X, coordinates), embedder
        return self

    def _check_parameters(self, X: Any) -> None:
        expected = "an estimator with embedding_ or transform, such as LaplacianEigenmaps(2)"
        check_embedder(self, X, "fit", expected)
        if self.embedder is not None and get_tags(self.embedder).input_tags.pairwise:
            raise ValueError(
                f"embedder={self.embedder!r} is fitted to similarities or distances; a regression needs rows"
                " of features"
            )
        if self.regressor is not None and (
            isinstance(self.regressor, type) or not hasattr(self.regressor, "predict")
        ):
            raise TypeError(f"regressor={self.regressor!r} must be a regressor with fit and predict, or None")

    def _default_embedder(self, n_samples: int) -> LaplacianEigenmaps:
        n_components = min(2, max(1, n_samples - 2))
        return LaplacianEigenmaps(n_components, n_jobs=self.n_jobs, random_state=self.random_state)

    def _regression(self, X: Any, targets: np.ndarray) -> Any:
        """Return the fitted regression."""
        if self.regressor is not None:
            single = targets.shape[1] == 1
            return RegressorMap(clone(self.regressor).fit(X, targets[:, 0] if single else targets))
        seed = self._seed()
        widths = candidate_widths(X) if self.gamma == "auto" else [float(self.gamma)]
        found = fit_fourier_ridge(X, targets, self.n_features, widths, np.random.default_rng(seed))
        self.gamma_, self.leave_one_out_errors_ = found.gamma, found.errors
        return found.map

    def loss(self, X: Any) -> float:
        """Compute the loss of the embedder's kernel with the coordinates of this map (Bengio sec. 4).

        It is comparable with ``embedder_.loss(X)``, the loss of the Nystrom formula: the map with the lower
        loss generalises better.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Held-out points, at least 2.

        Returns
        -------
        float

        Raises
        ------
        UndefinedKernelError
            If the embedder has no kernel between new points.
        """
        self._check_fitted()
        embedder = vars(self).get("embedder_")
        if embedder is None:
            raise UndefinedKernelError(
                "the embedder is not part of this model, which was saved with compact=True; save it without"
            )
        model = vars(embedder).get("_model_")
        if not isinstance(model, (Embedding, PiecewiseEmbedding)):
            raise UndefinedKernelError(
                f"{type(embedder).__name__} has no kernel whose eigenfunctions are its coordinates"
            )
        with running(self):
            rows = check_input(self, X, reset=False)
            return map_loss(model, check_input(embedder, rows, reset=False), self._model_.transform(rows))

    def _check_fitted(self) -> None:
        check_is_fitted(self, "_model_")
