"""What is done with blocks of rows: summed up in a tree, or mapped one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from scipy import sparse

from eigenscape.dictionary.source import joined
from eigenscape.distributed._allocation import kept_memory
from eigenscape.distributed.blocks import Blocks, Expected, Form, check_block
from eigenscape.distributed.graphs import Graph, Kept

EMPTY = "the dask collection is empty: there is not one row to learn from"


def send(value: Any, what: str = "shared") -> Delayed:
    """One node of the graph for what all blocks need: a worker gets it once, and once more from another if it
    was lost."""
    return delayed(value, name=f"eigenscape-{what}-{uuid4().hex}", traverse=False)


def reduce_blocks(
    function: Callable[..., Any],
    blocks: Blocks,
    combine: Callable[[Any, Any], Any],
    *shared: Any,
    beside: Any = (),
) -> Any:
    """``function(block, *beside, *shared)`` of every block, combined two by two in a tree fixed by the order
    of the blocks.

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

    Returns
    -------
    The combined result. Work is done by the current ``Client``, or by dask's own scheduler where there is
    none."""
    return _reduced(function, (blocks, *beside), combine, None, shared)


def reduce_thinned(
    function: Callable[..., Any],
    blocks: Blocks,
    combine: Callable[[Any, Any], Any],
    thin: Callable[[Any], Any],
    *shared: Any,
) -> Any:
    """The same where combining makes results grow: ``thin`` makes what a knot of the tree has combined small
    again."""
    return _reduced(function, (blocks,), combine, thin, shared)


def _reduced(
    function: Callable[..., Any],
    columns: Sequence[Blocks],
    combine: Callable[[Any, Any], Any],
    thin: Callable[[Any], Any] | None,
    shared: Sequence[Any],
) -> Any:
    graph = Graph()
    leaves = _leaves(graph, function, columns, [()] * columns[0].n_blocks, shared)
    return _there(graph.result(graph.tree(leaves, partial(_fold, combine, thin))))


def reduce_remembering(
    function: Callable[..., Any],
    blocks: Blocks,
    result: Callable[[Any], Any],
    combine: Callable[[Any, Any], Any],
    thin: Callable[[Any], Any],
    own: Sequence[Sequence[Any]],
    before: Sequence[Kept | None],
    *shared: Any,
) -> tuple[Any, list[Kept]]:
    """The same for ``function(before, block, *own, *shared)``, which is remembered; ``result`` of it is what
    is combined.

    ``before`` is what was remembered of the block last, or None; ``own`` is something small for each block.

    Returns
    -------
    The combined result, and what is remembered: it stays with the workers. For a block without rows that is
    None."""
    graph = Graph()
    leaves = _leaves(graph, function, (blocks,), own, shared, [graph.kept(kept) for kept in before])
    results = graph.each("result", [partial(_result, result)] * len(leaves), [[leaf] for leaf in leaves])
    found, kept = graph.result_and_kept(graph.tree(results, partial(_fold, combine, thin)), leaves)
    return _there(found), kept


def _leaves(
    graph: Graph,
    function: Callable[..., Any],
    columns: Sequence[Blocks],
    own: Sequence[Sequence[Any]],
    shared: Sequence[Any],
    before: Sequence[Any] | None = None,
) -> list[Any]:
    check_aligned(columns)
    if columns[0].n_blocks == 0:
        raise ValueError(EMPTY)
    keys = list(zip(*[graph.blocks(each) for each in columns], strict=True))
    expected = zip(*[each.expected for each in columns], strict=True)
    nodes = [graph.shared(value) for value in shared]
    remembered = [[]] * len(keys) if before is None else [[key] for key in before]
    return graph.each(
        getattr(function, "__name__", "blocks").strip("_"),
        [partial(_apply, function, wish, mine) for wish, mine in zip(expected, own, strict=True)],
        [[list(some), last, nodes] for some, last in zip(keys, remembered, strict=True)],
    )


def _there(result: Any) -> Any:
    if result is None:
        raise ValueError(EMPTY)
    return result


def check_aligned(columns: Sequence[Blocks]) -> None:
    """Further columns come in as many partitions; those whose lengths differ are found where they lie."""
    for each in columns[1:]:
        if each.n_blocks != columns[0].n_blocks:
            raise ValueError(
                f"X has {columns[0].n_blocks} partitions, but what goes with its rows has {each.n_blocks}; rechunk it like X"
            )


def _apply(
    function: Callable[..., Any],
    expected: Sequence[Expected],
    own: Sequence[Any],
    blocks: list[Any],
    before: list[Any],
    shared: list[Any],
) -> Any:
    rows = [wish.checked(block) for wish, block in zip(expected, blocks, strict=True)]
    number, lengths = expected[0].number, [part.shape[0] for part in rows]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"partition {number} of X has {lengths[0]} rows, but what goes with them has {lengths[1:]}; rechunk it like X"
        )
    if lengths[0] == 0:
        return None
    with naming(number), kept_memory():
        return function(*before, *rows, *own, *shared)


@contextmanager
def naming(number: int) -> Iterator[None]:
    """What is wrong with a block is said together with which it is."""
    try:
        yield
    except ValueError as error:
        if "partition" in str(error):
            raise
        raise ValueError(f"in partition {number} of X, whose rows are counted within it: {error}") from error


def _result(result: Callable[[Any], Any], leaf: Any) -> Any:
    return None if leaf is None else result(leaf)


def _fold(combine: Callable[[Any, Any], Any], thin: Callable[[Any], Any] | None, results: list[Any]) -> Any:
    there = [result for result in results if result is not None]
    if len(there) < 2:
        return there[0] if there else None
    with kept_memory():
        total = reduce(combine, there)
        return total if thin is None else thin(total)


def map_blocks(
    function: Callable[..., np.ndarray], blocks: Blocks, tail: tuple[int, ...], dtype: Any, *shared: Any
) -> Any:
    """``function(block, *shared)`` as a lazy dask array (n, \\*tail) with the row chunks of the
    collection."""
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
    with naming(block_id[0]), kept_memory():
        return np.asarray(function(block, *shared)).astype(dtype, copy=False)


def count_rows(blocks: Blocks) -> np.ndarray:
    """How many rows each partition has (n_blocks,): read from the collection where it knows, else counted."""
    known = blocks.declared
    if not np.isnan(known).any():
        return known.astype(np.int64)
    graph = Graph()
    lengths = graph.each("length", [_length] * blocks.n_blocks, [[key] for key in graph.blocks(blocks)])
    return np.array(graph.result(graph.each("lengths", [list], [[lengths]])[0]), dtype=np.int64)


def _length(part: Any) -> int:
    return part.shape[0] if hasattr(part, "shape") else len(part)


def sample_rows(
    blocks: Blocks, count: int, seed: int, lengths: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """``count`` rows drawn without replacement (all, if there are no more), and their numbers, in the order
    of the collection.

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
    owners = np.unique(owner)
    graph = Graph()
    keys, expected = graph.blocks(blocks), blocks.expected
    picks = [
        partial(_pick, expected[block], numbers[owner == block] - (ends[block] - lengths[block]))
        for block in owners
    ]
    pieces = graph.each("rows", picks, [[keys[block]] for block in owners])
    found = graph.result(graph.each("rows-of-all", [list], [[pieces]])[0])
    return reduce(joined, found) if any(map(sparse.issparse, found)) else np.concatenate(found)


def _pick(expected: Expected, which: np.ndarray, block: Any) -> Any:
    return expected.checked(block)[which]
