"""Text tables: blocks of complete rows, parsed as text, with the type of a column found from all of its rows.

Reading whole and streaming share this code: a file read whole is a single block.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from eigenscape._format import format_bytes
from eigenscape._memory import require
from eigenscape.app.io.arrow import csv, pa
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.columns import read_columns
from eigenscape.app.io.guards import check_expansion, check_quotes, check_utf8, last_row_end
from eigenscape.app.io.table import Table
from eigenscape.app.io.text_cells import ColumnProfile, TextSummary, convert
from eigenscape.app.io.text_layout import HEAD_BYTES, TextLayout, blanks_to_tabs, find_layout
from eigenscape.exceptions import InputFileError
from eigenscape.streams import arrow_file

#: Bytes of a block of rows when a text file is streamed.
BLOCK_BYTES = 2**24
#: Chunk size in bytes for reading a whole text file.
_READ_BYTES = 2**20
#: A row that is longer than this number of blocks is not one.
_MAX_ROW_BLOCKS = 64
#: Bytes of memory per byte of text that is parsed as a whole.
_PARSED_BYTES = 4
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NEWLINES = b"\r\n"


def read_text(
    text: TextInput, selection: ColumnSelection, delimiter: str | None = None, stream: bool = False
) -> Table:
    """Read a text table, whole or in chunks."""
    return read_columns(TextSource(text, selection, delimiter), stream)


@dataclass(frozen=True)
class TextInput:
    """Content of a text file: all bytes, or a path that is read in blocks, decompressed if necessary."""

    content: bytes | Path
    source: str
    block_bytes: int = field(default_factory=lambda: BLOCK_BYTES)

    @staticmethod
    def from_file(path: Path) -> TextInput:
        """Read the content of a file, decompressed if its name ends in gz, bz2 or zst.

        Raises
        ------
        NotEnoughMemoryError
            If the decompressed content does not fit in memory; it is not read further.
        InputFileError
            If it is so much larger than the file that it is not a table.
        """
        chunks, n_bytes = [], 0
        for chunk in TextInput(path, str(path), _READ_BYTES)._raw_chunks():
            chunks.append(chunk)
            n_bytes += len(chunk)
            _require_memory(n_bytes, str(path))
        return TextInput(b"".join(chunks), str(path))

    def head(self) -> bytes:
        """Return the beginning: more than ``HEAD_BYTES`` bytes and two lines, or everything."""
        head = b""
        for chunk in self._utf8_chunks():
            head = (head + chunk).lstrip(_NEWLINES)
            if len(head) > HEAD_BYTES and len(head.splitlines()) > 2:
                break
        if not head.strip():
            raise InputFileError(f"{self.source} is empty")
        if b"\0" in head[:4096]:
            raise InputFileError(
                f"{self.source} contains binary data, not text; use the file extension of its format"
            )
        return head

    def blocks(self, layout: TextLayout) -> Iterator[bytes]:
        """Yield blocks of complete rows, without byte-order mark, leading empty lines and empty blocks."""
        n_lines = 0
        for block in self._row_blocks(layout):
            check_utf8(block, self.source, n_lines)
            check_quotes(block, layout.delimiter, len(layout.names), self.source, n_lines)
            n_lines += block.count(b"\n")
            rows = blanks_to_tabs(block) if layout.by_blanks else block
            if rows.strip(_NEWLINES):
                yield rows

    def _row_blocks(self, layout: TextLayout) -> Iterator[bytes]:
        if isinstance(self.content, bytes):
            yield next(self._utf8_chunks()).lstrip(_NEWLINES)
            return
        rest, started, n_lines = b"", False, 0
        for chunk in self._utf8_chunks():
            rest = rest + chunk if started else (rest + chunk).lstrip(_NEWLINES)
            started = started or bool(rest)
            end = last_row_end(rest, layout.delimiter) if len(rest) >= self.block_bytes else 0
            if end:
                yield rest[:end]
                n_lines += rest.count(b"\n", 0, end)
                rest = rest[end:]
            elif len(rest) >= self.block_bytes:  # a cell that does not end, before all of the file is read
                check_quotes(rest, layout.delimiter, len(layout.names), self.source, n_lines)
                if len(rest) > _MAX_ROW_BLOCKS * self.block_bytes:
                    raise InputFileError(f"{self.source}: a row has more than {format_bytes(len(rest))}")
        if rest:
            yield rest

    def _utf8_chunks(self) -> Iterator[bytes]:
        """Yield the content without byte-order mark, UTF-16 converted to UTF-8."""
        decoder: codecs.IncrementalDecoder | None = None
        for i, chunk in enumerate(self._raw_chunks()):
            if i == 0 and chunk.startswith(_UTF16_MARKS):
                decoder = codecs.getincrementaldecoder("utf-16")()
            elif i == 0:
                chunk = chunk.removeprefix(codecs.BOM_UTF8)
            yield self._decode(decoder, chunk) if decoder else chunk
        if decoder:
            self._decode(decoder, b"", final=True)

    def _decode(self, decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bytes:
        try:
            return decoder.decode(chunk, final).encode()
        except UnicodeDecodeError as error:
            raise InputFileError(
                f"{self.source} is not valid UTF-16: {error.reason}; save it as UTF-8"
            ) from error

    def _raw_chunks(self) -> Iterator[bytes]:
        if isinstance(self.content, bytes):
            yield self.content
            return
        n_bytes, stored = 0, self.content.stat().st_size
        try:
            kind = _COMPRESSIONS.get(self.content.suffix.lower())
            with pa.input_stream(arrow_file(self.content), compression=kind) as stream:
                while chunk := stream.read(self.block_bytes):
                    n_bytes += len(chunk)
                    check_expansion(n_bytes, stored, self.source)
                    yield chunk
        except PermissionError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise InputFileError(f"{self.source} cannot be decompressed: {error}") from error


class TextSource:
    """Columns of a text table.

    The profiles of all blocks decide the types; blocks of a stream are read again for every :meth:`read`.

    Parameters
    ----------
    text : TextInput
        The content.
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
        self._cells: dict[str, pa.ChunkedArray] | None = None  # of a content in memory
        self._converted: dict[str, pa.ChunkedArray] = {}
        self._profiles = self._find_profiles()
        profiles = self._profiles
        self.codes = frozenset(name for name in profiles if profiles[name].is_code)
        self.types = self._find_types()
        self.long_integers = frozenset(
            name for name in self.types if profiles[name].is_long and str(self.types[name]) != "string"
        )
        self._stored_types = dict(self.types)
        self._stored_types |= dict.fromkeys(self.long_integers, pa.string())
        self.types |= dict.fromkeys(self.long_integers, pa.int64())

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield columns in blocks of rows; text is stripped of surrounding blanks."""
        if self._cells is None:
            for block in self._parse_blocks(names):
                yield {name: self._convert(name, cells) for name, cells in block.items()}
            return
        for name in names:
            if name not in self._converted or self._converted[name].type != self._stored_types[name]:
                self._converted[name] = self._convert(name, self._cells[name])
        yield {name: self._converted[name] for name in names}

    def summaries(self, names: Sequence[str]) -> Mapping[str, TextSummary]:
        """Return statistics of text columns."""
        return {name: self._profiles[name].text for name in names}

    def _convert(self, name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        return convert(cells, self._stored_types[name], self._profiles[name].mark)

    def _find_profiles(self) -> dict[str, ColumnProfile]:
        """Return the profiles of all columns over all rows."""
        names = self.layout.names
        selection = self.selection.complete(names)
        unchecked = {selection.label, selection.id, *(selection.categories or ())}
        profiles = {
            name: ColumnProfile(self.layout.decimal, name not in unchecked and selection.may_use(name))
            for name in names
        }
        for block in self._parse_blocks(names):
            for name, cells in block.items():
                numbers = profiles[name].add(cells)
                if isinstance(self.text.content, bytes) and numbers is not None:
                    self._converted[name] = numbers
            self._cells = block if isinstance(self.text.content, bytes) else None
        if not profiles[names[0]].n_rows:
            raise InputFileError(f"{self.source} has a header and no rows")
        if self.layout.trailing and len(names) > 1 and not profiles[names[-1]].n_values:
            del profiles[names[-1]]
        return profiles

    def _find_types(self) -> dict[str, pa.DataType]:
        """Return the types of the columns; raise for words among numbers.

        Codes are text unless they are requested as features; so are ids that are not integers, labels that
        are not numbers, and columns that a model encodes.
        """
        names = list(self._profiles)
        selection = self.selection.complete(names)
        types: dict[str, pa.DataType] = {}
        for name, profile in self._profiles.items():
            dtype = profile.dtype
            if dtype == pa.string() and profile.is_checked:
                profile.text.check(name, self.source, self.layout.first_line)
            is_number = dtype == pa.int64() or (dtype == pa.float64() and name != selection.id)
            is_role = name in (selection.label, selection.id)
            is_text = (is_role and not is_number) or name in self.codes
            if name in (selection.categories or ()) or (is_text and name not in selection.named(names)):
                dtype = pa.string()
            types[name] = dtype
        return types

    def _parse_blocks(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield the cells of columns in blocks of rows."""
        n_rows = 0
        for i, content in enumerate(self.text.blocks(self.layout) if names else ()):
            block = parse_text(content, self.layout, self.source, names, i == 0, n_rows)
            n_rows += len(block[names[0]])
            yield block


def parse_text(
    content: bytes,
    layout: TextLayout,
    source: str,
    names: Sequence[str],
    header: bool = True,
    n_rows_before: int = 0,
) -> dict[str, pa.ChunkedArray]:
    """Parse the cells of a block of complete rows as text.

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
    header : bool, default=True
        Whether this is the first block, which begins with the header if the table has one.
    n_rows_before : int, default=0
        Number of rows in the blocks before this one, for error messages.
    """
    _require_memory(len(content), source)
    invalid_rows = []
    memory = pa.BufferOutputStream()
    memory.write(content)

    def reject(row: pa.csv.InvalidRow) -> str:
        invalid_rows.append(row)
        return "error"

    def parse(block_size: int | None, use_threads: bool) -> pa.Table:
        # No Python object is given to threads of pyarrow: one that releases it while Python exits is ended
        # within a destructor, which aborts the process (apache/arrow#34314).
        return csv.read_csv(
            pa.BufferReader(memory.getvalue()),
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
                check_utf8=False,  # checked before
                strings_can_be_null=False,
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=list(names),
            ),
        )

    try:
        try:
            table = parse(None, True)
        except pa.ArrowInvalid:  # a row is longer than a block of pyarrow, or has another number of cells
            table = parse(min(len(content) + 1, 2**31 - 1), False)
    except pa.ArrowInvalid as error:
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


def _require_memory(n_bytes: int, source: str) -> None:
    """Raise if a text of ``n_bytes`` bytes and its table do not fit in memory."""
    remedy = "use stream=True with an estimator that learns from chunks, or store it as parquet or npy"
    require(_PARSED_BYTES * n_bytes, f"reading {source}", remedy)
