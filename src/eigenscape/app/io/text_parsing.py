"""Parsing of blocks of a text table by pyarrow."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

from eigenscape._extras import optional_import
from eigenscape._memory import require
from eigenscape.app.io.conversion import is_string
from eigenscape.app.io.text_blocks import PARSED_BYTES
from eigenscape.app.io.text_cells import MISSING_MARKERS
from eigenscape.app.io.text_layout import TextLayout
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    import pyarrow as pa

_PURPOSE = "reading a text table"
#: Cells that pyarrow reads as booleans.
BOOLEANS = ("0", "1", "false", "true", "False", "True", "FALSE", "TRUE")


def parse_text(
    content: bytes,
    layout: TextLayout,
    source: str,
    types: Mapping[str, pa.DataType] | None = None,
    header: bool = True,
    n_rows_before: int = 0,
) -> dict[str, pa.ChunkedArray]:
    """Parse a block of complete rows.

    Parameters
    ----------
    content : bytes
        The rows in UTF-8.
    layout : TextLayout
        Layout of the table.
    source : str
        Name of the file, for error messages.
    types : mapping of str to arrow type, optional
        Columns to parse and their types. If None, all columns are parsed and their types are inferred.
    header : bool, default=True
        Whether this is the first block, which begins with the header if the table has one.
    n_rows_before : int, default=0
        Number of rows in the blocks before this one, for error messages.
    """
    arrow = optional_import("pyarrow", _PURPOSE)
    csv = optional_import("pyarrow.csv", _PURPOSE)
    if types is not None and not types:
        return {}
    remedy = "use stream=True with an estimator that learns from chunks, or store it as parquet or npy"
    require(PARSED_BYTES * len(content), f"reading {source}", remedy)
    invalid_rows = []
    memory = arrow.BufferOutputStream()
    memory.write(content)

    def reject(row: pa.csv.InvalidRow) -> str:
        invalid_rows.append(row)
        return "error"

    def parse(block_size: int | None, use_threads: bool) -> pa.Table:
        # No Python object is given to threads of pyarrow: one that releases it while Python exits is ended
        # within a destructor, which aborts the process (apache/arrow#34314).
        return csv.read_csv(
            arrow.BufferReader(memory.getvalue()),
            csv.ReadOptions(
                column_names=list(layout.names),
                skip_rows=int(header and layout.header),
                block_size=block_size,
                use_threads=use_threads,
            ),
            csv.ParseOptions(
                delimiter=layout.delimiter,
                newlines_in_values=b'"' in content,
                invalid_row_handler=None if use_threads else reject,
            ),
            csv.ConvertOptions(
                null_values=list(MISSING_MARKERS),
                decimal_point=layout.decimal,
                strings_can_be_null=False,
                column_types=types,
                include_columns=None if types is None else list(types),
            ),
        )

    try:
        try:
            table = parse(None, True)
        except arrow.ArrowInvalid:  # types differ between blocks of pyarrow, or a row has another length
            table = parse(min(len(content) + 1, 2**31 - 1), False)
    except arrow.ArrowInvalid as error:
        reason = f"cannot be read as a text table: {str(error).splitlines()[0]}"
        if not invalid_rows:
            raise InputFileError(f"{source} {reason}") from error
        row, n_lines_before = invalid_rows[0], 0 if header else n_rows_before + int(layout.header)
        place = f"the row {row.text[:60]!r}" if row.number is None else f"line {row.number + n_lines_before}"
        hint = " (the first line is a comment; remove it)" if header and content.startswith(b"#") else ""
        raise InputFileError(
            f"{source}: {place} has {row.actual_columns} cells instead of {row.expected_columns}; correct"
            f" it{hint}"
        ) from error
    return dict(zip(table.column_names, table.columns, strict=True))


def trim_text(block: dict[str, pa.ChunkedArray]) -> dict[str, pa.ChunkedArray]:
    """Remove blanks around the values of text columns."""
    compute = optional_import("pyarrow.compute", _PURPOSE)
    return {
        name: compute.utf8_trim_whitespace(column) if is_string(column.type) else column
        for name, column in block.items()
    }


def join_types(kinds: Set[pa.DataType]) -> pa.DataType:
    """Return the type that pyarrow would find for the values of all blocks, given the types of each block.

    Integers and booleans are joined to booleans, which needs a look at the cells: only 0 and 1 are both.
    """
    pa = optional_import("pyarrow", _PURPOSE)
    kinds = kinds - {pa.null()}
    if len(kinds) < 2:
        return next(iter(kinds), pa.null())
    if kinds == {pa.int64(), pa.float64()}:
        return pa.float64()
    if kinds == {pa.int64(), pa.bool_()}:
        return pa.bool_()
    for zone in (None, "UTC"):
        times = [pa.timestamp("ns", zone), pa.timestamp("s", zone), *([] if zone else [pa.date32()])]
        if kinds <= set(times):
            return next(kind for kind in times if kind in kinds)
    return pa.string()
