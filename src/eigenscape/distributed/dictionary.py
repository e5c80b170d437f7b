"""A dictionary for the rows of a collection (Ouimet sec. 3): chosen in a tree, and judged by every row."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from eigenscape.dictionary.candidates import Candidates
from eigenscape.dictionary.greedy import Dictionary, grown
from eigenscape.dictionary.moments import Moments
from eigenscape.dictionary.rows import ArrayRows
from eigenscape.dictionary.source import Source
from eigenscape.dictionary.span import Span
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.methods.greedy import Choice, Learnt, gathered, mean_of_members, moments_of, refuse_empty, refuse_small
from eigenscape.methods.parts import Tally, built, choose, enlarged, is_closed, start_of, tallied, tally


def learn_blocks(source: Source, blocks: Blocks, choice: Choice, few: Any) -> Learnt:
    """What :func:`eigenscape.methods.greedy.learn` learns, from a collection; ``few`` are some of its rows.

    Each partition chooses a dictionary for its own rows, and these are joined eight by eight, in the order of the partitions, into
    dictionaries for the members of all eight. Then
    every row is projected on the result. As long as some are beyond the tolerance, what they lack is added and the pass made
    again, so that the errors of proposition 1 are known, and within the tolerance, for all rows, as on one machine.
    """
    start = start_of(source, few, choice)
    if choice.members is not None:
        dictionary = grown(start, *choice.members, tol=0.0)[0]
    else:
        thin = partial(_chosen, start=start, choice=choice)
        chosen = reduce_blocks(_chosen_rows, blocks, Candidates.beside, start, choice, thin=thin)
        dictionary = _filled(built(start, chosen), blocks, choice)
    refuse_empty(dictionary)
    return _gathered(*_settle(start, dictionary, blocks, choice), blocks, choice)


def gather_blocks(dictionary: Dictionary, blocks: Blocks, choice: Choice) -> Learnt:
    """What :func:`eigenscape.methods.greedy.gather` sums over all rows, for a dictionary that grows no more."""
    found = reduce_blocks(_tally, blocks, tallied, dictionary, choice, True)
    return _gathered(dictionary, found.moments, blocks, choice)


def _gathered(dictionary: Dictionary, moments: Moments, blocks: Blocks, choice: Choice) -> Learnt:
    span = dictionary.span
    mean = mean_of_members(span) if choice.averages == "dictionary" else None
    if choice.normalization == "divisive":
        mean = moments.mean(span) if mean is None else mean
        moments = reduce_blocks(_moments, blocks, Moments.merged, span, mean)
    return gathered(dictionary, moments, mean, choice)


def _filled(dictionary: Dictionary, blocks: Blocks, choice: Choice) -> Dictionary:
    """With as many members as were asked for: where partitions' members depend on each other, any rows that do not."""
    if choice.tol is not None or choice.size is None or dictionary.size >= choice.size:
        return dictionary
    lacking = reduce_blocks(_tally, blocks, tallied, dictionary, replace(choice, tol=0.0), False).lacking
    dictionary = grown(dictionary, lacking.points, lacking.numbers, 0.0, choice.size)[0]
    refuse_small(dictionary.size, choice)
    return dictionary


def _settle(start: Dictionary, dictionary: Dictionary, blocks: Blocks, choice: Choice) -> tuple[Dictionary, Moments]:
    """The dictionary when no row is beyond the tolerance any more, or it may not grow, and the sums over all rows."""
    closed = is_closed(dictionary, choice)
    while True:
        found = reduce_blocks(_tally, blocks, tallied, dictionary, choice, closed)
        if found.moments is not None:
            beyond = not closed and choice.tol is not None and found.moments.worst_error > choice.tol  # for want of digits
            return replace(dictionary, stalled=beyond), found.moments
        dictionary, closed = enlarged(start, dictionary, found.lacking, choice)


# What workers do, with their rows first.


def _chosen_rows(Y: Any, start: Dictionary, choice: Choice) -> Candidates:
    return choose(start, Candidates.all_of(Y), choice)


def _chosen(candidates: Candidates, start: Dictionary, choice: Choice) -> Candidates:
    return choose(start, candidates, choice)


def _tally(Y: Any, dictionary: Dictionary, choice: Choice, closed: bool) -> Tally:
    return tally(dictionary, Y, choice, closed)


def _moments(Y: Any, span: Span, mean: np.ndarray) -> Moments:
    return moments_of(span, ArrayRows(Y), mean)
