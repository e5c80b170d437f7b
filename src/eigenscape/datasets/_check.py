"""Arguments of the generators."""

from __future__ import annotations

from typing import Any


def check_count(name: str, value: Any, least: int = 1) -> int:
    """``value`` as an integer, if it is one of at least ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be an integer of at least {least}")
    return value
