"""Short representations of fitted objects: type names and shapes of arrays instead of their values."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from eigenscape._typing import is_sparse


def short_repr(self: Any) -> str:
    """Return a one-line representation of a dataclass, for use as its ``__repr__``."""
    return _dataclass(self, 0)


def _dataclass(value: Any, depth: int) -> str:
    name = type(value).__name__
    if depth >= 3:  # deeper objects are represented by their type only
        return f"{name}(...)"
    parts = (f"{field.name}={_short(getattr(value, field.name), depth + 1)}" for field in fields(value))
    return f"{name}({', '.join(parts)})"


def _short(value: Any, depth: int) -> str:
    """Return a short representation of a value; ``depth`` is the nesting level."""
    if isinstance(value, np.ndarray):
        return f"array{value.shape}"
    if is_sparse(value):
        return f"sparse{value.shape}"
    if is_dataclass(value) and not isinstance(value, type):
        return _dataclass(value, depth)
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.4g}"
    if isinstance(value, (list, tuple)) and len(value) > 3:
        return f"{type(value).__name__} of {len(value)}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_short(item, depth) for item in value)}]"
    if value.__class__.__repr__ is object.__repr__:
        return f"{type(value).__name__}(...)"
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"{type(value).__name__}(...)"
