"""Estimate of the memory and time of a fit to a collection."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.distributed.sample import sample_size
from eigenscape.options import flattened

#: Passes over all rows with a dictionary; the selection, which projects on some members, counts as two.
_PASSES = 4
#: Assumed size of a dictionary whose size depends on the data.
_MEMBERS = 300
#: Rows processed at once.
_BLOCK_ROWS = 2048


class Cost(NamedTuple):
    """Order of magnitude of the memory (bytes per worker) and time (seconds) of a fit."""

    bytes_each: float
    seconds: float


def cost(estimator: BaseEstimator, rows: int, columns: int, largest: int, cores: int) -> Cost:
    """Estimate the cost of a fit.

    The speed of this machine is measured with a matrix product of a typical size.

    Parameters
    ----------
    estimator : estimator
        The estimator to be fitted.
    rows, columns : int
        Shape of the collection.
    largest : int
        Number of rows of its largest partition.
    cores : int
        Number of cores, assumed to be as fast as this one.

    Returns
    -------
    Cost
    """
    params = flattened(estimator.get_params(deep=False))
    partition = 8.0 * largest * columns * 2  # as read, and in double precision
    if "dictionary" not in params and "dictionary_size" not in params:
        # Methods with a kernel, a metric or a graph are fitted to a sample.
        by_sample = "kernel" in params or "metric" in params or "affinity" in params
        work = 2.0 * rows * columns * (sample_size(2) if by_sample else columns)
        return Cost(partition + 8.0 * largest * 4, work / (_speed(columns, 64) * cores))
    m = params.get("dictionary_size") or _MEMBERS
    work = _PASSES * rows * (2.0 * m * columns + 2.0 * m * m)
    bounds = 8.0 * rows / cores if params.get("dictionary_size") else 0.0  # error bound of each row
    return Cost(partition + bounds + 8.0 * (6 * m * m + 4 * _BLOCK_ROWS * m), work / (_speed(m, m) * cores))


def _speed(inner: int, outer: int) -> float:
    """Measure the operations per second of a product (2048, inner) (inner, outer)."""
    A, B = np.ones((_BLOCK_ROWS, inner)), np.ones((inner, outer))
    A @ B
    start = time.perf_counter()
    for _ in range(3):
        A @ B
    return 3 * 2.0 * _BLOCK_ROWS * inner * outer / max(time.perf_counter() - start, 1e-9)
