"""Validation of parameters, with errors that are raised before any long computation."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    pass

#: Eigensolvers of scikit-learn with the equivalents here, the closest first.
SOLVERS: Mapping[str, Sequence[str]] = {
    "arpack": ("shift-invert", "lanczos"),
    "lobpcg": ("lanczos",),
    "amg": ("multilevel", "lanczos"),
    "randomized": ("lanczos",),
}


def check_flag(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} must be True or False")


def check_count(name: str, value: object, minimum: int = 1) -> int:
    """Return an integer of at least ``minimum``, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < minimum:
        raise ValueError(f"{name}={value!r} must be an integer of at least {minimum}")
    return int(value)


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise ValueError unless ``value`` is one of the strings ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, choices))}")


def as_number(value: object) -> float | None:
    """Return a finite real number as a float, None for any other value."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    return float(value) if np.isfinite(float(value)) else None


def check_positive(name: str, value: object, optional: bool = False) -> None:
    """Raise ValueError unless ``value`` is a positive finite number, or None if ``optional``."""
    if value is None and optional:
        return
    number = as_number(value)
    if number is None or number <= 0:
        raise ValueError(f"{name}={value!r} must be a positive number" + (" or None" if optional else ""))


def check_gamma(kernel: object, gamma: object) -> None:
    """Check a kernel width: positive, but any number for "poly" and "sigmoid"."""
    if not (kernel in ("poly", "polynomial", "sigmoid") and as_number(gamma) is not None):
        check_positive("gamma", gamma, optional=True)


def check_solver(value: object, accepted: Sequence[str]) -> None:
    """Raise ValueError if ``value`` is the name of an eigensolver of scikit-learn only, naming ours."""
    for ours in SOLVERS.get(value, ()) if isinstance(value, str) else ():
        if ours in accepted and value not in accepted:
            raise ValueError(
                f"eigen_solver={value!r} is scikit-learn's name; the equivalent here is {ours!r}, or use"
                " eigenscape.accel for scikit-learn's own interface"
            )
