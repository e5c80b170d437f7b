"""What the cells of a column are, found from all of its rows, and their conversion.

The cells of a text table are read as text. A column is numeric until a block of rows has other cells; it is
then profiled again as text, from its first row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eigenscape._roles import MISSING_WORDS
from eigenscape.app.io.arrow import compute, pa
from eigenscape.app.io.guards import EXACT_INTEGER, have_rounded
from eigenscape.exceptions import InputFileError

#: Cells of a text table that mark a missing number; among words, "none" is a word.
MISSING_CELLS = (
    *(*MISSING_WORDS, "NAN", "-nan", "-NaN", "Null", "None", "none", "NONE", "na", "<na>", "N.A.", "n.a."),
    *("NaT", "(null)", "\\N", "-", "--", ".", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?"),
)
_TRUE, _FALSE = ("1", "true", "True", "TRUE"), ("0", "false", "False", "FALSE")
#: A number with a decimal point or comma, perhaps with a typographic minus sign.
_MINUS = "\N{MINUS SIGN}"
NUMBER = rf"^\s*[-+{_MINUS}]?((\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?|(?i:inf(inity)?|nan))\s*$"
_UNIT = r"(\s+|°)[a-zA-Zµμ°][a-zA-Zµμ°²³/0-9]{0,4}|[%‰$€£¥°*]|\s*±.*"
_AMOUNT = rf"^\(?[-+]?[$€£¥]?\s*[-+]?\d+([.,'’ \x{{a0}}\x{{202f}}]\d+)*([dD][-+]?\d+)?\s*({_UNIT})?\)?$"
_AMOUNT = rf"{_AMOUNT}|^[-+]?\d+[.,]\d+[a-zA-Zµμ]{{1,3}}$"
_INTEGER = r"^[-+]?(\d+|(?i:inf(inity)?|nan))$"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
#: Dates such as 3/31/1999 and 31-Mar-99, and times of day, which are text.
_DAY = r"(\d{1,4}/\d{1,2}/\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4})"
_TIME = r"(\d{1,2}:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?)"
_WHEN = rf"^({_DAY}|{_TIME}|{_DAY}[ T]{_TIME})$"
_TIMES = tuple(pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("s", "ns"))
_MAX_EXAMPLES = 3


def trimmed(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells without surrounding blanks, and without quotation marks after a blank (``, "a"``)."""
    if compute.any(compute.match_substring(cells, ' "')).as_py():
        cells = compute.replace_substring_regex(cells, r'^\s+"([^"]*)"\s*$', r"\1")
    return compute.utf8_trim_whitespace(cells)


def null_missing(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells without surrounding blanks, in which missing values are null."""
    cells = trimmed(cells)
    return compute.if_else(compute.is_in(cells, pa.array(MISSING_CELLS)), pa.scalar(None, pa.string()), cells)


def columns_of_text(block: Mapping[str, pa.ChunkedArray], content: bytes, delimiter: str) -> list[str]:
    """Return the columns whose parsed values do not tell what their cells are, and must be parsed as text.

    The other columns are plain numbers: null, floats or integers. Large ones may be rounded. Integers are no
    plain numbers if a cell of the block begins with a zero and another digit (a code), or with 0x.
    """
    may_have_codes, data = content.startswith(b"0"), np.frombuffer(content, dtype=np.uint8)
    step = 2**18  # bytes, so that intermediate arrays stay in the cache of the processor
    for start in range(0, len(data), step):
        part = data[start : start + step + 2]
        before, zero, after = part[:-2], part[1:-1], part[2:]
        is_start = (before <= ord(",")) | (before == ord(delimiter))  # blanks, line ends, quotation marks
        is_longer = (after - ord("0") < 10) | (after | 32 == ord("x"))
        may_have_codes = may_have_codes or bool((is_start & (zero == ord("0")) & is_longer).any())
    found = []
    for name, values in block.items():
        is_plain = values.type == pa.null()
        if values.type == pa.float64() or (values.type == pa.int64() and not may_have_codes):
            limits = compute.min_max(values).as_py()
            is_plain = limits["max"] is None or max(limits["max"], -limits["min"]) < EXACT_INTEGER
        found += [] if is_plain else [name]
    return found


def to_numbers(
    cells: pa.ChunkedArray, types: Sequence[pa.DataType], decimal: str = "."
) -> pa.ChunkedArray | None:
    """Convert cells to the first of ``types`` that represents all; None if none does."""
    cells = compute.replace_substring_regex(null_missing(cells), r"^\+([\d.,])", r"\1")
    cells = compute.replace_substring_regex(cells, rf"^{_MINUS}([\d.,])", r"-\1")
    if decimal == ",":  # a point is no part of a number then: 1.234 may be a thousand
        cells = compute.replace_substring(compute.replace_substring(cells, ".", "_"), ",", ".")
    for dtype in types:
        try:
            return cells.cast(dtype)
        except pa.ArrowInvalid:
            continue
    return None


@dataclass
class Column:
    """What the values of a column are, accumulated over blocks of rows.

    Attributes
    ----------
    dtype : pyarrow.DataType
        The type of a typed column, or the first type that represents all cells of a text table.
    marks : tuple of str
        Decimal marks with which all cells are numbers; empty for text.
    n_rows, n_values : int
        Number of cells, and of cells that are not missing.
    is_counter : bool
        Whether the values are 0, 1, 2, ... or 1, 2, 3, ...
    is_late : bool
        Whether the cells are text only after blocks of numbers, so that the profile is not complete.
    is_code : bool
        Whether the cells are digits, some with leading zeros.
    is_long : bool
        Whether the cells are integers that double precision would round.
    has_repeats, is_unique : bool
        Whether a value of a text column occurs twice; whether all values differ, none is missing and not all
        of them are dates or times.
    has_units : bool
        Whether most values are numbers with a unit, such as 6.4% and 12 cm.
    n_words, n_amounts : int
        Number of values that are not numbers, and of numbers with a unit.
    words : list of (str, int)
        The first words and their rows.
    amount, with_comma : str or None
        The first number with a unit, and the first number that contains a comma.
    """

    dtype: pa.DataType = field(default_factory=pa.null)
    marks: tuple[str, ...] = ()
    n_rows: int = 0
    n_values: int = 0
    is_counter: bool = True
    start: float = 0.0  # first value of a counter
    is_late: bool = False
    has_repeats: bool = False
    n_words: int = 0
    n_amounts: int = 0
    words: list[tuple[str, int]] = field(default_factory=list)
    amount: str | None = None
    with_comma: str | None = None
    has_leading_zeros: bool = False
    all_digits: bool = True
    all_dates: bool = True
    all_integers: bool = True
    has_rounded: bool = False  # whether an integer has no representation in double precision
    is_code: bool = False
    is_long: bool = False
    is_unique: bool = False
    has_units: bool = False
    _seen: set[str] = field(default_factory=set)  # values of a text column without repeats
    _types: tuple[pa.DataType, ...] = (pa.bool_(), pa.date32(), *_TIMES)  # that represent all cells of text

    def add_cells(self, cells: pa.ChunkedArray) -> None:
        """Add a block of a text table: plain numbers, or cells as text."""
        if self.is_late:
            return
        if cells.type != pa.string():
            self.marks = self.marks[:1] if cells.type == pa.float64() else self.marks
            self.add_numbers(cells)
            return
        types = (pa.float64(),) if self.dtype == pa.float64() else (pa.int64(), pa.float64())
        found = {mark: to_numbers(cells, types, mark) for mark in self.marks}
        marks = tuple(mark for mark in found if found[mark] is not None)
        numbers = found[marks[0]] if marks else None
        if numbers is not None and not _is_hexadecimal(numbers, cells):
            self.add_numbers(numbers, cells)
            self.marks = marks
            return
        self.is_late = bool(self.marks and self.n_rows)
        self.marks = ()
        self.add_text(cells)
        if self.n_values:
            self.dtype = self._types[0] if self._types else pa.string()

    def add_numbers(self, numbers: pa.ChunkedArray, cells: pa.ChunkedArray | None = None) -> None:
        """Add a block of numbers, and its cells unless it was parsed as plain numbers."""
        values = np.asarray(numbers).astype(np.float64, copy=False)
        if self.is_counter and len(values):
            start = values[0] - self.n_rows
            self.is_counter = start == self.start if self.n_rows else start in (0, 1)
            self.start = start
            rows = np.arange(self.n_rows, self.n_rows + len(values))
            self.is_counter = self.is_counter and np.array_equal(values, start + rows)
        present = values[~np.isnan(values)] if numbers.null_count else values
        if len(present):
            is_integer = numbers.type == pa.int64()
            self.dtype = self.dtype if self.dtype == pa.float64() else numbers.type
            if cells is None:  # floats have decimals or exponents, and integers no leading zeros
                self.all_integers = self.all_integers and is_integer
                self.all_digits = self.all_digits and is_integer and present.min() >= 0
            elif self.all_integers and (is_integer or (present == np.floor(present)).all()):
                self._add_integers(null_missing(cells).drop_null(), np.abs(present).max())
            else:
                self.all_integers = self.is_code = self.is_long = False
        self.n_rows += len(values)
        self.n_values += len(present)

    def _add_integers(self, cells: pa.ChunkedArray, largest: float) -> None:
        """Add cells that are probably integers; look for codes and for integers that would be rounded."""
        match = compute.match_substring_regex
        digits = compute.all(match(cells, r"^\d*$"), min_count=0).as_py()
        self.all_digits = self.all_digits and digits
        self.all_integers = digits or compute.all(match(cells, _INTEGER), min_count=0).as_py()
        self.has_leading_zeros = self.has_leading_zeros or compute.any(match(cells, r"^0\d+$")).as_py()
        if self.all_integers and largest >= EXACT_INTEGER and not self.has_rounded:
            self.has_rounded = have_rounded(cells.filter(match(cells, r"\d{16}")).to_pylist())
        self.is_code = self.has_leading_zeros and self.all_digits
        self.is_long = self.has_rounded and self.all_integers and self.dtype != pa.int64()

    def add_text(self, cells: pa.ChunkedArray) -> None:
        """Add a block of text; count words, amounts such as 6.4% and repeated values."""
        encoded = cells.combine_chunks().dictionary_encode("encode")  # each distinct cell is examined once
        rows = encoded.indices.to_numpy(zero_copy_only=False)
        counts = np.bincount(rows, minlength=len(encoded.dictionary))
        text = null_missing(encoded.dictionary)
        is_present, filled = np.asarray(compute.is_valid(text)), text.fill_null("")
        is_word = is_present & ~np.asarray(compute.match_substring_regex(filled, NUMBER))
        is_amount = is_word & np.asarray(compute.match_substring_regex(filled, _AMOUNT))
        has_comma = is_present & ~is_word & np.asarray(compute.match_substring(filled, ","))
        self.amount = self.amount or next(iter(text.filter(is_amount).to_pylist()), None)
        self.with_comma = self.with_comma or next(iter(text.filter(has_comma).to_pylist()), None)
        examples = np.flatnonzero(is_word[rows])[: _MAX_EXAMPLES - len(self.words)]
        self.words += [(text[int(rows[i])].as_py(), self.n_rows + int(i)) for i in examples]
        self.n_words += int(counts[is_word].sum())
        self.n_amounts += int(counts[is_amount].sum())
        self.n_rows += len(rows)
        self.n_values += int(counts[is_present].sum())
        present = text.drop_null()
        first = present[0].as_py() if len(present) else "true"
        is_typed = first in (*_TRUE, *_FALSE) or _DATE.match(first)
        self._types = (
            tuple(t for t in self._types if _represents(t, encoded.dictionary, present)) if is_typed else ()
        )
        if not self.has_repeats:
            self._seen.update(present.to_pylist() if counts.max(where=is_present, initial=0) <= 1 else ())
            self.has_repeats = len(self._seen) < self.n_values
        self.all_dates = self.all_dates and _are_dates(present[:1]) and _are_dates(present)
        self.is_unique = self.n_values == self.n_rows and not self.has_repeats and not self.all_dates
        self.has_units = 2 * self.n_amounts > self.n_values

    def check_words(self, name: str, source: str, first_line: int) -> None:
        """Raise if a text column is numeric except for a few words, or has numbers with commas."""
        if self.n_words and 2 * self.n_words < self.n_values:
            shown = ", ".join(f"{cell!r} in line {row + first_line}" for cell, row in self.words)
            more = ", ..." if self.n_words > _MAX_EXAMPLES else ""
            raise InputFileError(
                f"column {name!r} of {source} contains numbers except for {shown}{more}; correct it (leave"
                " the cell empty if the value is missing, and see missing='drop' (--missing drop)), use the"
                " column as label, or select other columns"
            )
        if self.n_values and not self.n_words and self.with_comma is not None:
            raise InputFileError(
                f"column {name!r} of {source} contains numbers such as {self.with_comma!r}; write them"
                " without commas, or use the column as label"
            )


def _are_dates(cells: pa.ChunkedArray) -> bool:
    return bool(compute.all(compute.match_substring_regex(cells, _WHEN), min_count=0).as_py())


def _is_hexadecimal(numbers: pa.ChunkedArray, cells: pa.ChunkedArray) -> bool:
    """Return whether a cell is an integer with the base 16, which is text."""
    has_x = compute.any(compute.match_substring(cells, "x", ignore_case=True)).as_py()
    return bool(numbers.type == pa.int64() and has_x)


def _represents(dtype: pa.DataType, cells: pa.ChunkedArray, present: pa.ChunkedArray) -> bool:
    """Return whether a boolean or temporal type represents all cells; ``present`` are not missing."""
    if dtype == pa.bool_():
        known = pa.array([*_TRUE, *_FALSE, *MISSING_CELLS])
        return bool(compute.all(compute.is_in(cells, known), min_count=0).as_py())
    try:
        return present.cast(dtype) is not None
    except pa.ArrowInvalid:
        return False


def convert(cells: pa.ChunkedArray, column: Column) -> pa.ChunkedArray:
    """Convert plain numbers or cells of a text table to the type of their column, which is not text."""
    dtype = column.dtype
    if cells.type != pa.string():
        return cells.cast(dtype)
    if column.marks:
        return to_numbers(cells, [dtype], column.marks[0])
    values = null_missing(cells)
    if dtype == pa.bool_():
        return compute.if_else(compute.is_null(values), None, compute.is_in(values, pa.array(_TRUE)))
    return values.cast(dtype)
