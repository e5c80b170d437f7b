"""Arrays as model files store them: in the fewest bytes that represent every value exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape.exceptions import ModelFileError

#: Smaller arrays are stored as they are.
LEAST_BYTES = 1024
#: Types that are tried, narrowest first.
_INTEGERS = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32)
#: Number of values by which most types are excluded.
_FIRST = 4096
#: Forms of an array: all values, or the lower triangle of a square array with zeros or a mirror image above.
_PLAIN, _LOWER, _SYMMETRIC = "plain", "lower", "symmetric"


class PackedArray:
    """An array in a model file: a narrower type, or a triangle, from which it is restored bit by bit.

    Parameters
    ----------
    values : ndarray
        The array in the narrower type, or the rows of its lower triangle, one after the other.
    dtype : str
        Type of the array, such as "<f8".
    form : {"plain", "lower", "symmetric"}
        Whether ``values`` are the array or a triangle of it.
    """

    def __init__(self, values: np.ndarray, dtype: str, form: str = _PLAIN) -> None:
        self.values, self.dtype, self.form = values, dtype, form

    def unpack(self) -> np.ndarray:
        """Return the array."""
        if self.form == _PLAIN:
            return self.values.astype(self.dtype, order="K")
        side = int(np.sqrt(2 * self.values.size))
        if self.values.ndim != 1 or side * (side + 1) // 2 != self.values.size:
            raise ModelFileError(f"{self.values.size} values are not the triangle of a square array")
        array, start = np.zeros((side, side), dtype=self.dtype, order="F"), 0
        for row in range(side):
            array[row, : row + 1] = self.values[start : start + row + 1]
            start += row + 1
        if self.form == _LOWER:
            return array
        lower = np.ascontiguousarray(array)
        return np.where(np.tri(side, dtype=bool), lower, lower.T)


def pack(array: np.ndarray) -> Any:
    """Return a :class:`PackedArray` if it needs fewer bytes, otherwise the array."""
    if array.dtype not in (np.float64, np.int64, np.uint64) or array.nbytes < LEAST_BYTES:
        return array
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    form = _form(array)
    values = array if form == _PLAIN else np.concatenate([row[: i + 1] for i, row in enumerate(array)])
    narrow = _narrowest(values)
    if narrow.nbytes == array.nbytes:
        return array
    return PackedArray(narrow, array.dtype.str, form)


def _form(array: np.ndarray) -> str:
    """Return the form in which an array needs fewest values; the memory order of each form is fixed."""
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        return _PLAIN
    if array.flags.f_contiguous and _is_zero(np.triu(array, 1)):
        return _LOWER
    if array.flags.c_contiguous and _is_zero(_bits(array) ^ _bits(array).T):
        return _SYMMETRIC
    return _PLAIN


@np.errstate(invalid="ignore", over="ignore")
def _narrowest(values: np.ndarray) -> np.ndarray:
    """Return the values in the narrowest type from which they are restored exactly."""
    for dtype in _INTEGERS if values.dtype.kind in "iu" else (*_INTEGERS[:4], np.float32):
        first = values.ravel(order="K")[:_FIRST]
        if _is_exact(first.astype(dtype), first):
            narrow = values.astype(dtype, order="K")
            if _is_exact(narrow, values):
                return narrow
    return values


def _is_exact(narrow: np.ndarray, values: np.ndarray) -> bool:
    return _is_zero(_bits(narrow.astype(values.dtype, order="K")) ^ _bits(values))


def _bits(values: np.ndarray) -> np.ndarray:
    """Return the bit patterns, which tell 0.0 from -0.0."""
    return values.view(np.uint64)


def _is_zero(values: np.ndarray) -> bool:
    return not values.any()
