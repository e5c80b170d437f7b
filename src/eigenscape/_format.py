"""Conversion of values to JSON and to text for a terminal."""

from __future__ import annotations

import math
import unicodedata
from typing import Any


def to_json(value: Any, *, max_items: int | None = None, allow_nan: bool = False) -> Any:
    """Convert a value to the types that :func:`json.dumps` accepts.

    Parameters
    ----------
    value : object
        Mappings, sequences, NumPy arrays and scalars are converted recursively; keys become strings.
        Any other object becomes ``str(value)``.
    max_items : int, optional
        Arrays and sequences with more items are replaced by a text such as ``"ndarray of shape (500, 2)"``.
        If None, all items are kept.
    allow_nan : bool, default=False
        If True, keep NaN and infinity, which JSON does not define. Otherwise they become None.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape._format import to_json
    >>> to_json({"k": np.arange(2), "loss": float("nan"), 3: (np.float32(0.5), slice(2))})
    {'k': [0, 1], 'loss': None, '3': [0.5, 'slice(None, 2, None)']}
    """
    if isinstance(value, dict):
        return {str(k): to_json(v, max_items=max_items, allow_nan=allow_nan) for k, v in value.items()}
    is_sequence = isinstance(value, list | tuple)
    shape = (len(value),) if is_sequence else getattr(value, "shape", ())
    if max_items is not None and math.prod(shape) > max_items:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    if is_sequence:
        return [to_json(item, max_items=max_items, allow_nan=allow_nan) for item in value]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return to_json(value.tolist(), allow_nan=allow_nan)
    if isinstance(value, float) and not (allow_nan or math.isfinite(value)):
        return None
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def format_bytes(n_bytes: float) -> str:
    """Return a number of bytes with a binary unit.

    Examples
    --------
    >>> from eigenscape._format import format_bytes
    >>> format_bytes(300), format_bytes(5 * 2**20), format_bytes(1.5 * 2**30)
    ('300 bytes', '5 MiB', '1.5 GiB')
    """
    if n_bytes >= 2**30:
        return f"{n_bytes / 2**30:.1f} GiB"
    if n_bytes >= 2**20:
        return f"{n_bytes / 2**20:.0f} MiB"
    return f"{n_bytes / 2**10:.0f} KiB" if n_bytes >= 2**10 else f"{n_bytes:.0f} bytes"


def escape_controls(text: str) -> str:
    r"""Replace control and formatting characters, which may come from a file, by escape sequences.

    A terminal would execute some of them, and XML does not permit them. Line feeds and tabs are kept.

    Examples
    --------
    >>> from eigenscape._format import escape_controls
    >>> print(escape_controls("red \x1b[31m"))
    red \x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode()
        if char in "\ufffe\uffff"
        or (char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"))
        else char
        for char in text
    )
