"""A dictionary for the rows of a collection (Ouimet sec. 3): that of one machine, and the sums over all
rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from eigenscape._progress import stage
from eigenscape.dictionary.greedy import Dictionary, RowScan, empty, grown
from eigenscape.dictionary.low_rank import announce_lost
from eigenscape.dictionary.moments import Moments
from eigenscape.dictionary.rows import ArrayRows
from eigenscape.dictionary.source import Source
from eigenscape.dictionary.span import Span
from eigenscape.dictionary.survey import PartScan, Pool, Question, head_size, pool_size, survey
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.graphs import Kept
from eigenscape.distributed.reduce import count_rows, reduce_blocks, reduce_remembering, take_rows
from eigenscape.graph.row_index import row_hashes
from eigenscape.methods.greedy import (
    Choice,
    Learnt,
    Sums,
    gathered,
    mean_of_members,
    moments_of,
    of_size,
    refuse_empty,
    sums_over,
)


def learn_blocks(source: Source, blocks: Blocks, choice: Choice, few: Any) -> Learnt:
    """What :func:`eigenscape.methods.greedy.learn` learns, from a collection; ``few`` are some of its rows.

    Every partition is asked which rows are beyond the tolerance, and algorithm 1 goes on with these, here,
    until none is left. So the members are those that one machine would choose, however the rows are cut, and
    the errors of proposition 1 are known, and within the tolerance, for all rows. Then every row is projected
    on the result, and summed."""
    if choice.members is not None:
        dictionary = grown(empty(source, few, choice.sum_to_one, choice.n_jobs), *choice.members, tol=0.0)[0]
    else:
        dictionary = _selected(source, blocks, choice, few, whole=True)
    refuse_empty(dictionary)
    return gather_blocks(dictionary, blocks, choice)


def gather_blocks(dictionary: Dictionary, blocks: Blocks, choice: Choice) -> Learnt:
    """What :func:`eigenscape.methods.greedy.gather` sums over all rows, for a dictionary that grows no
    more."""
    span = replace(dictionary.span, n_jobs=None)  # cores are dask's to share out
    mean = mean_of_members(span) if choice.averages == "dictionary" else None
    divisive = choice.normalization == "divisive"
    if divisive and mean is None:
        mean = reduce_blocks(_sums, blocks, Sums.merged, span).mean(span)
    moments = reduce_blocks(_moments, blocks, Moments.merged, span, mean if divisive else None, None)
    return gathered(dictionary, moments, mean, choice)


def absorb_blocks(source: Source, learnt: Learnt | None, blocks: Blocks, choice: Choice, few: Any) -> Learnt:
    """What :func:`eigenscape.methods.greedy.absorb` learns from more rows; None: they are the first.

    The dictionary is that of one machine. All rows of the collection are projected on it as it is in the end,
    which one machine does with those that come after it has grown."""
    dictionary = _selected(source, blocks, choice, few, learnt)
    refuse_empty(dictionary)
    if learnt is None:
        return replace(gather_blocks(dictionary, blocks, choice), exact=False)  # others may follow
    span = replace(dictionary.span, n_jobs=None)
    moments = learnt.moments.padded(span.size)
    moments = moments.merged(reduce_blocks(_moments, blocks, Moments.merged, span, None, moments.origin))
    mean = None if choice.averages == "implicit" else mean_of_members(span)
    learnt = Learnt(dictionary, moments, learnt.divided, mean)
    if learnt.divided is None:
        return learnt
    before = learnt.divided.padded(span.size)
    more = reduce_blocks(_moments, blocks, Moments.merged, span, learnt.average_feature(), before.origin)
    announce_lost(more.lost, more.least)
    return replace(learnt, divided=before.merged(more))


def _selected(
    source: Source,
    blocks: Blocks,
    choice: Choice,
    few: Any,
    learnt: Learnt | None = None,
    whole: bool = False,
) -> Dictionary:
    """Algorithm 1 or 2 over all rows, or what was learnt from rows before these enlarged by algorithm 1;
    ``whole``: no others follow."""
    lengths = count_rows(blocks)
    most, seen = pool_size(few), 0 if learnt is None else learnt.moments.count
    head = take_rows(blocks, np.arange(head_size(int(lengths.sum()), most)), lengths)
    start = empty(source, head, choice.sum_to_one, choice.n_jobs) if learnt is None else learnt.dictionary
    if whole:
        _check_distinct(choice.size if choice.tol is None else None, int(lengths.sum()), head, blocks)
    rows = ArrayRows(head, seen)
    scan = (
        RowScan(rows)
        if rows.count == lengths.sum()
        else PartScan(BlockParts(blocks, lengths, seen), rows, most)
    )
    if choice.tol is None:
        some = head[:256]
        return of_size(start, scan, choice.size, some, np.arange(some.shape[0]))
    with stage("dictionary"):
        dictionary = scan.run(start, choice.tol, choice.size or np.inf, choice.tol, stop=True)
    assert dictionary is not None
    return dictionary


def _check_distinct(wanted: int | None, count: int, head: Any, blocks: Blocks) -> None:
    """Rows that are all equal, and a dictionary larger than the number of distinct points, are refused before
    the search.

    The first rows are nearly always enough to see that it is not so.
    """
    wanted = max(2, wanted or 2)
    distinct = len(_hashes(head, wanted))
    if distinct < wanted:
        distinct = len(reduce_blocks(_hashes, blocks, partial(_united, wanted), wanted))
    if count == 1:
        raise ValueError("Found a dask collection with 1 sample(s) while a minimum of 2 is required")
    if distinct == 1:
        raise ValueError(f"all {count} rows are equal; there is nothing to embed")
    if distinct < wanted:
        raise ValueError(
            f"dictionary_size={wanted}, but there are only {distinct} distinct points; lower dictionary_size"
        )


class BlockParts:
    """The partitions of a collection, as :class:`eigenscape.dictionary.survey.Parts` has them; levels stay
    with the workers."""

    def __init__(self, blocks: Blocks, lengths: np.ndarray, seen: int) -> None:
        self.blocks, self.lengths = blocks, lengths
        self.ends = seen + np.cumsum(lengths)
        self.kept: list[Kept | None] = [None] * len(lengths)
        self.found = list(self.kept)

    def ask(self, dictionary: Dictionary, question: Question, first: int, last: int) -> Pool:
        span = replace(dictionary.span, n_jobs=None)  # cores are dask's to share out
        firsts = [(int(number),) for number in (self.ends - self.lengths)[first:last]]
        thin = partial(Pool.thinned, question=question)
        pool, self.found[first:last] = reduce_remembering(
            survey,
            self.blocks.between(first, last),
            attrgetter("pool"),
            Pool.beside,
            thin,
            firsts,
            self.found[first:last],
            span,
            question,
        )
        return pool

    def remember(self) -> None:
        self.kept = list(self.found)

    def forget(self) -> None:
        self.found = list(self.kept)


# What workers do, with their rows first.


def _hashes(Y: Any, size: int) -> np.ndarray:
    """The lowest hashes of rows, of as many different ones as are wanted."""
    return np.unique(row_hashes(Y))[:size]


def _united(size: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.union1d(first, second)[:size]


def _sums(Y: Any, span: Span) -> Sums:
    return sums_over(span, ArrayRows(Y))


def _moments(Y: Any, span: Span, mean: np.ndarray | None, origin: np.ndarray | None) -> Moments:
    return moments_of(span, ArrayRows(Y), mean, origin)
