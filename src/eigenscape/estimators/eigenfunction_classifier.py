"""Classification by eigenfunctions: few labels, many rows."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight

from eigenscape._parameters import with_constructor
from eigenscape.estimators._eigen_ridge import EigenRidgeMixin, count_chunk
from eigenscape.estimators._method import Method
from eigenscape.estimators._running import rowwise, running
from eigenscape.estimators._weights import no_labels, split_labels

#: Widths of the softmax to choose from.
_TEMPERATURES = np.logspace(-3, 1, 41)


@with_constructor
class EigenfunctionClassifier(EigenRidgeMixin, ClassifierMixin, BaseEstimator):
    r"""Semi-supervised classification: ridge regression on eigenfunctions of all rows.

    Eigenfunctions :math:`f_r` of a kernel are learnt from all rows, labelled or not. The labelled rows
    determine the coefficients of

    .. math:: f(x) = b + \sum_{r=1}^N c_r f_r(x), \qquad
        \min \sum_i w_i |y_i - f(x_i)|^2 + \alpha \sum_i w_i \sum_r \rho_r^p |c_r|^2

    (Belkin and Niyogi 2003; Belkin, Matveeva and Niyogi 2004), where :math:`y_i` are indicators of the
    classes and :math:`\rho_r` is the roughness of :math:`f_r` (at least a hundredth of the largest) relative
    to the first. :math:`N`, :math:`\alpha` and :math:`p` minimise the leave-one-out error. New points are
    classified through their eigenfunctions (Bengio eq. 20), so nothing is fitted again.

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
    class_weight : {"balanced"}, dict or None, default=None
        Weights of the classes. "balanced" gives all classes the same weight, which helps if very few rows are
        labelled, and if rare classes matter as much as common ones.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows; those that were given are not changed.
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
    temperature_ : float
        Width of the softmax that turns values into probabilities, the one with the least leave-one-out log
        loss.
    n_features_in_ : int
        Number of features seen by ``fit``.

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

    embedder: Any = None
    _: KW_ONLY
    n_functions: int | Literal["auto"] = "auto"
    alpha: float | Literal["auto"] = "auto"
    class_weight: Any = None
    prefit: bool = False
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("eigenfunction-classifier", command="classify")

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the eigenfunctions to all rows and the classes to the labelled ones.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            All rows, in the form that ``embedder`` takes. With ``prefit=True`` the labelled rows suffice.
        y : array-like of shape (n_samples,)
            Labels. -1, None, NaN and empty text mean that a row is unlabelled.

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
        weights = self._label_weights(codes)
        with running(self):
            functions = self._functions_of_rows(X, len(labelled))
            if len(functions) != n_rows:
                raise ValueError(f"X has {len(functions)} rows, but y has {n_rows} labels")
            self._fit_classes(functions[labelled], codes, weights)
        self.transduction_ = self.classes_[self._ridge_(functions).argmax(axis=1)]
        self.transduction_[labelled] = self.classes_[codes]
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Continue with a chunk of a stream: all rows extend the dictionary, labelled rows are kept.

        The classes are fitted again to all labelled rows so far, so the labels of a stream may come late, or
        with a few rows only. Memory does not depend on the number of unlabelled rows. ``transduction_`` is
        not set; rows are classified by ``predict``. After ``fit`` a new stream begins.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_chunk, n_features)
            Next rows. ``embedder`` must have ``partial_fit``; if it is None, a GreedySpectralEmbedding is
            used, with divisive normalisation and at most 500 dictionary rows.
        y : array-like of shape (n_chunk,), optional
            Labels, as for ``fit``. If None, no row of the chunk is labelled.
        classes : array-like of shape (n_classes,), optional
            All classes, as scikit-learn's classifiers need them for the first chunk. Not needed here: a class
            may come with any chunk. If given, other labels are refused.

        Returns
        -------
        self
        """
        n_rows = count_chunk(self, X)
        n_given, labelled, given = (n_rows, *no_labels()) if y is None else split_labels(y, at_least=0)
        if n_given != n_rows:
            raise ValueError(f"X has {n_rows} rows, but y has {n_given} labels")
        before = vars(self).get("_labels_", given[:0])
        labels = np.concatenate([before, given]) if len(before) else given
        known = np.unique(labels if classes is None else classes)
        if not np.isin(labels, known).all():
            raise ValueError(f"y has labels that are not among classes={classes!r}; leave out classes")
        codes = np.searchsorted(known, labels)
        weights = self._label_weights(codes, known) if len(codes) else np.empty(0)
        with running(self):
            functions = self._functions_of_stream(X, labelled)
            self._labels_ = labels
            if functions is not None:
                self.classes_ = known
                self._fit_classes(functions, codes, weights)
        return self

    def _label_weights(self, codes: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
        """Return the weights of the labelled rows; some are positive."""
        names = self.classes_ if classes is None else classes
        weights = compute_sample_weight(self.class_weight, names[codes])
        if not (weights > 0).any():
            raise ValueError(f"class_weight={self.class_weight!r} gives every label the weight 0; raise one")
        return weights

    def _fit_classes(self, functions: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> None:
        """Fit the regression of the indicators and the width of the softmax to the labelled rows."""
        used = weights > 0
        self._fit_ridge(functions[used], np.eye(len(self.classes_))[codes[used]], weights[used])
        self.temperature_ = _temperature(self._ridge_.left_out, codes[used], weights[used])

    @rowwise(None, like="classes_")
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

    @rowwise("_n_classes", dtype=np.float64)
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
        return softmax(self._values(X) / self.temperature_, axis=1)

    @property
    def _n_classes(self) -> int:
        return len(self.classes_)


def _temperature(left_out: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """Return the width of the softmax with the least log loss of values predicted without each row."""
    finite = np.isfinite(left_out).all(axis=1)
    if not finite.any():
        return 1.0
    left_out, codes, weights = left_out[finite], codes[finite], weights[finite]
    rows = np.arange(len(codes))
    losses = [
        -weights @ np.log(np.maximum(softmax(left_out / width, axis=1)[rows, codes], 1e-12))
        for width in _TEMPERATURES
    ]
    return float(_TEMPERATURES[int(np.argmin(losses))])
