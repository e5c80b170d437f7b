"""Valid text tables of known meaning, in the habits of the programs that people write tables with.

A case is a seed: it draws columns (numbers, words, identifiers, dates, flags), writes them in one habit and
keeps what each cell means. :func:`difference` compares that with the table that ``read`` returns.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import feather as pa_feather

#: Values of a cell: None is missing.
Value = float | str | bool | None

WORDS = (
    "oak",
    "elm",
    "ash",
    "New York",
    "a, b",
    'say "hi"',
    "semi;colon",
    "Zürich",
    "x1",
    "north",
    "it's",
    "B-12",
)


@dataclass(frozen=True)
class Column:
    """Values of a column; ``kind`` is one of number, odd, word, code, date, flag, row, name and role.

    A row has no name and a name has one; both identify rows. A role is a label or an id of integers.
    """

    name: str
    kind: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Case:
    """A file, what its columns mean, and which of its habits may be refused by an error."""

    habit: str
    content: bytes
    columns: tuple[Column, ...]
    suffix: str = ".csv"
    has_names: bool = True
    is_open: bool = False  # whether the first line may be names or values, so that a remark is right, too
    may_refuse: bool = False  # cells that are no plain numbers may raise an error that names the column
    options: dict[str, Any] = field(default_factory=dict)  # for ``read``


def draw(seed: int) -> Case:
    """Return the case of a seed."""
    rng = np.random.default_rng(seed)
    return HABITS[seed % len(HABITS)](rng)


# Columns


def _numbers(rng: np.random.Generator, n: int, kind: str) -> tuple[Value, ...]:
    scale = 10.0 ** rng.integers(-3, 5)
    if kind == "float":  # with decimals in each cell, so that a row of numbers is no row of names
        return tuple(float(x) + 0.5**6 for x in np.round(scale * rng.normal(size=n), 3))
    if kind == "count":
        return tuple(float(x) for x in rng.poisson(rng.choice([0.7, 8, 3000]), size=n))
    if kind == "year":
        return tuple(float(x) for x in rng.integers(1950, 2030, size=n))
    return tuple(float(x) for x in rng.integers(-50, 50, size=n))


def _drop(rng: np.random.Generator, values: Sequence[Value], share: float) -> tuple[Value, ...]:
    """Replace some values by None, not the first one."""
    return tuple(None if i and rng.random() < share else value for i, value in enumerate(values))


def _columns(
    rng: np.random.Generator,
    n: int,
    words: bool = True,
    missing: float = 0.0,
    kinds: Iterable[str] = ("float", "count", "int", "year"),
) -> list[Column]:
    names = list(rng.permutation(["width", "Höhe", "mass (kg)", "t_1", "Temp", "pH", "a b", "px7"]))
    columns = [
        Column(names[i], "number", _drop(rng, _numbers(rng, n, str(rng.choice(list(kinds)))), missing))
        for i in range(rng.integers(1, 6))
    ]
    if words and rng.random() < 0.6:
        chosen = rng.permutation(WORDS)[: rng.integers(2, 5)]
        columns.append(Column("species", "word", tuple(str(rng.choice(chosen)) for _ in range(n))))
    if words and rng.random() < 0.3:
        columns.append(Column("plate", "word", tuple(f"P {i:03d}x" for i in rng.permutation(n))))
    if words and rng.random() < 0.2:
        columns.append(
            Column("zip", "code", tuple(f"{x:05d}" for x in (417, *rng.integers(0, 99_999, size=n - 1))))
        )
    if words and rng.random() < 0.2:
        days = rng.integers(10_000, 20_000, size=n)
        columns.append(Column("day", "date", tuple(str(np.datetime64(int(d), "D")) for d in days)))
    if words and rng.random() < 0.2:
        columns.append(Column("open", "flag", (True, False, *(bool(x) for x in rng.random(n - 2) < 0.5))))
    order = rng.permutation(len(columns))
    return [columns[i] for i in order]


def _rows(rng: np.random.Generator) -> int:
    return int(rng.choice([3, 5, 12, 40, 80]))


def _text(
    value: Value, decimal: str = ".", missing: str = "", flags: tuple[str, str] = ("True", "False")
) -> str:
    """Return a cell as most programs write it."""
    if value is None:
        return missing
    if isinstance(value, bool):
        return flags[0] if value else flags[1]
    if isinstance(value, str):
        return value
    shown = str(int(value)) if value == int(value) else repr(value)
    return shown.replace(".", decimal)


def _joined(
    rows: Iterable[Sequence[str]], delimiter: str, quoting: Any = csv.QUOTE_MINIMAL, end: str = "\n"
) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(rows)
    return out.getvalue()


def _table(columns: Sequence[Column], **options: Any) -> list[list[str]]:
    return [
        [_text(value, **options) for value in row] for row in zip(*(c.values for c in columns), strict=True)
    ]


def _encoded(
    rng: np.random.Generator, text: str, habit: str, columns: Sequence[Column], **options: Any
) -> Case:
    """Return the case in one of the encodings that are accepted."""
    mark = str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"]))
    content, suffix = text.encode(mark), options.pop("suffix", ".csv")
    if rng.random() < 0.1:
        content, suffix = gzip.compress(content, mtime=0), suffix + ".gz"
    return Case(habit, content, tuple(columns), suffix, **options)


# Habits


def pandas_frame(rng: np.random.Generator) -> Case:
    """``DataFrame.to_csv`` with and without index."""
    n = _rows(rng)
    columns = _columns(rng, n, missing=float(rng.choice([0, 0.1])))
    frame = pd.DataFrame({c.name: [np.nan if v is None else v for v in c.values] for c in columns})
    index = bool(rng.random() < 0.4)
    if index and rng.random() < 0.5:
        frame.index = [f"s{i}" for i in rng.permutation(n)]
    text = frame.to_csv(
        index=index,
        sep=str(rng.choice([",", ";", "\t", "|"])),
        na_rep=str(rng.choice(["", "NA", "NaN"])),
        quoting=int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC])),
    )
    rows = [Column("", "row", tuple(str(i) for i in frame.index))] if index else []
    return _encoded(rng, text, "pandas", [*rows, *columns])


def pandas_array(rng: np.random.Generator) -> Case:
    """``DataFrame(X).to_csv(index=False)``, whose names are 0, 1, 2, ...; with a column of labels too."""
    n, d = _rows(rng), int(rng.integers(1, 12))
    kind = str(rng.choice(["float", "int", "count"]))
    columns = [Column(str(i), "number", _numbers(rng, n, kind)) for i in range(d)]
    if rng.random() < 0.4:
        columns.append(
            Column(
                str(rng.choice(["label", "target", "species"])),
                "word",
                tuple(str(rng.choice(WORDS[:3])) for _ in range(n)),
            )
        )
    frame = pd.DataFrame({c.name: c.values for c in columns})
    frame = frame if kind == "float" else frame.apply(lambda c: c if c.dtype == object else c.astype(int))
    is_open = d == 1 and kind != "float"
    return _encoded(rng, frame.to_csv(index=False), f"pandas, numbered {kind}", columns, is_open=is_open)


def numbered(rng: np.random.Generator) -> Case:
    """Years or wavelengths as names, over numbers with decimals, and a column of words."""
    n, d = _rows(rng), int(rng.integers(3, 12))
    start, step = (
        (int(rng.integers(1950, 2000)), 1)
        if rng.random() < 0.5
        else (int(rng.integers(350, 900)), int(rng.choice([1, 2, 5])))
    )
    columns = [Column(str(start + step * i), "number", _numbers(rng, n, "float")) for i in range(d)]
    if rng.random() < 0.5:
        first = Column(str(rng.choice(["country", "sample"])), "word", tuple(f"c{i}" for i in range(n)))
        columns = [first, *columns]
    return _encoded(
        rng,
        _joined([[c.name for c in columns], *_table(columns)], str(rng.choice([",", ";", "\t"]))),
        "numbered names",
        columns,
    )


def no_names(rng: np.random.Generator) -> Case:
    """Numbers without a header, separated by commas, tabs or blanks."""
    n = _rows(rng)
    kinds = ("float",) if rng.random() < 0.5 else ("float", "count")
    columns = _columns(rng, n, words=False, kinds=kinds)
    columns = [replace(c, name=f"x{i}") for i, c in enumerate(columns)]
    if all(v == int(v) for c in columns for v in c.values[:1] if isinstance(v, float)):
        columns.append(Column(f"x{len(columns)}", "number", _numbers(rng, n, "float")))
    delimiter = str(rng.choice([",", "\t", " ", "  "]))
    lines = [delimiter.join(row) for row in _table(columns)]
    if len(columns) == 1:
        lines = [row[0] for row in _table(columns)]
    suffix = ".csv" if delimiter == "," else ".txt"
    return Case("no names", ("\n".join(lines) + "\n").encode(), tuple(columns), suffix, has_names=False)


def integers(rng: np.random.Generator) -> Case:
    """Integers without names: counts, zeros and ones, ranks, and 0, 1, 2, ... through all cells."""
    n, d = _rows(rng), int(rng.integers(2, 9))
    tables = {
        "counts": rng.poisson(rng.choice([0.7, 8, 3000]), size=(n, d)),
        "binary": rng.integers(2, size=(n, d)),
        "ranks": rng.permuted(np.tile(np.arange(d), (n, 1)), axis=1),
        "range": np.arange(int(rng.integers(2)), n * d + 1)[: n * d].reshape(-1, d),
    }
    kind = str(rng.choice(list(tables)))
    X = tables[kind]
    columns = [Column(f"x{i}", "number", tuple(float(x) for x in X[:, i])) for i in range(d)]
    text = _joined([[str(x) for x in row] for row in X.tolist()], str(rng.choice([",", "\t", " "])))
    is_open = X[0].tolist() == list(range(d))  # names, if pandas wrote an array
    return Case(f"integers, {kind}", text.encode(), tuple(columns), ".txt", has_names=False, is_open=is_open)


def no_names_labelled(rng: np.random.Generator) -> Case:
    """Numbers and a word in each row, without a header, as many archives of data sets have them."""
    n, d = _rows(rng), int(rng.integers(2, 6))
    columns = [Column(f"x{i}", "number", _numbers(rng, n, "float")) for i in range(d)]
    words = Column(f"x{d}", "word", tuple(WORDS[i % 3] for i in range(n)))
    columns = [*columns, words]
    text = _joined(_table(columns), ",")
    return Case("no names, words", text.encode(), tuple(columns), ".csv", has_names=False)


def polars_frame(rng: np.random.Generator) -> Case:
    """``DataFrame.write_csv`` of polars."""
    columns = _columns(rng, _rows(rng), missing=float(rng.choice([0, 0.1])))
    frame = pl.DataFrame({c.name: list(c.values) for c in columns})
    gap = str(rng.choice(["", "null"])) if len(columns) > 1 else "null"  # empty lines at the end are no rows
    text = frame.write_csv(separator=str(rng.choice([",", ";", "\t"])), null_value=gap)
    return _encoded(rng, text, "polars", columns)


def _quoted(column: Column, cells: Iterable[str]) -> list[str]:
    """Quote words as R does: text and names, not numbers, flags and missing values."""
    is_text = column.kind in ("word", "code", "date", "row")
    return ['"' + cell.replace('"', '""') + '"' if is_text else cell for cell in cells]


def r_csv(rng: np.random.Generator) -> Case:
    """``write.csv`` and ``write.csv2`` of R: row names under an empty name."""
    n = _rows(rng)
    columns = _columns(rng, n, missing=float(rng.choice([0, 0.1])))
    named = bool(rng.random() < 0.6)
    index = (
        tuple(str(1 + i) for i in range(n))
        if rng.random() < 0.5
        else tuple(f"row {i}" for i in rng.permutation(n))
    )
    all_columns = [Column("", "row", index), *columns] if named else columns
    european = bool(rng.random() < 0.4)
    delimiter, decimal = (";", ",") if european else (",", ".")
    cells = [_quoted(c, (_text(v, decimal, "NA", ("TRUE", "FALSE")) for v in c.values)) for c in all_columns]
    head = ['"' + c.name + '"' for c in all_columns]
    lines = [delimiter.join(row) for row in (head, *zip(*cells, strict=True))]
    return _encoded(rng, "\n".join(lines) + "\n", "write.csv2" if european else "write.csv", all_columns)


def r_table(rng: np.random.Generator) -> Case:
    """``write.table`` of R: blanks between cells, quoted text with blanks, a header without the row names."""
    n = _rows(rng)
    columns = _columns(rng, n, missing=float(rng.choice([0, 0.1])))
    columns = [
        replace(c, values=tuple(str(v).replace('"', "") if isinstance(v, str) else v for v in c.values))
        for c in columns
    ]
    index = Column(
        "",
        "row",
        tuple(str(1 + i) for i in range(n)) if rng.random() < 0.5 else tuple(f"row {i}" for i in range(n)),
    )
    cells = [
        _quoted(c, (_text(v, ".", "NA", ("TRUE", "FALSE")) for v in c.values)) for c in (index, *columns)
    ]
    lines = [" ".join('"' + c.name + '"' for c in columns), *map(" ".join, zip(*cells, strict=True))]
    suffix = str(rng.choice([".txt", ".csv", ".dat"]))
    return Case("write.table", ("\n".join(lines) + "\n").encode(), (index, *columns), suffix)


def excel(rng: np.random.Generator) -> Case:
    """Exports of spreadsheets: semicolons and decimal commas, tabs in UTF-16, or commas; CRLF."""
    n = _rows(rng)
    columns = [c for c in _columns(rng, n, missing=float(rng.choice([0, 0.1]))) if c.kind != "flag"]
    columns = columns or [Column("t", "number", _numbers(rng, n, "float"))]
    delimiter, decimal = [(";", ","), (",", "."), ("\t", ","), ("\t", ".")][int(rng.integers(4))]
    rows = [[c.name for c in columns], *_table(columns, decimal=decimal)]
    text = _joined(rows, delimiter, end="\r\n")
    mark = "utf-16" if delimiter == "\t" else "utf-8-sig"
    return Case("spreadsheet", text.encode(mark), tuple(columns), ".txt" if delimiter == "\t" else ".csv")


def savetxt(rng: np.random.Generator) -> Case:
    """``numpy.savetxt`` with and without a commented header."""
    n, d = _rows(rng), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-5, 6)
    out, delimiter = io.StringIO(), str(rng.choice([" ", ",", "\t"]))
    header = " ".join(f"c{i}" for i in range(d)) if rng.random() < 0.5 else ""
    np.savetxt(
        out, X, delimiter=delimiter, header="measured values " + header if header and delimiter == " " else ""
    )
    columns = tuple(Column(f"x{i}", "number", tuple(float(f"{x:.18e}") for x in X[:, i])) for i in range(d))
    return Case(
        "savetxt",
        out.getvalue().encode(),
        columns,
        str(rng.choice([".txt", ".dat"])) if delimiter != "," else ".csv",
        has_names=False,
    )


def aligned(rng: np.random.Generator) -> Case:
    """Columns aligned by blanks, comments and empty lines between them, quoted words."""
    n = _rows(rng)
    numbers = _columns(rng, n, words=False)
    numbers = [replace(c, name=c.name.split()[0] + str(i)) for i, c in enumerate(numbers)]
    words = Column("site", "word", tuple(str(rng.choice(["north", "south pole", "p  q"])) for _ in range(n)))
    columns = [words, *numbers] if rng.random() < 0.6 else numbers
    if len(columns) == 1:
        columns = [*columns, Column("more", "number", _numbers(rng, n, "float"))]
    cells = [[c.name, *(f'"{v}"' if c.kind == "word" else _text(v) for v in c.values)] for c in columns]
    widths = [max(map(len, column)) + 2 for column in cells]
    lines = [
        "".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True))
        for row in zip(*cells, strict=True)
    ]
    if rng.random() < 0.5:
        lines.insert(0, "# measured in May")
    if rng.random() < 0.3:
        lines.insert(int(rng.integers(1, len(lines))), "")
    return Case("aligned", ("\n".join(lines) + "\n").encode(), tuple(columns), ".txt")


def one_column(rng: np.random.Generator) -> Case:
    """A single column, in which an empty line is a missing value."""
    n = max(5, _rows(rng))
    values = _drop(rng, _numbers(rng, n, str(rng.choice(["float", "int"]))), float(rng.choice([0, 0.2])))
    values = (*values[:-1], 1.25)
    european = bool(rng.random() < 0.4)
    lines = ["speed", *(_text(v, "," if european else ".") for v in values)]
    return Case(
        "one column",
        ("\n".join(lines) + "\n").encode(),
        (Column("speed", "number", values),),
        str(rng.choice([".csv", ".txt"])),
        may_refuse=european,
    )


def comma_in_numbers(rng: np.random.Generator) -> Case:
    """Commas that separate decimals or thousands in a file whose cells are separated by commas."""
    n, d = _rows(rng), int(rng.integers(1, 4))
    columns = [
        Column(f"v{i}", "number", tuple(round(float(x), 2) for x in 1000 + 500 * rng.random(n)))
        for i in range(d)
    ]
    thousands = bool(rng.random() < 0.5)

    def cell(x: Value) -> str:
        return f"{x:,.2f}" if thousands else f"{x:.2f}".replace(".", ",")

    lines = [
        ",".join(c.name for c in columns),
        *(",".join(map(cell, row)) for row in zip(*(c.values for c in columns), strict=True)),
    ]
    return Case(
        "commas in numbers", ("\n".join(lines) + "\n").encode(), tuple(columns), ".csv", may_refuse=True
    )


_FORMS: dict[str, Callable[[float], str]] = {
    "minus sign": lambda x: f"{-abs(x):.2f}".replace("-", "\N{MINUS SIGN}"),
    "blank": lambda x: f"{1000 + abs(x):,.2f}".replace(",", " "),
    "no-break space": lambda x: f"{1000 + abs(x):,.2f}".replace(",", "\N{NO-BREAK SPACE}"),
    "narrow space": lambda x: f"{1000 + abs(x):,.2f}".replace(",", "\N{NARROW NO-BREAK SPACE}"),
    "apostrophe": lambda x: f"{1000 + abs(x):,.2f}".replace(",", "'"),
    "thousands": lambda x: f"{1000 + abs(x):,.2f}",
    "parentheses": lambda x: f"({abs(x):.2f})",
    "fortran": lambda x: f"{x:.6e}".replace("e", "d"),
    "percent": lambda x: f"{x:.1f}%",
    "dollar": lambda x: f"${abs(x):.2f}",
    "unit": lambda x: f"{x:.1f} cm",
    "unit of an integer": lambda x: f"{x:.0f} kg",
    "unit without a blank": lambda x: f"{x:.2f}mm",
    "degrees": lambda x: f"{x:.0f}°C",
    "star": lambda x: f"{x:.2f}*",
    "error": lambda x: f"{x:.2f} ± 0.1",
}


def odd_numbers(rng: np.random.Generator) -> Case:
    """Numbers in forms that few programs read: they are read, named in a remark, or refused; never an id."""
    n, form = max(5, _rows(rng)), str(rng.choice(list(_FORMS)))
    plain = Column("plain", "number", _numbers(rng, n, "float"))
    values = tuple(round(float(x), 3) for x in rng.normal(size=n) * 300)
    cells = [_FORMS[form](x) for x in values]
    meant = tuple(_meaning(cell) for cell in cells)
    rows = [["plain", "odd"], *([_text(a), b] for a, b in zip(plain.values, cells, strict=True))]
    text = _joined(rows, str(rng.choice([",", ";", "\t"])))
    return Case(
        f"odd numbers, {form}", text.encode(), (plain, Column("odd", "odd", meant)), ".csv", may_refuse=True
    )


def _meaning(cell: str) -> float:
    text = cell.replace("\N{MINUS SIGN}", "-").replace("d", "e").partition(" ±")[0]
    for unit in ("cm", "kg", "mm", "°C", "*"):
        text = text.replace(unit, "")
    for mark in ",' \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}%$":
        text = text.replace(mark, "")
    return -float(text[1:-1]) if text.startswith("(") else float(text)


def longer_rows(rng: np.random.Generator) -> Case:
    """One row has a cell more than the header: an error that names the line."""
    n, d = max(5, _rows(rng)), int(rng.integers(2, 5))
    columns = [Column(f"v{i}", "number", _numbers(rng, n, "float")) for i in range(d)]
    rows = [[c.name for c in columns], *_table(columns)]
    rows[int(rng.integers(1, n))].append("7.5")
    return Case(
        "a longer row", _joined(rows, str(rng.choice([",", ";", "\t"]))).encode(), (), ".csv", may_refuse=True
    )


_MISSING_MARKS = ("NULL", "na", "N.A.", "n/a", "NaT", "(null)", "\\N", "-", "--", ".", "#DIV/0!", "#VALUE!")


def missing_marks(rng: np.random.Generator) -> Case:
    """Numbers among marks of missing values, few or most of the cells, in forms of many programs."""
    n, mark = max(5, _rows(rng)), str(rng.choice(_MISSING_MARKS))
    plain = Column("plain", "number", _numbers(rng, n, "float"))
    values = _drop(rng, _numbers(rng, n, str(rng.choice(["float", "int"]))), float(rng.choice([0.2, 0.8])))
    columns = (plain, Column("rare", "number", values))
    rows = [[c.name for c in columns], *_table(columns, missing=mark)]
    return Case(f"missing {mark}", _joined(rows, str(rng.choice([",", ";", "\t"]))).encode(), columns)


_DATES = ("%d/%m/%Y", "%m/%d/%y", "%d-%b-%Y", "%d %b %Y", "%Y/%m/%d", "%H:%M", "%H:%M:%S", "%d/%m/%Y %H:%M")


def dates(rng: np.random.Generator) -> Case:
    """Dates and times in other forms than ISO: text, and as little an id as dates in ISO form."""
    n, form = _rows(rng), str(rng.choice(_DATES))
    times = pd.Timestamp("1999-01-31") + pd.to_timedelta(np.arange(n) * int(rng.integers(700, 3000)), "min")
    columns = [
        Column("t", "number", _numbers(rng, n, "float")),
        Column("day", "date", tuple(times.strftime(form))),
    ]
    rows = [[c.name for c in columns], *_table(columns)]
    return Case(f"dates {form}", _joined(rows, ",").encode(), tuple(columns))


def written_by_hand(rng: np.random.Generator) -> Case:
    """Blanks around cells and before quotation marks, a header after #, line ends of old systems."""
    n = _rows(rng)
    columns = [replace(c, name=f"c{i}") for i, c in enumerate(_columns(rng, n, words=False))]
    words = ["oak", "a p", "p\tq"] if rng.random() < 0.5 else ["oak; elm", "it's"]
    columns.append(Column("kind", "word", tuple(str(rng.choice(words)) for _ in range(n))))
    columns.append(Column("more", "number", _numbers(rng, n, "float")))
    lines = [[c.name for c in columns], *_table(columns)]
    style = str(rng.choice(["blanks", "quoted", "quoted after a blank", "commented"]))
    if style.startswith("quoted"):
        lines = [[f'"{cell}"' for cell in row] for row in lines]
    delimiter = {"blanks": " , ", "quoted after a blank": ", "}.get(style, ",")
    text = str(rng.choice(["\n", "\r\n", "\r"])).join(map(delimiter.join, lines))
    return Case(f"by hand, {style}", ("# " * (style == "commented") + text).encode(), tuple(columns))


def integer_roles(rng: np.random.Generator) -> Case:
    """Integers that identify rows or classes: features, with a remark."""
    n = max(5, _rows(rng))
    number = tuple(float(x) for x in 1000 + rng.permutation(5 * n)[:n])
    columns = (
        Column(str(rng.choice(["patient_id", "sampleID", "Sample ID"])), "role", number),
        Column("t", "number", _numbers(rng, n, "float")),
        Column(str(rng.choice(["class", "Target"])), "role", tuple(float(i % 3) for i in range(n))),
    )
    rows = [[c.name for c in columns], *_table(columns)]
    return Case("integer roles", _joined(rows, str(rng.choice([",", ";", "\t"]))).encode(), columns)


def stored_frame(rng: np.random.Generator) -> Case:
    """Parquet and feather files by pandas with an index, and by polars with categories."""
    n, out, suffix = _rows(rng), io.BytesIO(), str(rng.choice([".parquet", ".feather"]))
    columns = [c for c in _columns(rng, n, missing=0.1) if c.kind in ("number", "word")]
    columns = [*columns, Column("t", "number", _numbers(rng, n, "float"))]
    data = {c.name: [np.nan if v is None else v for v in c.values] for c in columns}
    if rng.random() < 0.4:
        kinds = {c.name: pl.Categorical for c in columns if c.kind == "word"}
        polars = pl.DataFrame(data, schema_overrides=kinds)
        (polars.write_parquet if suffix == ".parquet" else polars.write_ipc)(out)
        return Case("polars, stored", out.getvalue(), tuple(columns), suffix)
    frame = pd.DataFrame(data)
    numbered = bool(rng.random() < 0.5)
    frame.index = [str(i) if not numbered else int(i) for i in 50 + rng.permutation(3 * n)[:n]]
    frame.index.name = [None, "sample", "number"][int(rng.integers(3))]
    if suffix == ".parquet":
        frame.to_parquet(out)
    else:
        pa_feather.write_feather(pa.Table.from_pandas(frame), out)
    name = frame.index.name or "__index_level_0__"
    index = Column(str(name), "name", tuple(str(i) for i in frame.index))
    return Case("pandas, stored", out.getvalue(), (index, *columns), suffix)


HABITS: tuple[Callable[[np.random.Generator], Case], ...] = (
    pandas_frame, pandas_array, numbered, no_names, no_names_labelled, polars_frame, r_csv, r_table, excel,
    savetxt, aligned, integers, one_column, comma_in_numbers, odd_numbers, longer_rows,
    missing_marks, dates, written_by_hand, integer_roles, stored_frame,
)  # fmt: skip


# Comparison


def difference(case: Case, table: Any) -> str:
    """Return how a table differs from what its file means; an empty text if it does not."""
    if not case.columns:
        return "a file that must be refused was read"
    found = _found(table)
    wanted = {("row" if c.kind == "row" else c.name): c for c in case.columns}
    n = len(case.columns[0].values)
    if len(table.array) != n:
        is_open = case.is_open or case.columns[-1].values[-1] is None
        is_said = is_open and any(" line" in remark for remark in table.remarks)
        return "" if is_said else f"{len(table.array)} rows in place of {n}"
    unknown = sorted(set(found) - set(wanted))
    if unknown:
        return f"columns {unknown} are not in the file"
    for name, column in wanted.items():
        remarked = any(repr(name) in remark for remark in table.remarks)
        if name not in found:
            if remarked or column.kind == "row":
                continue
            return f"column {name!r} is missing and there is no remark"
        role, values = found[name]
        if column.kind in ("number", "odd") and role in ("id", "label"):
            return f"numbers of column {name!r} are taken as {role}"
        if (column.kind == "date" and role == "id") or (column.kind == "name" and role != "id"):
            return f"column {name!r} is taken as {role}"
        if column.kind == "role" and role == "feature" and not remarked:
            return f"column {name!r} is a feature without a remark"
        if column.kind == "odd" and role == "extra" and remarked:
            continue
        if not all(map(_same, column.values, values)):
            at = next(
                i for i, (a, b) in enumerate(zip(column.values, values, strict=True)) if not _same(a, b)
            )
            return f"cell {at} of column {name!r} is {values[at]!r} in place of {column.values[at]!r}"
    return ""


def _found(table: Any) -> dict[str, tuple[str, Sequence[Any]]]:
    """Return the role and the values of all columns of a table."""
    found = {name: ("feature", table.array[:, i]) for i, name in enumerate(table.names)}
    found |= {name: ("extra", values) for name, values in table.extra.items()}
    if table.labels is not None:
        found[table.label_name] = ("label", table.labels)
    if table.ids is not None:
        found[table.id_name] = ("id", table.ids)
    return found


def _same(meant: Value, value: Any) -> bool:
    if meant is None:
        return value is None or value == "" or bool(value != value)
    if isinstance(meant, bool):
        return str(value).lower() in (("true", "1", "1.0") if meant else ("false", "0", "0.0"))
    if isinstance(meant, str):
        if str(value) == meant or str(value).split("T")[0] == meant:
            return True
        return meant.isdigit() and str(value).removesuffix(".0") == meant  # ids that count the rows
    try:
        return float(value) == meant
    except (TypeError, ValueError):
        return False
