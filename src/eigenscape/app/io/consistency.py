"""Checks of the arrays of a loaded model: their types, dimensions, and lengths that must agree.

A file whose checksums are right can still contain arrays that do not belong together. They are refused when
the model is loaded, not by an error of NumPy when it is used.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from eigenscape._omitted import OmittedArray
from eigenscape.options import Option

#: Attributes that may contain text.
_TEXT = ("feature_names_in_", "classes_", "transduction_", "_labels_")

#: Types of the fields of dataclasses that are checked, by their annotation.
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int, np.integer),
    "float": (float, int, np.floating, np.integer),
    "bool": (bool, np.bool_),
    "str": (str,),
    "np.ndarray": (np.ndarray, OmittedArray),
}

#: Shapes of the fitted attributes of estimators and scalers. Other classes, and estimators that differ, have
#: a dict ``_shapes`` by attribute; attributes that are None or no arrays are skipped. Within an object a name
#: is one number: "n r" is (n, r), "*" any length, "..." any leading or trailing dimensions. "n < m" contains
#: indices below m. An attribute that is an integer is the length itself. Attributes of attributes have dots,
#: and ``<points>`` are the points of the columns of a kernel.
_FITTED = {
    "n_features_in_": "features",
    "feature_names_in_": "features",
    "embedding_": "samples *",
    "_embedding_": "samples *",
    "component_labels_": "samples",
    "degrees_": "samples",
    "labels_": "samples",
    "cell_labels_": "samples",
    "_model_.landmarks.which": "landmarks < samples",
    "eigenvalues_": "... values",
    "residuals_": "... values",
    "singular_values_": "values",
    "explained_variance_ratio_": "values",
    "mean_": "features",
    "components_": "components features",
    "patterns_": "components features",
    "loadings_": "features components",
    "directions_": "terms features",
    "dictionary_": "members ...",
    "dictionary_indices_": "members",
    "scale_": "features",
    "var_": "features",
}


def check_object(value: Any) -> None:
    """Check an object of a model against the fields and shapes that its class declares.

    Raises
    ------
    ValueError
        If the object has not all of its fields, one has another type, or an array contains no numbers, has
        another number of dimensions than its attribute, a length that does not agree with other arrays of
        the object, or indices out of range.
    """
    try:
        _check_fields(value)
        if isinstance(value, Option):
            value.set_params()  # the copy is validated
        _check_types(value)
        _check_shapes(value, _rules(type(value)))
    except ValueError as error:
        raise ValueError(f"it is inconsistent: {str(error).replace('<points>', 'points')}") from error


def _rules(cls: type) -> dict[str, str]:
    """Return the shapes of the attributes of a class and its base classes."""
    merged = dict(_FITTED) if issubclass(cls, BaseEstimator) else {}
    for base in reversed(cls.__mro__):
        merged |= vars(base).get("_shapes", {})
    return merged


def _check_fields(value: Any) -> None:
    if is_dataclass(value):
        for field in fields(value):
            if field.init and field.default is MISSING and field.name not in vars(value):
                raise ValueError(f"its {type(value).__name__} has no {field.name}")
            item = vars(value).get(field.name)
            expected = _TYPES.get(str(field.type), ())
            if expected and field.name in vars(value) and not isinstance(item, expected):
                raise ValueError(
                    f"{field.name} of its {type(value).__name__} is a {type(item).__name__}, not {field.type}"
                )


def _check_types(value: Any) -> None:
    for name, item in _state(value).items():
        if isinstance(value, BaseEstimator) and not name.endswith("_"):
            continue  # parameters, which a fitted model does not compute with
        arrays = item if isinstance(item, list | tuple) else [item]
        for array in () if name in _TEXT else filter(_is_array, arrays):
            if array.dtype.kind not in "biuf":
                raise ValueError(
                    f"{name} of its {type(value).__name__} has the type {array.dtype}, not numbers"
                )


def _check_shapes(value: Any, rules: dict[str, str]) -> None:
    lengths: dict[str, tuple[int, str]] = {}  # of each name: the length, and the attribute that has it
    bounded: list[tuple[str, np.ndarray, str]] = []
    for path, rule in rules.items():
        dimensions, _, bound = rule.partition(" < ")
        array = _resolve(value, path)
        if isinstance(array, int) and not isinstance(array, bool):
            shape: tuple[int, ...] = (array,)
        elif isinstance(array, OmittedArray) or _is_array(array):
            shape = array.shape
        else:
            continue
        for name, length in _named_lengths(value, path, dimensions.split(), shape):
            known, known_from = lengths.setdefault(name, (length, path))
            if length != known:
                raise ValueError(
                    f"{path} of its {type(value).__name__} has the shape {shape}, which does not agree with"
                    f" {known_from} ({name}={known})"
                )
        if bound and isinstance(array, np.ndarray):
            bounded.append((path, array, bound))
    for path, array, bound in bounded:
        if bound in lengths:
            _check_range(f"{path} of its {type(value).__name__}", array, lengths[bound][0])


def _named_lengths(
    value: Any, path: str, dimensions: list[str], shape: tuple[int, ...]
) -> list[tuple[str, int]]:
    """Return the lengths of the named dimensions of an array."""
    n_named = len(dimensions) - ("..." in dimensions)
    if len(shape) < n_named or (len(shape) > n_named and "..." not in dimensions):
        raise ValueError(
            f"{path} of its {type(value).__name__} has {len(shape)} dimensions, not {n_named} (shape {shape})"
        )
    if dimensions[0] == "...":
        dimensions, shape = dimensions[1:], shape[len(shape) - n_named :]
    return [pair for pair in zip(dimensions, shape, strict=False) if pair[0] not in ("*", "...")]


def _check_range(name: str, indices: np.ndarray, stop: int) -> None:
    if indices.dtype.kind not in "iu":
        raise ValueError(f"{name} has the type {indices.dtype}, not integers")
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < stop:
        raise ValueError(f"{name} has indices from {indices.min()} to {indices.max()}, not below {stop}")


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or sparse.issparse(value)


def _state(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, or the fields of a named tuple."""
    names = getattr(type(value), "_fields", None)
    return getattr(value, "__dict__", {}) if names is None else dict(zip(names, value, strict=True))


def _resolve(value: Any, path: str) -> Any:
    """Return an attribute of an attribute; None if one of them is None, absent or not computed yet."""
    for name in path.split("."):
        if value is None:
            return None
        if name == "<points>":
            value = _points(value)
        elif name.isdigit():
            value = value[int(name)]
        elif name in (state := _state(value)):
            value = state[name]
        elif isinstance(getattr(type(value), name, None), cached_property):
            return None
        else:
            value = getattr(value, name, None)
    return value


def _points(kernel: Any) -> Any:
    """Return an array with a row for each column of a kernel, without copying the points."""
    state = _state(kernel)
    for name in ("members", "landmarks"):  # of another kernel
        if name in state:
            return state[name]
    if "links" in state:  # between the points of several views
        return state["links"].T
    if "piece" in state:
        return state["piece"].columns
    return _points(state["base"]) if "base" in state else getattr(kernel, "X", None)
