"""Text files as blocks of complete rows in UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from eigenscape._extras import optional_import
from eigenscape._format import format_bytes
from eigenscape._memory import require
from eigenscape.app.io.quotes import check_quotes, last_row_end
from eigenscape.app.io.text_layout import HEAD_BYTES, TextLayout, blanks_to_tabs
from eigenscape.exceptions import InputFileError
from eigenscape.streams import arrow_file

#: Bytes of a block of rows when a text file is streamed.
BLOCK_BYTES = 2**24
#: Bytes that are read at a time when a text file is read whole.
_READ_BYTES = 2**20
#: A row that is longer than this number of blocks is not one.
_MAX_ROW_BLOCKS = 64
#: Bytes of memory per byte of text that is parsed as a whole.
PARSED_BYTES = 4
#: A compressed file that expands by more is not a table, unless it is small.
_MAX_EXPANSION, _SMALL_BYTES = 300, 2**28
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NEWLINES = b"\r\n"


@dataclass(frozen=True)
class TextInput:
    """Content of a text file: all bytes, or a path that is read in blocks, decompressed if necessary."""

    content: bytes | Path
    source: str
    block_bytes: int = field(default_factory=lambda: BLOCK_BYTES)

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
        pa = optional_import("pyarrow", "reading a text table")
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


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if its name ends in gz, bz2 or zst.

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
        remedy = "use stream=True with an estimator that learns from chunks, or store it as parquet or npy"
        require(PARSED_BYTES * n_bytes, f"reading {path}", remedy)
    return b"".join(chunks)


def check_expansion(n_bytes: int, stored: int, source: str) -> None:
    """Raise if a compressed file becomes so much larger that it is not a table."""
    if n_bytes > max(_MAX_EXPANSION * stored, _SMALL_BYTES):
        raise InputFileError(
            f"{source} has {format_bytes(stored)} and decompresses to more than {format_bytes(n_bytes)};"
            " store it uncompressed if it is a table"
        )


def check_utf8(content: bytes, source: str, n_lines_before: int = 0) -> None:
    """Raise if the content is not valid UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = n_lines_before + content.count(b"\n", 0, error.start) + 1
        raise InputFileError(
            f"{source} is not UTF-8: byte 0x{content[error.start]:02x} in line {line}; save it as UTF-8"
            " (if it is Latin-1: iconv -f latin1 -t utf-8)"
        ) from error
