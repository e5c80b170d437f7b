"""Conversion of arrow columns to NumPy arrays."""

from __future__ import annotations

import numpy as np

from eigenscape.app.io.arrow import compute, pa
from eigenscape.app.io.guards import EXACT_INTEGER, integer_error


def is_string(dtype: pa.DataType) -> bool:
    """Return whether an arrow type is text."""
    types = pa.types
    return bool(types.is_string(dtype) or types.is_large_string(dtype))


def is_nested(dtype: pa.DataType) -> bool:
    """Return whether an arrow type is a list, a structure or a map."""
    return bool(pa.types.is_nested(dtype))


def is_number(dtype: pa.DataType) -> bool:
    """Return whether an arrow type is numeric; a column without values is."""
    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(dtype) for test in tests)


def column_kind(dtype: pa.DataType) -> str:
    """Return the kind of an arrow type: "float", "int", "bool", "text" or "other".

    A column without values is numeric, and categories are text.
    """
    types = pa.types
    if types.is_boolean(dtype):
        return "bool"
    if is_number(dtype):
        return "int" if types.is_integer(dtype) else "float"
    is_text = is_string(dtype.value_type) if types.is_dictionary(dtype) else is_string(dtype)
    return "text" if is_text else "other"


def exact_floats(column: pa.ChunkedArray, name: str, source: str) -> np.ndarray:
    """Convert a numeric column to floats; raise if an integer is too large for double precision."""
    if _has_large_integers(column):
        raise integer_error(name, source)
    return to_floats(column)


def _has_large_integers(column: pa.ChunkedArray) -> bool:
    """Return whether a column contains integers that are too large for double precision."""
    types = pa.types
    is_decimal = types.is_decimal(column.type) and column.type.scale <= 0
    if not is_decimal and not (types.is_integer(column.type) and column.type.bit_width == 64):
        return False
    limits = compute.min_max(column).as_py()
    return limits["max"] is not None and max(limits["max"], -limits["min"]) > EXACT_INTEGER


def to_floats(column: pa.ChunkedArray) -> np.ndarray:
    """Convert a numeric arrow column to floats, missing values to NaN."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def to_array(column: pa.ChunkedArray) -> np.ndarray:
    """Convert an arrow column to numbers if it is numeric, to text otherwise; missing text is empty.

    Integers that floating-point numbers do not represent become text if some values are missing.
    """
    if pa.types.is_dictionary(column.type) and is_number(column.type.value_type):
        column = column.cast(column.type.value_type)
    if column.null_count and _has_large_integers(column):
        column = column.cast(pa.string())
    if is_number(column.type):
        exact = pa.types.is_integer(column.type) and column.null_count == 0
        return np.asarray(column.to_numpy()) if exact else to_floats(column)
    if pa.types.is_nested(column.type):
        values = ["" if value is None else str(value) for value in column.to_pylist()]
        return np.array(values, dtype=object)
    parts = [np.empty(0, dtype=object)]
    for chunk in column.chunks:  # rows with the same text share one object
        encoded = chunk.dictionary_encode()
        values = ["" if value is None else str(value) for value in encoded.dictionary.to_pylist()]
        indices = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        parts.append(np.array([*values, ""], dtype=object)[indices])  # -1: the text appended last
    return np.concatenate(parts)
