"""Methods that also accept dask collections, which turn off here into :mod:`eigenscape.distributed.dispatch`.

The result for a row does not depend on the other rows, so a method of rows is mapped over the blocks
(:func:`rowwise`), and a mean over rows is the weighted mean of the means of the blocks (:func:`averaged`).
The loss is a mean over pairs of rows, for which pairs of blocks are formed (:func:`paired`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from numpy.typing import DTypeLike

from eigenscape.distributed import is_collection
from eigenscape.distributed.dispatch import losses_of_pairs, map_rows, mean_over_rows


def rowwise(
    columns: str | None = "_n_features_out",
    *,
    of: str = "n_features_in_",
    dtype: DTypeLike | None = None,
    like: str = "",
    ready: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a method with one row of output per row of input.

    For a dask collection the decorated method returns a lazy dask array with the same row chunks.

    Parameters
    ----------
    columns : str or None
        Name of the attribute with the number of output columns; None, or an attribute that is None, for one
        value per row.
    of : str
        Name of the attribute with the number of input columns.
    dtype : dtype or None
        The dtype of the output. If None, the dtype of the input.
    like : str
        Name of the attribute that has the dtype of the output, if this dtype depends on the fit.
    ready : str
        Name of a method that computes what the first call would compute: on the client, not once per block.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def dispatched(self: Any, X: Any) -> Any:
            if is_collection(X):
                return map_rows(self, method.__name__, X, columns, of, dtype, like, ready)
            return method(self, X)

        return dispatched

    return decorate


def averaged(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method that returns a mean over the rows of ``X``."""

    @wraps(method)
    def dispatched(self: Any, X: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not is_collection(X):
            return method(self, X, *args, **kwargs)
        if any(value is not None for value in (*args, *kwargs.values())):
            raise ValueError(
                f"{method.__name__} of a dask collection does not support sample_weight; leave it out"
            )
        return mean_over_rows(self, method.__name__, X)

    return dispatched


def paired(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``loss`` and ``loss_curve``, which are means over the pairs of rows of ``X``."""

    @wraps(method)
    def dispatched(self: Any, X: Any = None, between: Any = None) -> Any:
        if not is_collection(X):
            return method(self, X, between)
        if between is not None:
            raise ValueError(f"{method.__name__} of a dask collection does not support between; leave it out")
        whole = method.__name__ == "loss_curve"
        curve = losses_of_pairs(self, X, whole)
        return curve if whole else float(curve[-1])

    return dispatched
