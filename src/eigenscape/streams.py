"""Streams of rows: arrays, parquet and arrow files that are read in chunks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenscape._extras import optional_import
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes of a chunk in double precision, unless the number of rows is given.
CHUNK_BYTES = 2**26


def chunk_rows(n_columns: int) -> int:
    """Return the number of rows of a chunk with ``n_columns`` columns."""
    return max(1, CHUNK_BYTES // (8 * max(n_columns, 1)))


@dataclass(frozen=True, eq=False)
class SlicedChunks:
    """Rows of an array on disk, in chunks; images are flattened.

    Parameters
    ----------
    array : array-like of shape (n_samples, ...)
        A :class:`numpy.memmap`, a zarr array or any object with ``shape`` that can be sliced.
    rows : int, optional
        Number of rows of a chunk. If None, a chunk has about 64 MiB in double precision.
    """

    array: Any
    rows: int | None = None

    def __iter__(self) -> Iterator[np.ndarray]:
        n_rows, width = self.array.shape[0], int(np.prod(self.array.shape[1:]))
        rows = self.rows or chunk_rows(width)
        for start in range(0, n_rows, rows):
            chunk = self._slice(start, min(start + rows, n_rows))
            yield chunk.reshape(len(chunk), width)

    def _slice(self, start: int, stop: int) -> np.ndarray:
        """Return some rows. Those of a read-only map are read from its file.

        Pages of a map stay in memory, and the process is ended by a signal if another one truncates the file.
        """
        array = self.array
        is_map = isinstance(array, np.memmap) and isinstance(array.base, mmap)
        if not (is_map and array.mode == "r" and array.filename and array.flags.c_contiguous):
            return np.asarray(array[start:stop])
        shape = (stop - start, *array.shape[1:])
        offset = array.offset + start * array.strides[0]
        rows = np.fromfile(array.filename, array.dtype, int(np.prod(shape)), offset=offset)
        if rows.size < np.prod(shape):
            raise InputFileError(f"{array.filename} has become shorter since it was opened; read it again")
        return rows.reshape(shape)


def parquet_files(path: Path) -> list[Path]:
    """Return a parquet file, or all parquet files of a folder in the order of their names."""
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(f"the folder {path} contains no parquet file")
    return files


def open_arrow(path: Path) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Open an arrow file in the file format or in the stream format.

    The file is not mapped into memory: offsets beyond its end would then end the process.
    """
    pa = optional_import("pyarrow", "reading an arrow file")
    try:
        return pa.ipc.open_file(arrow_file(path))
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(arrow_file(path))


def arrow_file(path: str | Path) -> pa.OSFile:
    """Open a file for pyarrow, whose own functions accept only names in UTF-8."""
    return optional_import("pyarrow", "reading a file").OSFile(os.fsencode(path))


def iter_batches(reader: pa.RecordBatchFileReader | pa.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of an arrow file; raise ArrowInvalid if offsets are out of range."""
    is_stream = hasattr(reader, "read_next_batch")
    for batch in reader if is_stream else map(reader.get_batch, range(reader.num_record_batches)):
        batch.validate(full=True)
        yield batch


def parquet_batches(content: Any, n_rows: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield columns of a parquet file in batches; raise if there are not as many rows as declared.

    pyarrow ends a stream of batches without an error where the pages of a damaged file end."""
    found = 0
    for batch in content.iter_batches(batch_size=n_rows, columns=columns):
        found += len(batch)
        yield batch
    check_declared_rows(content, found)


def check_declared_rows(content: Any, found: int) -> None:
    """Raise OSError unless the rows of a parquet file that were found are as many as it declares."""
    declared = content.metadata.num_rows
    if found != declared:
        raise OSError(f"{declared} rows are declared, {found} were found")


def as_chunks(X: Any) -> Iterable[Any] | None:
    """Return the chunks of a stream, or None if ``X`` is an array in memory.

    A stream is a :class:`numpy.memmap`, a list of two-dimensional arrays, an iterator, or any other iterable
    that is not array-like.
    """
    if isinstance(X, np.memmap):
        return SlicedChunks(X)
    if isinstance(X, (str, Path)):
        raise TypeError(f"rows are needed, got the path {str(X)!r}; pass read(path, stream=True).array")
    if isinstance(X, (list, tuple)):
        return X if len(X) and getattr(X[0], "ndim", 0) == 2 else None
    if hasattr(X, "__array__") or hasattr(X, "shape") or hasattr(X, "dtype") or not isinstance(X, Iterable):
        return None
    return X


def can_repeat(chunks: Iterable[Any]) -> bool:
    """Return whether the chunks can be iterated over again, which an iterator does not allow."""
    return not isinstance(chunks, Iterator)
