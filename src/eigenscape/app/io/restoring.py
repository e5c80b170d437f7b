"""The parts of a fitted model from a model file, and scalers as plain dictionaries."""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import StandardScaler

from eigenscape.app.io.archive import is_part

#: Parameters and attributes of a scaler that a model file contains: its public ones.
_SCALER_PARAMETERS = ("with_mean", "with_std")
_SCALER_ATTRIBUTES = ("mean_", "scale_", "var_", "n_samples_seen_", "n_features_in_", "feature_names_in_")


def all_parts(value: Any) -> list[Any]:
    """Return a value, the items of containers and the attributes of objects of eigenscape, each once."""
    found: dict[int, Any] = {}
    pending = [value]
    while pending:
        part = pending.pop()
        if id(part) in found:
            continue
        found[id(part)] = part
        if isinstance(part, dict):
            pending += part.values()
        elif isinstance(part, list | tuple):
            pending += part
        elif is_part(part):
            pending += vars(part).values()
    return [*found.values()]


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
