"""Dask collections: blocks of rows, with the routines of one machine mapped over them.

This is the only package that imports dask. Its names are imported on first use, so that dask is loaded only
if it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigenscape._lazy import attach
from eigenscape.distributed._presence import is_collection, is_lazy, require

if TYPE_CHECKING:
    from eigenscape.app.io.dask_reading import as_collection, read
    from eigenscape.app.io.dask_writing import write_parts
    from eigenscape.distributed.blocks import Blocks, as_blocks
    from eigenscape.distributed.cluster import check_versions, connect
    from eigenscape.distributed.dictionary import (
        fit_dictionary_blocks,
        partial_fit_blocks,
        second_pass_blocks,
    )
    from eigenscape.distributed.estimate import cost
    from eigenscape.distributed.kernels import bind_blocks
    from eigenscape.distributed.locality import ANCHORS, locality_of_blocks
    from eigenscape.distributed.mixture import BlockMembers
    from eigenscape.distributed.oriented import gather_noise
    from eigenscape.distributed.pairs import reduce_pairs
    from eigenscape.distributed.pca import gather_moments
    from eigenscape.distributed.ppca import BlockRows
    from eigenscape.distributed.reduce import count_rows, map_blocks, reduce_blocks, sample_rows, take_rows
    from eigenscape.distributed.sample import Sample, choose_sample, evenly_spaced, sample_size
    from eigenscape.distributed.signs import projection_signs

#: The names that each module defines.
_NAMES = {
    "eigenscape.app.io.dask_reading": "as_collection read",
    "eigenscape.app.io.dask_writing": "write_parts",
    "eigenscape.distributed.blocks": "Blocks as_blocks",
    "eigenscape.distributed.cluster": "check_versions connect",
    "eigenscape.distributed.dictionary": "fit_dictionary_blocks partial_fit_blocks second_pass_blocks",
    "eigenscape.distributed.estimate": "cost",
    "eigenscape.distributed.kernels": "bind_blocks",
    "eigenscape.distributed.locality": "ANCHORS locality_of_blocks",
    "eigenscape.distributed.mixture": "BlockMembers",
    "eigenscape.distributed.oriented": "gather_noise",
    "eigenscape.distributed.pairs": "reduce_pairs",
    "eigenscape.distributed.pca": "gather_moments",
    "eigenscape.distributed.ppca": "BlockRows",
    "eigenscape.distributed.reduce": "count_rows map_blocks reduce_blocks sample_rows take_rows",
    "eigenscape.distributed.sample": "Sample choose_sample evenly_spaced sample_size",
    "eigenscape.distributed.signs": "projection_signs",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = [  # a literal list: type checkers read it
    "ANCHORS",
    "BlockMembers",
    "BlockRows",
    "Blocks",
    "Sample",
    "as_blocks",
    "as_collection",
    "bind_blocks",
    "check_versions",
    "choose_sample",
    "connect",
    "cost",
    "count_rows",
    "evenly_spaced",
    "fit_dictionary_blocks",
    "gather_moments",
    "gather_noise",
    "is_collection",
    "is_lazy",
    "locality_of_blocks",
    "map_blocks",
    "partial_fit_blocks",
    "projection_signs",
    "read",
    "reduce_blocks",
    "reduce_pairs",
    "require",
    "sample_rows",
    "sample_size",
    "second_pass_blocks",
    "take_rows",
    "write_parts",
]

_load, __dir__ = attach(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        require()  # names the extra if dask is missing
    return _load(name)
