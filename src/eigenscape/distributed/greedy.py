"""Dictionaries of estimators that are fitted to a dask collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape.dictionary.source import KernelSource, PointArray
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.dictionary import fit_dictionary_blocks, partial_fit_blocks, second_pass_blocks
from eigenscape.distributed.dispatch import check_not_precomputed, validate_blocks
from eigenscape.distributed.kernels import bind_blocks
from eigenscape.distributed.reduce import count_rows, take_rows
from eigenscape.distributed.sample import evenly_spaced
from eigenscape.kernels.base import BoundKernel, Kernel
from eigenscape.methods.dictionary_fit import DictionaryOptions, DictionaryState


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


def fit(estimator: Any, _: str, X: Any, y: object = None) -> Any:  # noqa: ARG001
    """Fit ``GreedySpectralEmbedding`` to a collection; ``embedding_`` is lazy."""
    options, selection = estimator._options(), estimator._selection()
    named = isinstance(selection, str) and selection != "greedy"
    if options.averages == "random" or named:
        name = f"selection={selection!r}" if named else "averages='random'"
        raise ValueError(
            f"{name} needs all data in memory, and X is a dask collection; use averages='implicit' and"
            " selection='greedy'"
        )
    estimator._fit_dictionary(training_rows(estimator, X), options)
    estimator._embedding_, estimator._stream_ = estimator.transform(X), None
    return estimator


def partial_fit(estimator: Any, _: str, X: Any, y: object = None) -> Any:  # noqa: ARG001
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
    return estimator


def second_pass(estimator: Any, _: str, chunks: Any) -> Any:
    """Project all rows of a collection on the whole dictionary."""
    check_is_fitted(estimator, "n_samples_seen_")
    blocks, options = validate_blocks(estimator, chunks, reset=False), estimator._options()
    estimator._set_model(second_pass_blocks(estimator._state_.dictionary, blocks, options), options)
    estimator._embedding_, estimator._stream_ = estimator.transform(chunks), None
    return estimator
