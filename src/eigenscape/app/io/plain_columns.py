"""Plain columns of arrow tables: encoded columns are decoded, so that all formats give the same columns."""

from __future__ import annotations

from collections import Counter

from eigenscape.app.io.arrow import compute, pa
from eigenscape.app.io.conversion import is_string
from eigenscape.exceptions import InputFileError


def plain_schema(schema: pa.Schema, source: str) -> pa.Schema:
    """Return the schema of plain columns; raise if a name occurs twice."""
    for name, count in Counter(schema.names).items():
        if count > 1:
            raise InputFileError(f"{source} has {count} columns named {name!r}; rename them")
    return pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])


def plain_table(table: pa.Table) -> pa.Table:
    """Decode the columns of a table to the types of :func:`plain_schema`."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if isinstance(column.type, pa.BaseExtensionType):
            chunks = [chunk.storage for chunk in column.chunks]
            column = pa.chunked_array(chunks, column.type.storage_type)
        kind = _plain_type(column.type)
        columns[name] = column if column.type == kind else _decode(column, kind)
    return pa.table(columns) if columns else table


def is_list(dtype: pa.DataType) -> bool:
    """Return whether an arrow type is a list."""
    types = pa.types
    return any(test(dtype) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list))


def _plain_type(dtype: pa.DataType) -> pa.DataType:
    """Return the type without extension, dictionary of numbers, run-end encoding and views."""
    if isinstance(dtype, pa.BaseExtensionType):
        return _plain_type(dtype.storage_type)
    if pa.types.is_run_end_encoded(dtype) or (
        pa.types.is_dictionary(dtype) and not is_string(dtype.value_type)
    ):
        return _plain_type(dtype.value_type)
    if pa.types.is_string_view(dtype):
        return pa.large_string()
    if _is_list_view(dtype):
        return pa.large_list(dtype.value_type)
    return dtype


def _decode(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_run_end_encoded(column.type):
        column = compute.run_end_decode(column)
    if _is_list_view(column.type):
        return pa.chunked_array([_from_list_view(chunk) for chunk in column.chunks], kind)
    types = pa.types
    if types.is_dictionary(column.type) and types.is_string_view(column.type.value_type):  # no cast
        chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
        return pa.chunked_array(chunks, kind)
    return column if column.type == kind else column.cast(kind)


def _from_list_view(array: pa.Array) -> pa.LargeListArray:
    """Convert a list view to a list; the cast of pyarrow 26 omits the last offset."""
    lengths = compute.fill_null(compute.list_value_length(array), 0).cast(pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), compute.cumulative_sum(lengths)])
    return pa.LargeListArray.from_arrays(offsets, array.flatten(), mask=array.is_null())


def _is_list_view(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_list_view(dtype) or pa.types.is_large_list_view(dtype))
