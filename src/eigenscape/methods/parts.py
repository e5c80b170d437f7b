"""A dictionary for rows that are never together: what one part of them tells, and how parts join (Ouimet sec. 3).

Every function here is the one-machine code applied to some rows. Parts are consecutive: the rows of the left one come first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenscape.dictionary.candidates import Candidates
from eigenscape.dictionary.greedy import Dictionary, by_size, by_tolerance, empty, grown, sieved
from eigenscape.dictionary.moments import Moments
from eigenscape.dictionary.rows import ArrayRows
from eigenscape.dictionary.source import Source
from eigenscape.dictionary.span import RESOLUTION
from eigenscape.kernels.base import n_points
from eigenscape.methods.greedy import BLOCK, Choice, origin_of, refuse_negative


def start_of(source: Source, few: Any, choice: Choice) -> Dictionary:
    """A dictionary without members that all parts begin with; ``few`` are some of the rows."""
    return empty(source, few, choice.sum_to_one, choice.n_jobs)


def choose(start: Dictionary, candidates: Candidates, choice: Choice) -> Candidates:
    """Algorithm 1 or 2 among the candidates; where both a tolerance and a size are given and the size ends it, algorithm 2.

    Taking the first members only, as on one machine, would leave later parts out altogether.
    """
    rows = ArrayRows(candidates.points)
    dictionary = None
    if choice.tol is not None:
        dictionary = by_tolerance(start, rows, choice.tol, np.inf if choice.size is None else choice.size + 1)
    if choice.size is not None and (dictionary is None or dictionary.size > choice.size):
        few = candidates.points[:256]
        scale = float(start.span.source.own(few, np.arange(n_points(few))).max())
        dictionary = by_size(start, rows, choice.size, scale if scale > 0 else 1.0)
    assert dictionary is not None
    return candidates.take(dictionary.numbers)


def built(start: Dictionary, candidates: Candidates) -> Dictionary:
    """The dictionary of all candidates that are independent."""
    return grown(start, candidates.points, candidates.numbers, tol=0.0)[0]


def is_closed(dictionary: Dictionary, choice: Choice) -> bool:
    """Whether the dictionary may not grow, however far points are from it."""
    return choice.members is not None or choice.tol is None or (choice.size is not None and dictionary.size >= choice.size)


@dataclass(frozen=True, eq=False)
class Tally:
    """One pass over some rows: their sums; or, where the dictionary is not good enough for all of them, what it lacks."""

    lacking: Candidates
    moments: Moments | None


def tally(dictionary: Dictionary, Y: Any, choice: Choice, closed: bool = False) -> Tally:
    """Project every row, measure its error (Ouimet eq. 8) and sum; from the first row beyond the tolerance on, seek what is lacking.

    Sums about a dictionary that will grow are of no use, so they are given up then. ``closed``: the dictionary grows no more.
    For divisive normalisation the sums of first order are enough here; those of second order need them (proposition 2).
    """
    span = dictionary.span
    tol = np.inf if closed or choice.tol is None else choice.tol
    limit = np.inf if choice.size is None else choice.size + 1
    moments: Moments | None = Moments(origin_of(span))
    now = dictionary
    for numbers, some in ArrayRows(Y).blocks(None, lambda: BLOCK):
        if moments is None:
            now = sieved(now, some, numbers, tol, limit)[0]
            continue
        values = span.values(some)
        if choice.normalization == "divisive":
            refuse_negative(values)
        seen = span.measure(span.from_values(values), some, numbers)
        beyond = (seen.error > tol) & (seen.residual > RESOLUTION * seen.length)
        if beyond.any():
            moments, now = None, grown(dictionary, some[beyond], numbers[beyond], tol, limit)[0]
        else:
            moments = moments.add(seen, second=choice.normalization != "divisive")
    lacking = now.numbers[dictionary.size :]
    return Tally(Candidates(Y[lacking], lacking, n_points(Y)), moments)


def tallied(first: Tally, second: Tally) -> Tally:
    """The passes over two parts together."""
    whole = None if first.moments is None or second.moments is None else first.moments.merged(second.moments)
    return Tally(first.lacking.beside(second.lacking), whole)


def enlarged(start: Dictionary, dictionary: Dictionary, lacking: Candidates, choice: Choice) -> tuple[Dictionary, bool]:
    """The dictionary with what it lacked, and whether it is closed: it may not grow, or does not for want of digits."""
    assert choice.tol is not None
    larger = grown(dictionary, lacking.points, lacking.numbers, choice.tol)[0]
    if choice.size is not None and larger.size > choice.size:
        members = Candidates(larger.span.members, larger.numbers, lacking.count)
        return built(start, choose(start, members, replace(choice, tol=None))), True
    return larger, larger.size == dictionary.size
