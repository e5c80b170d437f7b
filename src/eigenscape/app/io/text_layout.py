"""Layout of a text table: delimiter, header, row names and decimal mark, found in its first lines.

Decisions that the cells leave open are said in ``TextLayout.remarks``. See docs/decisions/app-columns.md.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from eigenscape.app.io.columns import MISSING_CELLS, NUMBER
from eigenscape.app.io.table import default_names
from eigenscape.exceptions import InputFileError

#: Text tables with more columns are rejected: they are probably transposed.
MAX_COLUMNS = 100_000
#: Bytes from which the layout is found.
HEAD_BYTES = 2**20
_SAMPLE_LINES = 50
#: Names of columns of words; a class of a headless table is hardly called so.
_LABEL_NAMES = ("class", "id", "label", "labels", "name", "species", "target", "y")
#: In order of preference: a comma may be part of a number, a semicolon rarely is.
_DELIMITERS = ("\t", ";", "|", ",")
_COMMENTS = ("#", "%")
_COMMENT = tuple(mark.encode() for mark in _COMMENTS)
_BLANKS_OR_QUOTED = re.compile(rb'("(?:[^"\n]|"")*"(?=[ \t]|$))|[ \t]+')
_NUMBER = re.compile(rf"\s*({'|'.join(map(re.escape, MISSING_CELLS))})\s*$|{NUMBER}")  # or missing
_INTEGER = re.compile(r"\s*\d{1,9}\s*")
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
    longer: bool = False  # whether rows have one cell more than the header, as R writes row names
    remarks: tuple[str, ...] = ()  # decisions that may not be the intended ones


def find_layout(
    head: bytes, source: str, delimiter: str | None, header: bool | None = None, known: Sequence[str] = ()
) -> TextLayout:
    """Find the layout of a text table.

    Parameters
    ----------
    head : bytes
        The content in UTF-8, or its beginning: more than ``HEAD_BYTES`` bytes and at least two lines.
    source : str
        Name of the file, for error messages.
    delimiter : str or None
        The delimiter, if the file extension defines it.
    header : bool, optional
        Whether the first line contains names. If None, the cells of the first lines decide.
    known : sequence of str
        Names of columns of a fitted model: a first line that contains them is a header.
    """
    lines = _first_lines(head, source)
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
        rows = [
            row
            for row in csv.reader(lines[:_SAMPLE_LINES], delimiter=delimiter, skipinitialspace=True)
            if row
        ]
    except csv.Error as error:
        raise InputFileError(
            f"{source} cannot be read as a text table: {error}; check it for an unmatched quotation mark"
        ) from error
    if delimiter == "," and _has_decimal_commas(rows, source):
        delimiter, rows = ";", [[",".join(row)] for row in rows]
    cells = [cell for row in rows[1:] for cell in row]
    has_comma = delimiter != "," and any(_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    decimal = "," if has_comma and not any(_DECIMAL_POINT.fullmatch(cell) for cell in cells) else "."
    is_header, remarks = (header, ()) if header is not None else _find_header(rows, known)
    if not is_header:
        names = default_names(len(rows[0]))
        return TextLayout(delimiter, names, False, decimal, by_blanks, trailing=True, remarks=remarks)
    is_quoted = all(line.startswith('"') for line in lines[1:_SAMPLE_LINES])
    found, is_trailing, is_longer = _header_names(rows, is_quoted, source)
    row_names = is_longer or not rows[0][0].strip()
    is_longer = is_longer and not is_quoted
    return TextLayout(delimiter, found, True, decimal, by_blanks, is_trailing, row_names, is_longer, remarks)


def _first_lines(head: bytes, source: str) -> list[str]:
    """Return the complete lines in the beginning of a table that are not empty."""
    lines = head[:HEAD_BYTES].decode(errors="ignore").splitlines()
    if len(head) > HEAD_BYTES:  # the last line is cut; a single line may be longer than the sample
        lines = lines[:-1] if len(lines) > 1 else head.decode(errors="ignore").splitlines()[:2]
    lines = [line for line in lines if line.strip()]
    if b"\0" in head[:4096] or not lines:
        raise InputFileError(f"{source} contains binary data, not text; use the file extension of its format")
    return lines


def _header_names(rows: list[list[str]], is_quoted: bool, source: str) -> tuple[tuple[str, ...], bool, bool]:
    """Return the names of the columns, whether the last one has none, and whether rows are longer by one."""
    names = [name.strip() for name in rows[0]]
    is_longer = len(rows) > 1 and not names[0].startswith(_COMMENTS)
    is_longer = is_longer and all(len(row) == len(names) + 1 for row in rows[1:])
    if is_longer and all(not row[-1].strip() for row in rows[1:]):
        names.append("")  # a delimiter at the end of every line but the first
        is_longer = False
    if is_longer and not is_quoted and not _are_row_names([row[0].strip() for row in rows[1:]]):
        raise row_names_error(source)
    if is_longer or not names[0]:  # R writes no name for the row names, pandas an empty one
        names[: names[0] == ""] = ["row"]
    names[0] = names[0].lstrip("#").strip() or names[0]  # a header that is written as a comment
    is_trailing = names[-1] == ""
    names = [name or f"x{place}" for place, name in enumerate(names)]
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InputFileError(f"{source} has two columns named {name!r}; rename one")
    return tuple(names), is_trailing, is_longer


def _are_row_names(cells: list[str]) -> bool:
    """Return whether cells without a name are row names of R: text that is not repeated, or 1, 2, 3, ..."""
    is_text = len(set(cells)) == len(cells) and not any(map(_NUMBER.match, cells))
    return is_text or cells == [str(number) for number in range(1, len(cells) + 1)]


def row_names_error(source: str) -> InputFileError:
    """Return the error for rows that are longer than the header by a cell that is no row name."""
    return InputFileError(
        f"{source}: line 2 has one cell more than the header, as all lines have, and the first cells are"
        " neither row names (text that is not repeated) nor 1, 2, 3, ...; name all columns, or, if commas"
        " are decimal marks, separate the cells by semicolons"
    )


def _has_decimal_commas(rows: list[list[str]], source: str) -> bool:
    """Return whether a table has one column of numbers with a decimal comma, such as 1,5."""
    pairs = [",".join(row) for row in rows[1:] if any(cell.strip() for cell in row)]
    joined = len(rows[0]) == 1 and pairs and all(len(row) <= 2 for row in rows)
    pairs = [cell for cell in pairs if cell.strip() not in MISSING_CELLS]
    if not joined or not all(_DECIMAL_COMMA.fullmatch(cell) or _INTEGER.fullmatch(cell) for cell in pairs):
        return False
    fractions = [cell.partition(",")[2] for cell in pairs if "," in cell]
    if fractions and all(len(digits) == 3 for digits in fractions):
        raise InputFileError(
            f"{source}: {pairs[0]!r} in line 2 is one number or two; write numbers with a decimal point and"
            " without thousands separators, or name both columns"
        )
    return bool(fractions)


def blanks_to_tabs(content: bytes) -> bytes:
    """Replace runs of blanks outside of quotation marks by tabs, and remove empty lines and comments."""
    lines = content_lines(content)
    if b'"' not in content:
        return b"".join(b"\t".join(line.split()) + b"\n" for line in lines)
    return b"".join(_BLANKS_OR_QUOTED.sub(_tab, line.strip()) + b"\n" for line in lines)


def _tab(match: re.Match[bytes]) -> bytes:
    return match[1] or b"\t"


def content_lines(content: bytes) -> list[bytes]:
    """Return the lines that are neither empty nor comments (``#`` or ``%``)."""
    return [line for line in content.splitlines() if line.strip() and not line.lstrip().startswith(_COMMENT)]


def _find_delimiter(lines: list[str]) -> str:
    """Return the delimiter; a blank if all lines have the same number of words and no other delimiter.

    The first line may have one word less, since ``write.table`` of R writes no name for the row names.
    A quoted text is one word.
    """
    counts = {delimiter: sum(delimiter in line for line in lines) for delimiter in _DELIMITERS}
    if not any(counts.values()):
        has_comment = lines[0].startswith(_COMMENTS) and all(len(line.split()) == 1 for line in lines[1:])
        return " " if _is_by_blanks(lines) or has_comment else ","
    for delimiter in filter(counts.get, _DELIMITERS):
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        if len(set(widths)) == 1 and widths[0] > 1:
            return delimiter
    if max(counts.values()) < len(lines) and _is_by_blanks(lines):
        return " "  # a comma in a few quoted texts
    return max(_DELIMITERS, key=lambda delimiter: (counts[delimiter], delimiter == ","))


def _is_by_blanks(lines: list[str]) -> bool:
    """Return whether all lines have the same number of words; comments are not counted."""
    words = blanks_to_tabs("\n".join(lines).encode()).splitlines()
    widths = [1 + line.count(b"\t") for line in words]
    is_table = len(set(widths[1:])) <= 1 and max(widths, default=0) > 1
    return is_table and widths[-1] > 1 and widths[0] in (widths[-1], widths[-1] - 1)


def _find_header(rows: list[list[str]], known: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
    """Return whether the first row contains names, and a remark if they are numbers.

    Names are words above a column of numbers, or numbers that the rows below make unlikely to be values.
    """
    first, rest = [cell.strip() for cell in rows[0]], rows[1:]
    if rest and (first == ["", *map(str, range(len(first) - 1))] or (known and set(known) <= set(first))):
        return True, ()  # pandas numbers the columns of an array, and gives its index no name
    words = [place for place, cell in enumerate(first) if not _NUMBER.match(cell)]
    if not rest:
        return len(words) == len(first), ()
    offset = 1 if all(len(row) == len(first) + 1 for row in rest) else 0
    columns = [
        [row[place + offset] for row in rest if len(row) > place + offset] for place in range(len(first))
    ]
    if any(columns[place] and all(map(_NUMBER.match, columns[place])) for place in words):
        return True, ()
    numbers = [place for place in range(len(first)) if place not in words]
    verdict = _are_numbered_names([first[place] for place in numbers], [columns[place] for place in numbers])
    if verdict is None:
        is_named = any(first[place].casefold() in _LABEL_NAMES for place in words)
        verdict = True if is_named else None
    shown = ", ".join(first[:4]) + (", ..." if len(first) > 4 else "")
    if verdict:
        return True, (
            f"the first line ({shown}) is read as the names of the columns; if it contains values, use"
            " header=False (--no-header)",
        )
    if verdict is None and not words:
        return False, (
            f"the first line ({shown}) is read as values; if it contains names, use header=True (--header)",
        )
    return False, ()


def _are_numbered_names(names: list[str], columns: list[list[str]]) -> bool | None:
    """Return whether numbers in the first row are names of columns; None if the rows below do not tell.

    Names are 0, 1, 2, ... as pandas writes them, or increase in equal steps, as years and wavelengths do.
    They are names if the numbers below are of another kind: all with decimals, or all smaller.
    """
    if not names or not all(map(_INTEGER.fullmatch, names)):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(names)}
    is_range = [int(name) for name in names] == list(range(len(names)))
    if not is_range and not (len(names) > 1 and len(steps) == 1 and min(steps) > 0):
        return False
    below = [[cell.strip() for cell in column if cell.strip() not in MISSING_CELLS] for column in columns]
    if all(not any(map(_INTEGER.fullmatch, column)) for column in below):  # all have decimals
        return True
    values = {cell for column in below for cell in column}
    if is_range:  # unless the rows are permutations of it, or continue it
        is_permuted = all(set(row) == set(names) for row in zip(*below, strict=False))
        is_continued = [column[:1] for column in below] == [[str(len(names) + int(name))] for name in names]
        is_values = is_permuted or is_continued or len(names) == 1 or values <= set(names[:2])
        return None if is_values else True
    numbers = [float(cell.replace(",", ".")) for cell in values]
    return True if max(numbers, default=0) < int(names[0]) and len(names) > 2 else None
