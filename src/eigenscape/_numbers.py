"""Numbers that come from outside are finite, and of a magnitude whose squares can be added.

Distances and inner products are squares of the data, and norms of Gram matrices their fourth powers. Between
``SMALLEST`` and ``LARGEST`` neither overflows nor vanishes; larger numbers are refused with their place,
instead of an infinite distance that reaches a neighbour search or an eigensolver.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._typing import is_sparse
from eigenscape.exceptions import DataRangeError

#: Largest magnitude of a value, about 1.6e60.
LARGEST = 2.0**200
#: Largest magnitude of a value in single precision, about 1.2e18: squares are computed in it.
LARGEST_SINGLE = 2.0**60
#: The largest magnitude of training data must be at least this, about 6.2e-61.
SMALLEST = 2.0**-200


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
    if values.size == 0 or is_ordinary(values, training):
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
    limit = LARGEST_SINGLE if values.dtype == np.float32 else LARGEST
    if largest > limit:
        too_large = size > limit
        worst = float(values[np.unravel_index(int(np.argmax(too_large)), values.shape)])
        raise DataRangeError(
            f"Input {name} contains {too_large.sum()} value(s) beyond +-{limit:.2g}, whose squares are too"
            f" large for distances: {worst:g} in {_place(X, too_large, first_row, names)}. If it marks a"
            " missing value, replace it or drop the row; otherwise divide the data by a constant"
            f"{', or pass float64' if limit < LARGEST else ''}"
        )
    if training and 0 < largest < SMALLEST:
        raise DataRangeError(
            f"all values of {name} are below {SMALLEST:.2g} in magnitude, and the squares of their distances"
            f" vanish: the largest is {largest:g}, in {_place(X, size == largest, first_row, names)}."
            " Multiply the data by a constant"
        )


def is_ordinary(values: np.ndarray, training: bool = False) -> bool:
    """Return True if the sum of squares shows that all values are finite and within range.

    Only training data have a lower bound.
    """
    if not (values.flags.c_contiguous or values.flags.f_contiguous):
        return False
    flat = values.ravel(order="K")  # a view
    with np.errstate(over="ignore", invalid="ignore"):
        squares = float(np.dot(flat, flat))
    limit = LARGEST_SINGLE if values.dtype == np.float32 else LARGEST
    return squares < limit**2 and (not training or flat.size * SMALLEST**2 < squares)


def _place(X: Any, wrong: np.ndarray, first_row: int, names: Any) -> str:
    """Return the row and column of the first of the ``wrong`` values."""
    position = int(np.argmax(wrong))
    if is_sparse(X):
        row, column = int(np.searchsorted(X.indptr, position, side="right")) - 1, int(X.indices[position])
    else:
        row, column = (*map(int, np.unravel_index(position, wrong.shape)), 0)[:2]
    return f"row {first_row + row}, column " + (str(column) if names is None else repr(str(names[column])))


def check_indices(matrix: Any) -> None:
    """Raise ValueError if a sparse matrix has indices out of range, or pointers that decrease.

    SciPy does not check them when a matrix is loaded or changed, and its compiled functions would read and
    write beyond the arrays.
    """
    if matrix.format in ("csr", "csc", "bsr"):
        if matrix.indptr[0] != 0:
            raise ValueError(f"the first index pointer is {matrix.indptr[0]}, not 0")
        if (np.diff(matrix.indptr) < 0).any():  # SciPy does not look if the last one is 0
            raise ValueError("index pointers decrease")
        matrix.check_format(full_check=True)
    elif matrix.format == "coo":
        for size, index in zip(matrix.shape, matrix.coords, strict=True):
            if index.size and not 0 <= int(index.min()) <= int(index.max()) < size:
                raise ValueError(f"indices from {index.min()} to {index.max()} in a dimension of {size}")
    else:
        check_indices(sparse.csr_array(matrix))


def checked_sparse(X: Any, name: str = "X") -> Any:
    """Return ``X``; raise ValueError if it is a sparse matrix with indices out of range."""
    if is_sparse(X):
        try:
            check_indices(X)
        except ValueError as error:
            raise ValueError(f"{name} is a damaged sparse matrix ({error}); build it again") from None
    return X
