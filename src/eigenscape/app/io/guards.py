"""Promises about text tables that parsers do not make; each raises an error with the place and the remedy.

- Compressed files that expand too much are not read to their end.
- Bytes in another encoding than UTF-8 are an error.
- A quotation mark that is not closed does not hide rows: parsers make all following rows part of one cell.
- Integers that double precision would round are not features.
- Digits with leading zeros, such as 00417, are codes, not numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import prod
from typing import IO

import numpy as np
from numpy.lib import format as npy_format

from eigenscape._format import format_bytes
from eigenscape.exceptions import InputFileError, NotEnoughMemoryError

#: A compressed file that expands by more is not a table, unless it is small.
_MAX_EXPANSION, _SMALL_BYTES = 300, 2**28
#: Larger integers are not all represented in double precision.
EXACT_INTEGER = 2**53
#: Longer integers are rounded; Python converts none of more than 4 300 digits.
_MAX_DIGITS = 400
#: A quoted cell with more line ends is a mistake.
_MAX_LINES = 200
#: A quoted cell with this many complete lines that each have the cells of a row is a mistake.
_MIN_ROWS = 3
_NEWLINES = b"\r\n"
_IN_QUOTES = re.compile(rb'[^"]*(?:""[^"]*)*')


def first_line(error: BaseException) -> str:
    """Return the first line of an error message, shortened to 300 characters."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]


@contextmanager
def named_damage(start: str, end: str = "") -> Iterator[None]:
    """Convert errors of libraries, which have no common base class; the reason follows ``start``."""
    try:
        yield
    except (InputFileError, NotEnoughMemoryError, PermissionError):
        raise
    except MemoryError as error:
        raise NotEnoughMemoryError(
            f"{start}, or needs more memory than is available; select fewer columns, or use stream=True"
        ) from error
    except Exception as error:
        raise InputFileError(f"{start}: {first_line(error)}{end}") from error


def check_expansion(n_bytes: int, stored: int, source: str) -> None:
    """Raise if a compressed file becomes so much larger that it is not a table."""
    if n_bytes > max(_MAX_EXPANSION * stored, _SMALL_BYTES):
        raise InputFileError(
            f"{source} has {format_bytes(stored)} and decompresses to more than {format_bytes(n_bytes)};"
            " store it uncompressed if it is a table"
        )


def encoding_error(error: UnicodeDecodeError, n_lines_before: int, source: str) -> InputFileError:
    """Return the error for a content that is not valid UTF-8 or UTF-16."""
    if "utf-16" in error.encoding:
        return InputFileError(f"{source} is not valid UTF-16: {error.reason}; save it as UTF-8")
    line = n_lines_before + error.object.count(b"\n", 0, error.start) + 1
    return InputFileError(
        f"{source} is not UTF-8: byte 0x{error.object[error.start]:02x} in line {line}; save it as UTF-8"
        " (if it is Latin-1: iconv -f latin1 -t utf-8)"
    )


def check_quotes(
    content: bytes, delimiter: str, n_columns: int, source: str, n_lines_before: int = 0
) -> None:
    """Raise if a quoted cell contains rows of the table, is not closed, or is followed by text.

    Parameters
    ----------
    content : bytes
        Complete rows in UTF-8.
    delimiter : str
        The delimiter of cells.
    n_columns : int
        Number of cells of a row.
    source : str
        Name of the file, for error messages.
    n_lines_before : int, default=0
        Number of lines before the content, for error messages.
    """
    data = np.frombuffer(content, dtype=np.uint8)
    opening, closing = _quoted_cells(content, data, delimiter)
    newlines = np.flatnonzero(data == _newline(content)[0])
    n_lines = np.searchsorted(newlines, closing) - np.searchsorted(newlines, opening)
    for cell in np.flatnonzero(n_lines > 0):
        line = n_lines_before + int(np.searchsorted(newlines, opening[cell])) + 1
        place = f"{source}: the cell that begins with a quotation mark in line {line}"
        remedy = "remove the quotation mark, or write it twice within a quoted cell"
        if closing[cell] == len(content):
            raise InputFileError(f"{place} does not end; {remedy}")
        text = content[opening[cell] + 1 : closing[cell]]
        if n_lines[cell] > _MAX_LINES or _has_rows(text, delimiter, n_columns):
            raise InputFileError(
                f"{place} contains {n_lines[cell]} line ends, so the rows in it would be lost; {remedy}"
            )
        after = content[closing[cell] + 1 : closing[cell] + 2]
        if after not in (b"", b" ", b"\t", b"\r", b"\n", delimiter.encode()):
            raise InputFileError(f"{place} ends in another line and is followed by text; {remedy}")


def last_row_end(content: bytes, delimiter: str) -> int:
    """Return the position after the last line end that is not inside a quoted cell; 0 if there is none."""
    newline = _newline(content)
    if b'"' not in content:
        end = content.rfind(newline) + 1
    else:
        data = np.frombuffer(content, dtype=np.uint8)
        newlines = np.flatnonzero(data == newline[0])
        opening, closing = _quoted_cells(content, data, delimiter)
        outside = newlines[np.searchsorted(opening, newlines) == np.searchsorted(closing, newlines)]
        end = int(outside[-1]) + 1 if len(outside) else 0
    return 0 if newline == b"\r" and end == len(content) else end  # \r may be half of \r\n


def last_value_end(content: bytes, end: int) -> int:
    """Return the position after the last row that is not empty, or ``end`` if there is none."""
    value = len(content[:end].rstrip(_NEWLINES))
    return min(end, value + (2 if content[value : value + 2] == b"\r\n" else 1)) if value else end


def _has_rows(text: bytes, delimiter: str, n_columns: int) -> bool:
    """Return whether the complete lines within a cell all have as many cells as the rows of the table."""
    lines = text.split(_newline(text))[1:-1]
    if n_columns < 2 or len(lines) < _MIN_ROWS:
        return False
    return all(line.count(delimiter.encode()) == n_columns - 1 for line in lines)


def _newline(content: bytes) -> bytes:
    return b"\n" if b"\n" in content else b"\r"


def _quoted_cells(content: bytes, data: np.ndarray, delimiter: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the quotation marks that open and close cells; an open cell closes at the end.

    Two marks in a row within a quoted cell are a part of its text.
    """
    quotes = np.flatnonzero(data == ord('"'))
    if len(quotes) % 2:
        quotes = np.append(quotes, len(content))
    opening, closing = quotes[::2], quotes[1::2]
    starts_cell = np.isin(data[opening - 1], np.frombuffer(delimiter.encode() + _NEWLINES, dtype=np.uint8))
    starts_cell[opening == 0] = True
    doubled = opening[1:] == closing[:-1] + 1
    starts_cell[1:] |= doubled
    if starts_cell.all():
        return np.delete(opening, 1 + np.flatnonzero(doubled)), np.delete(closing, np.flatnonzero(doubled))
    # Some quotation marks are inside cells that are not quoted: go through them one by one.
    found, position = [], 0
    cell_starts = (delimiter.encode(), b"\r", b"\n", b"")
    while (start := content.find(b'"', position)) >= 0:
        position = start + 1
        if content[max(start - 1, 0) : start] in cell_starts:
            match = _IN_QUOTES.match(content, position)
            end = match.end() if match else len(content)
            found.append((start, end))
            position = end + 1
    cells = np.array(found, dtype=np.intp).reshape(-1, 2)
    return cells[:, 0], cells[:, 1]


def integer_error(name: str, source: str) -> InputFileError:
    """Return the error for a feature with integers beyond 2^53."""
    return InputFileError(
        f"column {name!r} of {source} has integers beyond 2^53, which floating-point numbers do not represent"
        f" exactly; use it as id={name!r} (--id {name}) or label, exclude it, or store it as floating-point"
        " numbers"
    )


def empty_column_error(name: str, source: str) -> InputFileError:
    """Return the error for a column without any value."""
    return InputFileError(
        f"column {name!r} of {source} is empty; exclude it with exclude=[{name!r}] (--exclude {name})"
    )


def npy_bytes(file: IO[bytes]) -> int:
    """Return the size that an npy file declares; 0 if it is not one, or contains objects or nothing."""
    if file.read(npy_format.MAGIC_LEN)[: len(npy_format.MAGIC_PREFIX)] != npy_format.MAGIC_PREFIX:
        return 0
    file.seek(0)
    version = npy_format.read_magic(file)
    # Version 3 differs from 2 in the encoding of field names, which does not change the size.
    read_header = npy_format.read_array_header_1_0 if version[0] == 1 else npy_format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    return 0 if dtype.hasobject or not dtype.itemsize else file.tell() + prod(shape) * dtype.itemsize


def have_rounded(cells: Iterable[str]) -> bool:
    """Return whether integers have no representation in double precision."""
    return any(len(cell) > _MAX_DIGITS or int(cell) != float(cell) for cell in cells)
