"""What fitted things look like when printed: their make and the shapes of their arrays, not the arrays."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

#: Things within things within things are named, no more.
_DEEPEST = 3
_LONGEST = 60


def short_repr(self: Any) -> str:
    """One line for a dataclass, whatever it holds: for use as its ``__repr__``."""
    return _dataclass(self, 0)


def _dataclass(thing: Any, depth: int) -> str:
    name = type(thing).__name__
    if depth >= _DEEPEST:
        return f"{name}(...)"
    return f"{name}({', '.join(f'{field.name}={_short(getattr(thing, field.name), depth + 1)}' for field in fields(thing))})"


def _short(value: Any, depth: int) -> str:
    if isinstance(value, np.ndarray):
        return f"array{value.shape}"
    if sparse.issparse(value):
        return f"sparse{value.shape}"
    if is_dataclass(value) and not isinstance(value, type):
        return _dataclass(value, depth)
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.4g}"
    if isinstance(value, (list, tuple)) and len(value) > 3:
        return f"{type(value).__name__} of {len(value)}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_short(item, depth) for item in value)}]"
    if type(value).__repr__ is object.__repr__:
        return f"{type(value).__name__}(...)"
    text = repr(value)
    return text if len(text) <= _LONGEST and "\n" not in text else f"{type(value).__name__}(...)"
