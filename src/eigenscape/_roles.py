"""Roles of the values of a column: numbers, categories, dates and missing values.

Readers, figures, reports and the explorer use these rules, so that a column has the same role everywhere.
"""

from __future__ import annotations

import numpy as np

from eigenscape._palette import MAX_CATEGORIES, legend_order

#: Text of files that marks a missing value; readers replace it by an empty text.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "?")


def is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, NaT, ``pandas.NA`` or an empty text."""
    if value is None or (isinstance(value, str) and not value):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"  # bool(pandas.NA) raises


def missing_labels(labels: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the missing labels."""
    if labels.dtype.kind == "O":
        return np.array([is_missing(value) for value in labels], dtype=bool)
    if labels.dtype.kind in "UST":
        return np.asarray(labels == labels.dtype.type())
    return labels != labels if labels.dtype.kind in "fcmM" else np.zeros(len(labels), dtype=bool)


def plain_values(values: np.ndarray) -> np.ndarray:
    """Convert objects to floats if all that are not missing are numbers; missing objects become None."""
    if values.dtype.kind != "O":
        return values
    missing = missing_labels(values)
    known = values[~missing]
    if len(known) and all(
        isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in known
    ):
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = known.astype(np.float64)
        return numbers
    values = values.copy()
    values[missing] = None
    return values


def column_role(values: np.ndarray) -> str:
    """Return the role of the values of a label: "category", "date" or "number".

    Text and booleans are categories. So are integers, if they are repeated and at most 20 are different.

    Examples
    --------
    >>> column_role(np.array(["a", "b"])), column_role(np.array([1.0, 2.0, np.nan, 2.0]))
    ('category', 'category')
    >>> column_role(np.arange(30) / 7), column_role(np.array(["2020-01-01"], dtype="M8[D]"))
    ('number', 'date')
    """
    if values.dtype.kind in "mM":
        return "date"
    if values.dtype.kind not in "iuf":
        return "category"
    known = values[np.isfinite(values)]
    for part in (known[:: max(1, len(known) // 5000)], known):  # a sample decides most columns
        distinct = np.unique(part)
        if len(distinct) > MAX_CATEGORIES or not (distinct == np.floor(distinct)).all():
            return "number"
    return "category" if len(distinct) < len(known) else "number"


def category_codes(values: np.ndarray) -> tuple[np.ndarray, list[str], list[int]]:
    """Return the code of each value (-1 if it is missing), and names and counts of the categories.

    Categories are in the order of legends.
    """
    missing = missing_labels(values)
    is_number = values.dtype.kind in "iuf"
    known = (
        values[~missing] if is_number else np.array([str(value) for value in values[~missing]], dtype=object)
    )
    names, inverse, counts = np.unique(known, return_inverse=True, return_counts=True)
    order = np.asarray(np.arange(len(names)) if is_number else legend_order(names.tolist()), dtype=np.intp)
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[~missing] = np.argsort(order)[inverse]
    return codes, [str(int(names[i]) if is_number else names[i]) for i in order], counts[order].tolist()
