"""What is done with blocks of rows: summed up in a tree, or mapped one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from operator import getitem
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from scipy import sparse

from eigenscape.distributed.blocks import Blocks, Form, check_block

#: Results that are combined at once, in the order of the blocks: the tree depends on their number alone, not on who works.
FAN = 8

EMPTY = "the dask collection is empty: there is not one row to learn from"


def compute(node: Delayed) -> Any:
    """The value of a node. A task that fails is tried again as often as dask's configuration says ("eigenscape.retries", 3 times).

    Trying again, and doing elsewhere what a lost worker had, is the business of dask's distributed scheduler: without one there is
    none of it.
    """
    return node.compute(retries=dask.config.get("eigenscape.retries", 3))


def send(value: Any, what: str = "shared") -> Delayed:
    """One node of the graph for what all blocks need: a worker gets it once, and once more from another if it was lost."""
    return delayed(value, name=f"eigenscape-{what}-{uuid4().hex}", traverse=False)


def reduce_blocks(
    function: Callable[..., Any],
    blocks: Blocks,
    combine: Callable[[Any, Any], Any],
    *shared: Any,
    beside: Any = (),
    thin: Callable[[Any], Any] | None = None,
) -> Any:
    """``function(block, *beside, *shared)`` of every block, combined two by two in a tree fixed by the order of the blocks.

    Parameters
    ----------
    function : callable
        Of the rows of a block; blocks without rows are passed over.
    blocks : Blocks
    combine : callable
        Of two results, the earlier first.
    *shared
        What every block needs, sent to each worker once.
    beside : sequence of Blocks
        Further columns of the same rows (weights, labels), partition by partition.
    thin : callable or None
        Of what a knot of the tree has combined: makes it small again, where combining makes it grow.

    Returns
    -------
    The combined result. Work is done by the current ``Client``, or by dask's own scheduler where there is none.
    """
    nodes = [send(value) for value in shared]
    apply = delayed(_apply, pure=False)
    columns = [each.parts for each in (blocks, *beside)]
    check_aligned(blocks, beside)
    level = [apply(function, number, [*rows], *nodes) for number, rows in enumerate(zip(*columns, strict=True))]
    fold = delayed(_fold, pure=False)
    while len(level) > 1:
        level = [fold(combine, thin, level[start : start + FAN]) for start in range(0, len(level), FAN)]
    result = compute(level[0]) if level else None
    if result is None:
        raise ValueError(EMPTY)
    return result


def check_aligned(blocks: Blocks, beside: Any) -> None:
    """Further columns come in as many partitions; those whose lengths differ are found where they lie."""
    for each in beside:
        if each.n_blocks != blocks.n_blocks:
            raise ValueError(f"X has {blocks.n_blocks} partitions, but what goes with its rows has {each.n_blocks}; rechunk it like X")


def _apply(function: Callable[..., Any], number: int, rows: list[Any], *shared: Any) -> Any:
    lengths = [part.shape[0] for part in rows]
    if len(set(lengths)) > 1:
        raise ValueError(f"partition {number} of X has {lengths[0]} rows, but what goes with them has {lengths[1:]}; rechunk it like X")
    if lengths[0] == 0:
        return None
    with naming(number):
        return function(*rows, *shared)


@contextmanager
def naming(number: int) -> Iterator[None]:
    """What is wrong with a block is said together with which it is."""
    try:
        yield
    except ValueError as error:
        if "partition" in str(error):
            raise
        raise ValueError(f"in partition {number} of X: {error}") from error


def _fold(combine: Callable[[Any, Any], Any], thin: Callable[[Any], Any] | None, results: list[Any]) -> Any:
    there = [result for result in results if result is not None]
    if len(there) < 2:
        return there[0] if there else None
    total = reduce(combine, there)
    return total if thin is None else thin(total)


def map_blocks(function: Callable[..., np.ndarray], blocks: Blocks, tail: tuple[int, ...], dtype: Any, *shared: Any) -> Any:
    """``function(block, *shared)`` as a lazy dask array (n, \\*tail) with the row chunks of the collection."""
    array = blocks.array
    nodes = [send(value) for value in shared]
    return da.map_blocks(
        _map_one,
        array,
        function,
        blocks.form,
        blocks.dtype,
        tail,
        np.dtype(dtype),
        send(blocks.declared, "row-counts"),
        *nodes,
        dtype=dtype,
        chunks=(array.chunks[0], *((size,) for size in tail)),
        drop_axis=[1] if len(tail) == 0 and array.ndim == 2 else [],
        new_axis=[2] if len(tail) == 2 else [],
        meta=np.empty((0, *tail), dtype=dtype),
        name=f"eigenscape-{getattr(function, '__name__', 'blocks')}-{uuid4().hex}",
    )


def _map_one(
    block: Any,
    function: Any,
    form: Form,
    precision: np.dtype,
    tail: tuple[int, ...],
    dtype: np.dtype,
    declared: np.ndarray,
    *shared: Any,
    block_id: Any,
) -> np.ndarray:
    block = check_block(block, block_id[0], form, float(declared[block_id[0]]))
    block = block.astype(
        np.result_type(block.dtype, precision), copy=False
    )  # a float32 partition of a float64 collection comes out float64
    if block.shape[0] == 0:
        return np.empty((0, *tail), dtype)
    with naming(block_id[0]):
        return np.asarray(function(block, *shared)).astype(dtype, copy=False)


def count_rows(blocks: Blocks) -> np.ndarray:
    """How many rows each partition has (n_blocks,): read from the collection where it knows, else counted."""
    known = blocks.declared
    if not np.isnan(known).any():
        return known.astype(np.int64)
    length = delayed(_length, pure=False)
    return np.array(compute(delayed(list)([length(part) for part in blocks.array.to_delayed().ravel()])), dtype=np.int64)


def _length(part: Any) -> int:
    return part.shape[0]


def sample_rows(blocks: Blocks, count: int, seed: int, lengths: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """``count`` rows drawn without replacement (all, if there are no more), and their numbers, in the order of the collection.

    Which rows they are depends on the seed and the number of rows, not on how these are cut into partitions.
    """
    lengths = count_rows(blocks) if lengths is None else lengths
    total = int(lengths.sum())
    if total <= count:
        numbers = np.arange(total)
    else:
        numbers = np.sort(np.random.default_rng(seed).choice(total, count, replace=False))
    return take_rows(blocks, numbers, lengths), numbers


def take_rows(blocks: Blocks, numbers: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The rows with these numbers (ascending), gathered."""
    if len(numbers) == 0:
        raise ValueError(EMPTY)
    ends = np.cumsum(lengths)
    owner = np.searchsorted(ends, numbers, side="right")
    pick = delayed(getitem, pure=False)
    parts = blocks.parts
    pieces = [pick(parts[block], numbers[owner == block] - (ends[block] - lengths[block])) for block in np.unique(owner)]
    found = compute(delayed(list)(pieces))
    return sparse.csr_array(sparse.vstack(found)) if sparse.issparse(found[0]) else np.concatenate(found)
