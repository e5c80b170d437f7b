"""Formats of files by their extension."""

from __future__ import annotations

from pathlib import Path

from eigenscape.exceptions import InputFileError

#: Text formats and the delimiter that the extension defines, if any.
TEXT: dict[str, str | None] = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None}
EDGES = (".edges", ".edgelist")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
COLUMNAR = (*PARQUET, *ARROW)
ARRAYS = (".npy", ".npz", ".h5ad", ".zarr")
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".webp")
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


def find_input(path: str | Path) -> tuple[Path, str]:
    """Return the path of an input and its lower-case extension, without a compression suffix.

    Raises
    ------
    InputFileError
        If it does not exist, is empty, or is a pipe, whose opening may not end.
    """
    path = Path(path).expanduser()
    if not path.exists():
        raise InputFileError(f"file {path} does not exist")
    if not path.is_file() and not path.is_dir():
        raise InputFileError(
            f"{path} is a pipe or a device, not a file; use - and standard input for a text table"
        )
    if path.is_file() and path.stat().st_size == 0:
        raise InputFileError(f"{path} is empty")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return path, next((suffix for suffix in reversed(suffixes) if suffix not in COMPRESSED), "")
