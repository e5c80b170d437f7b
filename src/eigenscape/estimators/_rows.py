"""Rows as floating-point numbers that are finite and within range, and coordinates that are finite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from eigenscape._numbers import check_numbers, checked_sparse
from eigenscape.estimators._annotated import NamedRows, named_rows
from eigenscape.estimators._tables import as_known_table, date_columns, text_columns
from eigenscape.exceptions import DataRangeError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Words in the errors of NumPy for objects that are not numbers.
_CONVERSION = ("could not convert", "Cannot cast", "setting an array element", "argument must be")


def validate_rows(
    estimator: BaseEstimator, X: Any, *, reset: bool, chunk: bool = False, first_row: int = 0, **options: Any
) -> Any:
    """Return ``X`` as floating-point numbers, finite and within range.

    Parameters
    ----------
    estimator : Estimator
        Its attribute ``_missing`` states whether NaN is accepted as a missing value.
    X : array-like, sparse matrix or AnnData
    reset : bool
        Whether the number and names of the features are set, not compared.
    chunk : bool
        Whether ``X`` is one of several chunks, which may be tiny by itself.
    first_row : int
        Position of the first row in a stream, for errors.
    **options
        Options of ``sklearn.utils.validation.check_array``.
    """
    missing = bool(getattr(estimator, "_missing", False))
    X = named_rows(estimator, as_known_table(X), reset)
    X, named = (X.values, X.table) if isinstance(X, NamedRows) else (X, X)
    if dates := date_columns(X):
        columns = ", ".join(map(repr, dates[:5]))
        raise ValueError(f"X has dates or times, which are not numbers; convert or drop {columns}")
    try:
        rows = check_array(
            checked_sparse(without_mask(X, missing)),
            estimator=estimator,
            input_name="X",
            ensure_all_finite=False,
            **{"dtype": [np.float64, np.float32], **options},
        )
    except (TypeError, ValueError) as error:
        if not any(words in str(error) for words in _CONVERSION):
            raise
        text = text_columns(X)
        remedy = "pass rows of numbers of equal length"
        if text:
            remedy = f"encode or drop {', '.join(map(repr, text[:5]))}"
        raise type(error)(f"X cannot be converted to numbers ({error}); {remedy}") from error
    check_numbers(
        rows,
        missing=missing,
        training=reset and not chunk,
        first_row=first_row,
        names=getattr(named, "columns", None),
    )
    validate_data(estimator, named, reset=reset, skip_check_array=True)  # number and names of the features
    return rows


def without_mask(X: Any, missing: bool, name: str = "X") -> Any:
    """Return a masked array as an ordinary one, with NaN in masked cells if ``missing`` values are accepted.

    A masked array converted by NumPy would lose its mask and show the values below it.
    """
    if not isinstance(X, np.ma.MaskedArray):
        return X
    masked = np.argwhere(np.ma.getmaskarray(X))
    if not len(masked):
        return X.data
    if missing:
        return np.where(np.ma.getmaskarray(X), np.nan, X.data)
    raise ValueError(
        f"{name} is a masked array with {len(masked)} masked value(s), the first at index"
        f" {tuple(map(int, masked[0]))}, and missing values are not accepted; fill them in"
        f" ({name}.filled(...)), drop their rows, or use an estimator that accepts them (ProbabilisticPCA)"
    )


def check_coordinates(values: np.ndarray) -> np.ndarray:
    """Return finite coordinates as they are, or raise an error that names the first row that overflowed."""
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))[0])
        raise DataRangeError(
            f"the coordinates of row {row} of X exceed the range of {values.dtype} numbers; the row is too"
            " far from the training data, or the data must be divided by a constant"
        )
    return values
