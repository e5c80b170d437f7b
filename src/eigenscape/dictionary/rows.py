"""Rows to choose from: an array, on disk or in memory, or chunks that come one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

from eigenscape.kernels.base import n_points


class Rows(Protocol):
    """Rows that can be gone through several times, in order."""

    @property
    def count(self) -> int: ...

    def blocks(self, mask: np.ndarray | None, most: Callable[[], int]) -> Iterator[tuple[np.ndarray, Any]]:
        """Numbers and rows of those that ``mask`` marks (None: all), in blocks no longer than ``most()``,
        asked anew for each."""
        ...

    def places(self, numbers: np.ndarray) -> np.ndarray:
        """Where the rows with these numbers stand among all."""
        ...


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Rows of anything that can be sliced; ``first`` is the number of its first row."""

    X: Any
    first: int = 0

    @property
    def count(self) -> int:
        return n_points(self.X)

    def blocks(self, mask: np.ndarray | None, most: Callable[[], int]) -> Iterator[tuple[np.ndarray, Any]]:
        marked = None if mask is None else np.flatnonzero(mask)
        total, start = self.count if marked is None else len(marked), 0
        while start < total:
            rows = slice(start, min(start + most(), total))
            some = np.arange(rows.start, rows.stop) if marked is None else marked[rows]
            yield some + self.first, self.X[rows] if marked is None else self.X[some]
            start = rows.stop

    def places(self, numbers: np.ndarray) -> np.ndarray:
        return numbers - self.first


@dataclass(frozen=True, eq=False)
class PickedRows:
    """Some of the rows, with their numbers among all of them, ascending."""

    X: Any
    numbers: np.ndarray  # (n,)

    @property
    def count(self) -> int:
        return len(self.numbers)

    def blocks(self, mask: np.ndarray | None, most: Callable[[], int]) -> Iterator[tuple[np.ndarray, Any]]:
        for places, Y in ArrayRows(self.X).blocks(mask, most):
            yield self.numbers[places], Y

    def places(self, numbers: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.numbers, numbers)


@dataclass(frozen=True, eq=False)
class ChunkRows:
    """Rows in chunks, from something that can be iterated over again and again."""

    chunks: Iterable[Any]

    @property
    def count(self) -> int:
        return sum(n_points(chunk) for chunk in self.chunks)

    def blocks(self, mask: np.ndarray | None, most: Callable[[], int]) -> Iterator[tuple[np.ndarray, Any]]:
        first = 0
        for chunk in self.chunks:
            stop = first + n_points(chunk)
            yield from ArrayRows(chunk, first).blocks(None if mask is None else mask[first:stop], most)
            first = stop

    def places(self, numbers: np.ndarray) -> np.ndarray:
        return numbers


@cache
def _libraries() -> ThreadpoolController:
    """The linear algebra libraries loaded; looking for them takes longer than many a block."""
    return ThreadpoolController()


def over_rows(
    work: Callable[[np.ndarray, Any], Any], rows: Rows, size: int, n_jobs: int | None
) -> Iterator[Any]:
    """``work(numbers, Y)`` for one block of rows after another, in order, on ``n_jobs`` cores with one thread
    of linear algebra each."""
    blocks = rows.blocks(None, lambda: size)
    cores = joblib.effective_n_jobs(n_jobs)
    if cores == 1:
        yield from (work(numbers, Y) for numbers, Y in blocks)
        return
    with _libraries().limit(limits=1, user_api="blas"), ThreadPoolExecutor(cores) as pool:
        waiting: deque[Future] = (
            deque()
        )  # few at a time: blocks of a stream are not read before they are wanted
        for numbers, Y in blocks:
            waiting.append(pool.submit(work, numbers, Y))
            if len(waiting) > 2 * cores:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
