"""Operations on blocks of rows: tree reductions, and functions mapped over the blocks.

See docs/decisions/distributed-reductions.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from numpy.typing import DTypeLike

from eigenscape._threads import run_nested
from eigenscape._typing import is_sparse
from eigenscape.dictionary.source import stack_rows
from eigenscape.distributed._allocation import reuse_freed_memory
from eigenscape.distributed.blocks import Blocks, BlockSpec, ExpectedBlock, Key, check_block
from eigenscape.distributed.graphs import Graph, PersistedResult
from eigenscape.exceptions import UndefinedKernelError

EMPTY = "the dask collection is empty: it has no rows, or no row with a positive weight"


def send(value: Any, label: str = "shared") -> Delayed:
    """Return a node for a value that all blocks need; it is sent to each worker once."""
    return delayed(value, name=f"eigenscape-{label}-{uuid4().hex}", traverse=False)


def reduce_blocks(
    function: Callable[..., Any],
    blocks: Blocks,
    *shared: Any,
    combine: Callable[[Any, Any], Any] | None = None,
    aligned: Sequence[Blocks] = (),
    truncate: Callable[[Any], Any] | None = None,
) -> Any:
    """Combine ``function(block, *aligned, *shared)`` of all blocks.

    Parameters
    ----------
    function : callable
        Function of the rows of a block. Blocks without rows are skipped.
    blocks : Blocks
        The rows.
    *shared
        Further arguments, sent to each worker once.
    combine : callable, optional
        Function of two results, the earlier first; by default :func:`merged`. Results are combined in a tree
        that is determined by the order of the blocks.
    aligned : sequence of Blocks
        Further columns of the same rows (weights, labels), with the same partitions.
    truncate : callable, optional
        Function applied to the result of every node of the tree.

    Returns
    -------
    object
        The combined result, computed by the current ``Client``, or by dask's default scheduler if there is
        none.
    """
    graph = Graph()
    leaves = _add_leaves(graph, function, (blocks, *aligned), [()] * blocks.n_blocks, shared)
    return require_rows(graph.compute(graph.tree(leaves, partial(combine_all, combine or merged, truncate))))


def reduce_persisting(
    function: Callable[..., Any],
    blocks: Blocks,
    extract: Callable[[Any], Any],
    combine: Callable[[Any, Any], Any],
    truncate: Callable[[Any], Any],
    block_arguments: Sequence[Sequence[Any]],
    previous: Sequence[PersistedResult | None],
    *shared: Any,
) -> tuple[Any, list[PersistedResult]]:
    """Reduce ``extract`` of the results of ``function``, and keep the results on the workers.

    Parameters
    ----------
    function : callable
        Called as ``function(previous, block, *block_arguments, *shared)``; ``previous`` is its
        last result for the block.
    blocks : Blocks
        The rows.
    extract : callable
        Extracts the part of a result that is combined.
    combine, truncate : callable
        See :func:`reduce_blocks`.
    block_arguments : sequence of sequences
        Small arguments of each block.
    previous : sequence of PersistedResult or None
        The persisted results of the last call for each block.
    *shared
        Further arguments, sent to each worker once.

    Returns
    -------
    combined : object
        The combined result.
    persisted : list of PersistedResult
        The results of ``function`` on the workers, None for a block without rows.
    """
    graph = Graph()
    keys = [graph.persisted(result) for result in previous]
    leaves = _add_leaves(graph, function, (blocks,), block_arguments, shared, keys)
    parts = graph.add("result", [partial(_extract, extract)] * len(leaves), [[leaf] for leaf in leaves])
    root = graph.tree(parts, partial(combine_all, combine, truncate))
    combined, persisted = graph.compute_and_persist(root, leaves)
    return require_rows(combined), persisted


def _add_leaves(
    graph: Graph,
    function: Callable[..., Any],
    columns: Sequence[Blocks],
    block_arguments: Sequence[Sequence[Any]],
    shared: Sequence[Any],
    previous: Sequence[Key | None] | None = None,
) -> list[Key]:
    """Add one task per block that validates it and applies ``function``."""
    check_aligned(columns)
    if columns[0].n_blocks == 0:
        raise ValueError(EMPTY)
    keys = list(zip(*[graph.blocks(each) for each in columns], strict=True))
    expected = zip(*[each.expected for each in columns], strict=True)
    nodes = [graph.shared(value) for value in shared]
    before: list[list[Key]] = [[]] * len(keys) if previous is None else [[key] for key in previous]
    return graph.add(
        getattr(function, "__name__", "blocks").strip("_"),
        [
            partial(_apply, function, each, arguments)
            for each, arguments in zip(expected, block_arguments, strict=True)
        ],
        [[list(some), last, nodes] for some, last in zip(keys, before, strict=True)],
    )


def require_rows(result: Any) -> Any:
    """Return the result of a reduction; raise ValueError if there was no row."""
    if result is None:
        raise ValueError(EMPTY)
    return result


def check_aligned(columns: Sequence[Blocks]) -> None:
    """Raise ValueError unless all collections have the same number of partitions."""
    for each in columns[1:]:
        if each.n_blocks != columns[0].n_blocks:
            raise ValueError(
                f"X has {columns[0].n_blocks} partitions, but {each.spec.name} has {each.n_blocks}; rechunk"
                " it like X"
            )


def _apply(
    function: Callable[..., Any],
    expected: Sequence[ExpectedBlock],
    block_arguments: Sequence[Any],
    blocks: list[Any],
    previous: list[Any],
    shared: list[Any],
) -> Any:
    """Validate the blocks of one partition and apply ``function``; None if there are no rows."""
    rows = [each.check(block) for each, block in zip(expected, blocks, strict=True)]
    partition, lengths = expected[0].partition, [part.shape[0] for part in rows]
    for each, length in zip(expected, lengths, strict=True):
        if length != lengths[0]:
            raise ValueError(
                f"partition {partition} of X has {lengths[0]} rows, but {each.spec.name} has"
                f" {length}; rechunk it like X"
            )
    if lengths[0] == 0:
        return None
    with error_context(partition), reuse_freed_memory():
        return function(*previous, *rows, *block_arguments, *shared)


@contextmanager
def error_context(partition: int) -> Iterator[None]:
    """Add the partition to the message of a ValueError."""
    try:
        yield
    except UndefinedKernelError:  # a property of the model, not of the partition
        raise
    except ValueError as error:
        if "partition" in str(error):
            raise
        raise ValueError(
            f"in partition {partition} of X (rows are counted from the start of the partition): {error}"
        ) from error


def reduce_pairs(function: Callable[..., Any], blocks: Blocks, *shared: Any) -> Any:
    """Return the sum of ``function(first, second, same, *shared)`` over all pairs of blocks.

    The second block is not before the first; ``same`` is True if they are one block. Blocks without rows are
    skipped. The tree of sums is determined by the order of the blocks.
    """
    if blocks.n_blocks == 0:
        raise ValueError(EMPTY)
    graph = Graph()
    keys, expected = graph.blocks(blocks), blocks.expected
    nodes = [graph.shared(value) for value in shared]
    pairs = [(i, j) for i in range(len(keys)) for j in range(i, len(keys))]
    leaves = graph.add(
        "pairs",
        [partial(_apply_to_pair, function, expected[i], expected[j]) for i, j in pairs],
        [[keys[i], keys[j], nodes] for i, j in pairs],
    )
    return require_rows(graph.compute(graph.tree(leaves, partial(combine_all, merged, None))))


def _apply_to_pair(
    function: Callable[..., Any],
    first: ExpectedBlock,
    second: ExpectedBlock,
    block: Any,
    other: Any,
    shared: list[Any],
) -> Any:
    """Validate two blocks and apply ``function``; None if one has no rows."""
    same = first.partition == second.partition
    rows = first.check(block)
    others = rows if same else second.check(other)
    if rows.shape[0] == 0 or others.shape[0] == 0:
        return None
    with error_context(first.partition), reuse_freed_memory():
        return function(rows, others, same, *shared)


def _extract(extract: Callable[[Any], Any], result: Any) -> Any:
    return None if result is None else extract(result)


def merged(first: Any, second: Any) -> Any:
    """Merge two results by their method ``merge``, element by element, or by addition; None has no rows."""
    if first is None or second is None:
        return second if first is None else first
    if hasattr(first, "merge"):
        return first.merge(second)
    if isinstance(first, (tuple, list)):
        parts = list(map(merged, first, second))
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    return first + second


def combine_all(
    combine: Callable[[Any, Any], Any], truncate: Callable[[Any], Any] | None, results: list[Any]
) -> Any:
    """Combine results in order; the result of a block without rows is None."""
    results = [result for result in results if result is not None]
    if len(results) < 2:
        return results[0] if results else None
    with reuse_freed_memory():
        total = reduce(combine, results)
        return total if truncate is None else truncate(total)


def map_blocks(
    function: Callable[..., np.ndarray], blocks: Blocks, tail: tuple[int, ...], dtype: DTypeLike, *shared: Any
) -> da.Array:
    """Return ``function(block, *shared)`` as a lazy dask array (n, \\*tail) with the same row chunks."""
    array = blocks.array
    nodes = [send(value) for value in shared]
    return da.map_blocks(
        _map_one,
        array,
        function,
        blocks.spec,
        blocks.dtype,
        tail,
        np.dtype(dtype),
        send(blocks.declared_lengths, "row-counts"),
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
    function: Callable[..., np.ndarray],
    spec: BlockSpec,
    precision: np.dtype,
    tail: tuple[int, ...],
    dtype: np.dtype,
    declared_lengths: np.ndarray,
    *shared: Any,
    block_id: tuple[int, ...],
) -> np.ndarray:
    """Validate a block and return ``function(block, *shared)`` as an array of type ``dtype``."""
    partition = block_id[0]
    block = check_block(block, partition, spec, float(declared_lengths[partition]))
    # A float32 partition of a float64 collection gives float64.
    block = block.astype(np.result_type(block.dtype, precision), copy=False)
    if block.shape[0] == 0:
        return np.empty((0, *tail), dtype)
    with error_context(partition), reuse_freed_memory():
        return np.asarray(run_nested(function, block, *shared)).astype(dtype, copy=False)


def count_rows(blocks: Blocks) -> np.ndarray:
    """Return the number of rows of each partition (n_blocks,), computed if it is unknown."""
    known = blocks.declared_lengths
    if not np.isnan(known).any():
        return known.astype(np.int64)
    graph = Graph()
    lengths = graph.add("length", [_length] * blocks.n_blocks, [[key] for key in graph.blocks(blocks)])
    return np.array(graph.compute(graph.add("lengths", [list], [[lengths]])[0]), dtype=np.int64)


def _length(part: Any) -> int:
    return part.shape[0] if hasattr(part, "shape") else len(part)


def sample_rows(
    blocks: Blocks, count: int, seed: int, lengths: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw ``count`` rows without replacement, or all if there are fewer.

    Returns the rows and their indices, in the order of the collection. They depend on the seed and the total
    number of rows, not on the partitions.
    """
    lengths = count_rows(blocks) if lengths is None else lengths
    total = int(lengths.sum())
    if total <= count:
        indices = np.arange(total)
    else:
        indices = np.sort(np.random.default_rng(seed).choice(total, count, replace=False))
    return take_rows(blocks, indices, lengths), indices


def take_rows(blocks: Blocks, indices: np.ndarray, lengths: np.ndarray) -> Any:
    """Fetch the rows with the given (ascending) indices; ``lengths`` of the partitions."""
    if len(indices) == 0:
        raise ValueError(EMPTY)
    ends = np.cumsum(lengths)
    owner = np.searchsorted(ends, indices, side="right")
    owners = np.unique(owner)
    graph = Graph()
    keys, expected = graph.blocks(blocks), blocks.expected
    functions = [
        partial(_take, expected[block], indices[owner == block] - (ends[block] - lengths[block]))
        for block in owners
    ]
    pieces = graph.add("rows", functions, [[keys[block]] for block in owners])
    parts = graph.compute(graph.add("rows-of-all", [list], [[pieces]])[0])
    return reduce(stack_rows, parts) if any(map(is_sparse, parts)) else np.concatenate(parts)


def _take(expected: ExpectedBlock, which: np.ndarray, block: Any) -> Any:
    return expected.check(block)[which]
