"""Cells of text tables: one profile of a column, over all blocks of rows, decides its type.

Every cell is read as text. :class:`ColumnProfile` finds what the cells of a column are, and :func:`convert`
converts them to the type of the profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from eigenscape.app.io.arrow import compute, pa
from eigenscape.app.io.conversion import to_floats
from eigenscape.app.io.guards import (
    EXACT_INTEGER,
    are_digits,
    are_integers,
    have_leading_zeros,
    have_rounded,
)
from eigenscape.exceptions import InputFileError

#: Cells that mark a missing value.
MISSING_MARKERS = (
    "", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN", "NULL", "Null", "null",
    "None", "none", "NONE", "?",
)  # fmt: skip
_TRUE, _FALSE = ("1", "true", "True", "TRUE"), ("0", "false", "False", "FALSE")
#: A text column with a larger share of numbers is treated as a numeric column with mistakes.
_MAJORITY = 0.5
_AMOUNT = re.compile(r"[-+]?[$€£¥]?\s*[-+]?\d+(?:[.,]\d+)*\s*[%‰$€£¥]?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MAX_EXAMPLES = 3


def looks_numeric(cell: str) -> bool:
    """Return whether a cell of text is a number, with a decimal point or comma."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return "_" not in cell  # float() accepts 1_000, tables do not use it


def parse_numbers(cells: Sequence[str]) -> np.ndarray | None:
    """Convert cells to floats, missing ones to NaN; None if a cell is not a number or all are missing."""
    present = [cell for cell in cells if cell not in MISSING_MARKERS]
    if not present or not all(looks_numeric(cell) and "," not in cell for cell in present):
        return None
    return np.array([np.nan if cell in MISSING_MARKERS else float(cell) for cell in cells], dtype=np.float64)


@cache
def _types() -> tuple[pa.DataType, ...]:
    """Return the types of columns in order of preference; text is the type of all others."""
    times = [pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("s", "ns")]
    return (pa.int64(), pa.bool_(), pa.date32(), *times, pa.float64())


@cache
def _numbers() -> tuple[pa.DataType, ...]:
    return pa.int64(), pa.float64()


def trim(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Remove blanks around cells."""
    return compute.utf8_trim_whitespace(cells)


def _without_missing(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells in which missing values are null."""
    is_missing = compute.is_in(cells, value_set=pa.array(MISSING_MARKERS))
    return compute.if_else(is_missing, pa.scalar(None, pa.string()), cells)


def _cast(cells: pa.ChunkedArray, types: Iterable[pa.DataType]) -> pa.ChunkedArray | None:
    """Return the cells as the first of ``types`` that represents all of them."""
    for dtype in types:
        try:
            return cells.cast(dtype)
        except pa.ArrowInvalid:
            continue
    return None


def to_numbers(
    cells: pa.ChunkedArray, types: Sequence[pa.DataType], decimal: str = "."
) -> pa.ChunkedArray | None:
    """Convert cells to the first of ``types`` that represents all, missing ones to null; None if none does.

    Most columns have neither blanks nor missing values, so the cells are first converted as they are.
    """
    if decimal == "." and (found := _cast(cells, types)) is not None:
        return found
    cells = _without_missing(trim(cells))
    if decimal == ",":  # a point is no part of a number then: 1.234 may be a thousand
        points = compute.replace_substring(compute.replace_substring(cells, ".", "_"), ",", ".")
        return _cast(points, types)
    if (found := _cast(cells, types)) is not None:
        return found
    present = cells.drop_null()
    if not all(looks_numeric(cell.as_py()) and "," not in cell.as_py() for cell in present):
        return None  # the conversion of Python accepts +5
    values = [None if cell is None else float(cell) for cell in cells.to_pylist()]
    return pa.chunked_array([pa.array(values, pa.float64())])


def convert(cells: pa.ChunkedArray, dtype: pa.DataType, decimal: str) -> pa.ChunkedArray:
    """Convert cells to the type that the profile of their column found; text has no surrounding blanks."""
    if dtype == pa.string():
        return trim(cells)
    if dtype == pa.null():
        return pa.chunked_array([pa.nulls(len(cells))])
    if dtype in (pa.int64(), pa.float64()):
        return to_numbers(cells, [dtype], decimal)
    if dtype == pa.bool_():
        values = _without_missing(cells)
        return compute.if_else(compute.is_null(values), None, compute.is_in(values, pa.array(_TRUE)))
    return _without_missing(trim(cells)).cast(dtype)


@dataclass
class ColumnProfile:
    """What the cells of a column are, accumulated over blocks of rows.

    Parameters
    ----------
    decimal : str
        Decimal mark of the table.
    is_checked : bool
        Whether words among numbers are mistakes; they are not in a column of labels or ids.
    """

    decimal: str
    is_checked: bool
    n_rows: int = 0
    n_values: int = 0  # cells that are not missing
    has_leading_zeros: bool = False
    all_digits: bool = True
    all_integers: bool = True
    has_rounded: bool = False  # whether an integer has no representation in double precision

    def __post_init__(self) -> None:
        self.text = TextSummary()
        self._types = set(_types())  # that represent all cells
        self._decimals = dict.fromkeys((self.decimal, "."))  # with which all cells are numbers, if they are

    @property
    def is_code(self) -> bool:
        """Whether the cells are digits, some with leading zeros."""
        return self.has_leading_zeros and self.all_digits

    @property
    def is_long(self) -> bool:
        """Whether the cells are integers that would be rounded."""
        return self.dtype == pa.float64() and self.all_integers and self.has_rounded

    @property
    def dtype(self) -> pa.DataType:
        """The first type that represents all cells."""
        if not self.n_values:
            return pa.null()
        return next((dtype for dtype in _types() if dtype in self._types), pa.string())

    @property
    def mark(self) -> str:
        """Decimal mark of the numbers."""
        return next(iter(self._decimals), self.decimal)

    def add(self, cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """Add a block of cells; return its numbers if all cells are."""
        types = [dtype for dtype in _numbers() if dtype in self._types]
        found = {mark: to_numbers(cells, types, mark) for mark in self._decimals}
        self._decimals = {mark: None for mark in found if found[mark] is not None}
        numbers = next((found[mark] for mark in self._decimals), None)
        if numbers is not None:
            numbers = self._add_numbers(cells, numbers)
        if numbers is None:
            self._add_text(cells)
        self.n_rows += len(cells)
        return numbers

    def _add_numbers(self, cells: pa.ChunkedArray, numbers: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """Add a block of numbers; return None if some have the base 16, which is text."""
        values = to_floats(numbers)
        values = values[~np.isnan(values)]
        if not len(values):
            return numbers
        is_integer = numbers.type == pa.int64()
        if is_integer and compute.any(compute.match_substring(cells, "x", ignore_case=True)).as_py():
            return None
        types = {pa.int64(), pa.float64()} if is_integer else {pa.float64()}
        if is_integer and values.min() >= 0 and values.max() <= 1 and _are_booleans(cells):
            types.add(pa.bool_())
        self._types &= types
        if self.all_integers and (is_integer or (values == np.floor(values)).all()):
            self._add_integers(_without_missing(trim(cells)).drop_null(), np.abs(values).max())
        else:
            self.all_integers = self.all_digits = False
        self.n_values += len(values)
        self.text.n_values += len(values)
        if self.mark == "," and self.text.first_with_comma is None:
            with_comma = cells.filter(compute.match_substring(cells, ","))
            self.text.first_with_comma = with_comma[0].as_py().strip() if len(with_comma) else None
        return numbers

    def _add_integers(self, cells: pa.ChunkedArray, largest: float) -> None:
        """Add cells that are probably integers; look for codes and for integers that would be rounded."""
        self.all_integers = are_integers(cells)
        self.all_digits = self.all_digits and are_digits(cells)
        self.has_leading_zeros = self.has_leading_zeros or (self.all_digits and have_leading_zeros(cells))
        if self.all_integers and largest >= EXACT_INTEGER and not self.has_rounded:
            self.has_rounded = have_rounded(cells)

    def _add_text(self, cells: pa.ChunkedArray) -> None:
        text = trim(cells)
        present = _without_missing(text).drop_null()
        self.n_values += len(present)
        self.all_digits = self.all_integers = False
        self._decimals = {}
        types = {pa.bool_()} if _are_booleans(cells) else set()
        if len(present) and _DATE.match(present[0].as_py()):
            types = {
                dtype for dtype in self._types if pa.types.is_temporal(dtype) and _cast(present, [dtype])
            }
        self._types &= types
        if self.is_checked:
            self.text.add(text, self.n_rows)


def _are_booleans(cells: pa.ChunkedArray) -> bool:
    known = pa.array([*_TRUE, *_FALSE, *MISSING_MARKERS])
    return bool(compute.all(compute.is_in(cells, value_set=known), min_count=0).as_py())


@dataclass
class TextSummary:
    """Statistics of a text column that decide how it is used, accumulated over blocks of rows."""

    n_values: int = 0  # cells that are not missing
    n_words: int = 0  # values that are not numbers
    n_amounts: int = 0  # words such as 6.4% or $6.40
    words: list[tuple[str, int]] = field(default_factory=list)  # the first words and their rows
    first_amount: str | None = None
    first_with_comma: str | None = None  # the first number that contains a comma

    def add(self, cells: pa.Array, first_row: int) -> None:
        """Add a block of cells without surrounding blanks; ``first_row`` is the index of its first row."""
        words = []
        counts = cells.value_counts()  # in order of first appearance
        for cell, count in zip(
            counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True
        ):
            if cell is None or cell in MISSING_MARKERS:
                continue
            self.n_values += count
            if looks_numeric(cell):
                if "," in cell:
                    self.first_with_comma = self.first_with_comma or cell
                continue
            words.append(cell)
            self.n_words += count
            if _AMOUNT.fullmatch(cell):
                self.first_amount = self.first_amount or cell
                self.n_amounts += count
        n_wanted = _MAX_EXAMPLES - len(self.words)
        if words and n_wanted > 0:
            rows = np.flatnonzero(compute.is_in(cells, value_set=pa.array(words, cells.type)))[:n_wanted]
            self.words += [(cells[int(row)].as_py(), first_row + int(row)) for row in rows]

    @property
    def value_with_unit(self) -> str | None:
        """The first value such as ``6.4%`` or ``$6.40``, if most values are of this form."""
        return self.first_amount if self.n_amounts > _MAJORITY * self.n_values else None

    def check(self, name: str, source: str, first_line: int) -> None:
        """Raise if the column is numeric except for a few words, or has numbers with commas."""
        if self.n_words and self.n_words < (1 - _MAJORITY) * self.n_values:
            shown = ", ".join(f"{cell!r} in line {row + first_line}" for cell, row in self.words)
            more = ", ..." if self.n_words > _MAX_EXAMPLES else ""
            raise InputFileError(
                f"column {name!r} of {source} contains numbers except for {shown}{more}; correct it (leave"
                " the cell empty if the value is missing, and see missing='drop' (--missing drop)), use the"
                " column as label, or select other columns"
            )
        if self.n_values and not self.n_words and self.first_with_comma is not None:
            raise InputFileError(
                f"column {name!r} of {source} contains numbers such as {self.first_with_comma!r}; write them"
                " without commas, or use the column as label"
            )
