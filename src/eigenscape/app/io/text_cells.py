"""Cells of text tables: numbers, missing values, and text that resembles numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    import pyarrow as pa

#: Cells that mark a missing value.
MISSING_MARKERS = (
    "", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN", "NULL", "Null", "null",
    "None", "none", "NONE", "?",
)  # fmt: skip
#: A text column with a larger share of numbers is treated as a numeric column with mistakes.
_MAJORITY = 0.5
_AMOUNT = re.compile(r"[-+]?[$€£¥]?\s*[-+]?\d+(?:[.,]\d+)*\s*[%‰$€£¥]?")
_MAX_EXAMPLES = 3


def looks_numeric(cell: str) -> bool:
    """Return whether a cell of text is a number, with a decimal point or comma."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return "_" not in cell  # float() accepts 1_000, tables do not use it


def to_numbers(cells: Sequence[str]) -> np.ndarray:
    """Convert cells that are numbers or missing to floats, missing ones to NaN."""
    return np.array([np.nan if cell in MISSING_MARKERS else float(cell) for cell in cells], dtype=np.float64)


def parse_numbers(cells: Sequence[str]) -> np.ndarray | None:
    """Convert cells to floats, missing ones to NaN; None if a cell is not a number or all are missing."""
    present = [cell for cell in cells if cell not in MISSING_MARKERS]
    if not present or not all(looks_numeric(cell) and "," not in cell for cell in present):
        return None
    return to_numbers(cells)


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
            import pyarrow as pa
            from pyarrow import compute

            rows = np.flatnonzero(compute.is_in(cells, value_set=pa.array(words, cells.type)))[:n_wanted]
            self.words += [(cells[int(row)].as_py(), first_row + int(row)) for row in rows]

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers without commas, and there is at least one."""
        return self.n_values > 0 and self.n_words == 0 and self.first_with_comma is None

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
