"""Copies of fitted models for model files: everything ``transform`` needs, and no other n x n matrix.

Equal rows in single precision are stored once, and what a cached property computes from the rest of an object
is not stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape._omitted import OmittedArray
from eigenscape.app.io.archive import is_part
from eigenscape.exceptions import ModelFileError
from eigenscape.graph.row_index import RowIndex
from eigenscape.options import Option

#: Attributes that contain rows of the training data. In a model of a precomputed matrix these are rows of
#: that matrix, which ``transform`` does not use: new samples bring their own.
_ROWS = ("X", "table", "points", "dictionary_")
#: Streams of training data are not stored: they may exceed memory, and may be arbitrary objects.
_STREAMS = ("chunks",)
#: Callbacks of scikit-learn, which are objects of users.
_CALLBACKS = "_skl_callbacks"
#: Square arrays that ``transform`` does not use, in any model.
_SQUARE = ("negative",)


class Exporter:
    """Copy a model without the arrays that ``transform`` does not use; shared objects stay shared.

    Parameters
    ----------
    precomputed : bool
        Whether the model was fitted on a precomputed matrix, whose rows are omitted.
    omitted : tuple of (ndarray or None), default=()
        Further arrays to omit.

    Raises
    ------
    ModelFileError
        If the model contains a function, which cannot be serialized.
    """

    def __init__(self, precomputed: bool, omitted: tuple[np.ndarray | None, ...] = ()) -> None:
        self._omitted_names = (*_ROWS, *_SQUARE) if precomputed else _SQUARE
        #: The original and its copy, by the id of the original, which is kept so that the id stays unique.
        self._copies: dict[int, tuple[Any, Any]] = {
            id(array): (array, OmittedArray(array.shape)) for array in omitted if array is not None
        }
        #: Arrays in single precision by their hash: equal ones are stored once.
        self._values: dict[bytes, np.ndarray] = {}

    def __call__(self, value: Any) -> Any:
        """Return a copy of a value."""
        if id(value) not in self._copies:
            self._copies[id(value)] = (value, self._copy(value))
        return self._copies[id(value)][1]

    def _copy(self, value: Any) -> Any:
        """Copy a value recursively; raise ModelFileError for functions."""
        if isinstance(value, (FunctionType, BuiltinFunctionType, MethodType)):
            raise ModelFileError(
                f"the model contains the function {getattr(value, '__name__', value)!r}, which cannot be"
                " serialized"
            )
        if isinstance(value, np.ndarray):
            array = np.asarray(value)
            return self._once(array) if array.dtype == np.float32 else array
        if isinstance(value, dict):
            return {key: self(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            items = [self(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if is_part(value):
            copy = object.__new__(type(value))
            vars(copy).update(self._copy_attributes(value))
            return copy
        return value

    def _once(self, values: np.ndarray) -> np.ndarray:
        """Return the first array with the same values."""
        header = f"{values.dtype.str} {values.shape} {values.flags.f_contiguous}".encode()
        digest = hashlib.blake2b(header, digest_size=16)
        digest.update(values.tobytes(order="K"))
        return self._values.setdefault(digest.digest(), values)

    def _copy_attributes(self, value: Any) -> dict[str, Any]:
        """Return copies of the attributes of an object, without those that are computed from others."""
        if isinstance(value, RowIndex) and isinstance(self._copy_attribute("X", value.X), OmittedArray):
            return {"X": self._copy_attribute("X", value.X), "ranked_hashes": self(value.ranked_hashes)}
        computed = {name for name, item in vars(value).items() if _is_computed(type(value), name, item)}
        copies = {
            name: self._copy_attribute(name, item)
            for name, item in vars(value).items()
            if name not in computed and name != _CALLBACKS
        }
        if any(isinstance(copy, OmittedArray) for copy in copies.values()):  # nothing to compute from
            copies |= {name: self(vars(value)[name]) for name in computed}
        return copies

    def _copy_attribute(self, name: str, value: Any) -> Any:
        if name in _STREAMS:
            return None
        if name in self._omitted_names and isinstance(value, np.ndarray) and value.ndim == 2:
            return OmittedArray(value.shape)
        return self(value)


def _is_computed(cls: type, name: str, value: Any) -> bool:
    """Return whether an attribute is an array or an object that a cached property computes again."""
    return isinstance(getattr(cls, name, None), cached_property) and not isinstance(value, bool | int | float)


#: Packages whose objects may be among the parameters of a stored model.
_KNOWN = ("eigenscape", "numpy", "scipy", "builtins")
#: What to use instead of an object that cannot be serialized, by parameter.
_REMEDIES = {
    "embedder": "Use an estimator of eigenscape",
    "regressor": "Use regressor=None",
    "search": "Use search='exact' or a tuple (indices, distances)",
    "eigen_solver": "Set eigen_solver to the name of a built-in solver",
    "method": "Set the method of the solver to the name of a built-in one",
    "points": "Pass the points of the dictionary as an array",
}


def _fields(model: BaseEstimator) -> Iterator[tuple[str, Any]]:
    """Yield the parameters, and the fields of option objects instead of the objects."""
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, Option):
            yield from value.get_params().items()
        else:
            yield name, value


def check_parameters(model: BaseEstimator) -> None:
    """Raise if a parameter is a user-defined callable or kernel, which cannot be serialized."""
    for name, value in _fields(model):
        is_known = type(value).__module__.split(".")[0] in _KNOWN
        if callable(value) and (not is_known or isinstance(value, (FunctionType, BuiltinFunctionType, type))):
            shown = getattr(value, "__name__", type(value).__name__)
            raise ModelFileError(
                f"{type(model).__name__} was fitted with {name}={shown}; user-defined callables cannot be"
                f" serialized. Set {name} to the name of a built-in one, compute the matrix and use"
                f" {name}='precomputed', or pickle the model"
            )
        if not is_known and hasattr(value, "bind"):
            raise ModelFileError(
                f"{type(model).__name__} was fitted with {name}={type(value).__name__}; user-defined kernels"
                f" cannot be serialized. Use a kernel of eigenscape.kernels, or {name}='precomputed'"
            )
        if isinstance(value, tuple):  # (indices, distances, index)
            foreign = [part for part in value if type(part).__module__.split(".")[0] not in _KNOWN]
            is_known, value = not foreign, (foreign or [value])[0]
        if not is_known:
            raise ModelFileError(
                f"{type(model).__name__} was fitted with {name}={type(value).__name__}; user-defined objects"
                f" cannot be serialized. {_REMEDIES.get(name, f'Change {name}')}, or pickle the model"
            )
