"""What of a fitted model goes to disk: all that ``transform`` needs, and no n x n matrix."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from eigenscape._omitted import OmittedArray
from eigenscape.exceptions import ModelFileError

#: In a model of a precomputed matrix whatever is kept as rows are rows of that matrix. A new point brings its
#: own, and ``transform`` never looks at these.
_ROWS = ("X", "table", "points", "dictionary_")
#: A stream that a model may read again stays where it is: the data may exceed memory, and the stream may be
#: code.
_STREAMS = ("chunks",)
#: Square arrays that ``transform`` does without, in any model.
_SQUARE = ("negative",)


class Exporter:
    """Copies a model, left-out matrices replaced, what is shared still shared; refuses functions, which no
    file can hold."""

    def __init__(self, precomputed: bool, needless: tuple[Any, ...] = ()) -> None:
        self._without = (*_ROWS, *_SQUARE) if precomputed else _SQUARE
        #: By the original's id: itself, so that no other gets its id, and its copy.
        self._done: dict[int, tuple[Any, Any]] = {
            id(array): (array, OmittedArray(array.shape)) for array in needless if array is not None
        }

    def __call__(self, thing: Any) -> Any:
        if id(thing) not in self._done:
            self._done[id(thing)] = (thing, self._copy(thing))
        return self._done[id(thing)][1]

    def _copy(self, thing: Any) -> Any:
        if isinstance(thing, (FunctionType, BuiltinFunctionType, MethodType)):
            raise ModelFileError(
                f"the model holds the function {getattr(thing, '__name__', thing)!r}, which a model file cannot hold"
            )
        if isinstance(thing, np.memmap):
            return np.asarray(thing)
        if isinstance(thing, dict):
            return {key: self(value) for key, value in thing.items()}
        if isinstance(thing, (list, tuple)):
            parts = [self(part) for part in thing]
            return type(thing)(*parts) if hasattr(thing, "_fields") else type(thing)(parts)
        if type(thing).__module__.startswith("eigenscape.") and not isinstance(thing, type):
            copy = object.__new__(type(thing))
            vars(copy).update({name: self._attribute(name, value) for name, value in vars(thing).items()})
            return copy
        return thing

    def _attribute(self, name: str, value: Any) -> Any:
        if name in _STREAMS:
            return None
        if name in self._without and isinstance(value, np.ndarray) and value.ndim == 2:
            return OmittedArray(value.shape)
        return self(value)


def refuse_functions(model: Any) -> None:
    """Parameters that are the caller's own code cannot be stored, and would have to be run on loading."""
    for name, value in model.get_params(deep=False).items():
        ours = type(value).__module__.split(".")[0] in ("eigenscape", "numpy", "scipy", "builtins")
        if callable(value) and (not ours or isinstance(value, (FunctionType, BuiltinFunctionType, type))):
            shown = getattr(value, "__name__", type(value).__name__)
            raise ModelFileError(
                f"{type(model).__name__} was fitted with {name}={shown}, code of yours that a model file cannot hold; use a {name} known by"
                f" name, compute the matrix yourself and set {name}='precomputed', or pickle the model where you trust the file"
            )
        if not ours and hasattr(value, "bind"):
            raise ModelFileError(
                f"{type(model).__name__} was fitted with {name}={type(value).__name__}, a kernel of yours that a model file cannot hold;"
                f" use one of eigenscape.kernels, or {name}='precomputed'"
            )
