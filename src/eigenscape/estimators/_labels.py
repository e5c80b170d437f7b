"""Labels of samples, some of them missing: -1, and what :mod:`eigenscape._roles` says of any column."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from eigenscape._roles import missing_labels


def no_labels() -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the labelled rows and their labels if there are none."""
    return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)


def split_labels(y: Any, at_least: int = 1) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the number of rows, the indices of the labelled rows and their labels."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None; -1 means unlabelled")
    array = column_or_1d(_as_labels(y), warn=True)
    if array.dtype.kind == "f" and np.isinf(array).any():
        raise ValueError("Input y contains infinity or a value too large")
    missing = missing_labels(array)
    if array.dtype.kind in "iufO":
        missing[~missing] = array[~missing] == -1
    labelled = np.flatnonzero(~missing)
    if len(labelled) < at_least:
        raise ValueError(
            "y has no label: every value is -1, None or NaN; label at least one row of each class"
        )
    if len(labelled) == 0:
        return len(array), *no_labels()
    given = _narrowed(array[labelled])
    check_classification_targets(given)
    return len(array), labelled, given


def _as_labels(y: Any) -> Any:
    """Return labels as an array in which none has changed its type.

    NumPy would turn ``["a", nan, -1]`` into words, and scikit-learn integers of pandas with NA into floats.
    """
    if isinstance(y, (list, tuple)):
        array = np.asarray(y)
        is_mixed = array.dtype.kind == "U" and not all(isinstance(value, str) for value in y)
        return np.array(y, dtype=object) if is_mixed and array.ndim == 1 else array
    if hasattr(y, "isna") and not isinstance(getattr(y, "dtype", np.dtype(object)), np.dtype):
        return y.to_numpy(dtype=object)  # a nullable or categorical series of pandas
    return y


def _narrowed(labels: np.ndarray) -> np.ndarray:
    """Return labels that are objects as an array of their common type, or raise if they have none."""
    if labels.dtype != object:
        return labels
    words = [isinstance(value, str) for value in labels]
    if any(words) and not all(words):
        word, other = labels[words.index(True)], labels[words.index(False)]
        raise ValueError(
            f"Unknown label type: y has words ({word!r}) and other labels ({other!r}); use one type for all"
        )
    return np.array(labels.tolist())
