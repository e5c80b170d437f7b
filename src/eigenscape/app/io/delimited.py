"""Text tables: comma, semicolon, tab or blank between the cells, with or without a line of names."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eigenscape._memory import require
from eigenscape.app.io.cells import NULLS, looks_numeric
from eigenscape.app.io.columns import ColumnSelection, assemble
from eigenscape.app.io.table import Table, default_names
from eigenscape.exceptions import InputFileError

#: A text table of more columns is not looked at further: it is a mistake, or a format for arrays serves
#: better.
MOST_COLUMNS = 100_000
_SAMPLE_LINES = 50
#: In this order: a semicolon in every line is hardly part of a number, a comma may be.
_DELIMITERS = ("\t", ";", "|", ",")


@dataclass(frozen=True)
class Layout:
    """How a text table is written."""

    delimiter: str
    names: tuple[str, ...]
    header: bool
    decimal: str
    trailing: bool = (
        False  # whether the last column has no name: a delimiter may stand at the end of every line
    )
    unnamed: bool = (
        False  # whether the first column has no name in a line of names: row names that pandas and R write
    )


def read_delimited(
    content: bytes, selection: ColumnSelection, source: str, delimiter: str | None = None
) -> Table:
    """A table from the bytes of a text file."""
    content = as_utf8(content, source)
    if delimiter is None and _by_blanks(content):
        content, delimiter = _with_tabs(content), "\t"
    layout = find_layout(content, source, delimiter)
    if layout.unnamed and selection.id is None:
        selection = ColumnSelection(selection.columns, selection.label, layout.names[0], selection.missing)
    columns = _parse(content, layout, source)
    if len(next(iter(columns.values()))) == 0:
        raise InputFileError(f"{source} has a line of names and no rows")
    if layout.trailing and len(columns) > 1 and str(columns[layout.names[-1]].type) == "null":
        del columns[layout.names[-1]]
    codes = _columns_of_codes(content, layout, columns, source)
    columns |= _parse(content, layout, source, sorted(codes | _as_written(columns, selection)))
    return assemble(columns, selection, source, first_line=2 if layout.header else 1, codes=frozenset(codes))


def _as_written(columns: dict[str, Any], selection: ColumnSelection) -> set[str]:
    """Names of rows that are no whole numbers, and labels that are no numbers, are kept as they are written:
    dates, true and false."""
    import pyarrow as pa

    completed = selection.completed(list(columns))
    found = set()
    for name, fits in (
        (completed.id, pa.types.is_integer),
        (completed.label, lambda kind: pa.types.is_integer(kind) or pa.types.is_floating(kind)),
    ):
        if (
            name in columns
            and name not in (selection.columns or ())
            and not (fits(columns[name].type) or pa.types.is_string(columns[name].type))
        ):
            found.add(name)
    return found


def _columns_of_codes(content: bytes, layout: Layout, columns: dict[str, Any], source: str) -> set[str]:
    """Columns of digits of which some begin with 0, such as ``00417``: these are codes, and as numbers they
    would lose the zeros."""
    import pyarrow as pa
    from pyarrow import compute

    if not re.search(
        rb'(?:^|["' + re.escape(layout.delimiter.encode()) + rb"])[ \t]*0\d", content, flags=re.MULTILINE
    ):
        return set()
    written = _parse(
        content,
        layout,
        source,
        [n for n, c in columns.items() if pa.types.is_integer(c.type) or pa.types.is_floating(c.type)],
    )
    found = set()
    for name, column in written.items():
        whole = compute.all(compute.match_substring_regex(column, r"^\s*\d*\s*$")).as_py()
        if whole and compute.any(compute.match_substring_regex(column, r"^\s*0\d+\s*$")).as_py():
            found.add(name)
    return found


def as_utf8(content: bytes, source: str) -> bytes:
    """The bytes in UTF-8 without a byte-order mark; other encodings are refused unless they announce
    themselves."""
    if not content.strip():
        raise InputFileError(f"{source} is empty")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16").encode()
    content = content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputFileError(
            f"{source} is not UTF-8: byte 0x{content[error.start]:02x} in line {line}; save it as UTF-8"
            " (if it is Latin-1: iconv -f latin1 -t utf-8)"
        ) from error
    if b"\0" in content[:4096]:
        raise InputFileError(f"{source} holds binary data, not text; give the file the suffix of its format")
    return content


def find_layout(content: bytes, source: str, delimiter: str | None) -> Layout:
    """Delimiter, names and decimal mark, from the first lines."""
    lines = _first_lines(content)
    width = 1 + max(lines[0].count(mark) for mark in (delimiter or "".join(_DELIMITERS)))
    if width > MOST_COLUMNS:
        raise InputFileError(
            f"{source} has {width} columns, and a text table may have {MOST_COLUMNS}; is it transposed? Store wide data as npy or parquet"
        )
    try:
        delimiter = delimiter or _delimiter_of(lines)
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error as error:
        raise InputFileError(
            f"{source} cannot be read as a text table: {error}; does a quotation mark stand alone?"
        ) from error
    width = len(rows[0])
    cells = [cell for row in rows[1:] for cell in row]
    comma = delimiter != "," and any(
        re.fullmatch(r"\s*[-+]?\d+,\d+([eE][-+]?\d+)?\s*", cell) for cell in cells
    )
    comma = comma and not any(re.fullmatch(r"\s*[-+]?\d+\.\d+\s*", cell) for cell in cells)
    header = _is_header(rows)
    if not header:
        return Layout(delimiter, default_names(width), False, "," if comma else ".", trailing=True)
    names = [name.strip() for name in rows[0]]
    if len(rows) > 1 and all(len(row) == width + 1 and not row[-1].strip() for row in rows[1:]):
        names.append("")  # a delimiter at the end of every line but the first
        width += 1
    unnamed = names[0] == ""
    if unnamed or (len(rows) > 1 and len(rows[1]) == width + 1):  # R names the columns but not the row names
        names = ["row", *names[1:]] if unnamed else ["row", *names]
        unnamed = True
    return Layout(delimiter, _distinct(names, source), True, "," if comma else ".", names[-1] == "", unnamed)


def _first_lines(content: bytes) -> list[str]:
    head = content[: 2**20]
    lines = head.decode(errors="ignore").splitlines()
    if len(content) > len(head) and len(lines) > 1:
        lines = lines[:-1]  # the last one is cut
    elif len(content) > len(head):
        lines = content.decode().splitlines()[:2]  # one line longer than the sample
    return [line for line in lines if line.strip()][:_SAMPLE_LINES]


def _delimiter_of(lines: list[str]) -> str:
    for delimiter in _DELIMITERS:
        if not any(delimiter in line for line in lines):
            continue  # a long line would be one cell, longer than csv allows
        widths = {len(row) for row in csv.reader(lines, delimiter=delimiter) if row}
        if len(widths) == 1 and widths.pop() > 1:
            return delimiter
    counts = {delimiter: sum(delimiter in line for line in lines) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: (counts[delimiter], delimiter == ","))
    return best if counts[best] else ","


def _by_blanks(content: bytes) -> bool:
    """Whether blanks separate the cells: there is no other delimiter, and the lines have equally many
    words."""
    lines = _first_lines(content)
    if any(delimiter in line for line in lines for delimiter in "\t;|,"):
        return False
    widths = {len(line.split()) for line in lines if not line.lstrip().startswith(("#", "%"))}
    return len(widths) == 1 and widths.pop() > 1


def _with_tabs(content: bytes) -> bytes:
    lines = (
        line for line in content.splitlines() if line.strip() and not line.lstrip().startswith((b"#", b"%"))
    )
    return b"\n".join(b"\t".join(line.split()) for line in lines) + b"\n"


def _is_header(rows: list[list[str]]) -> bool:
    """Names stand above numbers; where no column has numbers, words that do not come again are names."""

    def numeric(cell: str) -> bool:
        return cell.strip() in NULLS or looks_numeric(cell)

    first, rest = rows[0], rows[1:]
    if not rest or all(numeric(cell) for cell in first):
        return bool(first) and not any(numeric(cell) for cell in first)
    offset = 1 if all(len(row) == len(first) + 1 for row in rest) else 0
    for place, name in enumerate(first):
        below = [row[place + offset] for row in rest if len(row) > place + offset]
        if not numeric(name) and below and all(numeric(cell) for cell in below):
            return True
    return False


def _distinct(names: Iterable[str], source: str) -> tuple[str, ...]:
    names = [name or f"x{place}" for place, name in enumerate(names)]
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InputFileError(f"{source} has two columns of the name {name!r}; rename one")
    return tuple(names)


def _parse(content: bytes, layout: Layout, source: str, as_text: list[str] | None = None) -> dict[str, Any]:
    """The columns, types found from all values; or some of them, as the text that is written."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    if as_text == []:
        return {}
    types = None if as_text is None else dict.fromkeys(as_text, pa.string())
    require(
        4 * len(content),
        f"reading {source}",
        "store it as parquet or npy and use stream=True with a dictionary method",
    )
    bad: list[Any] = []

    def refuse(row: Any) -> str:
        bad.append(row)
        return "error"

    def parse(block: int | None, threads: bool) -> Any:
        return arrow.read_csv(
            io.BytesIO(content),
            arrow.ReadOptions(
                column_names=list(layout.names),
                skip_rows=1 if layout.header else 0,
                block_size=block,
                use_threads=threads,
            ),
            arrow.ParseOptions(
                delimiter=layout.delimiter, newlines_in_values=b'"' in content, invalid_row_handler=refuse
            ),
            arrow.ConvertOptions(
                null_values=list(NULLS),
                decimal_point=layout.decimal,
                strings_can_be_null=False,
                column_types=types,
                include_columns=as_text,
            ),
        )

    try:
        try:
            table = parse(None, True)
        except (
            pa.ArrowInvalid
        ):  # types found in the first block do not fit the others, or a row is ragged: look at all at once
            bad.clear()
            table = parse(min(len(content) + 1, 2**31 - 1), False)
    except pa.ArrowInvalid as error:
        if bad:
            row = bad[0]
            place = f"line {row.number}" if row.number is not None else f"the row {row.text[:60]!r}"
            raise InputFileError(
                f"{source}: {place} has {row.actual_columns} cells where {row.expected_columns} are expected; correct it"
                + (" (the first line is a comment; take it out)" if content.startswith(b"#") else "")
            ) from error
        raise InputFileError(
            f"{source} cannot be read as a text table: {str(error).splitlines()[0]}"
        ) from error
    return dict(zip(table.column_names, table.columns, strict=True))


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked where its name ends in gz, bz2 or zst."""
    import pyarrow as pa

    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            return bytes(stream.read())
    except PermissionError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise InputFileError(f"{path} cannot be unpacked: {error}") from error
