"""Cells of text: which are numbers, which are missing, and which look like numbers and are none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenscape.exceptions import InputFileError

#: Words for a value that is missing.
NULLS = (
    "", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN", "NULL", "Null", "null", "None", "none", "NONE", "?"
)  # fmt: skip
#: A text column of which more than this share is numbers is a column of numbers with a mistake in it.
_MOSTLY = 0.5
_AMOUNT = re.compile(r"[-+]?[$€£¥]?\s*[-+]?\d+(?:[.,]\d+)*\s*[%‰$€£¥]?")
#: A column that counts so few rows may do so by chance.
_FEW = 5


def looks_numeric(cell: str) -> bool:
    """Whether a cell of text is a number."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return "_" not in cell  # which Python allows and tables do not mean


def stripped(column: Any) -> list[str]:
    """The cells of an arrow column of text without blanks around them."""
    return [(cell or "").strip() for cell in column.to_pylist()]


def refuse_slips(name: str, cells: Sequence[str], source: str, first_line: int) -> None:
    """A word among numbers is a mistake, not a label."""
    known = [i for i, cell in enumerate(cells) if cell not in NULLS]
    slips = [i for i in known if not looks_numeric(cells[i])]
    if slips and len(slips) < (1 - _MOSTLY) * len(known):
        shown = ", ".join(f"{cells[i]!r} in line {i + first_line}" for i in slips[:3]) + (
            ", ..." if len(slips) > 3 else ""
        )
        raise InputFileError(
            f"column {name!r} of {source} holds numbers but for {shown}; correct it (leave the cell empty where the value is missing, and"
            f" see missing='drop' (--missing drop)), make it the label, or choose other columns"
        )
    if known and not slips and any("," in cells[i] for i in known):
        shown = next(cells[i] for i in known if "," in cells[i])
        raise InputFileError(
            f"column {name!r} of {source} holds numbers such as {shown!r}; write them without commas, or make it the label"
        )


def parse_numbers(cells: Sequence[str]) -> np.ndarray | None:
    """The numbers in cells of text, NaN where one is missing; None where there is a word among them, or no
    number."""
    known = [cell for cell in cells if cell not in NULLS]
    if not known or not all(looks_numeric(cell) and "," not in cell for cell in known):
        return None
    return np.array([np.nan if cell in NULLS else float(cell) for cell in cells])


def looks_like_amounts(cells: Sequence[str]) -> str | None:
    """The first cell such as ``6.4%`` or ``$6.40``, if most are."""
    known = [cell for cell in cells if cell not in NULLS]
    amounts = [cell for cell in known if _AMOUNT.fullmatch(cell) and not looks_numeric(cell)]
    return amounts[0] if amounts and len(amounts) > _MOSTLY * len(known) else None


def count_of_rows(column: np.ndarray) -> bool:
    """Whether the numbers are 0, 1, 2, ... or 1, 2, 3, ..."""
    n = len(column)
    return n >= _FEW and column[0] in (0, 1) and bool(np.array_equal(column, np.arange(n) + column[0]))
