"""The turn-off of dask collections: methods that :mod:`eigenscape.distributed` computes for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from eigenscape.distributed import call_on_blocks, is_collection
from eigenscape.estimators._running import fitting, running

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def by_blocks(way: str, **described: Any) -> _Decorator:
    """Decorate a method: for a collection, the function ``way`` of ``distributed`` is called instead.

    Its arguments are the estimator, the name of the method and the arguments of the method; ``described`` are
    keyword arguments on the output.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        name, first = method.__name__, method.__code__.co_varnames[1]  # after self

        @wraps(method)
        def turned_off(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_collection(args[0] if args else kwargs.get(first)):
                return method(self, *args, **kwargs)
            with fitting(self) if name == "fit" else running(self):
                found = call_on_blocks(way, self, name, *args, **kwargs, **described)
            return self if found is None else found  # None of a fit

        return turned_off

    return decorate


def rowwise(columns: str | None = "_n_features_out", **described: Any) -> _Decorator:
    """Decorate a method with one row of output per row of input.

    For the arguments see :func:`eigenscape.distributed.dispatch.map_rows`.
    """
    return by_blocks("dispatch.map_rows", columns=columns, **described)


#: A mean over the rows of ``X``.
averaged = by_blocks("dispatch.mean_over_rows")
#: ``loss`` and ``loss_curve``, means over the pairs of rows of ``X``.
paired = by_blocks("dispatch.losses_of_pairs")
