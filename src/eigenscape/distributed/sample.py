"""Some rows that stand for a whole collection, and others to see what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import dask
import numpy as np

from eigenscape._memory import available_bytes
from eigenscape.dictionary.candidates import Candidates, spread_out
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.reduce import count_rows, reduce_thinned, take_rows
from eigenscape.kernels.bandwidth import sample_indices
from eigenscape.kernels.distance import HalfSquaredDistance

#: Rows of a sample where dask's configuration has no "eigenscape.sample-size".
SAMPLE_SIZE = 2000
#: Square arrays of a sample's size that a fit may hold at once.
_SQUARES = 4


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows chosen farthest first over all partitions, and evenly spaced rows that were not chosen."""

    rows: Any  # (s, n_features), in the order of the collection
    numbers: np.ndarray  # (s,)
    half: (
        np.ndarray
    )  # places in ``rows`` of those that were chosen first, half of all: a sample of half the size
    held_out: Any  # (h, n_features)
    count: int  # rows of the collection


def sample_size(least: int) -> int:
    """How many rows a method that needs its rows together is fitted to.

    As dask's configuration says ("eigenscape.sample-size"), else 2000 or ``least``, but no more than make a
    few square arrays in half of the free memory."""
    wanted = dask.config.get("eigenscape.sample-size", None)
    if wanted is None:
        return max(least, min(SAMPLE_SIZE, int(np.sqrt(available_bytes() / 2 / (8 * _SQUARES)))))
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 2:
        raise ValueError(
            f"eigenscape.sample-size={wanted!r} in dask's configuration must be an integer of at least 2"
        )
    if wanted < least:
        raise ValueError(
            f"eigenscape.sample-size={wanted} in dask's configuration is less than the {least} rows that the parameters ask for"
        )
    return wanted


def choose_sample(blocks: Blocks, size: int, distance: HalfSquaredDistance, how: str = "maxmin") -> Sample:
    """``size`` rows farthest first: in each partition, then among those that eight partitions have chosen,
    and so on.

    See :func:`eigenscape.dictionary.candidates.spread_out` for how near every row is to one of them. All rows
    are taken where there are no more."""
    thin = partial(spread_out, size=size, distance=distance, how=how)
    chosen = reduce_thinned(_local, blocks, Candidates.beside, thin, size, distance, how)
    lengths = count_rows(blocks)
    if chosen.count <= size:  # equal rows too, as on one machine
        numbers = np.arange(chosen.count)
        rows = take_rows(blocks, numbers, lengths)
        return Sample(rows, numbers, numbers[::2], rows[:0], chosen.count)
    order = np.argsort(chosen.numbers)
    half = np.flatnonzero(order < (len(order) + 1) // 2)
    others = np.setdiff1d(sample_indices(chosen.count), chosen.numbers)
    held_out = take_rows(blocks, others, lengths) if len(others) else chosen.points[:0]
    return Sample(chosen.points[order], chosen.numbers[order], half, held_out, chosen.count)


def evenly_spaced(blocks: Blocks, most: int = 1000) -> np.ndarray:
    """At most so many evenly spaced rows; a thousand are those that one machine takes its scales from."""
    lengths = count_rows(blocks)
    return take_rows(blocks, sample_indices(int(lengths.sum()), most), lengths)


def _local(Y: Any, size: int, distance: HalfSquaredDistance, how: str) -> Candidates:
    return spread_out(Candidates.all_of(Y), size, distance, how)
