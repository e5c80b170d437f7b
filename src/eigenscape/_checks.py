"""Checks of the arguments of functions: integers, numbers and seeds."""

from __future__ import annotations

import math
from numbers import Integral, Real


def check_count(name: str, value: object, minimum: int = 1) -> int:
    """Return ``value`` as an int, or raise ValueError if it is not an integer of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise ValueError(f"{name}={value!r} must be an integer of at least {minimum}")
    return int(value)


def check_number(
    name: str, value: object, low: float = -math.inf, high: float = math.inf, *, above: bool = False
) -> float:
    """Return ``value`` as a float, or raise ValueError if it is not in [low, high].

    If ``above``, the lower bound is excluded.
    """
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    inside = math.isfinite(number) and low <= number <= high
    if not inside or (above and number == low):
        bounds = [] if low == -math.inf else [f"above {low:g}" if above else f"of at least {low:g}"]
        bounds += [] if high == math.inf else [f"at most {high:g}"]
        text = " and ".join(bounds)
        raise ValueError(f"{name}={value!r} must be a finite number{' ' if text else ''}{text}")
    return number


def check_random_state(random_state: object) -> None:
    """Raise ValueError unless ``random_state`` is None or a non-negative integer."""
    if random_state is not None and (not isinstance(random_state, Integral) or int(random_state) < 0):
        raise ValueError(f"random_state={random_state!r} must be a non-negative integer or None")
