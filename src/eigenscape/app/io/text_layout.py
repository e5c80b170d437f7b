"""Layout of a text table: delimiter, header and decimal mark, found in its first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass

from eigenscape.app.io.columns import MISSING_CELLS, NUMBER
from eigenscape.app.io.table import default_names
from eigenscape.exceptions import InputFileError

#: Text tables with more columns are rejected: they are probably transposed.
MAX_COLUMNS = 100_000
#: Bytes from which the layout is found.
HEAD_BYTES = 2**20
_SAMPLE_LINES = 50
#: In order of preference: a comma may be part of a number, a semicolon rarely is.
_DELIMITERS = ("\t", ";", "|", ",")
_COMMENTS = ("#", "%")
_NUMBER = re.compile(rf"\s*({'|'.join(map(re.escape, MISSING_CELLS))})\s*$|{NUMBER}")  # or missing
_DECIMAL_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+([eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class TextLayout:
    """Layout of a text table."""

    delimiter: str
    names: tuple[str, ...]
    header: bool
    decimal: str
    by_blanks: bool = False  # whether cells are separated by runs of blanks, replaced by tabs before parsing
    trailing: bool = False  # whether the last column has no name, as a delimiter at the end of lines causes
    row_names: bool = False  # whether the first column has no name: row names, as pandas and R write them


def find_layout(head: bytes, source: str, delimiter: str | None) -> TextLayout:
    """Find the layout of a text table.

    Parameters
    ----------
    head : bytes
        The content in UTF-8, or its beginning: more than ``HEAD_BYTES`` bytes and at least two lines.
    source : str
        Name of the file, for error messages.
    delimiter : str or None
        The delimiter, if the file extension defines it.
    """
    lines = head[:HEAD_BYTES].decode(errors="ignore").splitlines()
    if len(head) > HEAD_BYTES:  # the last line is cut; a single line may be longer than the sample
        lines = lines[:-1] if len(lines) > 1 else head.decode(errors="ignore").splitlines()[:2]
    lines = [line for line in lines if line.strip()]
    if b"\0" in head[:4096] or not lines:
        raise InputFileError(f"{source} contains binary data, not text; use the file extension of its format")
    by_blanks = False
    try:
        delimiter = delimiter or _find_delimiter(lines[:_SAMPLE_LINES])
        if delimiter == " ":
            by_blanks, delimiter = True, "\t"
            lines = blanks_to_tabs("\n".join(lines).encode()).decode().splitlines()
        width = 1 + lines[0].count(delimiter)
        if width > MAX_COLUMNS:
            raise InputFileError(
                f"{source} has {width} columns, and a text table may have at most {MAX_COLUMNS}; is it"
                " transposed? Store wide data as npy or parquet"
            )
        rows = [row for row in csv.reader(lines[:_SAMPLE_LINES], delimiter=delimiter) if row]
    except csv.Error as error:
        raise InputFileError(
            f"{source} cannot be read as a text table: {error}; check it for an unmatched quotation mark"
        ) from error
    cells = [cell for row in rows[1:] for cell in row]
    has_comma = delimiter != "," and any(_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    decimal = "," if has_comma and not any(_DECIMAL_POINT.fullmatch(cell) for cell in cells) else "."
    if not _is_header(rows):
        return TextLayout(delimiter, default_names(len(rows[0])), False, decimal, by_blanks, trailing=True)
    names = [name.strip() for name in rows[0]]
    if len(rows) > 1 and all(len(row) == len(names) + 1 and not row[-1].strip() for row in rows[1:]):
        names.append("")  # a delimiter at the end of every line but the first
    row_names = names[0] == "" or (len(rows) > 1 and len(rows[1]) == len(names) + 1)
    if row_names:  # R writes no name for the row names, pandas an empty one
        names[: names[0] == ""] = ["row"]
    is_trailing = names[-1] == ""
    names = [name or f"x{place}" for place, name in enumerate(names)]
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InputFileError(f"{source} has two columns named {name!r}; rename one")
    return TextLayout(delimiter, tuple(names), True, decimal, by_blanks, is_trailing, row_names)


def blanks_to_tabs(content: bytes) -> bytes:
    """Replace runs of blanks by tabs, and remove empty lines and comments."""
    return b"".join(b"\t".join(line.split()) + b"\n" for line in content_lines(content))


def content_lines(content: bytes) -> list[bytes]:
    """Return the lines that are neither empty nor comments (``#`` or ``%``)."""
    comments = tuple(mark.encode() for mark in _COMMENTS)
    return [line for line in content.splitlines() if line.strip() and not line.lstrip().startswith(comments)]


def _find_delimiter(lines: list[str]) -> str:
    """Return the delimiter; a blank if all lines have the same number of words and no other delimiter.

    The first line may have one word less, since ``write.table`` of R writes no name for the row names.
    """
    counts = {delimiter: sum(delimiter in line for line in lines) for delimiter in _DELIMITERS}
    if not any(counts.values()):
        widths = [len(line.split()) for line in lines if not line.lstrip().startswith(_COMMENTS)]
        is_table = len(set(widths[1:])) <= 1 and max(widths, default=0) > 1
        return " " if is_table and widths[-1] > 1 and widths[0] in (widths[-1], widths[-1] - 1) else ","
    for delimiter in filter(counts.get, _DELIMITERS):
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        if len(set(widths)) == 1 and widths[0] > 1:
            return delimiter
    return max(_DELIMITERS, key=lambda delimiter: (counts[delimiter], delimiter == ","))


def _is_header(rows: list[list[str]]) -> bool:
    """Return whether the first row contains names: a word above a column of numbers."""
    first, rest = rows[0], rows[1:]
    if rest and [name.strip() for name in first] == ["", *map(str, range(len(first) - 1))]:
        return True  # pandas numbers the columns of an array, and gives its index no name
    words = [place for place, cell in enumerate(first) if not _NUMBER.match(cell)]
    if not rest or not words:
        return bool(first) and len(words) == len(first)
    offset = 1 if all(len(row) == len(first) + 1 for row in rest) else 0
    below = ([row[place + offset] for row in rest if len(row) > place + offset] for place in words)
    return any(cells and all(map(_NUMBER.match, cells)) for cells in below)
