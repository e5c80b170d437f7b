"""Text tables: cells separated by commas, semicolons, tabs, bars or blanks, with or without a header."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from eigenscape._extras import optional_import
from eigenscape._memory import require
from eigenscape.app.io.cells import MISSING_MARKERS, TextSummary, to_numbers
from eigenscape.app.io.columns import read_columns, summarize_text
from eigenscape.app.io.conversion import is_string
from eigenscape.app.io.selection import ColumnSelection
from eigenscape.app.io.table import Table
from eigenscape.app.io.text_blocks import PARSED_BYTES, TextInput
from eigenscape.app.io.text_layout import TextLayout, find_layout
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    import pyarrow as pa

_PURPOSE = "reading a text table"


def read_delimited(
    text: TextInput, selection: ColumnSelection, delimiter: str | None = None, stream: bool = False
) -> Table:
    """Read a text table, whole or in chunks."""
    return read_columns(DelimitedSource(text, selection, delimiter), stream)


class DelimitedSource:
    """Columns of a text table. The types are found from all rows, in blocks.

    Each block is parsed with the types that pyarrow finds in it; the type of a column is the first one, in
    pyarrow's order, that represents the values of all blocks. A file read whole is a single block.

    Parameters
    ----------
    text : TextInput
        The content. Its blocks are read again for every call of :meth:`read`, unless it is in memory.
    selection : ColumnSelection
        Columns requested by the caller. Ids that are not integers and labels that are not numbers are text.
    delimiter : str or None
        The delimiter, if the file extension defines it.
    """

    def __init__(self, text: TextInput, selection: ColumnSelection, delimiter: str | None) -> None:
        self.text, self.source = text, text.source
        self.layout = find_layout(text.head(), self.source, delimiter)
        self.first_line: int | None = self.layout.first_line
        if self.layout.row_names and selection.id is None:
            selection = replace(selection, id=self.layout.names[0])
        self.selection = selection
        in_memory = isinstance(text.content, bytes)
        self._contents = list(text.blocks(self.layout)) if in_memory else None
        self._parsed: dict[tuple[str, pa.DataType], pa.ChunkedArray] = {}  # columns of a content in memory
        string = optional_import("pyarrow", _PURPOSE).string()
        self.types, has_leading_zeros = self._infer_types()
        self.codes = frozenset(self._find_codes() if has_leading_zeros else ())
        self.types |= dict.fromkeys(self.codes | self._columns_kept_as_text(), string)
        self._parsed_types = dict(self.types)
        self._summaries = self._summarize_text()

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield columns in blocks of rows; text is stripped of surrounding blanks."""
        pa = optional_import("pyarrow", _PURPOSE)
        numeric_text = [name for name in names if self.types[name] != self._parsed_types[name]]
        for block in self._parse_blocks({name: self._parsed_types[name] for name in names}):
            for name in numeric_text:
                block[name] = pa.chunked_array([pa.array(to_numbers(block[name].to_pylist()))])
            yield block

    def summaries(self, names: Sequence[str]) -> Mapping[str, TextSummary]:
        """Return statistics of text columns."""
        return {name: self._summaries[name] for name in names if name in self._summaries}

    def _infer_types(self) -> tuple[dict[str, pa.DataType], bool]:
        """Return the types of the columns, and whether a cell begins with a zero and a digit."""
        found: dict[str, set[pa.DataType]] = {name: set() for name in self.layout.names}
        delimiter = re.escape(self.layout.delimiter.encode())
        leading_zero = re.compile(rb'[\r\n"' + delimiter + rb"][ \t]*0\d")
        n_rows, has_leading_zeros = 0, False
        for i, content in enumerate(self._blocks()):
            block = _trim(parse_text(content, self.layout, self.source, None, i == 0, n_rows))
            for name, column in block.items():
                found[name].add(column.type)
                if self._contents is not None:
                    self._parsed[name, column.type] = column
            n_rows += len(block[self.layout.names[0]])
            if not has_leading_zeros:  # the first cell of a block has nothing before it
                has_leading_zeros = bool(re.match(rb"[ \t]*0\d", content) or leading_zero.search(content))
        if n_rows == 0:
            raise InputFileError(f"{self.source} has a header and no rows")
        types = {name: self._join_types(name, kinds) for name, kinds in found.items()}
        last = self.layout.names[-1]
        if self.layout.trailing and len(types) > 1 and str(types[last]) == "null":
            del types[last]
        return types, has_leading_zeros

    def _join_types(self, name: str, kinds: set[pa.DataType]) -> pa.DataType:
        """Return the type that pyarrow would find for the values of all blocks."""
        pa = optional_import("pyarrow", _PURPOSE)
        kinds = kinds - {pa.null()}
        if len(kinds) < 2:
            return next(iter(kinds), pa.null())
        if kinds == {pa.int64(), pa.float64()}:
            return pa.float64()
        for zone in (None, "UTC"):
            times = [pa.timestamp("ns", zone), pa.timestamp("s", zone), *([] if zone else [pa.date32()])]
            if kinds.issubset(times):
                return next(kind for kind in times if kind in kinds)
        if kinds == {pa.int64(), pa.bool_()}:  # 0 and 1 are booleans too
            try:
                for _ in self._parse_blocks({name: pa.bool_()}):
                    pass
            except InputFileError:
                return pa.string()
            return pa.bool_()
        return pa.string()

    def _find_codes(self) -> list[str]:
        """Return the columns of digits in which some values have leading zeros, such as ``00417``."""
        pa = optional_import("pyarrow", _PURPOSE)
        compute = optional_import("pyarrow.compute", _PURPOSE)
        is_number = (pa.types.is_integer, pa.types.is_floating)
        digits = {name for name, kind in self.types.items() if any(test(kind) for test in is_number)}
        codes = set()
        for block in self._parse_blocks(dict.fromkeys(sorted(digits), pa.string())):
            for name, column in block.items():
                if not compute.all(compute.match_substring_regex(column, r"^\d*$"), min_count=0).as_py():
                    digits.discard(name)
                if compute.any(compute.match_substring_regex(column, r"^0\d+$")).as_py():
                    codes.add(name)
        return sorted(codes & digits)

    def _columns_kept_as_text(self) -> set[str]:
        """Return ids that are not integers and labels that are not numbers, such as dates and booleans."""
        types = optional_import("pyarrow", _PURPOSE).types
        selection = self.selection.complete(list(self.types))
        tests: list[tuple[str | None, Callable[[pa.DataType], bool]]] = [
            (selection.id, types.is_integer),
            (selection.label, lambda kind: types.is_integer(kind) or types.is_floating(kind)),
        ]
        encoded = set(selection.categories or ()) & set(self.types)  # also if all values are digits here
        return encoded | {
            name
            for name, is_kept in tests
            if name in self.types
            and name not in selection.named(list(self.types))
            and not is_kept(self.types[name])
        }

    def _summarize_text(self) -> dict[str, TextSummary]:
        """Summarize text columns; find those that are numeric apart from blanks, and raise for mistakes."""
        pa = optional_import("pyarrow", _PURPOSE)
        selection = self.selection.complete(list(self.types))
        excluded = {
            selection.label,
            selection.id,
            *(selection.categories or ()),
            *(self.codes - set(selection.named(list(self.types)))),
        }
        names = [
            name
            for name, kind in self.types.items()
            if kind == pa.string() and name not in excluded and selection.may_use(name)
        ]
        if not names:
            return {}
        summaries = summarize_text(self._parse_blocks({name: self.types[name] for name in names}), names)
        for name in names:
            summaries[name].check(name, self.source, self.layout.first_line)
            if summaries[name].is_numeric:
                self.types[name] = pa.float64()  # parsed as text because of blanks around missing values
        return summaries

    def _parse_blocks(self, types: Mapping[str, pa.DataType]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield columns of each block, parsed as the given types; text without surrounding blanks."""
        n_rows = 0
        for i, content in enumerate(self._blocks() if types else ()):
            known = {
                name: self._parsed[name, kind] for name, kind in types.items() if (name, kind) in self._parsed
            }
            needed = {name: kind for name, kind in types.items() if name not in known}
            block = known | _trim(parse_text(content, self.layout, self.source, needed, i == 0, n_rows))
            if self._contents is not None:
                self._parsed |= {(name, types[name]): block[name] for name in needed}
            n_rows += len(next(iter(block.values())))
            yield block

    def _blocks(self) -> Iterable[bytes]:
        return self.text.blocks(self.layout) if self._contents is None else self._contents


def _trim(block: dict[str, pa.ChunkedArray]) -> dict[str, pa.ChunkedArray]:
    """Remove blanks around the values of text columns."""
    compute = optional_import("pyarrow.compute", _PURPOSE)
    return {
        name: compute.utf8_trim_whitespace(column) if is_string(column.type) else column
        for name, column in block.items()
    }


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
