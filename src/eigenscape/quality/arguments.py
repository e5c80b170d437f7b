"""What callers give, looked at before any work."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def check_whole(name: str, value: Any) -> None:
    """Refuse what is no whole number, by the argument's name."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ValueError(f"{name}={value!r} must be a whole number")


def check_seed(random_state: Any) -> None:
    """Refuse what is no seed."""
    if random_state is not None and (not isinstance(random_state, numbers.Integral) or random_state < 0):
        raise ValueError(f"random_state={random_state!r} must be a whole number, 0 or more, or None")


def is_missing(value: Any) -> bool:
    """Whether a label says that there is none: None, NaN, NaT, or pandas' own."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"  # which has no truth


def missing_labels(labels: np.ndarray) -> np.ndarray:
    """Which labels (n,) are missing."""
    if labels.dtype.kind == "O":
        return np.array([is_missing(value) for value in labels], dtype=bool)
    return labels != labels if labels.dtype.kind in "fcmM" else np.zeros(len(labels), dtype=bool)
