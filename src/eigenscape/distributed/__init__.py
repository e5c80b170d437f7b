"""Rows on many machines: dask collections cut into blocks, and the single-machine routines mapped over them.

This is the only room that knows dask, and it is loaded on first use: an array of numbers never pays for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eigenscape.distributed._presence import is_collection, require

if TYPE_CHECKING:
    from eigenscape.distributed.blocks import Blocks, as_blocks
    from eigenscape.distributed.dictionary import gather_blocks, learn_blocks
    from eigenscape.distributed.kernels import bind_blocks
    from eigenscape.distributed.reduce import count_rows, map_blocks, reduce_blocks, sample_rows, send
    from eigenscape.distributed.sample import Sample, choose_sample, evenly_spaced, sample_size

_HOMES = {
    "Blocks": "blocks",
    "Sample": "sample",
    "as_blocks": "blocks",
    "bind_blocks": "kernels",
    "choose_sample": "sample",
    "count_rows": "reduce",
    "evenly_spaced": "sample",
    "gather_blocks": "dictionary",
    "learn_blocks": "dictionary",
    "map_blocks": "reduce",
    "reduce_blocks": "reduce",
    "sample_rows": "reduce",
    "sample_size": "sample",
    "send": "reduce",
    "gather_moments": "pca",
    "pca_of_blocks": "pca",
}

__all__ = [
    "Blocks",
    "Sample",
    "as_blocks",
    "bind_blocks",
    "choose_sample",
    "count_rows",
    "evenly_spaced",
    "gather_blocks",
    "is_collection",
    "learn_blocks",
    "map_blocks",
    "reduce_blocks",
    "require",
    "sample_rows",
    "sample_size",
    "send",
]


def __getattr__(name: str) -> Any:
    """Dask is imported with the first name that needs it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'eigenscape.distributed' has no attribute {name!r}")
    require()
    value = getattr(import_module(f"eigenscape.distributed.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
