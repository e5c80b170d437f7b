"""Comparison of a file that is read whole with the same file read in chunks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.app.io.table import Table


def in_memory(table: Table) -> Table:
    """Return a table with its chunks joined."""
    return table if hasattr(table.array, "shape") else replace(table, array=np.concatenate(list(table.array)))


def differences(streamed: Table, whole: Table) -> list[str]:
    """Return the attributes in which two tables differ, except ``extra``, which streams leave out."""
    streamed = in_memory(streamed)
    arrays = [
        name
        for name in ("array", "labels", "ids", "rows")
        if not _equal(*(getattr(t, name) for t in (streamed, whole)))
    ]
    others = (
        "names", "kind", "image_shape", "label_name", "id_name", "remarks",
        "categories", "dtypes", "n_dropped",
    )  # fmt: skip
    return arrays + [name for name in others if getattr(streamed, name) != getattr(whole, name)]


def _equal(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if sparse.issparse(a) and sparse.issparse(b):
        return a.shape == b.shape and all(
            _equal(getattr(a, x), getattr(b, x)) for x in ("data", "indices", "indptr")
        )
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
