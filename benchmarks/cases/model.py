"""What a case consists of: jobs, goals, and the kinds of rows of the tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

NEIGHBORS = 10


@dataclass(frozen=True)
class Job:
    """An estimator on a data set, and which of its steps is timed.

    With ``n_new > 0`` the model also places ``n_new`` new rows, and with ``n_single > 0`` as many of them one
    at a time; ``step`` is the time that a row of the table shows: "fit", "transform" or "single". Jobs that
    differ in ``step`` only are measured once.
    """

    name: str
    estimator: str
    params: dict[str, Any]
    data: str
    n: int
    measure: str
    n_new: int = 0
    n_single: int = 0
    step: str = "fit"
    dtype: str = ""  # the type of the rows, if it is not that of the data set
    busy: bool = False  # whether another process keeps one core busy
    shared: bool = False  # whether the process of the job measures others too, to save imports and reading

    @property
    def is_eigenscape(self) -> bool:
        """Whether the estimator is part of eigenscape."""
        return self.estimator.startswith("eigenscape.")


@dataclass(frozen=True)
class Goal:
    """Limits for the row: speed and memory relative to the peer, peak memory in bytes, and seconds."""

    speed: float | None = None
    memory: float | None = None
    peak: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Case:
    """A row of the table: the job of eigenscape (``ours``) and those of other libraries (``peers``).

    The goal applies to the fastest correct peer. ``references`` are measured and shown beside it, but solve
    another problem, so that the goal does not refer to them.
    """

    key: str
    title: str
    ours: Job
    peers: tuple[Job, ...]
    goal: Goal = field(default_factory=Goal)
    skip: str = ""  # reason why the case cannot be measured
    references: tuple[Job, ...] = ()


@dataclass(frozen=True)
class Growth:
    """The same case at increasing sizes; the goals are maximum exponents of time and memory."""

    key: str
    title: str
    steps: tuple[Case, ...]
    time_exponent: float | None = 1.10
    memory_exponent: float | None = 1.05


Row = Case | Growth


def without_goal(row: Row) -> Row:
    """Return a case without its goals."""
    if isinstance(row, Case):
        return replace(row, goal=Goal())
    return replace(row, time_exponent=None, memory_exponent=None) if isinstance(row, Growth) else row
