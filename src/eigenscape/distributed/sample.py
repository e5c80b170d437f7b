"""A sample of the rows of a collection for methods that need their rows in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import dask
import numpy as np

from eigenscape._memory import available_bytes
from eigenscape.dictionary.landmarks import Candidates, select_candidates
from eigenscape.dictionary.source import PointArray
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.reduce import count_rows, reduce_blocks, take_rows
from eigenscape.kernels.bandwidth import sample_indices
from eigenscape.kernels.distance import HalfSquaredDistance

#: Default size of a sample; dask's setting "eigenscape.sample-size" overrides it.
SAMPLE_SIZE = 2000
#: Number of square arrays of the size of the sample that a fit may allocate at once.
_SQUARE_ARRAYS = 4


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows selected farthest first over all partitions, and evenly spaced rows that were not selected."""

    rows: PointArray  # (s, n_features), in the order of the collection
    indices: np.ndarray  # (s,), their row indices
    half: np.ndarray  # positions in `rows` of the first half of the selection, itself a farthest-first sample
    held_out: PointArray  # (h, n_features)
    n_rows: int  # number of rows of the collection


def sample_size(minimum: int) -> int:
    """Return the number of rows to which a method that needs its rows in memory is fitted.

    Dask's setting "eigenscape.sample-size"; by default 2000, or fewer if square arrays of that size would not
    fit in half of the free memory, but at least ``minimum``.
    """
    size = dask.config.get("eigenscape.sample-size", None)
    if size is None:
        affordable = int(np.sqrt(available_bytes() / 2 / (8 * _SQUARE_ARRAYS)))
        return max(minimum, min(SAMPLE_SIZE, affordable))
    if isinstance(size, bool) or not isinstance(size, int) or size < 2:
        raise ValueError(
            f"eigenscape.sample-size={size!r} in dask's configuration must be an integer of at least 2"
        )
    if size < minimum:
        raise ValueError(
            f"eigenscape.sample-size={size} in dask's configuration is less than the {minimum} rows that the"
            " parameters require"
        )
    return size


def choose_sample(
    blocks: Blocks, size: int, distance: HalfSquaredDistance, method: Literal["maxmin", "greedy"] = "maxmin"
) -> Sample:
    """Select ``size`` rows farthest first, or all rows if there are no more.

    Rows are selected in each partition, then among those selected in eight partitions, and so on. See
    :func:`eigenscape.dictionary.landmarks.select_candidates` for the distance of a row from the sample.
    """
    truncate = partial(select_candidates, size=size, distance=distance, method=method)
    chosen = reduce_blocks(_candidates, blocks, size, distance, method, truncate=truncate)
    lengths = count_rows(blocks)
    if chosen.n_rows <= size:  # duplicates included, as on one machine
        indices = np.arange(chosen.n_rows)
        rows = take_rows(blocks, indices, lengths)
        return Sample(rows, indices, indices[::2], rows[:0], chosen.n_rows)
    order = np.argsort(chosen.indices)
    half = np.flatnonzero(order < (len(order) + 1) // 2)
    others = np.setdiff1d(sample_indices(chosen.n_rows), chosen.indices)
    held_out = take_rows(blocks, others, lengths) if len(others) else chosen.points[:0]
    return Sample(chosen.points[order], chosen.indices[order], half, held_out, chosen.n_rows)


def evenly_spaced(blocks: Blocks, max_rows: int = 1000, lengths: np.ndarray | None = None) -> np.ndarray:
    """Return at most ``max_rows`` evenly spaced rows; by default those used for bandwidths on one machine."""
    lengths = count_rows(blocks) if lengths is None else lengths
    return take_rows(blocks, sample_indices(int(lengths.sum()), max_rows), lengths)


def _candidates(
    Y: PointArray, size: int, distance: HalfSquaredDistance, method: Literal["maxmin", "greedy"]
) -> Candidates:
    return select_candidates(Candidates.from_rows(Y), size, distance, method)
