"""Rows on many machines: dask collections cut into blocks, and the single-machine routines mapped over them.

This is the only room that knows dask, and it is loaded on first use: an array of numbers never pays for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eigenscape.distributed._presence import is_collection, require

if TYPE_CHECKING:
    from eigenscape.distributed.blocks import Blocks, as_blocks
    from eigenscape.distributed.cluster import check_versions, connect
    from eigenscape.distributed.locality import ANCHORS, locality_of_blocks
    from eigenscape.distributed.mixture import BlockMembers
    from eigenscape.distributed.oriented import gather_signal, noise_of_groups, noise_of_vectors, noise_of_versions, orientation_signs
    from eigenscape.distributed.pca import gather_moments, pca_of_blocks
    from eigenscape.distributed.ppca import BlockRows
    from eigenscape.distributed.reading import as_collection, read
    from eigenscape.distributed.reduce import count_rows, map_blocks, reduce_blocks, sample_rows, send

_HOMES = {
    "ANCHORS": "locality",
    "BlockMembers": "mixture",
    "BlockRows": "ppca",
    "Blocks": "blocks",
    "as_blocks": "blocks",
    "as_collection": "reading",
    "check_versions": "cluster",
    "connect": "cluster",
    "count_rows": "reduce",
    "gather_moments": "pca",
    "gather_signal": "oriented",
    "locality_of_blocks": "locality",
    "map_blocks": "reduce",
    "noise_of_groups": "oriented",
    "noise_of_vectors": "oriented",
    "noise_of_versions": "oriented",
    "orientation_signs": "oriented",
    "pca_of_blocks": "pca",
    "read": "reading",
    "reduce_blocks": "reduce",
    "sample_rows": "reduce",
    "send": "reduce",
}

__all__ = [
    "ANCHORS",
    "BlockMembers",
    "BlockRows",
    "Blocks",
    "as_blocks",
    "as_collection",
    "check_versions",
    "connect",
    "count_rows",
    "gather_moments",
    "gather_signal",
    "is_collection",
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
