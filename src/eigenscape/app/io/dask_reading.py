"""Files as dask collections: each partition is read by the worker that uses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from eigenscape.app.io.arrays import ArrayChunks
from eigenscape.app.io.arrow import pa
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.columnar import ColumnarSource, parquet
from eigenscape.app.io.reading import read_non_text
from eigenscape.app.io.roles import ColumnChunks
from eigenscape.app.io.table import EDGES, TEXT, Table, find_input
from eigenscape.exceptions import InputFileError
from eigenscape.streams import SlicedChunks, arrow_file, chunk_rows

#: Formats that cannot be divided into partitions.
_NOT_PARTITIONED = (*TEXT, *EDGES, ".npz", ".mtx", ".h5ad")
#: A function that reads a partition, its number of rows, and the arguments of the function.
_Partition = tuple[Callable[..., np.ndarray], int, tuple[Any, ...]]


def read_collection(path: str | Path, selection: ColumnSelection) -> Table:
    """Read a table whose array is a dask array."""
    if str(path) == "-":
        raise _not_partitioned("standard input")
    file, suffix = find_input(path)
    if file.is_file() and suffix in _NOT_PARTITIONED:
        raise _not_partitioned(str(path))
    table = read_non_text(file, suffix, selection, stream=True)
    chunks = table.array
    if isinstance(chunks, ArrayChunks):
        array = _from_slices(chunks.slices)
        return replace(table, array=array if chunks.columns is None else array[:, list(chunks.columns)])
    is_columnar = isinstance(chunks, ColumnChunks) and isinstance(chunks.columns, ColumnarSource)
    columns = tuple(chunks.features) if is_columnar else ()
    files = chunks.columns.partitions(columns) if is_columnar else None
    if files is None:
        raise _not_partitioned(table.source)
    return replace(table, array=_from_row_groups(files, columns))


def _not_partitioned(source: str) -> InputFileError:
    return InputFileError(
        f"{source} cannot be divided into partitions for several machines; store it as parquet, zarr or npy"
    )


def _from_row_groups(files: list[Path], columns: tuple[str, ...]) -> da.Array:
    partitions: list[_Partition] = []
    for file in files:
        with parquet.ParquetFile(arrow_file(file)) as table:
            sizes = [table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)]
        partitions += [
            (_read_row_group, size, (str(file), group, columns)) for group, size in enumerate(sizes)
        ]
    return _concatenate(partitions, len(columns), np.dtype(np.float64))


def _from_slices(chunks: SlicedChunks) -> da.Array:
    array = chunks.array
    n_rows, width = array.shape[0], int(np.prod(array.shape[1:]))
    step = chunks.rows or chunk_rows(width)
    stored = getattr(array, "chunks", None)  # of a zarr array: partitions are made of whole ones
    step = max(stored[0], step - step % stored[0]) if stored else step
    if isinstance(array, np.memmap):  # mapped by the worker: a pickled memmap contains all of its data
        array = str(array.filename)
    partitions: list[_Partition] = [
        (_read_slice, min(step, n_rows - start), (array, start, min(step, n_rows - start)))
        for start in range(0, n_rows, step)
    ]
    dtype = np.float32 if chunks.array.dtype == np.float32 else np.float64
    return _concatenate(partitions, width, np.dtype(dtype))


def _concatenate(partitions: list[_Partition], width: int, dtype: np.dtype[Any]) -> da.Array:
    arrays = [
        da.from_delayed(delayed(read, pure=True)(*arguments), (n_rows, width), dtype)
        for read, n_rows, arguments in partitions
        if n_rows
    ]
    if not arrays:
        raise InputFileError("the file has no rows")
    return da.concatenate(arrays)


def _read_row_group(file: str, group: int, columns: tuple[str, ...]) -> np.ndarray:
    with parquet.ParquetFile(arrow_file(file)) as table:
        names = table.schema_arrow.names
        for name in (name for name in columns if name not in names):
            raise InputFileError(f"{file} has no column {name!r}; all files need {', '.join(columns)}")
        row_group = table.read_row_group(group, columns=list(columns))
    return np.column_stack([row_group[name].cast(pa.float64(), safe=False) for name in columns])


def _read_slice(array: Any, start: int, n_rows: int) -> np.ndarray:
    if isinstance(array, str):
        array = np.load(array, mmap_mode="r", allow_pickle=False)
    block = np.asarray(array[start : start + n_rows])
    block = block.reshape(len(block), -1)
    return block if block.dtype in (np.float32, np.float64) else block.astype(np.float64)
