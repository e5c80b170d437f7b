"""``verify``: check a fitted model against its own laws."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape._numbers import checked_sparse
from eigenscape._parameters import check_count
from eigenscape._typing import is_sparse
from eigenscape.estimators._rows import check_input, take_rows

#: Relative error that is attributed to rounding, in double and in single precision.
_ROUNDING = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-4}
#: Residuals relative to the largest eigenvalue above which eigenpairs are wrong.
_RESIDUAL = 1e-5
#: Errors that are no property of the model.
_RAISED = (MemoryError, ImportError)
#: What maps points, the first that an estimator has.
_CALLS = ("transform", "predict", "score_samples")


@dataclass(frozen=True)
class Check:
    """One property of a model.

    Attributes
    ----------
    name : str
    passed : bool or None
        None if the property could not be checked; ``detail`` gives the reason.
    error : float
        The measured error; NaN if not checked.
    limit : float
        The largest error accepted.
    detail : str
    """

    name: str
    passed: bool | None
    error: float
    limit: float
    detail: str

    def __str__(self) -> str:
        word = {True: "ok", False: "FAILED", None: "not checked"}[self.passed]
        size = "" if self.passed is None else f"error {self.error:.2g} (limit {self.limit:.2g}), "
        return f"{self.name + ':':<16}{word:<13}{size}{self.detail}"


@dataclass(frozen=True, repr=False)
class Verification:
    """Result of ``verify``: true if no check failed.

    Attributes
    ----------
    estimator : str
        Class of the model.
    checks : tuple of Check
    """

    estimator: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not any(check.passed is False for check in self.checks)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        title = f"{self.estimator}: {'verified' if self.passed else 'FAILED'}"
        return "\n".join([title, *(f"  {check}" for check in self.checks)])


def verify(self: Any, X: Any = None, *, n_rows: int = 200) -> Verification:
    """Check the fitted model: finite numbers, residuals, and the map of training points.

    A model that was damaged or changed, in memory or in a file, fails. A check that ends with an error
    has failed too, with the error as its ``detail``; only errors about ``X`` are raised. It takes about
    the time of ``transform`` of ``n_rows`` points.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), optional
        The training data, as for ``fit``. Without them, training points are not compared with
        ``embedding_``.
    n_rows : int, default=200
        Number of training points that are checked, evenly spaced.

    Returns
    -------
    Verification
        True if no check failed; ``checks`` has the error and the limit of each, and printing it shows
        them: ``finite`` (all fitted numbers), ``residuals`` (those reported, relative to the largest
        eigenvalue) and ``training rows`` (``transform(X)`` is ``embedding_``).

    Examples
    --------
    >>> from eigenscape import LaplacianEigenmaps, datasets
    >>> X, _ = datasets.swiss_roll(200, random_state=0)
    >>> bool(LaplacianEigenmaps(2).fit(X).verify(X))
    True
    """
    check_is_fitted(self)
    check_count("n_rows", n_rows)
    return Verification(
        type(self).__name__,
        (
            _guarded("finite", lambda: _finite(self)),
            _guarded("residuals", lambda: _residuals(self)),
            _training_rows(self, checked_sparse(X), n_rows),
        ),
    )


def _measured(name: str, errors: Any, limit: float, detail: str) -> Check:
    values = np.asarray(errors, dtype=np.float64)
    error = float(values.max(initial=0.0)) if np.isfinite(values).all() else np.inf
    return Check(name, error <= limit, error, limit, detail)


def _unknown(name: str, reason: str) -> Check:
    return Check(name, None, np.nan, np.nan, reason)


def _guarded(name: str, check: Callable[[], Check], check_data: Callable[[], object] = bool) -> Check:
    """Return the result of a check, failed if it raises an error and ``check_data`` does not."""
    try:
        return check()
    except _RAISED:
        raise
    except Exception as error:  # arrays that do not belong together can cause any error
        check_data()
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Check(name, False, np.inf, 0.0, reason)


def _finite(model: Any) -> Check:
    """All fitted arrays are finite."""
    wrong, count = [], 0
    for name, value in vars(model).items():
        numbers = value.data if is_sparse(value) else value
        if not name.endswith("_") or not isinstance(numbers, (np.ndarray, float)):
            continue
        if np.asarray(numbers).dtype.kind == "f":
            count += 1
            wrong += [] if np.isfinite(numbers).all() else [name]
    detail = f"{count} fitted attributes" if not wrong else f"NaN or infinity in {', '.join(wrong)}"
    return _measured("finite", [float(len(wrong))], 0.0, detail)


def _residuals(model: Any) -> Check:
    """The reported residuals are small compared with the largest eigenvalue."""
    fitted = vars(model)
    if "residuals_" not in fitted or "eigenvalues_" not in fitted:
        return _unknown("residuals", "the method reports none")
    scale = max(float(np.abs(fitted["eigenvalues_"]).max(initial=0.0)), np.finfo(float).tiny)
    detail = f"largest of {np.size(fitted['residuals_'])}, relative to the largest eigenvalue"
    return _measured("residuals", fitted["residuals_"] / scale, _RESIDUAL, detail)


def _training_rows(model: Any, X: Any, n_rows: int) -> Check:
    """Training points, transformed a few at a time, get their row of ``embedding_``."""
    name = "training rows"
    if X is None:
        return _unknown(name, "pass the training data as X")
    if not getattr(model, "_row_by_row", True):
        return _unknown(name, "the method maps windows of several rows")
    fitted = vars(model)
    stored = fitted.get("embedding_", fitted.get("_embedding_"))
    if not isinstance(stored, np.ndarray):  # left out of a model file, or lazy
        stored = None
    if stored is not None and len(stored) != (n := len(X) if isinstance(X, list) else X.shape[0]):
        raise ValueError(f"X has {n} rows, but the model was fitted to {len(stored)}; pass these")
    return _guarded(
        name,
        lambda: _compare_rows(model, X, n_rows, stored),
        lambda: getattr(model, "_check_rows", check_input)(model, X, reset=False),
    )


def _compare_rows(model: Any, X: Any, n_rows: int, stored: Any) -> Check:
    evaluate = next(getattr(model, call) for call in _CALLS if hasattr(model, call))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # announced by fit
        expected = np.asarray(evaluate(X) if stored is None else stored)
        which = np.unique(np.linspace(0, len(expected) - 1, min(len(expected), n_rows)).astype(np.intp))
        parts = which[:, None] if stored is None else np.array_split(which, min(3, len(which)))
        found = np.concatenate([np.asarray(evaluate(take_rows(X, part))) for part in parts])
    what = "each alone and all together" if stored is None else "compared with embedding_"
    limit, size = _ROUNDING.get(expected.dtype, 1e-4), np.abs(expected).max(axis=0)
    values = np.atleast_2d(np.abs(vars(model).get("eigenvalues_", np.ones(np.shape(size)))))
    if values.shape[1:] == np.shape(size):
        size = size * max(_rounding(row[row > 0]) / limit for row in values).clip(1.0)
    size = np.maximum(size, np.finfo(float).tiny)  # of each column
    errors = np.abs(found.astype(np.float64) - expected[which]) / size
    return _measured("training rows", errors, limit, f"{len(which)} of {len(expected)}, {what}")


def _rounding(values: np.ndarray) -> np.float64:
    """Return the error of eigenfunctions that rounding explains: it grows with ``l_1 / l_r``."""
    return np.float64(1e3 * np.finfo(np.float64).eps * (values.max() / values.min() if len(values) else 0.0))
