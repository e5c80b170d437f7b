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
    name: shape
    for shape, names in {
        "features": "n_features_in_ feature_names_in_ mean_ scale_ var_",
        "samples *": "embedding_ _embedding_",
        "samples": "component_labels_ degrees_ labels_ cell_labels_",
        "landmarks < samples": "_model_.landmarks.which",
        "... values": "eigenvalues_ residuals_",
        "values": "singular_values_ explained_variance_ratio_",
        "components features": "components_ patterns_",
        "features components": "loadings_",
        "terms features": "directions_",
        "members ...": "dictionary_",
        "members": "dictionary_indices_",
    }.items()
    for name in names.split()
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
        if is_dataclass(value):
            _check_fields(value)
        if isinstance(value, Option):
            value.set_params()  # the copy is validated
        _check_types(value)
        rules = dict(_FITTED) if isinstance(value, BaseEstimator) else {}
        for base in reversed(type(value).__mro__):
            rules |= vars(base).get("_shapes", {})
        _check_shapes(value, rules)
    except ValueError as error:
        text = str(error).replace("<points>", "points")
        raise ValueError(f"it is inconsistent: {text}") from error


def _check_fields(value: Any) -> None:
    """Raise unless an object has all fields of its class, of the types in their annotations."""
    for field in fields(value):
        if field.name not in vars(value):
            if field.init and field.default is MISSING:
                raise ValueError(f"its {type(value).__name__} has no {field.name}")
            continue
        item, expected = vars(value)[field.name], _TYPES.get(str(field.type), object)
        if not isinstance(item, expected):
            raise ValueError(
                f"{field.name} of its {type(value).__name__} is a {type(item).__name__}, not {field.type}"
            )


def _check_types(value: Any) -> None:
    """Raise unless the arrays of an object contain numbers."""
    for name, item in vars(value).items():
        is_parameter = isinstance(value, BaseEstimator) and not name.endswith("_")
        if is_parameter or name in _TEXT:  # a fitted model does not compute with its parameters
            continue
        for array in filter(_is_array, item if isinstance(item, list | tuple) else [item]):
            if array.dtype.kind not in "biuf":
                raise ValueError(
                    f"{name} of its {type(value).__name__} has the type {array.dtype}, not numbers"
                )


def _check_shapes(value: Any, rules: dict[str, str]) -> None:
    """Raise unless the lengths and indices of the arrays of an object agree."""
    lengths: dict[str, tuple[int, str]] = {}  # of each name: the length, and the attribute that has it
    bounded: list[tuple[str, np.ndarray, str]] = []
    for path, rule in rules.items():
        dimensions, _, bound = rule.partition(" < ")
        array, what = _resolve(value, path), f"{path} of its {type(value).__name__}"
        is_length = isinstance(array, int) and not isinstance(array, bool)
        if not (is_length or isinstance(array, OmittedArray) or _is_array(array)):
            continue
        shape = (array,) if is_length else array.shape
        for name, length in _named_lengths(what, dimensions.split(), shape):
            known, known_from = lengths.setdefault(name, (length, path))
            if length != known:
                raise ValueError(
                    f"{what} has the shape {shape}, which does not agree with {known_from} ({name}={known})"
                )
        if bound and isinstance(array, np.ndarray):
            bounded.append((what, array, bound))
    for what, array, bound in bounded:
        if bound in lengths:
            _check_range(what, array, lengths[bound][0])


def _named_lengths(what: str, dimensions: list[str], shape: tuple[int, ...]) -> list[tuple[str, int]]:
    """Return the lengths of the named dimensions of an array."""
    n_named = len(dimensions) - ("..." in dimensions)
    if len(shape) < n_named or (len(shape) > n_named and "..." not in dimensions):
        raise ValueError(f"{what} has {len(shape)} dimensions, not {n_named} (shape {shape})")
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
    return value._asdict() if hasattr(value, "_asdict") else getattr(value, "__dict__", {})


def _resolve(value: Any, path: str) -> Any:
    """Return an attribute of an attribute; None if one of them is None, absent or not computed yet."""
    for name in path.split("."):
        if value is None or isinstance(getattr(type(value), name, None), cached_property):
            value = _state(value).get(name)
        elif name == "<points>":
            value = _points(value)
        else:
            value = value[int(name)] if name.isdigit() else getattr(value, name, None)
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
