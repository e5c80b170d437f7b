"""Arguments of the generators."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any


def check_count(name: str, value: Any, least: int = 1) -> int:
    """``value`` as an integer, if it is one of at least ``least``; those of numpy are too."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be an integer of at least {least}")
    return int(value)


def check_number(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, above: bool = False
) -> float:
    """``value`` as a float, if it is a finite number from ``low`` (or only ``above`` it) to ``high``."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    inside = math.isfinite(number) and low <= number <= high
    if not inside or (above and number == low):
        bounds = [] if low == -math.inf else [f"above {low:g}" if above else f"of at least {low:g}"]
        bounds += [] if high == math.inf else [f"at most {high:g}"]
        raise ValueError(
            " ".join(
                [
                    f"{name}={value!r} must be a finite number",
                    *bounds[:1],
                    *(f"and {bound}" for bound in bounds[1:]),
                ]
            )
        )
    return number


def check_seed(value: Any) -> int:
    """A seed, as ``numpy.random.default_rng`` takes it."""
    return check_count("random_state", value, 0)
