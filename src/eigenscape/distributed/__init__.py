"""Dask collections: blocks of rows, with the routines of one machine mapped over them.

This is the only package that imports dask. Its names are imported on first use, so that dask is loaded only
if it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigenscape._lazy import attach
from eigenscape.distributed._presence import PREFIT, call_on_blocks, check_in_memory, is_collection, require

if TYPE_CHECKING:
    from eigenscape.app.io.dask_writing import write_parts
    from eigenscape.distributed.cluster import check_versions, connect

#: The module that defines each name.
_HOMES = {
    "check_versions": "eigenscape.distributed.cluster",
    "connect": "eigenscape.distributed.cluster",
    "write_parts": "eigenscape.app.io.dask_writing",
}
__all__ = [  # a literal list: type checkers read it
    "PREFIT",
    "call_on_blocks",
    "check_in_memory",
    "check_versions",
    "connect",
    "is_collection",
    "require",
    "write_parts",
]

_load, __dir__ = attach(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        require()  # names the extra if dask is missing
    return _load(name)
