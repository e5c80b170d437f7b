"""Parquet, arrow and feather files: columns with types, whole or as a stream of row groups."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eigenscape.app.io.columns import ColumnSelection, assemble, is_number, values
from eigenscape.app.io.table import Table
from eigenscape.exceptions import InputFileError
from eigenscape.streams import ArrowChunks, ParquetChunks, open_arrow

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
SUFFIXES = (*PARQUET, *ARROW)


def read_columnar(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """A table from a parquet file, a folder of them, or an arrow or feather file."""
    if stream:
        with _readable(path):
            return _streamed(path, selection, path.suffix.lower() in ARROW)
    table = arrow_table(path)
    return assemble(dict(zip(table.column_names, table.columns, strict=True)), selection, str(path))


def arrow_table(path: Path) -> Any:
    """All columns of the file."""
    with _readable(path):
        table = _whole(path, path.suffix.lower() in ARROW)
    if table.num_rows == 0:
        raise InputFileError(f"{path} has no rows")
    return table


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, PermissionError):
            raise
        kind = "arrow" if path.suffix.lower() in ARROW else "parquet"
        raise InputFileError(
            f"{path} is damaged, cut off, or no {kind} file: {str(error).splitlines()[0]}"
        ) from error


def _whole(path: Path, by_arrow: bool) -> Any:
    from pyarrow import parquet

    if by_arrow:
        with open_arrow(path) as reader:
            return reader.read_all()
    import pyarrow as pa

    return pa.concat_tables(
        [parquet.ParquetFile(file).read() for file in ParquetChunks(path).files()],
        promote_options="permissive",
    )


def _streamed(path: Path, selection: ColumnSelection, by_arrow: bool) -> Table:
    """The numbers as chunks; label and name, where asked for, at once."""
    from pyarrow import parquet

    if by_arrow:
        with open_arrow(path) as reader:
            schema = reader.schema
    else:
        schema = parquet.read_schema(ParquetChunks(path).files()[0])
    selection.check(schema.names, str(path))
    selection = selection.completed(schema.names)
    text = {name for name in schema.names if not is_number(schema.field(name).type)}
    names = selection.features(schema.names, text)
    if not names or text & set(names):
        raise InputFileError(
            f"{path} has no columns of numbers to stream, or columns names one that holds none"
        )
    chunks: Any = ArrowChunks(path, names) if by_arrow else ParquetChunks(path, names)
    label = selection.label or next(
        (name for name in schema.names if name in text and name != selection.id), None
    )
    beside = {name: _column(path, name, by_arrow) for name in (label, selection.id) if name is not None}
    return Table(
        chunks,
        beside.get(label or ""),
        beside.get(selection.id or ""),
        names,
        source=str(path),
        label_name=label,
        id_name=selection.id,
    )


def _column(path: Path, name: str, by_arrow: bool) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    if by_arrow:
        with open_arrow(path) as reader:
            return values(reader.read_all().column(name))
    parts = [parquet.ParquetFile(file).read(columns=[name]).column(0) for file in ParquetChunks(path).files()]
    return values(pa.chunked_array([chunk for part in parts for chunk in part.chunks], type=parts[0].type))
