"""Quotation marks of text tables: where quoted cells begin and end, and mistakes that hide rows.

A quotation mark that is not closed makes all following rows part of one cell, and parsers accept that.
"""

from __future__ import annotations

import re

import numpy as np

from eigenscape.exceptions import InputFileError

#: A quoted cell with more line ends is a mistake.
_MAX_LINES = 200
#: A quoted cell with this many complete lines that each have the cells of a row is a mistake.
_MIN_ROWS = 3
_NEWLINES = b"\r\n"
_IN_QUOTES = re.compile(rb'[^"]*(?:""[^"]*)*')


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
    if b'"' not in content:
        return
    data = np.frombuffer(content, dtype=np.uint8)
    quotes = _quotes(content, data, delimiter)
    is_open = len(quotes) % 2 == 1 or (len(quotes) > 0 and quotes[-1] == len(content))
    if len(quotes) % 2 == 1:
        quotes = np.append(quotes, len(content))
    opening, closing = quotes[::2], quotes[1::2]
    newlines = np.flatnonzero(data == _newline(content)[0])
    n_lines = np.searchsorted(newlines, closing) - np.searchsorted(newlines, opening)
    for cell in np.flatnonzero(n_lines > 0):
        line = n_lines_before + int(np.searchsorted(newlines, opening[cell])) + 1
        place = f"{source}: the cell that begins with a quotation mark in line {line}"
        remedy = "remove the quotation mark, or write it twice within a quoted cell"
        if is_open and cell == len(opening) - 1:
            raise InputFileError(f"{place} does not end; {remedy}")
        text = content[opening[cell] + 1 : closing[cell]]
        if n_lines[cell] > _MAX_LINES or _has_rows(text, delimiter, n_columns):
            raise InputFileError(
                f"{place} contains {n_lines[cell]} line ends, so the rows in it would be lost; {remedy}"
            )
        after = content[closing[cell] + 1 : closing[cell] + 2]
        if after not in (b"", b'"', b" ", b"\t", b"\r", b"\n", delimiter.encode()):
            raise InputFileError(f"{place} ends in another line and is followed by text; {remedy}")


def _has_rows(text: bytes, delimiter: str, n_columns: int) -> bool:
    """Return whether the complete lines within a cell all have as many cells as the rows of the table."""
    lines = text.split(_newline(text))[1:-1]
    if n_columns < 2 or len(lines) < _MIN_ROWS:
        return False
    return all(line.count(delimiter.encode()) == n_columns - 1 for line in lines)


def _newline(content: bytes) -> bytes:
    return b"\n" if b"\n" in content else b"\r"


def last_row_end(content: bytes, delimiter: str) -> int:
    """Return the position after the last line end that is not inside a quoted cell; 0 if there is none."""
    newline = _newline(content)
    if b'"' not in content:
        end = content.rfind(newline) + 1
    else:
        data = np.frombuffer(content, dtype=np.uint8)
        newlines = np.flatnonzero(data == newline[0])
        outside = newlines[np.searchsorted(_quotes(content, data, delimiter), newlines) % 2 == 0]
        end = int(outside[-1]) + 1 if len(outside) else 0
    return 0 if newline == b"\r" and end == len(content) else end  # \r may be half of \r\n


def _quotes(content: bytes, data: np.ndarray, delimiter: str) -> np.ndarray:
    """Return the positions of opening and closing quotation marks, alternately."""
    quotes = np.flatnonzero(data == ord('"'))
    opening, closing = quotes[::2], quotes[1::2]
    starts_cell = np.isin(data[opening - 1], np.frombuffer(delimiter.encode() + _NEWLINES, dtype=np.uint8))
    starts_cell[opening == 0] = True
    starts_cell[1:] |= opening[1:] == closing[: len(opening) - 1] + 1  # a doubled quotation mark
    if starts_cell.all():
        return quotes
    # Some quotation marks are inside cells that are not quoted: go through them one by one.
    found, position = [], 0
    cell_starts = (delimiter.encode(), b"\r", b"\n", b"")
    while (start := content.find(b'"', position)) >= 0:
        position = start + 1
        if content[max(start - 1, 0) : start] in cell_starts:
            match = _IN_QUOTES.match(content, position)
            end = match.end() if match else len(content)
            found += [start, end]
            position = end + 1
    return np.array(found, dtype=np.intp)
