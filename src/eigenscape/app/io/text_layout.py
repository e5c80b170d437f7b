"""Layout of a text table: delimiter, header and decimal mark, found in its first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from eigenscape.app.io.table import default_names
from eigenscape.app.io.text_cells import MISSING_MARKERS, looks_numeric
from eigenscape.exceptions import InputFileError

#: Text tables with more columns are rejected: they are probably transposed.
MAX_COLUMNS = 100_000
#: Bytes from which the layout is found.
HEAD_BYTES = 2**20
_SAMPLE_LINES = 50
#: In order of preference: a comma may be part of a number, a semicolon rarely is.
_DELIMITERS = ("\t", ";", "|", ",")
_COMMENTS = ("#", "%")


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

    @property
    def first_line(self) -> int:
        """Line of the first row, counted from 1."""
        return 2 if self.header else 1


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
    by_blanks = delimiter is None and _separated_by_blanks(_first_lines(head))
    if by_blanks:
        head, delimiter = blanks_to_tabs(head), "\t"
    lines = _first_lines(head)
    if not lines:
        raise InputFileError(f"{source} contains binary data, not text; use the file extension of its format")
    width = 1 + max(lines[0].count(mark) for mark in (delimiter or "".join(_DELIMITERS)))
    if width > MAX_COLUMNS:
        raise InputFileError(
            f"{source} has {width} columns, and a text table may have at most {MAX_COLUMNS}; is it"
            " transposed? Store wide data as npy or parquet"
        )
    try:
        delimiter = delimiter or _find_delimiter(lines)
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error as error:
        raise InputFileError(
            f"{source} cannot be read as a text table: {error}; check it for an unmatched quotation mark"
        ) from error
    decimal = _find_decimal([cell for row in rows[1:] for cell in row], delimiter)
    if not _is_header(rows):
        return TextLayout(delimiter, default_names(len(rows[0])), False, decimal, by_blanks, trailing=True)
    names = [name.strip() for name in rows[0]]
    if len(rows) > 1 and all(len(row) == len(names) + 1 and not row[-1].strip() for row in rows[1:]):
        names.append("")  # a delimiter at the end of every line but the first
    row_names = True
    if names[0] == "":
        names[0] = "row"
    elif len(rows) > 1 and len(rows[1]) == len(names) + 1:  # R writes no name for the row names
        names.insert(0, "row")
    else:
        row_names = False
    return TextLayout(
        delimiter, _check_names(names, source), True, decimal, by_blanks, names[-1] == "", row_names
    )


def blanks_to_tabs(content: bytes) -> bytes:
    """Replace runs of blanks by tabs, and remove empty lines and comments."""
    return b"".join(b"\t".join(line.split()) + b"\n" for line in content_lines(content))


def content_lines(content: bytes) -> list[bytes]:
    """Return the lines that are neither empty nor comments (``#`` or ``%``)."""
    comments = tuple(mark.encode() for mark in _COMMENTS)
    return [line for line in content.splitlines() if line.strip() and not line.lstrip().startswith(comments)]


def _first_lines(head: bytes) -> list[str]:
    sample = head[:HEAD_BYTES]
    lines = sample.decode(errors="ignore").splitlines()
    if len(head) > len(sample):
        # The last line of the sample is cut; a single line may be longer than the sample.
        lines = lines[:-1] if len(lines) > 1 else head.decode(errors="ignore").splitlines()[:2]
    return [line for line in lines if line.strip()][:_SAMPLE_LINES]


def _find_delimiter(lines: list[str]) -> str:
    for delimiter in _DELIMITERS:
        if not any(delimiter in line for line in lines):
            continue  # a long line would be one cell, and csv limits the length of cells
        widths = {len(row) for row in csv.reader(lines, delimiter=delimiter) if row}
        if len(widths) == 1 and widths.pop() > 1:
            return delimiter
    counts = {delimiter: sum(delimiter in line for line in lines) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: (counts[delimiter], delimiter == ","))
    return best if counts[best] else ","


def _find_decimal(cells: list[str], delimiter: str) -> str:
    """Return the decimal mark: a comma if some numbers have one, and none has a point."""
    if delimiter == "," or any(re.fullmatch(r"\s*[-+]?\d+\.\d+\s*", cell) for cell in cells):
        return "."
    has_comma = any(re.fullmatch(r"\s*[-+]?\d+,\d+([eE][-+]?\d+)?\s*", cell) for cell in cells)
    return "," if has_comma else "."


def _separated_by_blanks(lines: list[str]) -> bool:
    """Return whether there is no other delimiter and all lines have the same number of words.

    The first may have one word less, since ``write.table`` of R writes no name for the row names.
    """
    if any(delimiter in line for line in lines for delimiter in _DELIMITERS):
        return False
    widths = [len(line.split()) for line in lines if not line.lstrip().startswith(_COMMENTS)]
    if not widths or len(set(widths[1:])) > 1:
        return False
    return widths[-1] > 1 and widths[0] in (widths[-1], widths[-1] - 1)


def _is_header(rows: list[list[str]]) -> bool:
    """Return whether the first row contains names: a word above a column of numbers."""

    def numeric(cell: str) -> bool:
        return cell.strip() in MISSING_MARKERS or looks_numeric(cell)

    first, rest = rows[0], rows[1:]
    if rest and [name.strip() for name in first] == ["", *map(str, range(len(first) - 1))]:
        return True  # pandas numbers the columns of an array, and gives its index no name
    if not rest or all(numeric(cell) for cell in first):
        return bool(first) and not any(numeric(cell) for cell in first)
    offset = 1 if all(len(row) == len(first) + 1 for row in rest) else 0
    for place, name in enumerate(first):
        below = [row[place + offset] for row in rest if len(row) > place + offset]
        if not numeric(name) and below and all(numeric(cell) for cell in below):
            return True
    return False


def _check_names(names: Iterable[str], source: str) -> tuple[str, ...]:
    """Name the columns without a name, and raise if a name occurs twice."""
    names = [name or f"x{place}" for place, name in enumerate(names)]
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InputFileError(f"{source} has two columns named {name!r}; rename one")
    return tuple(names)
