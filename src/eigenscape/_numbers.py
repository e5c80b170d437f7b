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
#: Relative asymmetry of a matrix that is attributed to rounding.
_ROUNDING = 1e-8
#: Smallest sum of affinities relative to the largest. Eigenvectors are proportional to the roots of the sums.
_SMALLEST_SUM = 1e-20


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


def check_precomputed(kind: str, X: Any, square: bool) -> None:
    """Check a precomputed matrix of kind "distance", "affinity" or "kernel".

    With ``square`` it must be square and symmetric. Distances and affinities must not be negative."""
    if square and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"a precomputed matrix must be square (n_samples, n_samples), got shape {X.shape}; did you pass"
            " the data themselves?"
        )
    values = X.data if is_sparse(X) else X
    if kind in ("distance", "affinity") and values.size and values.min() < 0:
        raise ValueError(
            f"Negative values in data: a precomputed {kind} must not be negative, got {values.min():g}"
        )
    if not square:
        return
    if kind == "distance":
        check_zero_diagonal(X)
        if is_sparse(X):  # neighbour graphs may be asymmetric
            return
    check_symmetric(X, kind)
    if kind == "affinity":
        _check_row_sums(X)
    if kind == "distance" and X.max() == 0:
        raise ValueError(
            f"all {X.shape[0]} samples are equal (at distance 0 from each other); there is nothing to embed"
        )


def check_zero_diagonal(D: Any) -> None:
    """Raise ValueError unless the diagonal of a matrix of distances is zero: if sparse, exactly.

    A row of a sparse matrix is recognised as a sample by its distance 0.
    """
    diagonal = np.abs(D.diagonal())
    if diagonal.max() > (0 if is_sparse(D) else _ROUNDING * float(D.max())):
        i = int(np.argmax(diagonal))
        remedy = "; call setdiag(0) if this is rounding" if is_sparse(D) else ""
        raise ValueError(
            f"a distance matrix must have a zero diagonal, got {D[i, i]:g} for sample {i}; are these"
            f" similarities?{remedy}"
        )


def _check_row_sums(A: Any) -> None:
    """Raise an error if sums of affinities are so different that rounding removes the smaller ones."""
    sums = np.asarray(A.sum(axis=1)).ravel()
    least, most = (
        int(which(np.where(sums > 0, sums, other))) for which, other in ((np.argmin, np.inf), (np.argmax, 0))
    )
    if 0 < sums[least] < _SMALLEST_SUM * sums[most]:
        raise DataRangeError(
            f"the precomputed affinities of sample {most} sum to {sums[most]:g}, and the"
            f" affinities of sample {least} to {sums[least]:g}, which is lost to rounding; reduce the largest"
            " affinities, or drop the sample"
        )


def check_symmetric(K: Any, name: str) -> None:
    """Raise ValueError unless a dense or sparse matrix is symmetric up to rounding."""
    worst = float(abs(K - K.T).max())
    tolerance = _ROUNDING if K.dtype == np.float64 else 1e-4
    if worst > tolerance * float(abs(K).max()):
        raise ValueError(
            f"the precomputed {name} matrix must be symmetric, but entries (i, j) and (j, i) differ by up to"
            f" {worst:g}"
        )


def with_small_indices(X: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with 32-bit indices if they suffice: some metrics, and paths of SciPy 1.13,
    support no others."""
    if (X.indices.dtype == np.int32 and X.indptr.dtype == np.int32) or max(*X.shape, X.nnz) >= 2**31:
        return X
    return sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def as_contiguous_float64(X: Any) -> Any:
    """Return rows in double precision, dense ones contiguous, as compiled code requires."""
    return X.astype(np.float64) if is_sparse(X) else np.ascontiguousarray(X, dtype=np.float64)


def match_dtype(X: Any, values: np.ndarray) -> np.ndarray:
    """Return ``values`` in single precision if ``X`` is, otherwise in double precision."""
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    with np.errstate(over="ignore"):  # refused by check_coordinates
        return values.astype(dtype, copy=False)
