"""Rows on many machines: dask collections cut into blocks, and the single-machine routines mapped over them.

This is the only room that knows dask, and it is loaded on first use: an array of numbers never pays for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eigenscape.distributed._presence import is_collection, is_lazy, require

if TYPE_CHECKING:
    from eigenscape.app.io.dask_reading import as_collection, read
    from eigenscape.app.io.dask_writing import write_parts
    from eigenscape.distributed.blocks import Blocks, as_blocks, label_blocks
    from eigenscape.distributed.cluster import check_versions, connect
    from eigenscape.distributed.dictionary import absorb_blocks, gather_blocks, learn_blocks
    from eigenscape.distributed.estimate import cost
    from eigenscape.distributed.kernels import bind_blocks
    from eigenscape.distributed.locality import ANCHORS, locality_of_blocks
    from eigenscape.distributed.mixture import BlockMembers
    from eigenscape.distributed.oriented import (
        gather_signal,
        noise_of_groups,
        noise_of_vectors,
        noise_of_versions,
        orientation_signs,
    )
    from eigenscape.distributed.pca import gather_moments, pca_of_blocks
    from eigenscape.distributed.ppca import BlockRows
    from eigenscape.distributed.reduce import count_rows, map_blocks, reduce_blocks, sample_rows, take_rows
    from eigenscape.distributed.sample import Sample, choose_sample, evenly_spaced, sample_size

_HOMES = {
    "ANCHORS": "locality",
    "BlockMembers": "mixture",
    "BlockRows": "ppca",
    "Blocks": "blocks",
    "Sample": "sample",
    "absorb_blocks": "dictionary",
    "as_blocks": "blocks",
    "as_collection": "eigenscape.app.io.dask_reading",
    "bind_blocks": "kernels",
    "check_versions": "cluster",
    "choose_sample": "sample",
    "connect": "cluster",
    "cost": "estimate",
    "count_rows": "reduce",
    "evenly_spaced": "sample",
    "gather_blocks": "dictionary",
    "gather_moments": "pca",
    "gather_signal": "oriented",
    "label_blocks": "blocks",
    "learn_blocks": "dictionary",
    "locality_of_blocks": "locality",
    "map_blocks": "reduce",
    "noise_of_groups": "oriented",
    "noise_of_vectors": "oriented",
    "noise_of_versions": "oriented",
    "orientation_signs": "oriented",
    "pca_of_blocks": "pca",
    "read": "eigenscape.app.io.dask_reading",
    "reduce_blocks": "reduce",
    "sample_rows": "reduce",
    "sample_size": "sample",
    "take_rows": "reduce",
    "write_parts": "eigenscape.app.io.dask_writing",
}

__all__ = [
    "ANCHORS",
    "BlockMembers",
    "BlockRows",
    "Blocks",
    "Sample",
    "absorb_blocks",
    "as_blocks",
    "as_collection",
    "bind_blocks",
    "check_versions",
    "choose_sample",
    "connect",
    "cost",
    "count_rows",
    "evenly_spaced",
    "gather_blocks",
    "gather_moments",
    "gather_signal",
    "is_collection",
    "is_lazy",
    "label_blocks",
    "learn_blocks",
    "locality_of_blocks",
    "map_blocks",
    "noise_of_groups",
    "noise_of_vectors",
    "noise_of_versions",
    "orientation_signs",
    "pca_of_blocks",
    "read",
    "reduce_blocks",
    "require",
    "sample_rows",
    "sample_size",
    "take_rows",
    "write_parts",
]


def __getattr__(name: str) -> Any:
    """Dask is imported with the first name that needs it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'eigenscape.distributed' has no attribute {name!r}")
    require()
    home = _HOMES[name]
    value = getattr(import_module(home if "." in home else f"eigenscape.distributed.{home}"), name)
    globals()[name] = value
    return value
