"""Classification by eigenfunctions: few labels, many rows."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight

from eigenscape.estimators._docs import documented
from eigenscape.estimators._eigen_ridge import EigenRidgeMixin
from eigenscape.estimators._labels import split_labels
from eigenscape.estimators._running import running

#: Widths of the softmax to choose from.
_TEMPERATURES = np.logspace(-3, 1, 41)


@documented
class EigenfunctionClassifier(EigenRidgeMixin, ClassifierMixin, BaseEstimator):
    r"""Semi-supervised classification: ridge regression on eigenfunctions of all rows.

    Eigenfunctions :math:`f_r` of a kernel are learnt from all rows, labelled or not. The labelled rows
    determine the coefficients of

    .. math:: f(x) = b + \sum_{r=1}^N c_r f_r(x), \qquad
        \min \sum_i w_i |y_i - f(x_i)|^2 + \alpha \sum_i w_i \sum_r \rho_r^p |c_r|^2

    (Belkin and Niyogi 2003; Belkin, Matveeva and Niyogi 2004), where :math:`y_i` are indicators of the
    classes and :math:`\rho_r` is the roughness of :math:`f_r` relative to the first. :math:`N`,
    :math:`\alpha` and :math:`p` minimise the leave-one-out error. New points are classified through their
    eigenfunctions (Bengio eq. 20), so nothing is fitted again.

    Parameters
    ----------
    embedder : estimator or None, default=None
        Estimator with eigenfunctions, such as LaplacianEigenmaps, DiffusionMap, KernelPCA or Isomap; its
        ``n_components`` are the functions to choose from. If None, LaplacianEigenmaps with as many
        components as there are labels, at least 20 and at most 100.
    {n_functions}
    {alpha/ridge}
    {smoothness}
    class_weight : {"balanced"}, dict or None, default=None
        Weights of the classes. "balanced" gives all classes the same weight, which helps if very few rows are
        labelled, and if rare classes matter as much as common ones.
    {prefit}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows; those that were given are not changed.
    {embedder_}
    {n_functions_}
    {alpha_}
    {smoothness_}
    {leave_one_out_error_}
    temperature_ : float
        Width of the softmax that turns values into probabilities, the one with the least leave-one-out log
        loss.
    {n_features_in_}

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from eigenscape import EigenfunctionClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> given = np.full(1500, -1)
    >>> given[:50] = y[:50]
    >>> model = EigenfunctionClassifier().fit(X[:1500], given)
    >>> bool(model.score(X[1500:], y[1500:]) > 0.85)
    True
    """

    def __init__(
        self,
        embedder: Any = None,
        *,
        n_functions: int | Literal["auto"] = "auto",
        alpha: float | Literal["auto"] = "auto",
        smoothness: float | Literal["auto"] = "auto",
        class_weight: Any = None,
        prefit: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.embedder = embedder
        self.n_functions = n_functions
        self.alpha = alpha
        self.smoothness = smoothness
        self.class_weight = class_weight
        self.prefit = prefit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the eigenfunctions to all rows and the classes to the labelled ones.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            All rows, in the form that ``embedder`` takes. With ``prefit=True`` the labelled rows suffice.
        y : array-like of shape (n_samples,)
            Labels. -1, and among objects None or NaN, mean that a row is unlabelled.

        Returns
        -------
        self
        """
        n_rows, labelled, given = split_labels(y)
        self.classes_, codes = np.unique(given, return_inverse=True)
        if len(self.classes_) == 1 and len(given) < n_rows:
            raise ValueError(
                f"y has one class, {self.classes_[0]}, besides -1, which means unlabelled; if -1 is a class,"
                " rename it, for example to 0"
            )
        weights = compute_sample_weight(self.class_weight, self.classes_[codes])
        with running(self):
            functions = self._functions_of_rows(X, len(labelled))
            if len(functions) != n_rows:
                raise ValueError(f"X has {len(functions)} rows, but y has {n_rows} labels")
            used = weights > 0
            if not used.any():
                raise ValueError(
                    f"class_weight={self.class_weight!r} gives every label the weight 0; raise one"
                )
            self._fit_ridge(functions[labelled[used]], np.eye(len(self.classes_))[codes[used]], weights[used])
            self.temperature_ = _temperature(self._ridge_.left_out, codes[used], weights[used])
        self.transduction_ = self.classes_[self._ridge_(functions).argmax(axis=1)]
        self.transduction_[labelled] = self.classes_[codes]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes of any points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new,)
        """
        values = self._values(X)
        return self.classes_[values.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes at any points: a softmax of the regression function.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            In the order of ``classes_``.
        """
        return _softmax(self._values(X) / self.temperature_)


def _softmax(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _temperature(left_out: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """Return the width of the softmax with the least log loss of values predicted without each row."""
    finite = np.isfinite(left_out).all(axis=1)
    if not finite.any():
        return 1.0
    left_out, codes, weights = left_out[finite], codes[finite], weights[finite]
    rows = np.arange(len(codes))
    losses = [
        -weights @ np.log(np.maximum(_softmax(left_out / width)[rows, codes], 1e-12))
        for width in _TEMPERATURES
    ]
    return float(_TEMPERATURES[int(np.argmin(losses))])
