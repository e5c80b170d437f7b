"""Modules of pyarrow, imported at first use: it is an optional package, and its import takes time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigenscape._extras import optional_import

__all__ = ["compute", "csv", "pa", "parquet"]

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import compute, csv, parquet
else:

    class _Module:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(optional_import(self._name, "reading this table"), name)

    pa, compute = _Module("pyarrow"), _Module("pyarrow.compute")
    csv, parquet = _Module("pyarrow.csv"), _Module("pyarrow.parquet")
