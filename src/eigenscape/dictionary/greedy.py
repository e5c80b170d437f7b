"""Greedy choice of a dictionary (Ouimet sec. 3, algorithms 1 and 2), candidates taken in blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from eigenscape._display import short_repr
from eigenscape._progress import stage
from eigenscape.dictionary.rows import Rows
from eigenscape.dictionary.source import Source, joined
from eigenscape.dictionary.span import RESOLUTION, Projected, Span, refuse_indefinite
from eigenscape.kernels.base import n_points

#: Bisections of algorithm 2.
_BISECTIONS = 40


@dataclass(frozen=True, eq=False)
class Dictionary:
    """A span, the places of its members among the points seen, and whether tolerance asked for more than
    rounding allows."""

    span: Span
    numbers: np.ndarray  # (m,)
    stalled: bool = False

    __repr__ = short_repr

    @property
    def size(self) -> int:
        return self.span.size

    @property
    def block_rows(self) -> int:
        """Candidates to take at a time: few while almost each is chosen, many when hardly any is."""
        return min(max(256, 8 * self.size), 8192)


def empty(source: Source, Y: Any, sum_to_one: bool, n_jobs: int | None = None) -> Dictionary:
    """A dictionary without members for points like those of ``Y``."""
    few = Y[:256]
    numbers = np.arange(n_points(few))
    scale = float(np.mean(source.own(few, numbers)))
    members = source.members(few, numbers)[:0]
    shift = (scale if scale > 0 else 1.0) if sum_to_one else 0.0
    return Dictionary(
        Span(source, members, np.empty((0, 0), order="F"), shift, sum_to_one, n_jobs),
        np.empty(0, dtype=np.int64),
    )


def grown(
    dictionary: Dictionary, Y: Any, numbers: np.ndarray, tol: float, limit: float = np.inf
) -> tuple[Dictionary, Projected]:
    """Algorithm 1 on one block of candidates, in order; also what the block looks like from the dictionary
    that results.

    Each chosen point adds one coordinate to all candidates of the block. The choice is that of taking one
    candidate after another. It stops at ``limit`` members."""
    growth = _Growth(dictionary, Y, numbers)
    stalled, position = dictionary.stalled, 0
    while dictionary.size + growth.size < limit:
        beyond = np.flatnonzero(growth.error[position:] > tol)
        if len(beyond) == 0:
            break
        position += int(beyond[0])
        if growth.residual[position] > RESOLUTION * growth.length[position]:
            growth.choose(position)
        else:
            stalled = True
        position += 1
    refuse_indefinite(growth.length - dictionary.span.shift, growth.residual, growth.length, numbers)
    return replace(growth.dictionary(), stalled=stalled), growth.projected()


class _Growth:
    """The state of algorithm 1 within a block."""

    def __init__(self, dictionary: Dictionary, Y: Any, numbers: np.ndarray) -> None:
        seen = dictionary.span.project(Y, numbers)
        span = dictionary.span
        self.start, self.Y, self.numbers = dictionary, Y, numbers
        self.Z, self.length = seen.Z, seen.length
        self.residual, self.error = seen.residual.copy(), seen.error.copy()
        self.rows = np.empty(
            (8, n_points(Y))
        )  # coordinates that the block itself adds, by row; it doubles when full
        self.chosen: list[int] = []
        ones = span.ones if span.sum_to_one and span.size else np.empty(0)
        self.ones, self.beta = list(ones), float(ones @ ones)
        self.alpha = 1.0 - self.Z @ ones if span.sum_to_one else None

    @property
    def size(self) -> int:
        return len(self.chosen)

    def choose(self, position: int) -> None:
        """Add a candidate: its coordinates are the new row of ``L``, its distance from the span the new
        diagonal entry."""
        a = self.size
        if a == len(self.rows):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
        own = self._coordinates(position)
        pivot = np.sqrt(self.residual[position])
        span = self.start.span
        values = span.source.values(
            self.Y,
            span.source.members(self.Y[position : position + 1], self.numbers[position : position + 1]),
        )[:, 0]
        new = (
            values + span.shift - self.Z @ own[: self.start.size] - self.rows[:a].T @ own[self.start.size :]
        ) / pivot
        new[position] = pivot
        self.rows[a] = new
        self.chosen.append(position)
        self.residual -= new**2
        self.residual[position] = 0.0
        self.error = self.residual
        if self.alpha is not None:
            one = (1.0 - own @ np.asarray(self.ones)) / pivot
            self.ones.append(one)
            self.beta += one * one
            self.alpha -= one * new
            self.alpha[position] = 0.0
            self.error = self.residual + self.alpha**2 / self.beta

    def _coordinates(self, position: int) -> np.ndarray:
        return np.concatenate([self.Z[position], self.rows[: self.size, position]])

    def dictionary(self) -> Dictionary:
        if not self.chosen:
            return self.start
        span, m, a = self.start.span, self.start.size, self.size
        factor = np.zeros((m + a, m + a), order="F")
        factor[:m, :m] = span.factor
        factor[m:, :m] = self.Z[self.chosen]
        factor[m:, m:] = np.tril(self.rows[:a, self.chosen].T)
        numbers = self.numbers[self.chosen]
        members = span.source.members(self.Y[np.asarray(self.chosen)], numbers)
        span = replace(span, factor=factor, members=joined(span.members, members) if m else members)
        return Dictionary(span, np.concatenate([self.start.numbers, numbers]))

    def projected(self) -> Projected:
        Z = np.concatenate([self.Z, self.rows[: self.size].T], axis=1) if self.size else self.Z
        return Projected(Z, self.length, self.residual, np.maximum(self.error, 0.0))


def sieved(
    dictionary: Dictionary, Y: Any, numbers: np.ndarray, tol: float, limit: float = np.inf
) -> tuple[Dictionary, np.ndarray]:
    """The dictionary of :func:`grown`, and for each candidate an upper bound of its distance from it, for
    less work.

    A point within ``tol`` of the first members' span is within ``tol`` of any larger one, and most points
    are: only the rest is projected on all members."""
    level = dictionary.span.error_bounds(Y, numbers, tol)
    left = np.flatnonzero(level > tol)
    if len(left):
        dictionary, projected = grown(dictionary, Y[left], numbers[left], tol, limit)
        level[left] = projected.error
    return dictionary, level


def by_tolerance(start: Dictionary, rows: Rows, tol: float, limit: float) -> Dictionary:
    """Algorithm 1 over all points."""
    now = [start]
    with stage("dictionary") as advance:
        for numbers, Y in rows.blocks(None, lambda: now[0].block_rows):
            now[0] = sieved(now[0], Y, numbers, tol, limit)[0]
            advance(len(numbers))
    return now[0]


class Scan(Protocol):
    """Points that algorithm 1 goes through again and again."""

    def run(
        self, dictionary: Dictionary, tol: float, size: float, below: float = 0.0, stop: bool = False
    ) -> Dictionary | None:
        """Algorithm 1 with all points; None as soon as it takes more than ``size`` members (with ``stop`` it
        ends there).

        What is learnt about the points holds for the dictionary that is returned, and those that grow from
        it: it is the one to go on with. ``below``: later runs will have a tolerance of no less, as a rule.
        """
        ...


class RowScan:
    """Rows at hand.

    Distances from the span only fall as the dictionary grows, so a point once seen within the present
    tolerance need not be looked at again: ``level`` holds each point's last known distance."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.level = rows, np.full(rows.count, np.inf)

    def run(
        self, dictionary: Dictionary, tol: float, size: float, below: float = 0.0, stop: bool = False
    ) -> Dictionary | None:
        found = run(dictionary, self.rows, self.level, tol, size, stop)
        if found is None:
            return None
        dictionary, self.level = found
        return dictionary


def run(
    dictionary: Dictionary, rows: Rows, level: np.ndarray, tol: float, size: float, stop: bool
) -> tuple[Dictionary, np.ndarray] | None:
    """Algorithm 1 on the points that may be beyond ``tol``, as :meth:`Scan.run` has it, and their new
    levels."""
    level, now = level.copy(), [dictionary]
    for numbers, Y in rows.blocks(level > tol, lambda: now[0].block_rows):
        now[0], level[rows.places(numbers)] = sieved(now[0], Y, numbers, tol, size if stop else size + 1)
        if now[0].size > size:
            return None
        if stop and now[0].size == size:
            break
    return now[0], level


def by_size(start: Dictionary, scan: Scan, size: int, first_tol: float) -> Dictionary:
    """Algorithm 2: a dictionary of ``size`` members with an almost minimal error level; fewer if there are
    not so many."""
    dictionary = start
    below, above = 0.0, first_tol  # epsilon+ and epsilon-
    with stage("dictionary", total=size) as advance:
        while (found := scan.run(dictionary, above, size)) is None:
            below, above = above, 10 * above
        while True:
            for _ in range(_BISECTIONS):
                if found is not None:
                    advance(found.size - dictionary.size)
                    dictionary = found
                    if dictionary.size == size:
                        return dictionary
                middle = below + (above - below) / 2
                found = scan.run(dictionary, middle, size, below)
                below, above = (middle, above) if found is None else (below, middle)
            dictionary = dictionary if found is None else found
            last = scan.run(dictionary, below, size, below, stop=True)
            assert last is not None
            if last.size == size or below == 0.0:
                return last
            # Step 25 takes epsilon+ to lead to a size, but it did so from a smaller dictionary: other points
            # may have filled the gap since.
            found, below, above = last, 0.0, below
