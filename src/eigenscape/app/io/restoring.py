"""Fitted models from the objects of a model file: packed arrays are unpacked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from eigenscape._format import format_bytes
from eigenscape._memory import fits
from eigenscape._stored import PackedArray
from eigenscape.app.io.archive import is_part
from eigenscape.exceptions import ModelFileError

#: Parameters and attributes of a scaler that a model file contains: its public ones.
_SCALER_PARAMETERS = ("with_mean", "with_std")
_SCALER_ATTRIBUTES = ("mean_", "scale_", "var_", "n_samples_seen_", "n_features_in_", "feature_names_in_")


class Restorer:
    """Restore a model in place; objects that were shared stay shared."""

    def __init__(self) -> None:
        #: The object and what replaces it, by id.
        self._restored: dict[int, tuple[Any, Any]] = {}

    def __call__(self, value: Any) -> Any:
        """Return what a value in a file stands for."""
        if id(value) not in self._restored:
            self._restored[id(value)] = (value, value)  # also the end of a cycle, which no model has
            self._restored[id(value)] = (value, self._restore(value))
        return self._restored[id(value)][1]

    def values(self) -> list[Any]:
        """Return all values that were restored, the parts of others too."""
        return [restored for _, restored in self._restored.values()]

    def _restore(self, value: Any) -> Any:
        if isinstance(value, PackedArray):
            return _unpack(value)
        if isinstance(value, dict):
            value.update({key: self(item) for key, item in value.items()})
        elif isinstance(value, list):
            value[:] = [self(item) for item in value]
        elif isinstance(value, tuple):
            items = [self(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        elif is_part(value):
            state = vars(value)
            state.update({name: self(item) for name, item in state.items()})
        return value


def _unpack(packed: PackedArray) -> np.ndarray:
    """Return a packed array, if it fits in memory."""
    n_bytes = 2 * packed.values.size * np.dtype(packed.dtype).itemsize
    if not fits(n_bytes, share=0.8):
        raise ModelFileError(f"an array of {format_bytes(n_bytes)} does not fit in memory")
    return packed.unpack()


def scaler_state(scaler: StandardScaler) -> dict[str, Any]:
    """Return the public parameters and attributes of a scaler, the same in all versions of scikit-learn."""
    state = {name: getattr(scaler, name) for name in _SCALER_PARAMETERS}
    return state | {name: vars(scaler)[name] for name in _SCALER_ATTRIBUTES if name in vars(scaler)}


def scaler_from_state(state: dict[str, Any]) -> StandardScaler:
    """Return the scaler of :func:`scaler_state`."""
    scaler = StandardScaler(**{name: bool(state[name]) for name in _SCALER_PARAMETERS})
    for name in _SCALER_ATTRIBUTES:
        if name in state:
            setattr(scaler, name, state[name])
    return scaler
