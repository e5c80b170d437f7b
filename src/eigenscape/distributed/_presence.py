"""Whether dask is there, and whether something is one of its collections; nothing here imports it without
need."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def is_collection(X: Any) -> bool:
    """Whether ``X`` is a dask array or dataframe. Where dask was never imported nothing can be one.

    Examples
    --------
    >>> from eigenscape.distributed import is_collection
    >>> is_collection([[0.0, 1.0]])
    False
    """
    return is_lazy(X) and isinstance(getattr(X, "ndim", None), int)


def is_lazy(X: Any) -> bool:
    """Whether ``X`` is anything of dask that is not computed yet: a collection, or a bag or delayed value, in
    which no rows are seen."""
    if "dask" not in sys.modules or type(X).__module__.split(".")[0] not in ("dask", "dask_expr"):
        return False  # others, such as xarray, wrap dask arrays and say what they are themselves
    return bool(import_module("dask").is_dask_collection(X))


def require(*modules: str) -> None:
    """Import dask, and further modules of its extra; an error that names the extra where one is missing."""
    for module in ("dask", *modules):
        try:
            import_module(module)
        except ImportError as error:
            raise ImportError(
                f"work on dask collections needs {module}, which is not installed: pip install eigenscape[dask]"
            ) from error
