"""How estimators take dask collections: the same methods, applied to blocks of rows where these lie.

What a method does to a row does not depend on the others (law 2), so a method of rows is mapped over the
blocks (:func:`rowwise`), and a mean over rows is the mean of the blocks' means (:func:`averaged`). ``fit``
begins with :func:`collected`, which checks the columns."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from eigenscape import distributed
from eigenscape.distributed import is_collection, is_lazy

#: What a worker has no use for: it would be sent for nothing, or holds the collection itself.
_STAYS = ("embedding_", "_embedding_", "labels_", "feature_names_in_")


def rowwise(
    columns: str | None = "_n_features_out", *, of: str = "n_features_in_", dtype: Any = None, ready: str = ""
) -> Callable[[Any], Any]:
    """A method that makes one row of output for each row of input: for a collection, a lazy dask array with
    the same chunks.

    Parameters
    ----------
    columns : str or None
        The attribute that says how many columns come out; None for a single value a row.
    of : str
        The attribute that says how many columns go in.
    dtype : dtype or None
        Of the output; None for that of the input.
    ready : str
        A method that makes what is made at the first call: once here, not once a block.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def dispatched(self: Any, X: Any) -> Any:
            if not is_collection(X):
                return method(self, X)
            check_is_fitted(self)
            _check_container(self)
            if ready:
                getattr(self, ready)()
            if of == "n_features_in_":
                blocks = collected(self, X, reset=False)
            else:
                blocks = distributed.as_blocks(X)
                _check_width(self, blocks.n_features, getattr(self, of))
            tail = () if columns is None else (int(getattr(self, columns)),)
            call = _Call(method.__name__)
            return distributed.map_blocks(call, blocks, tail, dtype or blocks.dtype, _for_workers(self))

        return dispatched

    return decorate


def averaged(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that returns the mean of something over the rows of ``X``: for a collection, the mean over its
    blocks, computed at once."""

    @wraps(method)
    def dispatched(self: Any, X: Any = None, *args: Any, **named: Any) -> Any:
        if not is_collection(X):
            return method(self, X, *args, **named)
        check_is_fitted(self)
        if any(value is not None for value in (*args, *named.values())):
            raise ValueError(f"{method.__name__} of a dask collection takes no sample_weight; leave it out")
        blocks = collected(self, X, reset=False)
        weight, total = distributed.reduce_blocks(_Total(method.__name__), blocks, _added, _for_workers(self))
        return total / weight

    return dispatched


def collected(estimator: Any, X: Any, reset: bool) -> Any:
    """The blocks of a collection whose columns are those the estimator knows, or with ``reset`` will know."""
    dense = not get_tags(estimator).input_tags.sparse
    blocks = distributed.as_blocks(X, missing=bool(getattr(estimator, "_missing", False)), dense=dense)
    if blocks.array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got a {blocks.array.ndim}D dask collection instead; X has rows and columns"
        )
    columns = np.empty((0, blocks.n_features)) if blocks.names is None else X._meta
    _check_feature_names(estimator, columns, reset=reset)
    _check_n_features(estimator, columns, reset=reset)
    return blocks


def weight_blocks(sample_weight: Any) -> list[Any]:
    """Weights of the rows of a collection, cut as it is; none for one each."""
    if sample_weight is None:
        return []
    if not is_collection(sample_weight) or sample_weight.ndim != 1:
        raise TypeError(
            f"X is a dask collection, and sample_weight is a {type(sample_weight).__name__}; pass a dask array of one dimension with the"
            " row chunks of X"
        )
    return [distributed.as_blocks(sample_weight, name="sample_weight")]


def check_weight(total: float, sample_weight: Any) -> None:
    """At least two rows, or weights that sum to more than one, can be learnt from."""
    if total > 1:
        return
    if sample_weight is None:
        raise ValueError(f"Found a dask collection with {total:g} sample(s) while a minimum of 2 is required")
    raise ValueError(
        f"sample_weight sums to {total:g}, and must sum to more than 1: a weight counts how often its row stands; scale them up"
    )


def refuse_collection(estimator: Any, X: Any) -> None:
    """For work that needs all rows at once."""
    if is_collection(X):
        name = type(estimator).__name__
        raise TypeError(
            f"{name} needs all rows in memory here, and X is a dask collection; pass X.compute(), or fit on some of its rows and call"
            " transform on the collection"
        )
    if is_lazy(X):
        raise TypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}, in which no rows and columns can be seen; make it a dask array"
            " (dask.array.from_delayed) or dataframe (to_dataframe), or compute it"
        )


class _Call:
    """A method by its name: what is sent is the name, not the code."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, block: Any, model: Any) -> Any:
        return getattr(model, self.__name__)(block)


class _Total(_Call):
    """The mean of a block and its number of rows, as a sum."""

    def __call__(self, block: Any, model: Any) -> Any:
        return np.array([block.shape[0], block.shape[0] * super().__call__(block, model)])


def _added(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return first + second


def _for_workers(estimator: Any) -> Any:
    """The fitted model without what a block has no use for; cores are dask's to share out."""
    model = copy(estimator)
    for name in _STAYS:
        vars(model).pop(name, None)
    vars(model).update(
        {name: value for name, value in {"n_jobs": 1, "verbose": False}.items() if name in vars(model)}
    )
    return model


def _check_width(estimator: Any, width: int, expected: int) -> None:
    if width != expected:
        raise ValueError(
            f"X has {width} coordinates, but {type(estimator).__name__} has {expected} components"
        )


def _check_container(estimator: Any) -> None:
    if _get_output_config("transform", estimator)["dense"] != "default":
        raise ValueError(
            "set_output(transform=...) is for data in memory; a dask collection comes out as a dask array, leave it 'default'"
        )
