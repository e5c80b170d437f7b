"""Fit of a dictionary (Ouimet): selection and moments, from rows read several times or from a stream.

A stream is read once. Its dictionary grows, or has a bounded size: then members are added and replaced.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from eigenscape._progress import stage
from eigenscape.dictionary.budget import moments_on_hull, on_hull, reduce_dictionary
from eigenscape.dictionary.feature_moments import FeatureMoments
from eigenscape.dictionary.low_rank import warn_isolated
from eigenscape.dictionary.readers import RowReader, map_blocks, read_blocks
from eigenscape.dictionary.selection import (
    CandidateScan,
    Dictionary,
    RowScan,
    empty_dictionary,
    extend,
    select_by_size,
    select_by_tolerance,
)
from eigenscape.dictionary.source import KernelSource, PointArray
from eigenscape.dictionary.span import MAX_ROUNDING, Span, SpanProjection
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import n_points
from eigenscape.methods.tuning import TUNING


@dataclass(frozen=True, eq=False)
class DictionaryOptions:
    """How a dictionary is selected and how its kernel is normalised."""

    tol: float | None = None  # algorithm 1, with at most `size` members if both are given
    size: int | None = None  # algorithm 2, if tol is None
    members: tuple[PointArray, np.ndarray] | None = None  # given points and their row indices: no selection
    normalization: Literal["additive", "divisive"] | None = "additive"
    averages: Literal["implicit", "dictionary", "random"] = "implicit"  # implicit: over all points
    sum_to_one: bool = True
    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class DictionaryState:
    """A dictionary and the moments of the points seen: input of the eigenproblem and of a partial fit."""

    _shapes: ClassVar = {"dictionary.span.members": "m ...", "moments.first": "m", "mean": "m"}
    dictionary: Dictionary
    moments: FeatureMoments
    weighted_moments: FeatureMoments | None = None  # weights 1 / E(x), for divisive normalisation
    mean: np.ndarray | None = None  # E[p], unless averages="implicit": then the mean of the moments
    exact: bool = False  # whether every point was projected on the final dictionary
    total_error: float | None = None  # bound of the sum of |phi - p|^2 over a stream with a fixed size

    @property
    def span(self) -> Span:
        return self.dictionary.span

    def mean_feature(self) -> np.ndarray:
        """Return ``E[p]``, (m,)."""
        return self.moments.mean(self.span) if self.mean is None else self.mean


# --- rows that can be read several times --------------------------------------------------------------------


def fit_dictionary(source: KernelSource, reader: RowReader, options: DictionaryOptions) -> DictionaryState:
    """Select a dictionary, then accumulate the moments of all points projected on it."""
    dictionary = select_dictionary(source, reader, options)
    check_not_empty(dictionary)
    return second_pass(dictionary, reader, options)


def check_not_empty(dictionary: Dictionary) -> None:
    """Raise RankError if all points are zero in feature space."""
    if dictionary.size == 0:
        raise RankError("the kernel is zero on all points; there is nothing to embed")


def select_dictionary(source: KernelSource, reader: RowReader, options: DictionaryOptions) -> Dictionary:
    """Select the members by Ouimet's algorithm 1 or 2, or take the given ones."""
    sample_indices, sample = next(read_blocks(reader, 256))
    dictionary = empty_dictionary(source, sample, options.sum_to_one, options.n_jobs)
    if options.members is not None:
        return extend(dictionary, *options.members, tol=0.0)[0]
    if options.tol is not None:
        return select_by_tolerance(dictionary, reader, options.tol, options.size or np.inf)
    return select_exact_size(dictionary, RowScan(reader), options.size, sample, sample_indices)


def select_exact_size(
    dictionary: Dictionary, scan: CandidateScan, size: int | None, sample: PointArray, indices: np.ndarray
) -> Dictionary:
    """Apply algorithm 2; raise ValueError if fewer than ``size`` points are independent.

    The first tolerance is the largest squared norm in the ``sample``.
    """
    assert size is not None
    largest = float(dictionary.span.source.diagonal(sample, indices).max())
    dictionary = select_by_size(dictionary, scan, size, largest if largest > 0 else 1.0)
    check_size(dictionary.size, size)
    return dictionary


def check_size(found: int, size: int) -> None:
    """Raise ValueError if fewer than ``size`` independent points were found."""
    if found < size:
        raise ValueError(
            f"size={size} of the dictionary, but only {found} of the points are independent in feature"
            " space (equal rows count once); lower size"
        )


def second_pass(dictionary: Dictionary, reader: RowReader, options: DictionaryOptions) -> DictionaryState:
    """Accumulate the moments of all rows for a complete dictionary."""
    span = dictionary.span
    mean = _mean_of_subset(dictionary, reader, options)
    if options.normalization != "divisive":
        return state_from_moments(dictionary, accumulate_moments(span, reader), mean, options)
    mean = accumulate_values(span, reader).mean(span) if mean is None else mean
    return state_from_moments(dictionary, accumulate_moments(span, reader, mean), mean, options)


def state_from_moments(
    dictionary: Dictionary, moments: FeatureMoments, mean: np.ndarray | None, options: DictionaryOptions
) -> DictionaryState:
    """Return the state for the moments of all rows, which are weighted if the normalisation is divisive."""
    if options.normalization != "divisive":
        return DictionaryState(dictionary, moments, None, mean, exact=True)
    assert mean is not None
    warn_isolated(moments.n_isolated, moments.min_average)
    # A later partial fit needs the unweighted mean.
    plain = replace(moments, weight=float(moments.count), first=moments.count * (mean - moments.origin))
    return DictionaryState(dictionary, plain, moments, mean, exact=True)


def accumulate_moments(
    span: Span, reader: RowReader, mean: np.ndarray | None = None, origin: np.ndarray | None = None
) -> FeatureMoments:
    """Return the moments of all rows, with weights ``1 / (p(x) . mean)`` if ``mean`` is given.

    The default origin is the mean of the coordinates of the members, which needs no pass over the rows.
    """
    single = replace(span, n_jobs=None)  # threads work on different blocks
    origin = span.factor.mean(axis=0) if origin is None else origin

    def block_moments(indices: np.ndarray, Y: PointArray) -> FeatureMoments:
        projection = single.project(Y, indices)
        averages = None if mean is None else span.features(projection.Z) @ mean
        return FeatureMoments.about(origin).add(projection, averages)

    moments = FeatureMoments.about(origin)
    with stage("second pass") as advance:
        for part in map_blocks(block_moments, reader, TUNING.block_rows, span.n_jobs):
            moments = moments.merge(part)
            advance(part.count)
    return moments


def _mean_of_subset(
    dictionary: Dictionary, reader: RowReader, options: DictionaryOptions
) -> np.ndarray | None:
    """Return ``E[p]`` over the dictionary or a random subset; None if it is over all points."""
    span = dictionary.span
    if options.averages == "dictionary":
        return mean_of_members(span)
    if options.averages == "random":
        n_rows = reader.n_rows
        chosen = np.random.default_rng(options.seed).permutation(n_rows)[:1000]
        mask = np.isin(np.arange(n_rows), chosen)
        parts = [span.features(span.coordinates(Y)) for _, Y in read_blocks(reader, TUNING.block_rows, mask)]
        return np.concatenate(parts).mean(axis=0)
    return None


def mean_of_members(span: Span) -> np.ndarray:
    """Return ``E[p]`` over the dictionary; the coordinates of a member are its row of ``L``."""
    return span.features(span.factor).mean(axis=0)


@dataclass(frozen=True, eq=False)
class ValueSums:
    """Sums over points of their kernel values with the members; ``E[p]`` is linear in them."""

    values: np.ndarray  # (m,)
    count: int

    def merge(self, other: ValueSums) -> ValueSums:
        """Return the sums over the points of both."""
        return ValueSums(self.values + other.values, self.count + other.count)

    def mean(self, span: Span) -> np.ndarray:
        """Return ``E[p]`` over the points, (m,)."""
        return span.features(span.from_values(self.values[None] / self.count))[0]


def accumulate_values(span: Span, reader: RowReader) -> ValueSums:
    """Return the sums of the kernel values of all rows, which must not be negative."""

    def block_sums(_: np.ndarray, Y: PointArray) -> ValueSums:
        values = span.values(Y)
        minimum = values.min(initial=0.0)
        if minimum < 0:
            raise ValueError(
                f"an affinity must not be negative, got {minimum:g}; use a similarity that is zero for"
                " dissimilar points"
            )
        return ValueSums(values.sum(axis=0), len(values))

    total = ValueSums(np.zeros(span.size), 0)
    with stage("averages") as advance:
        for part in map_blocks(block_sums, reader, TUNING.block_rows, span.n_jobs):
            total = total.merge(part)
            advance(part.count)
    return total


# --- one pass over a stream ---------------------------------------------------------------------------------


def initial_state(source: KernelSource, Y: PointArray, options: DictionaryOptions) -> DictionaryState:
    """Return the state before any point is seen; ``Y`` is a sample of the points to come."""
    empty = FeatureMoments.about(np.empty(0))
    dictionary = empty_dictionary(source, Y, options.sum_to_one, options.n_jobs)
    return DictionaryState(dictionary, empty, empty if options.normalization == "divisive" else None)


def partial_fit(state: DictionaryState, Y: PointArray, options: DictionaryOptions) -> DictionaryState:
    """Continue with more points.

    Points seen before a member was added count as having no component in the direction it adds. For divisive
    normalisation a point is weighted by the averages over the points seen until then. :func:`second_pass`
    removes both approximations.
    """
    assert options.tol is not None
    max_size = options.size or np.inf
    cursor = RowReader([Y], state.moments.count).cursor()
    with stage(chunk_title(options), total=n_points(Y)) as advance:
        while (block := cursor.read(state.dictionary.block_size)) is not None:
            indices, rows = block
            dictionary, projection = extend(state.dictionary, rows, indices, options.tol, max_size)
            state = _add_block(replace(state, dictionary=dictionary, exact=False), projection, options)
            advance(len(indices))
    return state


def chunk_title(options: DictionaryOptions) -> str:
    """Return the name of the stage in which a chunk of a stream is processed, with its limits."""
    size = "any number of members" if options.size is None else f"at most {options.size} members"
    return f"chunk ({size})" if options.tol is None else f"chunk (tolerance {options.tol:g}, {size})"


def _add_block(
    state: DictionaryState, projection: SpanProjection, options: DictionaryOptions
) -> DictionaryState:
    """Add a block of points to the moments."""
    span, weighted = state.span, state.weighted_moments
    is_first = state.moments.count == 0
    moments = FeatureMoments.about(projection.Z.mean(axis=0)) if is_first else state.moments.pad(span.size)
    mean = None if options.averages == "implicit" else mean_of_members(span)
    if weighted is None:
        return replace(state, moments=moments.add(projection), mean=mean)
    state = replace(state, moments=moments.add(replace(projection, Z=projection.Z.copy())), mean=mean)
    averages = span.features(projection.Z) @ state.mean_feature()
    before = weighted.n_isolated
    weighted = FeatureMoments.about(moments.origin) if is_first else weighted.pad(span.size)
    weighted = weighted.add(projection, averages)
    warn_isolated(weighted.n_isolated - before, weighted.min_average)
    return replace(state, weighted_moments=weighted)


# --- one pass over a stream, with a dictionary of bounded size ----------------------------------------------


def budget_fit(state: DictionaryState, Y: PointArray, options: DictionaryOptions) -> DictionaryState:
    """Continue with more points; the dictionary has at most ``options.size`` members at the end.

    The points of a block that are not in the span become members. Then ``size`` members are kept, chosen
    greedily for a span near the projected points of the whole stream, and these are projected on it.
    ``total_error`` bounds the sum of the squared distances between the points and their projections.
    """
    assert options.size is not None
    state = _with_total_error(state)
    with stage(chunk_title(options), total=n_points(Y)) as advance:
        reader = RowReader([Y], state.moments.count)
        # The gain of a new member is estimated from the rows of its block alone, since the components of
        # earlier rows in its direction are lost: blocks have at least 512 rows, if the chunk has as many.
        for indices, rows in read_blocks(reader, max(options.size, 512)):
            state = _replace_members(state, rows, indices, options.size)
            advance(len(indices))
    error, moments = state.total_error or 0.0, state.moments
    # Bounds, since the errors of single points are not known after members were replaced; without
    # ``sum_to_one`` no projection is longer than its point.
    worst = error if state.span.sum_to_one else min(error, 4 * moments.max_squared_norm)
    moments = replace(moments, max_error=worst, sum_root_errors=float(np.sqrt(moments.count * error)))
    return replace(
        state, moments=moments, mean=None if options.averages == "implicit" else mean_of_members(state.span)
    )


def _with_total_error(state: DictionaryState) -> DictionaryState:
    """Set ``total_error`` to an upper bound if it is None: the state comes from rows read several times."""
    moments, span = state.moments, state.span
    if state.total_error is not None or moments.count == 0:
        return state
    assert state.exact
    bound = moments.max_error**0.5 * moments.sum_root_errors
    return replace(state, moments=moments_on_hull(span, moments), total_error=bound)


def _replace_members(
    state: DictionaryState, rows: PointArray, indices: np.ndarray, size: int
) -> DictionaryState:
    """Extend the dictionary by a block of points, add them to the moments, and reduce it to ``size``."""
    norms = state.span.source.diagonal(rows, indices) + state.span.shift
    dictionary, projection = extend(state.dictionary, rows, indices, MAX_ROUNDING * norms)
    projection = on_hull(dictionary.span, projection)
    before = state.total_error or 0.0
    error = before + float(projection.error.sum())
    is_first = state.moments.count == 0
    earlier = (
        FeatureMoments.about(projection.Z.mean(axis=0)) if is_first else state.moments.pad(dictionary.size)
    )
    moments = earlier.add(projection)
    if dictionary.size > size:
        dictionary, moments, moved, moved_earlier = reduce_dictionary(dictionary, moments, size, earlier)
        error += moved + 2 * float(np.sqrt(before * moved_earlier))
    return replace(state, dictionary=dictionary, moments=moments, total_error=error, exact=False)
