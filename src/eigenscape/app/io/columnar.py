"""Parquet, arrow and feather files: columns with types, whole or as a stream of row groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eigenscape._extras import optional_import
from eigenscape._memory import require
from eigenscape.app.io.cells import TextSummary
from eigenscape.app.io.columns import ColumnSelection, read_columns, summarize_text
from eigenscape.app.io.formats import ARROW, PARQUET
from eigenscape.app.io.table import Table
from eigenscape.exceptions import InputFileError, NotEnoughMemoryError
from eigenscape.streams import ParquetChunks, chunk_rows, iter_batches, open_arrow

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (*PARQUET, *ARROW)
_PURPOSE = "reading a parquet or arrow file"


def read_columnar(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """Read a parquet file, a folder of them, or an arrow or feather file, whole or in chunks."""
    with convert_arrow_errors(path):
        return read_columns(ColumnarSource(path, selection, stream), stream)


@contextmanager
def convert_arrow_errors(path: Path) -> Iterator[None]:
    """Convert errors of pyarrow into an InputFileError."""
    pa = optional_import("pyarrow", _PURPOSE)
    try:
        yield
    except pa.ArrowMemoryError as error:
        raise NotEnoughMemoryError(
            f"{path} needs more memory than is available; select fewer columns, or use stream=True with an"
            " estimator that learns from chunks"
        ) from error
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, PermissionError):
            raise
        kind = "arrow" if _is_arrow(path) else "parquet"
        raise InputFileError(
            f"{path} is damaged, truncated or not a file in {kind} format: {str(error).splitlines()[0]}"
        ) from error


class ColumnarSource:
    """Columns of a parquet or arrow file. Lists of one length are split into a column for each item."""

    first_line: int | None = None
    codes: frozenset[str] = frozenset()

    def __init__(self, path: Path, selection: ColumnSelection, stream: bool) -> None:
        self.path, self.source, self.selection = path, str(path), selection
        self._table = None if stream else read_arrow_table(path)
        self._schema = _schema(path) if self._table is None else self._table.schema
        self.types: dict[str, pa.DataType] = {}
        self._items: dict[str, tuple[str, int]] = {}  # list column and index, by the name of a split column
        for field in self._schema:
            if not _is_list(field.type):
                self.types[field.name] = field.type
                continue
            for i in range(self._list_length(field.name)):
                self.types[f"{field.name}_{i}"] = field.type.value_type
                self._items[f"{field.name}_{i}"] = (field.name, i)

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield columns in blocks of rows."""
        compute = optional_import("pyarrow.compute", _PURPOSE)
        stored = list(dict.fromkeys(self._items.get(name, (name, 0))[0] for name in names))
        for table in self._tables(stored, len(names)):
            yield {
                name: compute.list_element(table.column(self._items[name][0]), self._items[name][1])
                if name in self._items
                else table.column(name)
                for name in names
            }

    @property
    def is_parquet(self) -> bool:
        """Whether the path is a parquet file or a folder of them."""
        return not _is_arrow(self.path)

    def is_split(self, names: Sequence[str]) -> bool:
        """Return whether some of the columns are items of lists."""
        return any(name in self._items for name in names)

    def summaries(self, names: Sequence[str]) -> Mapping[str, TextSummary]:
        """Return statistics of text columns, from all rows."""
        return summarize_text(self.read(names), names) if names else {}

    def _tables(self, stored: list[str], n_columns: int = 1) -> Iterable[pa.Table]:
        if self._table is not None:
            return [self._table]
        pa = optional_import("pyarrow", _PURPOSE)
        return _iter_tables(self.path, pa.schema([self._schema.field(name) for name in stored]), n_columns)

    def _list_length(self, name: str) -> int:
        """Return the common length of the lists of a column."""
        compute = optional_import("pyarrow.compute", _PURPOSE)
        lengths: set[int] = set()
        for table in self._tables([name]):
            found = compute.unique(compute.list_value_length(table.column(name)))
            lengths.update(-1 if length is None else length for length in found.to_pylist())
        if len(lengths) != 1:
            raise InputFileError(
                f"the lists of column {name!r} of {self.source} have different lengths"
                f" ({min(lengths)} to {max(lengths)}); make them equal"
            )
        return max(lengths.pop(), 0)


def read_arrow_table(path: Path) -> pa.Table:
    """Return all columns of a file; the columns of files in a folder are joined by name."""
    pa = optional_import("pyarrow", _PURPOSE)
    parquet = optional_import("pyarrow.parquet", _PURPOSE)
    with convert_arrow_errors(path):
        if _is_arrow(path):
            with open_arrow(path) as reader:
                table = pa.Table.from_batches(iter_batches(reader), reader.schema)
        else:
            _require_memory(path)
            tables = [parquet.ParquetFile(file).read() for file in ParquetChunks(path).files()]
            table = pa.concat_tables(tables, promote_options="permissive")
    if table.num_rows == 0:
        raise InputFileError(f"{path} has no rows")
    return table


def _require_memory(path: Path) -> None:
    """Raise if the declared rows do not fit in memory: repeated values take no space in parquet files."""
    parquet = optional_import("pyarrow.parquet", _PURPOSE)
    needed = 0
    for file in ParquetChunks(path).files():
        content = parquet.read_metadata(file)
        declared = sum(content.row_group(i).total_byte_size for i in range(content.num_row_groups))
        needed += max(declared, 8 * content.num_rows * content.num_columns)
    require(needed, f"reading {path}", "use stream=True with an estimator that learns from chunks")


def _schema(path: Path) -> pa.Schema:
    """Return the columns and types of a file; types of files in a folder are promoted to common ones."""
    pa = optional_import("pyarrow", _PURPOSE)
    parquet = optional_import("pyarrow.parquet", _PURPOSE)
    if _is_arrow(path):
        with open_arrow(path) as reader:
            return reader.schema
    schemas = [parquet.read_schema(file) for file in ParquetChunks(path).files()]
    return pa.unify_schemas(schemas, promote_options="permissive")


def _iter_tables(path: Path, schema: pa.Schema, n_columns: int) -> Iterator[pa.Table]:
    """Yield the columns of ``schema`` in blocks of rows; columns that a file does not have are missing."""
    pa = optional_import("pyarrow", _PURPOSE)
    parquet = optional_import("pyarrow.parquet", _PURPOSE)
    n_rows = chunk_rows(n_columns)
    if _is_arrow(path):
        with open_arrow(path) as reader:
            for batch in iter_batches(reader):
                table = pa.Table.from_batches([batch]).select(schema.names)
                yield from (table.slice(start, n_rows) for start in range(0, len(table), n_rows))
        return
    for file in ParquetChunks(path).files():
        with parquet.ParquetFile(file) as content:
            stored = content.schema_arrow.names
            present = [name for name in schema.names if name in stored] or stored[:1]
            for batch in content.iter_batches(batch_size=n_rows, columns=present):
                tables = [schema.empty_table(), pa.Table.from_batches([batch])]
                yield pa.concat_tables(tables, promote_options="permissive").select(schema.names)


def _is_list(dtype: pa.DataType) -> bool:
    types = optional_import("pyarrow", _PURPOSE).types
    return any(test(dtype) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list))


def _is_arrow(path: Path) -> bool:
    return path.suffix.lower() in ARROW
