"""Validation of the numbers in rows: finite, and of a magnitude whose squares can be added.

Distances and inner products are squares of the data, and norms of Gram matrices their fourth powers. Between
``SMALLEST`` and ``LARGEST`` neither overflows nor vanishes; larger numbers are refused with their place,
instead of an infinite distance that reaches a neighbour search or an eigensolver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from eigenscape._typing import is_sparse
from eigenscape.estimators._tables import as_known_table, text_columns
from eigenscape.exceptions import DataRangeError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Largest magnitude of a value, about 1.6e60.
LARGEST = 2.0**200
#: The largest magnitude of training data must be at least this, about 6.2e-61.
SMALLEST = 2.0**-200
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
    X : array-like or sparse matrix
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
    X = as_known_table(X)
    try:
        rows = check_array(
            without_mask(X, missing),
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
        names=getattr(X, "columns", None),
    )
    validate_data(estimator, X, reset=reset, skip_check_array=True)  # number and names of the features
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


def check_numbers(
    X: Any,
    name: str = "X",
    *,
    missing: bool = False,
    training: bool = False,
    first_row: int = 0,
    names: Any = None,
) -> None:
    """Raise an error, which names row and column, for a value that is not finite or not within range.

    One pass over the data in the usual case: their sum of squares is then finite and of ordinary size.
    """
    values = X.data if is_sparse(X) else X
    if values.size == 0 or _is_ordinary(values, training):
        return
    for wrong, kind in ((np.isnan(values), "NaN"), (np.isinf(values), "infinity")):
        if wrong.any() and not (missing and kind == "NaN"):
            where = _place(X, wrong, first_row, names)
            raise ValueError(
                f"Input {name} contains {kind} in {wrong.sum()} cell(s), the first in {where}; replace such"
                " values or drop their rows"
            )
    size = np.abs(values)
    largest = float(np.fmax.reduce(size, axis=None))
    if largest > LARGEST:
        too_large = size > LARGEST
        worst = float(values[np.unravel_index(int(np.argmax(too_large)), values.shape)])
        raise DataRangeError(
            f"Input {name} contains {too_large.sum()} value(s) beyond +-{LARGEST:.2g}, whose squares are too"
            f" large for distances: {worst:g} in {_place(X, too_large, first_row, names)}. If it marks a"
            " missing value, replace it or drop the row; otherwise divide the data by a constant"
        )
    if training and 0 < largest < SMALLEST:
        raise DataRangeError(
            f"all values of {name} are below {SMALLEST:.2g} in magnitude, and the squares of their distances"
            f" vanish: the largest is {largest:g}, in {_place(X, size == largest, first_row, names)}."
            " Multiply the data by a constant"
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


def _is_ordinary(values: np.ndarray, training: bool) -> bool:
    """Return True if the sum of squares shows that all values are finite and within range.

    Only training data have a lower bound.
    """
    if not (values.flags.c_contiguous or values.flags.f_contiguous):
        return False
    flat = values.ravel(order="K")  # a view
    with np.errstate(over="ignore", invalid="ignore"):
        squares = float(np.dot(flat, flat))
    return squares < LARGEST**2 and (not training or flat.size * SMALLEST**2 < squares)


def _place(X: Any, wrong: np.ndarray, first_row: int, names: Any) -> str:
    """Return the row and column of the first of the ``wrong`` values."""
    position = int(np.argmax(wrong))
    if is_sparse(X):
        row, column = int(np.searchsorted(X.indptr, position, side="right")) - 1, int(X.indices[position])
    else:
        row, column = (*map(int, np.unravel_index(position, wrong.shape)), 0)[:2]
    return f"row {first_row + row}, column " + (str(column) if names is None else repr(str(names[column])))
