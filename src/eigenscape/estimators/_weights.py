"""Fits to a weighted empirical measure, ``sample_weight``; labels of samples, some of them missing.

Weights change the measure, not the kernel. The kernel, its widths and the neighbourhood graph come from
the rows with a positive weight; means, sums and the eigenproblem use the measure ``sum_i w_i delta(x_i)``.

See docs/decisions/estimators-sample-weights.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from eigenscape._roles import missing_labels
from eigenscape.exceptions import DataRangeError
from eigenscape.pieces import embed_columns

if TYPE_CHECKING:
    from eigenscape.estimators._base import FitResult

#: Fitted attributes with one value per sample, and their value for samples of weight zero.
_PER_SAMPLE = {"component_labels_": -1, "degrees_": 0}


#: Why a dictionary has no weights.
DICTIONARY_WEIGHTS = "its moments count every row once"


def embed_weighted(
    estimator: Any, X: Any, weights: np.ndarray, given: dict[str, np.ndarray]
) -> tuple[FitResult, np.ndarray]:
    """Fit to the samples of positive weight; return the result and the coordinates of all samples.

    ``given`` are further arguments of the hook ``_embed`` with one value for each sample.
    """
    kept = np.flatnonzero(weights)
    check_ratio(weights[kept], estimator._max_weight_ratio)
    if len(kept) == len(weights):
        result = estimator._embed(X, weights=weights, **given)
        return result, result.coordinates()
    if len(kept) < 2:
        raise ValueError(
            f"sample_weight is positive for {len(kept)} of {len(weights)} samples; at least 2 are needed"
        )
    others, by_table = np.flatnonzero(weights == 0), estimator._is_precomputed()
    part = X[kept][:, kept] if by_table else X[kept]
    given = {name: values[kept] for name, values in given.items()}
    result = estimator._embed(part, weights=weights[kept], **given)
    coordinates = np.empty((len(weights), result.coordinates().shape[1]))
    coordinates[kept] = result.coordinates()
    attributes = dict(result.attributes)
    for name, value in _PER_SAMPLE.items():
        if name in attributes:
            values = np.full(len(weights), value, dtype=attributes[name].dtype)
            values[kept] = attributes[name]
            attributes[name] = values
    embedding = result.embedding
    if by_table:
        embedding = embed_columns(embedding, kept, None, X, coordinates.shape[1], weights)
    coordinates[others] = embedding.transform(X[others])
    if "labels_" in attributes:
        attributes["labels_"] = attributes["_rule_"].predict(coordinates).astype(np.int64)
    return replace(result, embedding=embedding, attributes=attributes), coordinates


def check_ratio(weights: np.ndarray, largest: float) -> None:
    """Raise DataRangeError if positive weights differ by more than the factor ``largest``."""
    low, high = float(weights.min()), float(weights.max())
    if low * largest < high:
        raise DataRangeError(
            f"the values of sample_weight are between {low:g} and {high:g}, and only a ratio of {largest:.2g}"
            " is possible: coordinates of samples with smaller weights would be rounding errors; set these"
            " weights to 0, and the samples are placed by transform"
        )


def refuse_weights(weights: np.ndarray | None, option: str, reason: str) -> None:
    """Raise ValueError if samples are weighted and ``option`` is set."""
    if weights is not None:
        raise ValueError(f"sample_weight is not supported with {option}: {reason}; leave out one of them")


def class_codes(y: Any, target_weight: float) -> np.ndarray:
    """Return the class (n_samples,) of each sample as a number, -1 for samples without a label."""
    if y is None:
        raise ValueError(
            f"target_weight={target_weight!r} requires y to be passed, but the target y is None; pass labels"
            " (-1 means unlabelled), or set target_weight=0"
        )
    n_samples, labelled, given = split_labels(y)
    codes = np.full(n_samples, -1)
    codes[labelled] = np.unique(given, return_inverse=True)[1]
    return codes


def vertex_codes(codes: np.ndarray, vertex: np.ndarray) -> np.ndarray:
    """Return the class of the samples of each vertex, -1 if none has a label or if labels differ."""
    labelled = np.flatnonzero(codes >= 0)
    lowest, highest = np.full(vertex.max() + 1, codes.max() + 1), np.full(vertex.max() + 1, -1)
    np.minimum.at(lowest, vertex[labelled], codes[labelled])
    np.maximum.at(highest, vertex[labelled], codes[labelled])
    return np.where(lowest == highest, highest, -1)


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
