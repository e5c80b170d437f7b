"""Dask graphs over blocks of rows, constructed directly: one delayed call per block takes milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

import dask
from dask.base import DaskMethodsMixin
from dask.delayed import Delayed
from dask.utils import ensure_dict

from eigenscape._threads import run_nested
from eigenscape.distributed.blocks import Blocks, Key

#: Number of results combined per task, in the order of the blocks: the tree depends only on the number of
#: blocks, so that results do not depend on the number of workers.
FAN = 8


class PersistedResult(NamedTuple):
    """A result that stays on the worker that computed it: its key and the graph that contains it."""

    key: Key
    tasks: dict[Key, Any]


class Graph:
    """A dask graph. Arguments of a task are keys of others; constants are bound to its function."""

    def __init__(self) -> None:
        self.tasks: dict[Key, Any] = {}

    def blocks(self, blocks: Blocks) -> list[Key]:
        """Add the blocks of a collection, not yet validated."""
        self.tasks.update(blocks.tasks)
        return blocks.keys

    def persisted(self, result: PersistedResult | None) -> Key | None:
        """Add a persisted result."""
        if result is None:
            return None
        self.tasks.update(result.tasks)
        return result.key

    def shared(self, value: Any) -> Key:
        """Add a value that all blocks need; it is sent to each worker once."""
        return self.add("shared", [partial(_identity, value)], [()])[0]

    def add(
        self, label: str, functions: Sequence[Callable[..., Any]], arguments: Sequence[Sequence[Any]]
    ) -> list[Key]:
        """Add one task per function; its arguments are keys, or lists of keys, of other tasks."""
        name = f"eigenscape-{label}-{uuid4().hex}"
        keys = [(name, number) for number in range(len(functions))]
        self.tasks.update(
            {
                key: (partial(run_nested, function), *given)
                for key, function, given in zip(keys, functions, arguments, strict=True)
            }
        )
        return keys

    def tree(self, keys: list[Key], function: Callable[[list[Any]], Any]) -> Key:
        """Add a tree reduction: ``function`` of at most ``FAN`` results, in order, until one is left."""
        while len(keys) > 1:
            groups = [keys[start : start + FAN] for start in range(0, len(keys), FAN)]
            keys = self.add("join", [function] * len(groups), [[group] for group in groups])
        return keys[0]

    def compute(self, key: Key) -> Any:
        """Compute the result of a task."""
        return compute(Delayed(key, self.tasks))

    def compute_and_persist(self, key: Key, others: list[Key]) -> tuple[Any, list[PersistedResult]]:
        """Compute the result of a task, and persist the results of ``others`` on the workers."""
        tasks = _ResultSet(self.tasks, [key, *others]).persist(retries=retries()).tasks
        persisted = [PersistedResult(other, {other: tasks[other]}) for other in others]
        return compute(Delayed(key, {key: tasks[key]})), persisted


class _ResultSet(DaskMethodsMixin):
    """Several results of one graph as a dask collection; delayed values would merge the graph repeatedly."""

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
        return self._rebuild, ()

    def _rebuild(self, tasks: Any, **_: Any) -> _ResultSet:
        return _ResultSet(ensure_dict(tasks), self.keys)


def retries() -> int:
    """Return how often a failed task is repeated: dask's setting "eigenscape.retries", by default 3."""
    return dask.config.get("eigenscape.retries", 3)


def compute(node: Delayed) -> Any:
    """Compute the value of a node.

    Retries, and recomputation of the results of a lost worker, need dask's distributed scheduler.
    """
    return node.compute(retries=retries())


def _identity(value: Any) -> Any:
    return value
