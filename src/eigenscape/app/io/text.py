"""Text tables: blocks of complete rows, with the type of a column found from all of its rows.

Reading whole and streaming share this code: a file read whole is a single block. pyarrow parses columns of
plain numbers; all other columns are parsed as text, which :mod:`eigenscape.app.io.columns` examines.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from eigenscape._format import format_bytes
from eigenscape._memory import require
from eigenscape.app.io.arrow import csv, pa
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.columns import MISSING_CELLS, Column, columns_of_text, convert, trimmed
from eigenscape.app.io.guards import (
    check_expansion,
    check_quotes,
    encoding_error,
    last_row_end,
    last_value_end,
)
from eigenscape.app.io.table import COMPRESSED
from eigenscape.app.io.text_layout import HEAD_BYTES, TextLayout, blanks_to_tabs, find_layout, row_names_error
from eigenscape.exceptions import InputFileError

#: Bytes of a block of rows when a text file is streamed.
BLOCK_BYTES = 2**24
#: A row that is longer than this number of blocks is not one.
_MAX_ROW_BLOCKS = 64
#: Bytes of memory per byte of text that is parsed as a whole.
_PARSED_BYTES = 4
_REMEDY = "use stream=True with an estimator that learns from chunks, or store it as parquet or npy"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NEWLINES = b"\r\n"


def read_chunks(content: bytes | Path, source: str, whole: bool = False) -> Iterator[bytes]:
    """Yield the content of a text file, decompressed, in UTF-8, without byte-order mark.

    Raises
    ------
    NotEnoughMemoryError
        If ``whole`` and the content does not fit in memory; it is not read further.
    InputFileError
        If it is so much larger than the file that it is not a table, or cannot be decompressed.
    """
    stored = content.stat().st_size if isinstance(content, Path) else 0
    kind = COMPRESSED.get(content.suffix.lower()) if isinstance(content, Path) else None
    n_bytes, n_lines, encoding = 0, 0, "utf-8"
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        file = pa.OSFile(os.fsencode(content)) if isinstance(content, Path) else pa.BufferReader(content)
        with pa.input_stream(file, compression=kind) as stream:
            while chunk := stream.read(BLOCK_BYTES):
                if n_bytes == 0 and chunk.startswith(_UTF16_MARKS):
                    encoding = "utf-16"
                    decoder = codecs.getincrementaldecoder(encoding)()
                n_bytes += len(chunk)
                if kind is not None:
                    check_expansion(n_bytes, stored, source)
                if whole:
                    require(_PARSED_BYTES * n_bytes, f"reading {source}", _REMEDY)
                text = decoder.decode(chunk)
                n_lines += chunk.count(b"\n")
                yield chunk.removeprefix(codecs.BOM_UTF8) if encoding == "utf-8" else text.encode()
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise encoding_error(error, n_lines, source) from error
    except PermissionError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise InputFileError(f"{source} cannot be decompressed: {error}") from error


class TextSource:
    """Columns of a text table.

    The profiles of all blocks decide the types; blocks of a stream are read again for every :meth:`read`.

    Parameters
    ----------
    content : bytes or Path
        The content, or the path of a file.
    source : str
        Name of the file, for error messages.
    selection : ColumnSelection
        Columns requested by the caller. Ids that are not integers and labels that are not numbers are text.
    delimiter : str, optional
        The delimiter, if the file extension defines it.
    stream : bool, default=False
        Whether blocks of rows are read from the file again and again. If False, the content is in memory.
    """

    def __init__(
        self,
        content: bytes | Path,
        source: str,
        selection: ColumnSelection,
        delimiter: str | None = None,
        stream: bool = False,
    ) -> None:
        self._ends_empty = False  # whether empty lines follow the last row
        if not stream:
            content = b"".join(read_chunks(content, source, whole=True)).lstrip(_NEWLINES)
            content = self._without_empty_end(content)
        self.content, self.source = content, source
        head = content if isinstance(content, bytes) else self._head()
        if not head.strip():
            raise InputFileError(f"{source} is empty")
        self.layout = find_layout(head, source, delimiter, selection.header, selection.known_columns)
        self.remarks = self.layout.remarks
        self.first_line: int | None = 1 + self.layout.header
        if self.layout.row_names and selection.id is None:
            selection = replace(selection, id=self.layout.names[0])
        self._text: set[str] = set()  # columns that are parsed as text
        self._cells: dict[str, pa.ChunkedArray] = {}  # of a content in memory
        requested = {*(selection.columns or ()), *selection.known_columns}
        self.columns = self._profile(requested)
        if self._ends_empty and len(self.layout.names) == 1:
            self.remarks += ("empty lines at the end are not read as rows without a value",)
        self.selection = selection.complete(list(self.columns), source)
        roles, encoded = (self.selection.label, self.selection.id), self.selection.categories or ()
        for name, column in self.columns.items():
            is_number = column.dtype == pa.int64() or (column.dtype == pa.float64() and name != roles[1])
            is_text = column.is_code or (name in roles and not is_number)
            if name in encoded or column.is_long or (is_text and name not in requested):
                column.dtype = pa.string()
                if name not in self._text:
                    self._text.add(name)
                    self._cells.pop(name, None)

    def _head(self) -> bytes:
        """Return the beginning of a file: more than ``HEAD_BYTES`` bytes and two lines, or everything."""
        head = b""
        for chunk in read_chunks(self.content, self.source):
            head = (head + chunk).lstrip(_NEWLINES)
            if len(head) > HEAD_BYTES and len(head.splitlines()) > 2:
                break
        return head

    def _profile(self, requested: set[str]) -> dict[str, Column]:
        """Return the profiles of all columns over all rows.

        Columns that are text after blocks of numbers, and codes that are not ``requested`` as numbers, are
        profiled again as text.
        """
        marks = tuple(dict.fromkeys((self.layout.decimal, ".")))
        columns: dict[str, Column] = {}
        pending = {name: Column(marks=marks) for name in self.layout.names}
        while pending:
            for block in self._blocks(list(pending), profiling=True):
                for name, column in pending.items():
                    column.add_cells(block[name])
            columns |= pending
            codes = [name for name in pending if pending[name].is_code and name not in requested]
            codes = [name for name in codes if pending[name].marks]
            late = [name for name in pending if pending[name].is_late]
            pending = {name: Column(is_code=name in codes) for name in (*late, *codes)}
        last = columns[self.layout.names[-1]]
        if not last.n_rows:
            raise InputFileError(f"{self.source} has a header and no rows")
        first = columns[self.layout.names[0]]
        if self.layout.longer and not (first.is_counter if first.marks else first.is_unique):
            raise row_names_error(self.source)
        if self.layout.trailing and len(columns) > 1 and not last.n_values:
            del columns[self.layout.names[-1]]
        return columns

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield columns in blocks of rows; text is stripped of surrounding blanks."""
        for block in self._blocks(names):
            converted = {name: block[name] for name in names}
            for name, cells in converted.items():
                if self.columns[name].dtype == pa.string():
                    converted[name] = trimmed(cells)
                elif self.columns[name].dtype != cells.type:
                    converted[name] = convert(cells, self.columns[name])
            yield converted

    def _blocks(self, names: Sequence[str], profiling: bool = False) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield plain numbers and text cells of columns in blocks of rows.

        A content in memory is parsed once. When ``profiling``, columns that are not plain numbers are found.
        """
        if self._cells.keys() >= set(names):
            yield self._cells
            return
        types = {} if profiling else {name: self.columns[name].dtype for name in names}
        types |= {name: pa.string() for name in names if name in self._text}
        before: int | None = None
        layout, whole = self.layout, [(self.content, 0)] if isinstance(self.content, bytes) else None
        for content, n_lines in whole or self._row_blocks():
            if profiling and b'"' in content:
                check_quotes(content, layout.delimiter, len(layout.names), self.source, n_lines)
            rows = blanks_to_tabs(content) if layout.by_blanks else content
            if not rows.lstrip(_NEWLINES) and len(layout.names) > 1:
                continue
            block = parse_text(rows, layout, self.source, names, types, before)
            if profiling:
                inferred = {name: values for name, values in block.items() if name not in types}
                new = columns_of_text(inferred, rows, layout.delimiter)
                types |= dict.fromkeys(new, pa.string())
                block |= parse_text(rows, layout, self.source, new, types, before) if new else {}
                self._text.update(new)
            self._cells |= block if whole else {}
            yield block
            before = len(block[names[0]]) + (layout.header if before is None else before)

    def _without_empty_end(self, content: bytes) -> bytes:
        """Return a content without the empty lines at its end."""
        end = last_value_end(content, len(content))
        self._ends_empty = end < len(content)
        return content[:end]

    def _row_blocks(self) -> Iterator[tuple[bytes, int]]:
        """Yield blocks of complete rows without leading empty lines, and the number of lines before each."""
        layout, rest, started, n_lines = self.layout, b"", False, 0
        for chunk in read_chunks(self.content, self.source):
            rest = rest + chunk if started else (rest + chunk).lstrip(_NEWLINES)
            started = started or bool(rest)
            end = last_row_end(rest, layout.delimiter) if len(rest) >= BLOCK_BYTES else 0
            if len(layout.names) == 1:
                end = last_value_end(rest, end)
            if end:
                yield rest[:end], n_lines
                n_lines += rest.count(b"\n", 0, end)
                rest = rest[end:]
            elif len(rest) >= BLOCK_BYTES:  # a cell that does not end, before all of the file is read
                check_quotes(rest, layout.delimiter, len(layout.names), self.source, n_lines)
                if len(rest) > _MAX_ROW_BLOCKS * BLOCK_BYTES:
                    raise InputFileError(f"{self.source}: a row has more than {format_bytes(len(rest))}")
        if rest.strip(_NEWLINES):
            yield self._without_empty_end(rest), n_lines


def parse_text(
    content: bytes,
    layout: TextLayout,
    source: str,
    names: Sequence[str],
    types: Mapping[str, pa.DataType],
    n_lines_before: int | None,
) -> dict[str, pa.ChunkedArray]:
    """Parse columns of a block of complete rows.

    Parameters
    ----------
    content : bytes
        The rows in UTF-8.
    layout : TextLayout
        Layout of the table.
    source : str
        Name of the file, for error messages.
    names : sequence of str
        Columns to parse.
    types : mapping of str to DataType
        Their types; types that are not given are inferred.
    n_lines_before : int or None
        Number of rows and header lines in the blocks before this one; None for the first block, which begins
        with the header if the table has one.
    """
    require(_PARSED_BYTES * len(content), f"reading {source}", _REMEDY)
    rejected: list[pa.csv.InvalidRow] = []

    def reject(row: pa.csv.InvalidRow) -> str:
        rejected.append(row)
        return "error"

    # No Python object is given to threads of pyarrow: one that releases it while Python exits is ended within
    # a destructor, which aborts the process (apache/arrow#34314).
    memory = pa.allocate_buffer(len(content))
    pa.FixedSizeBufferWriter(memory).write(content)
    converting = csv.ConvertOptions(
        check_utf8=False,  # checked before
        strings_can_be_null=False,
        null_values=MISSING_CELLS,
        decimal_point=layout.decimal,
        column_types=types,
        include_columns=list(names),
    )
    is_first = n_lines_before is None
    reading = csv.ReadOptions(column_names=list(layout.names), skip_rows=int(is_first and layout.header))
    parsing = csv.ParseOptions(
        delimiter=layout.delimiter,
        newlines_in_values=b'"' in content,
        ignore_empty_lines=len(layout.names) > 1,  # in a single column they are missing values
    )
    try:
        table = csv.read_csv(pa.BufferReader(memory), reading, parsing, converting)
    except pa.ArrowInvalid:  # a row is longer than a block of pyarrow, or has another number of cells
        reading.use_threads, reading.block_size = False, min(len(content) + 1, 2**31 - 1)
        parsing.invalid_row_handler = reject
        try:
            table = csv.read_csv(pa.BufferReader(memory), reading, parsing, converting)
        except pa.ArrowInvalid as error:
            if not rejected:
                reason = str(error).splitlines()[0]
                raise InputFileError(f"{source} cannot be read as a text table: {reason}") from error
            row, before = rejected[0], n_lines_before or 0
            place = f"the row {row.text[:60]!r}" if row.number is None else f"line {row.number + before}"
            hint = (
                " (the first line is a comment; remove it)" if is_first and content.startswith(b"#") else ""
            )
            raise InputFileError(
                f"{source}: {place} has {row.actual_columns} cells instead of {row.expected_columns}; correct"
                f" it{hint}"
            ) from error
    return dict(zip(table.column_names, table.columns, strict=True))
