"""Rows on many machines: dask collections cut into blocks, and the single-machine routines mapped over them.

This is the only room that knows dask, and it is loaded on first use: an array of numbers never pays for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eigenscape.distributed._presence import is_collection, require

if TYPE_CHECKING:
    from eigenscape.distributed.blocks import Blocks, as_blocks
    from eigenscape.distributed.reduce import count_rows, map_blocks, reduce_blocks, sample_rows, send

_HOMES = {
    "Blocks": "blocks",
    "as_blocks": "blocks",
    "count_rows": "reduce",
    "map_blocks": "reduce",
    "reduce_blocks": "reduce",
    "sample_rows": "reduce",
    "send": "reduce",
}

__all__ = ["Blocks", "as_blocks", "count_rows", "is_collection", "map_blocks", "reduce_blocks", "require", "sample_rows", "send"]


def __getattr__(name: str) -> Any:
    """Dask is imported with the first name that needs it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'eigenscape.distributed' has no attribute {name!r}")
    require()
    value = getattr(import_module(f"eigenscape.distributed.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
