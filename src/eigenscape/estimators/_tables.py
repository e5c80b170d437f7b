"""Tables that scikit-learn does not convert: their numbers and the names of their columns.

scikit-learn takes pandas, polars and pyarrow tables as they are. Here are those that it does not know: record
batches of pyarrow, lazy frames of polars, frames of narwhals, and any object with the arrow stream interface
(``__arrow_c_stream__``), such as the results of DuckDB.
"""

from __future__ import annotations

from typing import Any

from eigenscape._extras import optional_import


def as_known_table(X: Any) -> Any:
    """Return a table as an object that scikit-learn converts, with the names of its columns; others as is."""
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):  # a lazy frame of polars or narwhals
        X = X.collect()
    if hasattr(X, "to_native"):  # of narwhals
        X = X.to_native()
    if hasattr(X, "shape") and hasattr(X, "__array__") and hasattr(X, "columns") and hasattr(X, "__len__"):
        return X if not _is_record_batch(X) else _to_arrow(X)
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__"):
        return _to_arrow(X)
    return X


def _is_record_batch(X: Any) -> bool:
    return type(X).__name__ == "RecordBatch" and hasattr(X, "__arrow_c_stream__")


def _to_arrow(X: Any) -> Any:
    return optional_import("pyarrow", f"converting a {type(X).__name__} to numbers").table(X)


def date_columns(X: Any) -> list[str]:
    """Return the names of columns of dates, times and durations, which NumPy may convert to numbers."""
    types = getattr(getattr(X, "schema", None), "types", None)  # of pyarrow
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if types is None:
        types = getattr(X, "dtypes", None)  # of pandas and polars
    if types is None or names is None or len(types) != len(names):
        return []
    return [
        str(name)
        for name, kind in zip(names, types, strict=True)
        if str(kind).lower().startswith(("date", "time", "duration"))
    ]


def text_columns(X: Any) -> list[str]:
    """Return the names of columns of a table that are not numbers, to be named in errors; [] if unknown."""
    import numpy as np

    names = getattr(X, "column_names", None)
    if names is None:
        names = getattr(X, "columns", None)
    if names is None or not hasattr(X, "__getitem__"):
        return []
    found = []
    for name in names:
        try:
            np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            found.append(str(name))
    return found
