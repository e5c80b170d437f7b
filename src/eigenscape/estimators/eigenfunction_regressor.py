"""Regression on eigenfunctions: few values, many rows."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from eigenscape._parameters import with_constructor
from eigenscape.estimators._eigen_ridge import EigenRidgeMixin, count_chunk
from eigenscape.estimators._rows import check_matrix
from eigenscape.estimators._running import rowwise, running


@with_constructor
class EigenfunctionRegressor(EigenRidgeMixin, RegressorMixin, BaseEstimator):
    r"""Semi-supervised regression: ridge regression on eigenfunctions of all rows.

    Eigenfunctions :math:`f_r` of a kernel are learnt from all rows, with or without a value. The rows with a
    value determine the coefficients of

    .. math:: f(x) = b + \sum_{r=1}^N c_r f_r(x), \qquad
        \min \sum_i w_i (y_i - f(x_i))^2 + \alpha \sum_i w_i \sum_r \rho_r^p c_r^2

    (Belkin and Niyogi 2003; Belkin, Matveeva and Niyogi 2004), where :math:`\rho_r` is the roughness of
    :math:`f_r` (at least a hundredth of the largest) relative to the first. :math:`N`, :math:`\alpha` and
    :math:`p` minimise the leave-one-out error. Values at new points follow from their eigenfunctions (Bengio
    eq. 20), so nothing is fitted again.

    Parameters
    ----------
    embedder : estimator or None, default=None
        Estimator with eigenfunctions, such as LaplacianEigenmaps, DiffusionMap, KernelPCA or Isomap; its
        ``n_components`` are the functions to choose from. If None, LaplacianEigenmaps with as many components
        as there are labels, at least 20 and at most 100.
    n_functions : int or "auto", default="auto"
        Number of eigenfunctions. "auto" chooses by the leave-one-out error of the labelled rows, among
        functions that have stable values at new rows (for a normalised graph: functions with an eigenvalue of
        at least 0.1).
    alpha : float or "auto", default="auto"
        Regularisation. "auto" chooses by the leave-one-out error of the labelled rows.
    prefit : bool, default=False
        Whether ``embedder`` is fitted already, for example to a stream or a dask collection. It is then used
        as it is, and only labelled rows are needed in ``fit``.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Values of the regression function at the training rows, also at those whose value was given.
    embedder_ : estimator
        The fitted embedder.
    n_functions_ : int
        Number of eigenfunctions used.
    alpha_ : float
        Regularisation used.
    smoothness_ : float
        Exponent of the roughness used.
    leave_one_out_error_ : float
        Mean squared error of the labelled rows, each predicted from the others.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape import EigenfunctionRegressor
    >>> X, t = make_swiss_roll(1500, random_state=0)
    >>> given = np.full(1200, np.nan)
    >>> given[:40] = t[:40]
    >>> model = EigenfunctionRegressor().fit(X[:1200], given)
    >>> bool(model.score(X[1200:], t[1200:]) > 0.95)
    True
    """

    embedder: Any = None
    _: KW_ONLY
    n_functions: int | Literal["auto"] = "auto"
    alpha: float | Literal["auto"] = "auto"
    prefit: bool = False
    n_jobs: int | None = None
    verbose: bool = False

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the eigenfunctions to all rows and the regression function to those with a value.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            All rows, in the form that ``embedder`` takes. With ``prefit=True`` the rows with a value suffice.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Values. NaN if the value of a row is not known. If one output of a row is NaN, all must be.

        Returns
        -------
        self
        """
        values, known, self._is_flat_ = _split_values(y)
        with running(self):
            functions = self._functions_of_rows(X, len(known))
            if len(functions) != len(values):
                raise ValueError(f"X has {len(functions)} rows, but y has {len(values)} values")
            self._fit_ridge(functions[known], values[known], np.ones(len(known)))
        self.transduction_ = self._shaped(self._ridge_(functions))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Continue with a chunk of a stream: all rows extend the dictionary, those with a value are kept.

        The regression function is fitted again to all rows with a value so far. Memory does not depend on the
        number of rows without one. ``transduction_`` is not set. After ``fit`` a new stream begins.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_chunk, n_features)
            Next rows. ``embedder`` must have ``partial_fit``; if it is None, a GreedySpectralEmbedding is
            used, with divisive normalisation and at most 500 dictionary rows.
        y : array-like of shape (n_chunk,) or (n_chunk, n_outputs), optional
            Values, as for ``fit``. If None, no value of the chunk is known.

        Returns
        -------
        self
        """
        values, known, is_flat = _split_values(
            np.full(count_chunk(self, X), np.nan) if y is None else y, at_least=0
        )
        if len(values) != count_chunk(self, X):
            raise ValueError(f"X has {count_chunk(self, X)} rows, but y has {len(values)} values")
        given, before = values[known], vars(self).get("_values_")
        if len(given) and before is not None:
            if before.shape[1] != given.shape[1]:
                raise ValueError(
                    f"y has {given.shape[1]} outputs, but the stream began with {before.shape[1]}"
                )
            given = np.concatenate([before, given])
        with running(self):
            functions = self._functions_of_stream(X, known)
            if len(known):
                self._values_, self._is_flat_ = given, is_flat
            if functions is not None:
                self._fit_ridge(functions, self._values_, np.ones(len(self._values_)))
        return self

    @rowwise("_n_outputs", dtype=np.float64)
    def predict(self, X: Any) -> np.ndarray:
        """Compute the regression function at any points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new,) or (n_new, n_outputs)
        """
        return self._shaped(self._values(X))

    @property
    def _n_outputs(self) -> int | None:
        """Number of columns of ``predict``, None for one value per row."""
        return None if self._is_flat_ else len(self._ridge_.intercept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self._is_flat_ else values


def _split_values(y: Any, at_least: int = 1) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the values (n_samples, n_outputs), the rows whose values are known, and whether y is flat."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None; NaN means not known")
    values = check_matrix(y, "y", missing=True, ensure_2d=False)
    is_flat = values.ndim == 1
    values = values.reshape(len(values), -1)
    missing = np.isnan(values)
    partly = missing.any(axis=1) & ~missing.all(axis=1)
    if partly.any():
        raise ValueError(
            f"y has rows with some but not all outputs NaN, the first at {int(np.argmax(partly))}; fit one"
            " regressor for each output"
        )
    known = np.flatnonzero(~missing[:, 0])
    if len(known) < at_least:
        raise ValueError("y has no value: every row is NaN; give the values of some rows")
    return values, known, is_flat
