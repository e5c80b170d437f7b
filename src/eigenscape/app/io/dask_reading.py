"""Tables on disk as dask collections: each partition is read where it is used, by the routines that read
streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from eigenscape.app.io.table import Table
from eigenscape.app.io.tables import EDGES, TEXT, format_of
from eigenscape.app.io.tables import read as read_table
from eigenscape.exceptions import InputFileError
from eigenscape.streams import ParquetChunks, SlicedChunks, chunk_rows, numbers_of

#: Files that a stream too reads as a whole.
WHOLE = (*TEXT, *EDGES, ".npz", ".mtx", ".h5ad")
_NOT_IN_PARTS = "{} cannot be read in parts by several machines; store it as parquet, zarr or npy"


def read(
    path: str | Path,
    *,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    id: str | None = None,  # noqa: A002
) -> Table:
    """Read a table as :func:`eigenscape.app.io.read` does, but leave its numbers where they are:
    ``eigenscape.read(path, dask=True)``.

    Parameters
    ----------
    path : str or Path
        A parquet file or a folder of them, a zarr array or an npy file, on storage that all workers see under
        the same path.
    columns, label, id
        As for :func:`eigenscape.app.io.read`.

    Returns
    -------
    Table
        Whose ``array`` is a dask array: a partition for each row group (parquet), or for about 64 MB of rows.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from eigenscape import PCA, distributed
    >>> file = tempfile.mkdtemp() + "/rows.npy"
    >>> np.save(file, np.random.default_rng(0).random((1000, 3)))
    >>> X, _, _ = distributed.read(file)
    >>> PCA(n_components=2).fit(X).embedding_.shape
    (1000, 2)
    """
    if str(path) == "-" or (Path(path).is_file() and format_of(Path(path)) in WHOLE):
        raise InputFileError(
            _NOT_IN_PARTS.format("standard input" if str(path) == "-" else path)
        )  # before it is read as a whole
    table = read_table(path, columns=columns, label=label, id=id, stream=True)
    return replace(table, array=as_collection(table.array, table.source))


def as_collection(chunks: Any, source: str = "the stream") -> da.Array:
    """The chunks of a stream that can be read in any order, as a dask array."""
    if isinstance(chunks, ParquetChunks):
        return _of_row_groups(chunks)
    if isinstance(chunks, SlicedChunks):
        return _of_slices(chunks)
    raise InputFileError(_NOT_IN_PARTS.format(source))


def _of_row_groups(chunks: ParquetChunks) -> da.Array:
    from pyarrow import parquet

    columns, parts = chunks.columns, []
    for file in chunks.files():
        with parquet.ParquetFile(file) as table:
            columns = columns or tuple(table.schema_arrow.names)
            parts += [
                (_row_group, table.metadata.row_group(group).num_rows, (str(file), group, columns))
                for group in range(table.num_row_groups)
            ]
    return _joined(parts, len(columns or ()), np.float64)


def _of_slices(chunks: SlicedChunks) -> da.Array:
    array = chunks.array
    n, width = array.shape[0], int(np.prod(array.shape[1:]))
    rows = chunks.rows or chunk_rows(width)
    own = getattr(array, "chunks", None)  # of a zarr array: whole ones are read at once
    rows = max(own[0], rows - rows % own[0]) if own else rows
    where = (
        (str(array.filename), int(array.offset), array.dtype.str, array.shape)
        if isinstance(array, np.memmap)
        else array
    )
    parts = [
        (_slice, min(rows, n - start), (where, start, min(rows, n - start))) for start in range(0, n, rows)
    ]
    return _joined(parts, width, np.float32 if array.dtype == np.float32 else np.float64)


def _joined(
    parts: list[tuple[Callable[..., np.ndarray], int, tuple[Any, ...]]], width: int, dtype: Any
) -> da.Array:
    pieces = [
        da.from_delayed(delayed(read, pure=True)(*where), (rows, width), dtype)
        for read, rows, where in parts
        if rows
    ]
    if not pieces:
        raise InputFileError("there are no rows to read")
    return da.concatenate(pieces)


def _row_group(file: str, group: int, columns: tuple[str, ...]) -> np.ndarray:
    from pyarrow import parquet

    with parquet.ParquetFile(file) as table:
        missing = [name for name in columns if name not in table.schema_arrow.names]
        if missing:
            raise InputFileError(
                f"{file} has no column {missing[0]!r}; all files need the columns {', '.join(columns)}"
            )
        read_columns = table.read_row_group(group, columns=list(columns)).select(list(columns))
    batches = read_columns.combine_chunks().to_batches()
    return np.concatenate([numbers_of(batch, Path(file)) for batch in batches])


def _slice(where: Any, start: int, rows: int) -> np.ndarray:
    if isinstance(
        where, tuple
    ):  # an array in a file, mapped where it is used: pickled it would travel as a whole
        file, offset, dtype, shape = where
        where = np.memmap(file, dtype=np.dtype(dtype), mode="r", offset=offset, shape=tuple(shape))
    block = np.asarray(where[start : start + rows])
    block = block.reshape(len(block), -1)
    return block if block.dtype in (np.float32, np.float64) else block.astype(np.float64)
