"""Detection of dask and of its collections, without importing dask."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from eigenscape._extras import optional_import

#: Packages whose classes are lazy.
_DASK = ("dask", "dask_expr")

#: What to do with a collection if an estimator learns from the coordinates of an embedder.
PREFIT = "fit the embedder to the collection, and this estimator with prefit=True to rows in memory"


def is_collection(X: Any) -> bool:
    """Return whether ``X`` is a dask array or dataframe.

    Parameters
    ----------
    X : object
        Any object. If dask has not been imported, the result is False.

    Returns
    -------
    bool

    Examples
    --------
    >>> from eigenscape.distributed import is_collection
    >>> is_collection([[0.0, 1.0]])
    False
    """
    return (
        type(X).__module__.split(".")[0] in _DASK and is_lazy(X) and isinstance(getattr(X, "ndim", None), int)
    )


def is_lazy(X: Any) -> bool:
    """Return whether ``X`` is any dask object not yet computed: a collection, a bag or a delayed value."""
    if "dask" not in sys.modules or type(X).__module__.split(".")[0] not in _DASK:
        return False  # wrappers of dask arrays, such as xarray's, are treated as what they are
    return bool(import_module("dask").is_dask_collection(X))


def check_in_memory(estimator: Any, X: Any, remedy: str = "") -> None:
    """Raise TypeError for a dask object where all rows must be in memory."""
    if is_collection(X):
        remedy = remedy or "pass X.compute(), or fit on some of its rows and call transform on the collection"
        raise TypeError(
            f"{type(estimator).__name__} needs all rows in memory here, and X is a dask collection; {remedy}"
        )
    if is_lazy(X):
        raise TypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}, which has no rows and columns; convert it to a"
            " dask array (dask.array.from_delayed) or dataframe (to_dataframe), or compute it"
        )


def call_on_blocks(way: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function of this package by its name, such as "pca.fit"; its module imports dask."""
    require()
    module, name = way.split(".")
    return getattr(import_module(f"eigenscape.distributed.{module}"), name)(*args, **kwargs)


def require(*modules: str) -> None:
    """Import dask and further modules of its extra.

    Raises
    ------
    MissingDependencyError
        If one of them is not installed. The message names the extra that installs it.
    """
    for module in ("dask", *modules):
        optional_import(module, "computing on dask collections")
