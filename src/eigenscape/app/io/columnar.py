"""Parquet, arrow and feather files: columns with types, whole or as a stream of row groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from eigenscape._memory import require
from eigenscape.app.io.arrow import compute, pa, parquet
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.columns import read_columns
from eigenscape.app.io.conversion import is_nested
from eigenscape.app.io.formats import ARROW, PARQUET
from eigenscape.app.io.plain_columns import is_list, plain_schema, plain_table
from eigenscape.app.io.table import Table
from eigenscape.app.io.text_cells import TextSummary
from eigenscape.exceptions import InputFileError, NotEnoughMemoryError
from eigenscape.streams import (
    ParquetChunks,
    arrow_file,
    check_declared_rows,
    chunk_rows,
    iter_batches,
    open_arrow,
    parquet_batches,
)

SUFFIXES = (*PARQUET, *ARROW)


def read_columnar(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """Read a parquet file, a folder of them, or an arrow or feather file, whole or in chunks."""
    with convert_arrow_errors(path):
        return read_columns(ColumnarSource(path, selection, stream), stream)


@contextmanager
def convert_arrow_errors(path: Path) -> Iterator[None]:
    """Convert errors of pyarrow into an InputFileError."""
    try:
        yield
    except pa.ArrowMemoryError as error:
        raise NotEnoughMemoryError(
            f"{path} needs more memory than is available; select fewer columns, or use stream=True with an"
            " estimator that learns from chunks"
        ) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, PermissionError):
            raise
        kind = "arrow" if _is_arrow(path) else "parquet"
        raise InputFileError(
            f"{path} is damaged, truncated or not a file in {kind} format: {str(error).splitlines()[0]}"
        ) from error


class ColumnarSource:
    """Columns of a parquet or arrow file; whole and streamed reading use the same description of them.

    Lists of one length are split into a column for each item; items of a missing list are missing. A column
    of empty lists has no values. Lists of lists, structures and maps are neither features nor labels.
    """

    first_line: int | None = None
    codes: frozenset[str] = frozenset()
    long_integers: frozenset[str] = frozenset()  # decimals are converted with the check of exact_floats

    def __init__(self, path: Path, selection: ColumnSelection, stream: bool) -> None:
        self.path, self.source, self.selection = path, str(path), selection
        self._table = None if stream else read_arrow_table(path)
        self._schema = _schema(path) if self._table is None else self._table.schema
        if not any(len(table) for table in self._tables(self._schema.names[:1])):
            raise InputFileError(f"{path} has no rows")
        self.types: dict[str, pa.DataType] = {}
        self._items: dict[str, tuple[str, int]] = {}  # list column and index, by the name of a split column
        for field in self._schema:
            if not is_list(field.type) or is_nested(field.type.value_type):
                self._add(field.name, field.type)
                continue
            length = self._list_length(field.name)
            if length == 0:
                self._add(field.name, pa.null())
            for i in range(length):
                self._items[f"{field.name}_{i}"] = (field.name, i)
                self._add(f"{field.name}_{i}", field.type.value_type)

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield columns in blocks of rows."""
        stored = list(dict.fromkeys(self._items.get(name, (name, 0))[0] for name in names))
        with convert_arrow_errors(self.path):
            for table in self._tables(stored, len(names)):
                yield {name: self._column(table, name) for name in names}

    @property
    def is_parquet(self) -> bool:
        """Whether the path is a parquet file or a folder of them."""
        return not _is_arrow(self.path)

    def is_plain(self, names: Sequence[str]) -> bool:
        """Return whether the columns are stored as they are, not as items of lists or empty lists."""
        return all(
            name in self._schema.names and self.types[name] == self._schema.field(name).type for name in names
        )

    def summaries(self, names: Sequence[str]) -> Mapping[str, TextSummary]:
        """Return statistics of text columns, from all rows."""
        summaries = {name: TextSummary() for name in names}
        n_rows = 0
        for block in self.read(names) if names else ():
            for name in names:
                summaries[name].add(block[name], n_rows)
            n_rows += len(block[names[0]])
        return summaries

    def _add(self, name: str, dtype: pa.DataType) -> None:
        if name in self.types:
            column, i = self._items[name]
            raise InputFileError(
                f"{self.source} has two columns named {name!r}, one of them item {i} of {column!r}; rename"
                " one"
            )
        self.types[name] = dtype

    def _column(self, table: pa.Table, name: str) -> pa.ChunkedArray:
        if name in self._items:
            column, i = self._items[name]
            return compute.list_element(table.column(column), i)
        if self.types[name] == pa.null():
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
    with convert_arrow_errors(path):
        if _is_arrow(path):
            with open_arrow(path) as reader:
                plain_schema(reader.schema, str(path))
                table = plain_table(pa.Table.from_batches(iter_batches(reader), reader.schema))
        else:
            _require_memory(path)
            tables = []
            for file in ParquetChunks(path).files():
                with parquet.ParquetFile(arrow_file(file)) as content:
                    plain_schema(content.schema_arrow, str(file))
                    tables.append(plain_table(content.read()))
                    tables[-1].validate(full=True)
                    check_declared_rows(content, len(tables[-1]))
            table = pa.concat_tables(tables, promote_options="permissive")
    return table


def _require_memory(path: Path) -> None:
    """Raise if the declared rows do not fit in memory: repeated values take no space in parquet files."""
    needed = 0
    for file in ParquetChunks(path).files():
        content = parquet.read_metadata(arrow_file(file))
        declared = sum(content.row_group(i).total_byte_size for i in range(content.num_row_groups))
        needed += max(declared, 8 * content.num_rows * content.num_columns)
    require(needed, f"reading {path}", "use stream=True with an estimator that learns from chunks")


def _schema(path: Path) -> pa.Schema:
    """Return the columns and types of a file; types of files in a folder are promoted to common ones."""
    if _is_arrow(path):
        with open_arrow(path) as reader:
            return plain_schema(reader.schema, str(path))
    schemas = [
        plain_schema(parquet.read_schema(arrow_file(file)), str(file)) for file in ParquetChunks(path).files()
    ]
    return pa.unify_schemas(schemas, promote_options="permissive")


def _iter_tables(path: Path, schema: pa.Schema, n_columns: int) -> Iterator[pa.Table]:
    """Yield the columns of ``schema`` in blocks of rows; columns that a file does not have are missing."""
    n_rows = chunk_rows(n_columns)
    if _is_arrow(path):
        with open_arrow(path) as reader:
            for batch in iter_batches(reader):
                table = plain_table(pa.Table.from_batches([batch]).select(schema.names))
                yield from (table.slice(start, n_rows) for start in range(0, len(table), n_rows))
        return
    for file in ParquetChunks(path).files():
        with parquet.ParquetFile(arrow_file(file)) as content:
            stored = content.schema_arrow.names
            present = [name for name in schema.names if name in stored] or stored[:1]
            for batch in parquet_batches(content, n_rows, present):
                batch.validate(full=True)
                tables = [schema.empty_table(), plain_table(pa.Table.from_batches([batch]))]
                yield pa.concat_tables(tables, promote_options="permissive").select(schema.names)


def _is_arrow(path: Path) -> bool:
    return path.suffix.lower() in ARROW
