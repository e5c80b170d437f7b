"""Sums over all pairs of rows of a collection."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from eigenscape.distributed._allocation import reuse_freed_memory
from eigenscape.distributed.blocks import Blocks, ExpectedBlock
from eigenscape.distributed.graphs import Graph
from eigenscape.distributed.reduce import EMPTY, combine_all, error_context, require_rows


def reduce_pairs(
    function: Callable[..., Any], blocks: Blocks, combine: Callable[[Any, Any], Any], *shared: Any
) -> Any:
    """Combine ``function(first, second, same, *shared)`` of all pairs of blocks.

    Parameters
    ----------
    function : callable
        Function of the rows of two blocks, the second not before the first; ``same`` is True if
        they are one block. Blocks without rows are skipped.
    blocks : Blocks
        The rows.
    combine : callable
        Function of two results, combined in a tree that is determined by the order of the blocks.
    *shared
        Further arguments, sent to each worker once.

    Returns
    -------
    object
        The combined result.
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
    return require_rows(graph.compute(graph.tree(leaves, partial(combine_all, combine, None))))


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
