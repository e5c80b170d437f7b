"""Parquet, arrow and feather files: columns with types, whole or as a stream of row groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from eigenscape._extras import optional_import
from eigenscape._memory import require
from eigenscape.app.io.arrow import compute, pa
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.columns import Column
from eigenscape.app.io.guards import named_damage
from eigenscape.app.io.roles import column_kind, read_columns, to_array
from eigenscape.app.io.table import ARROW, Table
from eigenscape.exceptions import InputFileError
from eigenscape.streams import (
    arrow_file,
    chunk_rows,
    iter_batches,
    open_arrow,
    parquet_batches,
    parquet_files,
)

parquet = optional_import("pyarrow.parquet", "reading a parquet file")


def read_columnar(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """Read a parquet file, a folder of them, or an arrow or feather file, whole or in chunks."""
    with _named_damage(path):
        return read_columns(ColumnarSource(path, selection, stream), stream)


def _named_damage(path: Path) -> AbstractContextManager[None]:
    """Convert errors of pyarrow into an InputFileError."""
    kind = "arrow" if _is_arrow(path) else "parquet"
    return named_damage(f"{path} is damaged, truncated or not a file in {kind} format")


class ColumnarSource:
    """Columns of a parquet or arrow file; whole and streamed reading use the same description of them.

    Lists of one length are split into a column for each item; items of a missing list are missing. A column
    of empty lists has no values. Lists of lists, structures and maps are neither features nor labels.
    """

    remarks: tuple[str, ...] = ()
    first_line: int | None = None

    def __init__(self, path: Path, selection: ColumnSelection, stream: bool) -> None:
        self.path, self.source = path, str(path)
        self._table = None if stream else read_arrow_table(path)
        self._schema = _schema(path) if self._table is None else self._table.schema
        if not any(len(table) for table in self._tables(self._schema.names[:1])):
            raise InputFileError(f"{path} has no rows")
        self.columns: dict[str, Column] = {}
        self._items: dict[str, tuple[str, int]] = {}  # list column and index, by the name of a split column
        for field in self._schema:
            is_split = _is_list(field.type) and not pa.types.is_nested(field.type.value_type)
            length = self._list_length(field.name) if is_split else 0
            items = {f"{field.name}_{i}": (field.name, i) for i in range(length)}
            self._items |= items
            dtype = field.type.value_type if items else pa.null() if is_split else field.type
            for name in items or [field.name]:
                if name in self.columns:
                    column, i = self._items[name]
                    raise InputFileError(
                        f"{path} has two columns named {name!r}, one of them item {i} of {column!r}; rename"
                        " one"
                    )
                self.columns[name] = Column(dtype)
        if selection.id is None:  # the index of pandas, as in text tables
            selection = replace(selection, id=next(filter(self.columns.get, _pandas_index(path)), None))
        self.selection = selection.complete(list(self.columns), self.source)
        self._profile()

    def _profile(self) -> None:
        """Profile the columns of integers, which may count the rows, and of text."""
        kinds = {name: column_kind(column.dtype) for name, column in self.columns.items()}
        names = [name for name in kinds if kinds[name] in ("int", "text", "other")]
        for block in self.read(names) if names else ():
            for name in names:
                if kinds[name] == "text":
                    self.columns[name].add_text(block[name].cast(pa.string()))
                elif kinds[name] == "other":
                    self.columns[name].add_text(pa.chunked_array([to_array(block[name])], pa.string()))
                elif self.columns[name].is_counter:
                    self.columns[name].add_numbers(block[name])
            if all(kinds[name] == "int" and not self.columns[name].is_counter for name in names):
                break

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield columns in blocks of rows."""
        stored = list(dict.fromkeys(self._items.get(name, (name, 0))[0] for name in names))
        with _named_damage(self.path):
            for table in self._tables(stored, len(names)):
                yield {name: self._column(table, name) for name in names}

    def partitions(self, names: Sequence[str]) -> list[Path] | None:
        """Return the parquet files with these columns; None unless they are stored there as they are."""
        stored = {field.name: field.type for field in self._schema}
        is_plain = all(name in stored and self.columns[name].dtype == stored[name] for name in names)
        return parquet_files(self.path) if is_plain and not _is_arrow(self.path) else None

    def _column(self, table: pa.Table, name: str) -> pa.ChunkedArray:
        if name in self._items:
            column, i = self._items[name]
            return compute.list_element(table.column(column), i)
        if self.columns[name].dtype == pa.null():
            return pa.chunked_array([pa.nulls(len(table))])
        return table.column(name)

    def _tables(self, stored: list[str], n_columns: int = 1) -> Iterable[pa.Table]:
        if self._table is not None:
            return [self._table]
        return _iter_tables(self.path, pa.schema([self._schema.field(name) for name in stored]), n_columns)

    def _list_length(self, name: str) -> int:
        """Return the common length of the lists of a column; 0 if all are empty or missing."""
        length, n_rows = None, 0
        for table in self._tables([name]):
            lengths = compute.list_value_length(table.column(name)).combine_chunks()
            for other in compute.unique(lengths).drop_null().to_pylist():
                length = other if length is None else length
                if other != length:
                    row = n_rows + compute.index(lengths, other).as_py() + 1
                    raise InputFileError(
                        f"the lists of column {name!r} of {self.source} have different lengths: {length} in"
                        f" the first row, {other} in row {row}, counted from 1; make them equal"
                    )
            n_rows += len(lengths)
        return length or 0


def read_arrow_table(path: Path) -> pa.Table:
    """Return all columns of a file; the columns of files in a folder are joined by name."""
    with _named_damage(path):
        if not _is_arrow(path):
            _require_memory(path)
        schema = _schema(path)
        tables = _iter_tables(path, schema, len(schema))
        return pa.concat_tables([schema.empty_table(), *tables], promote_options="permissive")


def _pandas_index(path: Path) -> list[str]:
    """Return the columns that pandas wrote as the index; numbered rows have none."""
    if _is_arrow(path):
        with open_arrow(path) as reader:
            stored = reader.schema.pandas_metadata
    else:
        stored = parquet.read_schema(arrow_file(parquet_files(path)[0])).pandas_metadata
    return [name for name in (stored or {}).get("index_columns", []) if isinstance(name, str)]


def _require_memory(path: Path) -> None:
    """Raise if the declared rows do not fit in memory: repeated values take no space in parquet files."""
    needed = 0
    for file in parquet_files(path):
        content = parquet.read_metadata(arrow_file(file))
        declared = sum(content.row_group(i).total_byte_size for i in range(content.num_row_groups))
        needed += max(declared, 8 * content.num_rows * content.num_columns)
    require(needed, f"reading {path}", "use stream=True with an estimator that learns from chunks")


def _schema(path: Path) -> pa.Schema:
    """Return the columns and types of a file; types of files in a folder are promoted to common ones."""
    if _is_arrow(path):
        with open_arrow(path) as reader:
            return _plain_schema(reader.schema, str(path))
    schemas = [
        _plain_schema(parquet.read_schema(arrow_file(file)), str(file)) for file in parquet_files(path)
    ]
    return pa.unify_schemas(schemas, promote_options="permissive")


def _iter_tables(path: Path, schema: pa.Schema, n_columns: int) -> Iterator[pa.Table]:
    """Yield the columns of ``schema`` in blocks of rows; columns that a file does not have are missing."""
    n_rows = chunk_rows(n_columns)
    if _is_arrow(path):
        with open_arrow(path) as reader:
            for batch in iter_batches(reader):
                table = _plain_table(pa.Table.from_batches([batch]).select(schema.names))
                yield from (table.slice(start, n_rows) for start in range(0, len(table), n_rows))
        return
    for file in parquet_files(path):
        with parquet.ParquetFile(arrow_file(file)) as content:
            stored = content.schema_arrow.names
            present = [name for name in schema.names if name in stored] or stored[:1]
            for batch in parquet_batches(content, n_rows, present):
                batch.validate(full=True)
                tables = [schema.empty_table(), _plain_table(pa.Table.from_batches([batch]))]
                yield pa.concat_tables(tables, promote_options="permissive").select(schema.names)


def _is_arrow(path: Path) -> bool:
    return path.suffix.lower() in ARROW


def _plain_schema(schema: pa.Schema, source: str) -> pa.Schema:
    """Return the schema of plain columns; raise if a name occurs twice."""
    for name, count in Counter(schema.names).items():
        if count > 1:
            raise InputFileError(f"{source} has {count} columns named {name!r}; rename them")
    return pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])


def _plain_table(table: pa.Table) -> pa.Table:
    """Decode the columns of a table to the types of :func:`_plain_schema`."""
    columns = [_decode(column, _plain_type(column.type)) for column in table.columns]
    return pa.table(columns, table.column_names) if columns else table


def _is_list(dtype: pa.DataType) -> bool:
    """Return whether an arrow type is a list."""
    types = pa.types
    return any(test(dtype) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list))


def _plain_type(dtype: pa.DataType) -> pa.DataType:
    """Return the type without extension, dictionary of numbers, run-end encoding and views."""
    if isinstance(dtype, pa.BaseExtensionType):
        return _plain_type(dtype.storage_type)
    if pa.types.is_run_end_encoded(dtype) or (pa.types.is_dictionary(dtype) and column_kind(dtype) != "text"):
        return _plain_type(dtype.value_type)
    if pa.types.is_string_view(dtype):
        return pa.large_string()
    return dtype


def _decode(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_run_end_encoded(column.type):
        column = compute.run_end_decode(column)
    types = pa.types
    if types.is_dictionary(column.type) and types.is_string_view(column.type.value_type):  # no cast
        chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
        return pa.chunked_array(chunks, kind)
    return column if column.type == kind else column.cast(kind)
