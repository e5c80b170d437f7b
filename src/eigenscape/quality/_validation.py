"""Validation of arguments."""

from __future__ import annotations

import numbers

import numpy as np


def check_integer(name: str, value: object, minimum: int | None = None) -> None:
    """Raise ValueError unless ``value`` is an integer of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{name}={value!r} must be an integer")
    if minimum is not None and int(value) < minimum:
        raise ValueError(f"{name}={value} must be at least {minimum}")


def check_random_state(random_state: object) -> None:
    """Raise ValueError unless ``random_state`` is None or a non-negative integer."""
    if random_state is not None and (not isinstance(random_state, numbers.Integral) or int(random_state) < 0):
        raise ValueError(f"random_state={random_state!r} must be a non-negative integer or None")


def is_missing(value: object) -> bool:
    """Return whether a label is missing: None, NaN, NaT or ``pandas.NA``."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"  # bool(pandas.NA) raises


def missing_labels(labels: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the missing labels."""
    if labels.dtype.kind == "O":
        return np.array([is_missing(value) for value in labels], dtype=bool)
    return labels != labels if labels.dtype.kind in "fcmM" else np.zeros(len(labels), dtype=bool)
