"""Modules of pyarrow. It is an optional package, so this module is imported where a table is read."""

from __future__ import annotations

from eigenscape._extras import optional_import

optional_import("pyarrow", "reading this table")

import pyarrow as pa  # noqa: E402
from pyarrow import compute, csv  # noqa: E402

__all__ = ["compute", "csv", "pa"]
