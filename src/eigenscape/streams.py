"""Tables that are read in chunks of rows, because they are larger than memory or not there yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np

#: Bytes of a chunk, in double precision, where the data do not say.
CHUNK_BYTES = 2**26


def chunk_rows(width: int) -> int:
    """Rows of a chunk of so many columns."""
    return max(1, CHUNK_BYTES // (8 * max(width, 1)))


@dataclass(frozen=True, eq=False)
class SlicedChunks:
    """The rows of an array on disk, some at a time; images are laid flat."""

    array: Any
    rows: int | None = None  # in a chunk; None: as many as make a moderate one

    def __iter__(self) -> Iterator[Any]:
        n_rows, width = self.array.shape[0], int(np.prod(self.array.shape[1:]))
        rows = self.rows or chunk_rows(width)
        for start in range(0, n_rows, rows):
            chunk = self._part(start, min(start + rows, n_rows))
            yield chunk.reshape(len(chunk), width)

    def _part(self, start: int, stop: int) -> np.ndarray:
        """Some rows. Of a file they are mapped by themselves, so that what has been read does not stay in
        memory."""
        array = self.array
        if not (
            isinstance(array, np.memmap)
            and isinstance(array.base, mmap)
            and array.filename
            and array.flags.c_contiguous
        ):
            return np.asarray(array[start:stop])
        begin = array.offset + start * array.strides[0]
        return np.asarray(
            np.memmap(array.filename, array.dtype, "r", begin, (stop - start, *array.shape[1:]))
        )


@dataclass(frozen=True, eq=False)
class ParquetChunks:
    """The row groups of a parquet file, or of all parquet files of a folder in order of their names."""

    path: Path
    columns: tuple[str, ...] | None = None
    rows: int | None = None

    def __iter__(self) -> Iterator[np.ndarray]:
        from pyarrow import parquet

        columns = self.columns
        for file in self.files():
            with parquet.ParquetFile(file) as table:
                columns = columns or tuple(table.schema_arrow.names)
                missing = [name for name in columns if name not in table.schema_arrow.names]
                if missing:
                    raise ValueError(
                        f"{file.name} has no column {missing[0]!r}; all files need the columns {', '.join(columns)}"
                    )
                for batch in table.iter_batches(
                    batch_size=self.rows or chunk_rows(len(columns)), columns=list(columns)
                ):
                    yield numbers_of(batch.select(list(columns)), file)

    def files(self) -> list[Path]:
        """The files to read."""
        files = sorted(self.path.glob("*.parquet")) if self.path.is_dir() else [self.path]
        if not files:
            raise FileNotFoundError(f"there is no parquet file in the folder {self.path}")
        return files


@dataclass(frozen=True, eq=False)
class ArrowChunks:
    """The record batches of an arrow or feather file."""

    path: Path
    columns: tuple[str, ...] | None = None

    def __iter__(self) -> Iterator[np.ndarray]:
        with open_arrow(self.path) as reader:
            columns = list(self.columns or reader.schema.names)
            batches = (
                reader
                if hasattr(reader, "read_next_batch")
                else map(reader.get_batch, range(reader.num_record_batches))
            )
            for batch in batches:
                yield numbers_of(batch.select(columns), self.path)


def open_arrow(path: Path) -> Any:
    """A reader of an arrow file, with a table of contents or written as a stream."""
    import pyarrow as pa

    try:
        return pa.ipc.open_file(pa.memory_map(str(path)))
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(pa.memory_map(str(path)))


def numbers_of(batch: Any, file: Path) -> np.ndarray:
    """The columns of an arrow batch as one array (n, d)."""
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            columns.append(np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"column {name!r} of {file.name} holds {column.type}, not numbers; choose columns with ParquetChunks"
            ) from error
    return np.column_stack(columns)


def as_chunks(X: Any) -> Iterable[Any] | None:
    """The chunks of a stream, or None where ``X`` is an array that is simply there.

    A stream is a :class:`numpy.memmap`, the path of a parquet or npy file, a list of two-dimensional arrays,
    an iterator, or any object that can be iterated over and is no array."""
    if isinstance(X, np.memmap):
        return SlicedChunks(X)
    if isinstance(X, (str, Path)):
        return _from_path(Path(X))
    if isinstance(X, (list, tuple)):
        return X if len(X) and getattr(X[0], "ndim", 0) == 2 else None
    if hasattr(X, "__array__") or hasattr(X, "shape") or hasattr(X, "dtype") or not isinstance(X, Iterable):
        return None
    return X


def _from_path(path: Path) -> Iterable[Any]:
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.suffix == ".npy":
        return SlicedChunks(np.load(path, mmap_mode="r", allow_pickle=False))
    if path.is_dir() or path.suffix in (".parquet", ".pq"):
        return ParquetChunks(path)
    if path.suffix in (".arrow", ".feather", ".ipc"):
        return ArrowChunks(path)
    raise ValueError(
        f"{path.name} is no parquet, arrow or npy file; read it into an array, or pass an iterable of chunks"
    )


def can_repeat(chunks: Iterable[Any]) -> bool:
    """Whether the chunks can be gone through again: not those of an iterator, which is used up."""
    return not isinstance(chunks, Iterator)
