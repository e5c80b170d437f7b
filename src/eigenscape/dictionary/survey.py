"""Greedy choice from rows that are never together (Ouimet sec. 3): the dictionary of one machine, row for
row.

A point within the tolerance of a dictionary's span is within it for every larger one, and most points are. So
each part of the rows is looked at where it lies, against the dictionary so far, and only what is beyond the
tolerance comes together, in order, for algorithm 1 to go on with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from eigenscape.dictionary.greedy import Dictionary, run
from eigenscape.dictionary.rows import ArrayRows, PickedRows, Rows
from eigenscape.dictionary.source import joined
from eigenscape.dictionary.span import Span
from eigenscape.kernels.base import n_points

#: Bytes of rows that come together at once, and the fewest rows all the same.
_BYTES, _FEWEST = 2**22, 256
#: Of all rows the part that is looked at first, to have a dictionary that few others are far from; and the
#: fewest of them.
_PART, _FIRST = 64, 8192
#: Part of the tolerance down to which rows are looked at: the next runs of algorithm 2, with half of it, find
#: them there.
_AHEAD = 0.5


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of every part of the rows."""

    tol: float  # rows beyond this are wanted, from the first on,
    least: float  # and of those beyond this the farthest,
    most: int  # but not more than this in all,
    share: int  # and of the latter not more than this of each part;
    members: np.ndarray  # rows that are in the dictionary: no distance from it, whatever rounding says
    first: int = 0  # rows before this one have been looked at


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows that are far from a dictionary: all that are farther than ``floor``, among the rows before number
    ``end``."""

    points: Any  # (p, n_features)
    numbers: np.ndarray  # (p,), ascending
    level: np.ndarray  # (p,), bounds of their squared distances, exact beyond the tolerance
    floor: float
    end: float = np.inf

    def beside(self, later: Pool) -> Pool:
        """Join with the pool of later rows, keeping rows above the larger of the two floors."""
        floor = max(self.floor, later.floor)
        level = np.concatenate([self.level, later.level])
        kept = level > floor
        return Pool(
            joined(self.points, later.points)[kept],
            np.concatenate([self.numbers, later.numbers])[kept],
            level[kept],
            floor,
            min(self.end, later.end),
        )

    def thinned(self, question: Question) -> Pool:
        """No more rows than are wanted: where too many are beyond the tolerance the first of them, else these
        and the farthest others."""
        which, floor, end = _wanted(self.numbers, self.level, question, question.most, self.end)
        return Pool(self.points[which], self.numbers[which], self.level[which], max(self.floor, floor), end)


def _wanted(
    numbers: np.ndarray, level: np.ndarray, question: Question, room: int, end: float
) -> tuple[np.ndarray, float, float]:
    """Places of the rows that are wanted, ``room`` of them at most within the tolerance; the floor, and the
    end."""
    beyond = np.flatnonzero((level > question.tol) & (numbers < end))
    if len(beyond) > question.most:
        beyond, end = beyond[: question.most], float(numbers[beyond[question.most]])
    if end < np.inf:
        return beyond, question.tol, end
    spare = len(level) - max(len(beyond), min(len(beyond) + room, question.most))
    floor = (
        float(np.partition(level, spare - 1)[spare - 1]) if spare > 0 else 0.0
    )  # the farthest row that has no place
    return np.flatnonzero(level > max(floor, question.least)), max(floor, question.least), end


@dataclass(frozen=True, eq=False)
class Answer:
    """What a part of the rows answers, and bounds (n,) of how far each of them is from the span."""

    pool: Pool
    level: np.ndarray


def survey(before: Answer | None, Y: Any, first: int, span: Span, question: Question) -> Answer:
    """Ask a part of the rows.

    Parameters
    ----------
    before : Answer or None
        The last one, for a dictionary that this one has grown from: rows that were near enough are not looked
        at again.
    Y : array (n, n_features)
    first : int
        The number of the first row.
    span : Span
    question : Question
    """
    numbers = np.arange(first, first + n_points(Y))
    level = np.full(n_points(Y), np.inf) if before is None else before.level.copy()
    level[question.members[(question.members >= first) & (question.members <= numbers[-1])] - first] = 0.0
    for which, some in ArrayRows(Y).blocks(level > question.least, lambda: 8192):
        level[which] = _bounds(span, some, which, question.least)
    seen = numbers < question.first
    level[seen] = np.minimum(level[seen], question.tol)  # what is beyond for want of digits was passed over
    which, floor, end = _wanted(numbers, level, question, question.share, np.inf)
    return Answer(Pool(Y[which], numbers[which], level[which], floor, end), level)


def _bounds(span: Span, Y: Any, numbers: np.ndarray, tol: float) -> np.ndarray:
    bounds = span.error_bounds(Y, numbers, tol)
    return bounds if np.isfinite(bounds).all() else span.project(Y, numbers).error


class Parts(Protocol):
    """Rows that lie in parts, each of which remembers the levels that were found last."""

    ends: np.ndarray  # of the parts, as numbers of rows

    def ask(self, dictionary: Dictionary, question: Question, first: int, last: int) -> Pool:
        """Survey the parts from one to another, the last one excluded."""
        ...

    def remember(self) -> None:
        """Keep the levels found since the last call: the dictionaries asked about were good."""
        ...

    def forget(self) -> None:
        """Go back to those kept last."""
        ...


class PartScan:
    """Rows in parts, asked where they lie.

    Algorithm 1 is run on the first rows, at hand; then all parts are asked what is beyond the tolerance
    still, and it goes on with that. Where it is too much at once, the first of it leads to a better
    dictionary with which the remaining parts, few at first, are asked again. A pool of far rows serves later
    runs as well, as long as their tolerance is not below its floor."""

    def __init__(self, parts: Parts, head: Rows, most: int) -> None:
        self.parts, self.most = parts, most
        self.head, self.head_level = head, np.full(head.count, np.inf)
        self.pool: Pool | None = None

    def run(
        self, dictionary: Dictionary, tol: float, size: float, below: float = 0.0, stop: bool = False
    ) -> Dictionary | None:
        """See :class:`eigenscape.dictionary.greedy.Scan`."""
        head_level = self.head_level
        found: tuple[Dictionary, Pool | None] | None
        if self.pool is not None and self.pool.floor <= tol:
            found = self._grown(dictionary, self.pool, tol, size, stop)
        else:
            first = run(dictionary, self.head, head_level, tol, size, stop)
            if first is None:
                return None
            dictionary, head_level = first
            found = (
                (dictionary, None)
                if stop and dictionary.size >= size
                else self._asked(dictionary, tol, size, below, stop)
            )
        if found is None:
            self.parts.forget()
            return None
        self.parts.remember()
        self.head_level, (dictionary, self.pool) = head_level, found
        return dictionary

    def _asked(
        self, dictionary: Dictionary, tol: float, size: float, below: float, stop: bool
    ) -> tuple[Dictionary, Pool | None] | None:
        """Go on with parts after parts until none has anything beyond the tolerance."""
        ends = self.parts.ends
        start, width, first = 0, len(ends), 0
        while start < len(ends):
            stop_at = min(start + width, len(ends))
            if start > 0 and ends[stop_at - 1] == ends[start - 1]:  # no rows in these
                start, width = stop_at, 2 * width
                continue
            share = max(_FEWEST, 4 * self.most // (stop_at - start))
            question = Question(
                tol, max(min(below, tol), _AHEAD * tol), self.most, share, dictionary.numbers, first
            )
            pool = self.parts.ask(dictionary, question, start, stop_at)
            found = self._grown(dictionary, pool, tol, size, stop)
            if found is None:
                return None
            dictionary = found[0]
            if stop and dictionary.size >= size:
                return dictionary, None
            if pool.end < np.inf:
                first = int(pool.end)
                reached = int(np.searchsorted(ends, first, side="right"))
                start, width = reached, max(1, 2 * (reached - start))
            elif start == 0 and stop_at == len(ends):
                return found
            else:
                start, width = stop_at, 2 * width
        return dictionary, None

    @staticmethod
    def _grown(
        dictionary: Dictionary, pool: Pool, tol: float, size: float, stop: bool
    ) -> tuple[Dictionary, Pool] | None:
        found = run(dictionary, PickedRows(pool.points, pool.numbers), pool.level, tol, size, stop)
        return None if found is None else (found[0], replace(pool, level=found[1]))


def pool_size(few: Any) -> int:
    """How many rows like these come together at once, each with its number and level."""
    nbytes = few.data.nbytes + few.indices.nbytes if hasattr(few, "indptr") else few.nbytes
    return max(_FEWEST, int(_BYTES / (16 + nbytes / n_points(few))))


def head_size(count: int, most: int) -> int:
    """How many of the first rows are at hand: all, where they may come together."""
    return min(most, count if count <= most else max(_FIRST, count // _PART))
