"""Fit of a dictionary to a dask collection (Ouimet sec. 3), with the same members as on one machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape._progress import stage
from eigenscape.dictionary.feature_moments import FeatureMoments
from eigenscape.dictionary.low_rank import warn_isolated
from eigenscape.dictionary.partitions import (
    CandidatePool,
    PartitionScan,
    PoolRequest,
    head_size,
    pool_size,
    screen_partition,
)
from eigenscape.dictionary.readers import RowReader
from eigenscape.dictionary.selection import CandidateScan, Dictionary, RowScan, empty_dictionary, extend
from eigenscape.dictionary.source import KernelSource, PointArray
from eigenscape.dictionary.span import Span
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.dispatch import check_not_precomputed, validate_blocks
from eigenscape.distributed.graphs import PersistedResult
from eigenscape.distributed.kernels import bind_blocks
from eigenscape.distributed.reduce import count_rows, reduce_blocks, reduce_persisting, take_rows
from eigenscape.distributed.sample import evenly_spaced
from eigenscape.graph.row_index import row_hashes
from eigenscape.kernels.base import BoundKernel, Kernel
from eigenscape.methods.dictionary_fit import (
    DictionaryOptions,
    DictionaryState,
    ValueSums,
    accumulate_moments,
    accumulate_values,
    check_not_empty,
    mean_of_members,
    select_exact_size,
    state_from_moments,
)


@dataclass(frozen=True, eq=False)
class BlockTrainingRows:
    """Rows of a collection from which a dictionary is learnt; ``X`` are evenly spaced ones.

    Rows in memory have the same methods (``eigenscape.estimators._dictionary.TrainingRows``).
    """

    blocks: Blocks
    lengths: np.ndarray  # number of rows of each partition
    X: PointArray
    stored: None = None  # all rows, if they are in memory

    @property
    def n_rows(self) -> int:
        return int(self.lengths.sum())

    def take(self, indices: np.ndarray) -> PointArray:
        ascending, inverse = np.unique(indices, return_inverse=True)
        return take_rows(self.blocks, ascending, self.lengths)[inverse]

    def bind(self, kernel: Kernel) -> BoundKernel:
        return bind_blocks(kernel, self.X, self.blocks)

    def fit(self, source: KernelSource, options: DictionaryOptions) -> DictionaryState:
        return fit_dictionary_blocks(source, self.blocks, options, self.X)


def training_rows(estimator: Any, X: Any, reset: bool = True) -> BlockTrainingRows:
    """Return the validated rows of a collection."""
    blocks = validate_blocks(estimator, X, reset=reset)
    check_not_precomputed(estimator)
    lengths = count_rows(blocks)
    return BlockTrainingRows(blocks, lengths, evenly_spaced(blocks, lengths=lengths))


def fit(estimator: Any, _: str, X: Any, y: object = None) -> None:  # noqa: ARG001
    """Fit ``GreedySpectralEmbedding`` to a collection; ``embedding_`` is lazy."""
    options, selection = estimator._options(), estimator._dictionary().selection
    named = isinstance(selection, str) and selection != "greedy"
    if options.averages == "random" or named:
        name = f"selection={selection!r}" if named else "averages='random'"
        raise ValueError(
            f"{name} needs all data in memory, and X is a dask collection; use averages='implicit' and"
            " selection='greedy'"
        )
    estimator._fit_dictionary(training_rows(estimator, X), options)
    estimator._embedding_, estimator._stream_ = estimator.transform(X), None


def partial_fit(estimator: Any, _: str, X: Any, y: object = None) -> None:  # noqa: ARG001
    """Continue with the rows of a collection."""
    options, state = estimator._continued()
    if options.tol is None:
        raise ValueError(
            "a size without tol replaces members one chunk after another, and X is a dask collection; set"
            " tol, call fit, or pass the chunks as arrays"
        )
    rows = training_rows(estimator, X, reset=state is None)
    if state is None:
        estimator._bind(rows)
    state = partial_fit_blocks(estimator._source_, state, rows.blocks, options, rows.X)
    estimator._set_model(state, options)
    estimator._embedding_ = estimator._stream_ = None


def second_pass(estimator: Any, _: str, chunks: Any) -> None:
    """Project all rows of a collection on the whole dictionary."""
    check_is_fitted(estimator, "n_samples_seen_")
    blocks, options = validate_blocks(estimator, chunks, reset=False), estimator._options()
    estimator._set_model(second_pass_blocks(estimator._state_.dictionary, blocks, options), options)
    estimator._embedding_, estimator._stream_ = estimator.transform(chunks), None


def fit_dictionary_blocks(
    source: KernelSource, blocks: Blocks, options: DictionaryOptions, sample: PointArray
) -> DictionaryState:
    """Fit a dictionary to a collection; see :func:`eigenscape.methods.dictionary_fit.fit_dictionary`.

    Every partition returns rows whose projection error exceeds the tolerance. The client continues Ouimet's
    algorithm 1 with these rows, until no partition returns any. The selected members therefore do not depend
    on the partitioning, and the projection errors of Ouimet's proposition 1 are known for all rows. A second
    pass projects every row and accumulates the moments. ``sample`` contains a few rows of the collection.
    """
    if options.members is not None:
        dictionary = empty_dictionary(source, sample, options.sum_to_one, options.n_jobs)
        dictionary = extend(dictionary, *options.members, tol=0.0)[0]
    else:
        dictionary = _select(source, blocks, options, sample, complete=True)
    check_not_empty(dictionary)
    return second_pass_blocks(dictionary, blocks, options)


def second_pass_blocks(dictionary: Dictionary, blocks: Blocks, options: DictionaryOptions) -> DictionaryState:
    """Accumulate the moments of all rows; see :func:`eigenscape.methods.dictionary_fit.second_pass`."""
    span = replace(dictionary.span, n_jobs=None)  # dask assigns the threads
    mean = mean_of_members(span) if options.averages == "dictionary" else None
    divisive = options.normalization == "divisive"
    if divisive and mean is None:
        mean = reduce_blocks(_value_sums, blocks, span).mean(span)
    moments = reduce_blocks(_moments, blocks, span, mean if divisive else None, None)
    return state_from_moments(dictionary, moments, mean, options)


def partial_fit_blocks(
    source: KernelSource,
    state: DictionaryState | None,
    blocks: Blocks,
    options: DictionaryOptions,
    sample: PointArray,
) -> DictionaryState:
    """Continue with the rows of a collection; None for ``state`` if they are the first.

    The dictionary is selected as by :func:`eigenscape.methods.dictionary_fit.partial_fit`. All rows of the
    collection are projected on the dictionary as it is at the end.
    """
    dictionary = _select(source, blocks, options, sample, state)
    check_not_empty(dictionary)
    if state is None:
        return replace(second_pass_blocks(dictionary, blocks, options), exact=False)  # more rows may follow
    span = replace(dictionary.span, n_jobs=None)
    moments = state.moments.pad(span.size)
    moments = moments.merge(reduce_blocks(_moments, blocks, span, None, moments.origin))
    mean = None if options.averages == "implicit" else mean_of_members(span)
    state = DictionaryState(dictionary, moments, state.weighted_moments, mean)
    if state.weighted_moments is None:
        return state
    weighted = state.weighted_moments.pad(span.size)
    added = reduce_blocks(_moments, blocks, span, state.mean_feature(), weighted.origin)
    warn_isolated(added.n_isolated, added.min_average)
    return replace(state, weighted_moments=weighted.merge(added))


def _select(
    source: KernelSource,
    blocks: Blocks,
    options: DictionaryOptions,
    sample: PointArray,
    state: DictionaryState | None = None,
    complete: bool = False,
) -> Dictionary:
    """Select by algorithm 1 or 2 from all rows, continuing from ``state``.

    ``complete`` means that no further rows will follow, so that too few distinct rows are an error.
    """
    lengths = count_rows(blocks)
    n_rows, n_seen = int(lengths.sum()), 0 if state is None else state.moments.count
    max_rows = pool_size(sample)
    head = take_rows(blocks, np.arange(head_size(n_rows, max_rows)), lengths)
    if state is None:
        dictionary = empty_dictionary(source, head, options.sum_to_one, options.n_jobs)
    else:
        dictionary = state.dictionary
    if complete:
        _check_distinct(options.size if options.tol is None else None, n_rows, head, blocks)
    reader = RowReader([head], n_seen)
    scan: CandidateScan = RowScan(reader)
    if reader.n_rows < n_rows:
        scan = PartitionScan(BlockPartitions(blocks, lengths, n_seen), reader, max_rows)
    if options.tol is None:
        first = head[:256]
        return select_exact_size(dictionary, scan, options.size, first, np.arange(first.shape[0]))
    with stage("dictionary"):
        selected = scan.extend(dictionary, options.tol, options.size or np.inf, options.tol, stop=True)
    assert selected is not None
    return selected


def _check_distinct(size: int | None, n_rows: int, head: PointArray, blocks: Blocks) -> None:
    """Raise ValueError if all rows are equal or if there are fewer than ``size`` distinct ones.

    The first rows (``head``) usually contain enough distinct ones; otherwise all partitions are searched.
    """
    size = max(2, size or 2)
    n_distinct = len(_smallest_hashes(head, size))
    if n_distinct < size:
        n_distinct = len(reduce_blocks(_smallest_hashes, blocks, size, combine=partial(_merge_hashes, size)))
    if n_rows == 1:
        raise ValueError("Found a dask collection with 1 sample(s) while a minimum of 2 is required")
    if n_distinct == 1:
        raise ValueError(f"all {n_rows} rows are equal; there is nothing to embed")
    if n_distinct < size:
        raise ValueError(
            f"size={size} of the dictionary, but there are only {n_distinct} distinct points; lower size"
        )


class BlockPartitions:
    """The partitions of a collection (:class:`eigenscape.dictionary.partitions.Partitions`).

    Error bounds stay on the workers.
    """

    def __init__(self, blocks: Blocks, lengths: np.ndarray, n_seen: int) -> None:
        self.blocks, self.lengths = blocks, lengths
        self.ends = n_seen + np.cumsum(lengths)
        self.committed: list[PersistedResult | None] = [None] * len(lengths)
        self.latest = list(self.committed)

    def screen(self, dictionary: Dictionary, request: PoolRequest, start: int, stop: int) -> CandidatePool:
        span = replace(dictionary.span, n_jobs=None)  # dask assigns the threads
        firsts = [(int(first),) for first in (self.ends - self.lengths)[start:stop]]
        pool, self.latest[start:stop] = reduce_persisting(
            screen_partition,
            self.blocks.partition_range(start, stop),
            attrgetter("pool"),
            CandidatePool.merge,
            partial(CandidatePool.truncate, request=request),
            firsts,
            self.latest[start:stop],
            span,
            request,
        )
        return pool

    def commit(self) -> None:
        self.committed = list(self.latest)

    def rollback(self) -> None:
        self.latest = list(self.committed)


# Functions executed on the workers; the rows of the block come first.


def _smallest_hashes(Y: PointArray, size: int) -> np.ndarray:
    """Return the ``size`` smallest distinct hashes of the rows."""
    return np.unique(row_hashes(Y))[:size]


def _merge_hashes(size: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.union1d(first, second)[:size]


def _value_sums(Y: PointArray, span: Span) -> ValueSums:
    return accumulate_values(span, RowReader([Y]))


def _moments(Y: PointArray, span: Span, mean: np.ndarray | None, origin: np.ndarray | None) -> FeatureMoments:
    return accumulate_moments(span, RowReader([Y]), mean, origin)
