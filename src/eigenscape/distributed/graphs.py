"""Graphs of tasks over blocks of rows, written down directly: calling a delayed function for each block would
take milliseconds a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

import dask
from dask.base import DaskMethodsMixin
from dask.delayed import Delayed
from dask.utils import ensure_dict

from eigenscape.distributed.blocks import Blocks

#: Results that are combined at once, in the order of the blocks: the tree depends on their number alone, not
#: on who works.
FAN = 8

Key = Any


class Kept(NamedTuple):
    """A result that stays where it was made: its name, and the graph that leads to it."""

    key: Key
    tasks: dict[Key, Any]


class Graph:
    """Tasks by name. What a task is called with are names of others; all else is part of its function."""

    def __init__(self) -> None:
        self.tasks: dict[Key, Any] = {}

    def blocks(self, blocks: Blocks) -> list[Key]:
        """The blocks of a collection, not checked yet."""
        self.tasks.update(blocks.tasks)
        return blocks.keys

    def kept(self, kept: Kept | None) -> Key | None:
        """What was kept before."""
        if kept is None:
            return None
        self.tasks.update(kept.tasks)
        return kept.key

    def shared(self, value: Any) -> Key:
        """Something that all blocks need: a worker gets it once, and once more from another if it was
        lost."""
        return self.each("shared", [partial(_value, value)], [()])[0]

    def each(
        self, what: str, functions: Sequence[Callable[..., Any]], arguments: Sequence[Sequence[Any]]
    ) -> list[Key]:
        """One task for each function, called with results of others: a name, or a list of names."""
        name = f"eigenscape-{what}-{uuid4().hex}"
        keys = [(name, number) for number in range(len(functions))]
        self.tasks.update(
            {key: (function, *given) for key, function, given in zip(keys, functions, arguments, strict=True)}
        )
        return keys

    def tree(self, keys: list[Key], function: Callable[[list[Any]], Any]) -> Key:
        """``function`` of at most eight results at once, in their order, until one is left."""
        while len(keys) > 1:
            few = [keys[start : start + FAN] for start in range(0, len(keys), FAN)]
            keys = self.each("join", [function] * len(few), [[some] for some in few])
        return keys[0]

    def result(self, key: Key) -> Any:
        """Compute it."""
        return compute(Delayed(key, self.tasks))

    def result_and_kept(self, key: Key, others: list[Key]) -> tuple[Any, list[Kept]]:
        """Compute it, and ``others``, which stay with the workers."""
        tasks = _Several(self.tasks, [key, *others]).persist(retries=retries()).tasks
        return compute(Delayed(key, {key: tasks[key]})), [
            Kept(other, {other: tasks[other]}) for other in others
        ]


class _Several(DaskMethodsMixin):
    """Several results of one graph, as dask wants collections: a delayed value for each would have the graph
    merged as often."""

    def __init__(self, tasks: dict[Key, Any], keys: list[Key]) -> None:
        self.tasks, self.keys = tasks, keys

    __dask_optimize__ = staticmethod(Delayed.__dask_optimize__)
    __dask_scheduler__ = staticmethod(Delayed.__dask_scheduler__)

    def __dask_graph__(self) -> dict[Key, Any]:
        return self.tasks

    def __dask_keys__(self) -> list[Key]:
        return self.keys

    def __dask_postcompute__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return list, ()

    def __dask_postpersist__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._rebuilt, ()

    def _rebuilt(self, tasks: Any, **_: Any) -> _Several:
        return _Several(ensure_dict(tasks), self.keys)


def retries() -> int:
    """How often a task that fails is tried again: as dask's configuration says ("eigenscape.retries"), else 3
    times."""
    return dask.config.get("eigenscape.retries", 3)


def compute(node: Delayed) -> Any:
    """The value of a node.

    Trying again, and doing elsewhere what a lost worker had, is the business of dask's distributed scheduler:
    without one there is none of it."""
    return node.compute(retries=retries())


def _value(value: Any) -> Any:
    return value
