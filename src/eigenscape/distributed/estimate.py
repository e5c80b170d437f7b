"""What a fit to a collection will take, about, before it starts."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from eigenscape.distributed.sample import sample_size

#: Passes over all rows with a dictionary: the choice, which looks at part of the members, counts as two.
_PASSES = 4
#: Members of a dictionary whose size only the data tell.
_MEMBERS = 300
#: Rows that are worked on at once.
_BLOCK = 2048


class Cost(NamedTuple):
    """An order of magnitude: bytes that a worker needs, and seconds."""

    bytes_each: float
    seconds: float


def cost(estimator: Any, rows: int, columns: int, largest: int, cores: int) -> Cost:
    """For so many rows, the largest partition of which has ``largest``, on so many cores like this one.

    The speed of this machine is measured by a product of the size that the work is made of.
    """
    wish = estimator.get_params(deep=False)
    partition = 8.0 * largest * columns * 2  # read, and as double precision
    by_dictionary = wish.get("dictionary_size") or wish.get("dictionary_tol") or "selection" in wish
    if not by_dictionary:
        together = (
            "kernel" in wish or "metric" in wish or "affinity" in wish
        )  # needs its rows together: fitted to a sample
        work = 2.0 * rows * columns * (sample_size(2) if together else columns)
        return Cost(partition + 8.0 * largest * 4, work / (_speed(columns, 64) * cores))
    m = wish.get("dictionary_size") or _MEMBERS
    work = _PASSES * rows * (2.0 * m * columns + 2.0 * m * m)
    remembered = (
        8.0 * rows / cores if wish.get("dictionary_size") else 0.0
    )  # how far each row was, while a size is searched for
    return Cost(partition + remembered + 8.0 * (6 * m * m + 4 * _BLOCK * m), work / (_speed(m, m) * cores))


def _speed(inner: int, outer: int) -> float:
    """Operations a second of a product (2048, inner) (inner, outer)."""
    A, B = np.ones((_BLOCK, inner)), np.ones((inner, outer))
    A @ B
    start = time.perf_counter()
    for _ in range(3):
        A @ B
    return 3 * 2.0 * _BLOCK * inner * outer / max(time.perf_counter() - start, 1e-9)
