"""File extensions of the formats that can be read."""

from __future__ import annotations

from pathlib import Path

#: Text formats and the delimiter that the extension defines, if any.
TEXT: dict[str, str | None] = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None}
EDGES = (".edges", ".edgelist")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
COMPRESSED = (".gz", ".bz2", ".zst")


def extension(path: Path) -> str:
    """Return the lower-case extension that defines the format, without a compression suffix."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
