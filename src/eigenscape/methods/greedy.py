"""Greedy spectral embedding (Ouimet): what a dictionary learns from points at hand, or from a stream."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenscape._progress import stage
from eigenscape.dictionary.greedy import Dictionary, RowScan, Scan, by_size, by_tolerance, empty, grown
from eigenscape.dictionary.low_rank import announce_lost
from eigenscape.dictionary.moments import Moments
from eigenscape.dictionary.rows import ArrayRows, Rows, over_rows
from eigenscape.dictionary.source import Source
from eigenscape.dictionary.span import Projected, Span
from eigenscape.exceptions import RankError

#: Rows in a block once the dictionary is chosen.
BLOCK = 2048
#: Points of a random subset that averages are taken over.
_SAMPLE = 1000


@dataclass(frozen=True, eq=False)
class Choice:
    """How a dictionary is chosen, and what is made of it."""

    tol: float | None = None  # algorithm 1, or
    size: int | None = None  # algorithm 2, or both: algorithm 1 up to a size
    members: tuple[Any, np.ndarray] | None = None  # or points chosen otherwise, with their numbers
    normalization: str | None = "additive"  # or "divisive"
    averages: str = "implicit"  # over all points; "dictionary"; "random"
    sum_to_one: bool = True
    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Learnt:
    """What has been learnt from the points seen so far: enough to solve, and enough to go on."""

    dictionary: Dictionary
    moments: Moments
    divided: Moments | None = None  # with weights 1 / E(x), for divisive normalisation
    mean: np.ndarray | None = (
        None  # E[p] over the points that ``averages`` names; None: over all, by the moments
    )
    exact: bool = False  # whether every point was seen by the final dictionary

    @property
    def span(self) -> Span:
        return self.dictionary.span

    def average_feature(self) -> np.ndarray:
        return self.moments.mean(self.span) if self.mean is None else self.mean


# --- two passes over points that are at hand ----------------------------------------------------------------


def learn(source: Source, rows: Rows, choice: Choice) -> Learnt:
    """Choose a dictionary, then sum over all points what it makes of them."""
    dictionary = select(source, rows, choice)
    refuse_empty(dictionary)
    return gather(dictionary, rows, choice)


def refuse_empty(dictionary: Dictionary) -> None:
    """An error where no point has a length in feature space."""
    if dictionary.size == 0:
        raise RankError("the kernel is zero on all points; there is nothing to embed")


def select(source: Source, rows: Rows, choice: Choice) -> Dictionary:
    """The dictionary that ``choice`` asks for (Ouimet algorithms 1 and 2)."""
    numbers, Y = next(rows.blocks(None, lambda: 256))
    start = empty(source, Y, choice.sum_to_one, choice.n_jobs)
    if choice.members is not None:
        return grown(start, *choice.members, tol=0.0)[0]
    if choice.tol is not None:
        return by_tolerance(start, rows, choice.tol, choice.size or np.inf)
    return of_size(start, RowScan(rows), choice.size, Y, numbers)


def of_size(start: Dictionary, scan: Scan, size: int | None, few: Any, numbers: np.ndarray) -> Dictionary:
    """Algorithm 2; the first tolerance is the longest of a ``few`` points. An error where the points do not
    give so many members."""
    assert size is not None
    longest = float(start.span.source.own(few, numbers).max())
    dictionary = by_size(start, scan, size, longest if longest > 0 else 1.0)
    if dictionary.size < size:
        raise ValueError(
            f"dictionary_size={size}, but only {dictionary.size} of the points are independent in feature space (equal rows count"
            " once); lower dictionary_size"
        )
    return dictionary


def gather(dictionary: Dictionary, rows: Rows, choice: Choice) -> Learnt:
    """Moments of all rows, for a dictionary that grows no more."""
    span = dictionary.span
    mean = _average_feature(dictionary, rows, choice)
    if choice.normalization == "divisive":
        mean = sums_over(span, rows).mean(span) if mean is None else mean
    return gathered(
        dictionary, moments_of(span, rows, mean if choice.normalization == "divisive" else None), mean, choice
    )


def gathered(dictionary: Dictionary, moments: Moments, mean: np.ndarray | None, choice: Choice) -> Learnt:
    """What is learnt from the moments of all rows: weighted by one over ``p(x) . mean`` where the
    normalisation is divisive."""
    if choice.normalization != "divisive":
        return Learnt(dictionary, moments, None, mean, exact=True)
    assert mean is not None
    announce_lost(moments.lost, moments.least)
    # To go on from: the mean without weights.
    plain = replace(moments, mass=float(moments.count), first=moments.count * (mean - moments.origin))
    return Learnt(dictionary, plain, moments, mean, exact=True)


def moments_of(span: Span, rows: Rows, mean: np.ndarray | None, origin: np.ndarray | None = None) -> Moments:
    """Moments of all rows; with ``mean`` weighted by one over ``p(x) . E[p]``."""
    alone = replace(span, n_jobs=None)  # blocks are what is shared out among cores
    origin = origin_of(span) if origin is None else origin

    def part(numbers: np.ndarray, Y: Any) -> Moments:
        seen = alone.project(Y, numbers)
        return Moments(origin).add(seen, None if mean is None else span.features(seen.Z) @ mean)

    moments = Moments(origin)
    with stage("second pass") as advance:
        for more in over_rows(part, rows, BLOCK, span.n_jobs):
            moments = moments.merged(more)
            advance(more.count)
    return moments


def origin_of(span: Span) -> np.ndarray:
    """Where moments are taken about: the mean of the members' coordinates. No look at the rows, which may
    pass by only once."""
    return span.factor.mean(axis=0)


def _average_feature(dictionary: Dictionary, rows: Rows, choice: Choice) -> np.ndarray | None:
    """``E[p]`` over a part of the points; None where it is over all of them."""
    span = dictionary.span
    if choice.averages == "dictionary":
        return mean_of_members(span)
    if choice.averages == "random":
        chosen = np.random.default_rng(choice.seed).permutation(rows.count)[:_SAMPLE]
        mask = np.isin(np.arange(rows.count), chosen)
        parts = [span.features(span.coordinates(Y)) for _, Y in rows.blocks(mask, lambda: BLOCK)]
        return np.concatenate(parts).mean(axis=0)
    return None


def mean_of_members(span: Span) -> np.ndarray:
    """``E[p]`` over the dictionary: a member's coordinates are its row of ``L``."""
    return span.features(span.factor).mean(axis=0)


@dataclass(frozen=True, eq=False)
class Sums:
    """Kernel values with the members, summed over points: ``E[p]`` is linear in them."""

    values: np.ndarray  # (m,)
    count: int

    def merged(self, other: Sums) -> Sums:
        """Of the points of both."""
        return Sums(self.values + other.values, self.count + other.count)

    def mean(self, span: Span) -> np.ndarray:
        """``E[p]`` over the points."""
        return span.features(span.from_values(self.values[None] / self.count))[0]


def sums_over(span: Span, rows: Rows) -> Sums:
    """The sums over all rows, which must be affinities."""

    def part(_: np.ndarray, Y: Any) -> Sums:
        values = span.values(Y)
        refuse_negative(values)
        return Sums(values.sum(axis=0), len(values))

    total = Sums(np.zeros(span.size), 0)
    with stage("averages") as advance:
        for more in over_rows(part, rows, BLOCK, span.n_jobs):
            total = total.merged(more)
            advance(more.count)
    return total


def refuse_negative(affinities: np.ndarray) -> None:
    """An error where row sums would not be degrees."""
    least = affinities.min(initial=0.0)
    if least < 0:
        raise ValueError(
            f"an affinity must not be negative, got {least:g}; use a similarity that is zero for unlike points"
        )


# --- one pass over a stream ---------------------------------------------------------------------------------


def begin(source: Source, Y: Any, choice: Choice) -> Learnt:
    """Nothing learnt yet; ``Y`` are some of the points to come."""
    nothing = Moments(np.empty(0))
    return Learnt(
        empty(source, Y, choice.sum_to_one, choice.n_jobs),
        nothing,
        nothing if choice.normalization == "divisive" else None,
    )


def absorb(learnt: Learnt, Y: Any, choice: Choice) -> Learnt:
    """Go on with more points. Those seen before the dictionary grew are taken to have no part in the
    directions it gained.

    For divisive normalisation a point is weighted by the averages over all points until then. A second pass
    (:func:`gather`) mends both."""
    assert choice.tol is not None
    now = [learnt]
    for numbers, some in ArrayRows(Y, learnt.moments.count).blocks(
        None, lambda: now[0].dictionary.block_rows
    ):
        dictionary, seen = grown(now[0].dictionary, some, numbers, choice.tol, choice.size or np.inf)
        now[0] = _counted(replace(now[0], dictionary=dictionary, exact=False), seen, choice)
    return now[0]


def _counted(learnt: Learnt, seen: Projected, choice: Choice) -> Learnt:
    """With one more block in the moments."""
    span = learnt.span
    first = learnt.moments.count == 0
    moments = Moments.about_mean_of(seen.Z) if first else learnt.moments.padded(span.size)
    mean = None if choice.averages == "implicit" else mean_of_members(span)
    divided = learnt.divided
    if divided is None:
        return replace(learnt, moments=moments.add(seen), mean=mean)
    learnt = replace(learnt, moments=moments.add(replace(seen, Z=seen.Z.copy())), mean=mean)
    averages, before = span.features(seen.Z) @ learnt.average_feature(), divided.lost
    divided = (replace(divided, origin=moments.origin) if first else divided.padded(span.size)).add(
        seen, averages
    )
    announce_lost(divided.lost - before, divided.least)
    return replace(learnt, divided=divided)
