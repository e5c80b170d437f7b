"""Integers in text that are too long for floating-point numbers, which would round them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from eigenscape._extras import optional_import
from eigenscape.app.io.conversion import EXACT_INTEGER
from eigenscape.app.io.text_cells import MISSING_MARKERS

if TYPE_CHECKING:
    import pyarrow as pa

_PURPOSE = "reading a text table"
#: Digits of the least integer that double precision does not represent.
_MIN_DIGITS = len(str(EXACT_INTEGER + 1))
#: Longer integers are rounded; Python converts none of more than 4 300 digits.
_MAX_DIGITS = 400
_DIGITS_TO_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_INTEGER, _NOT_FINITE = r"^[-+]?\d+$", r"^[-+]?(?i:inf(inity)?|nan)$"


def has_large_floats(column: pa.ChunkedArray) -> bool:
    """Return whether a column of floating-point numbers may contain rounded integers."""
    pa = optional_import("pyarrow", _PURPOSE)
    if column.type != pa.float64():
        return False
    limits = optional_import("pyarrow.compute", _PURPOSE).min_max(column)
    low, high = limits["min"].as_py(), limits["max"].as_py()
    return high is not None and max(high, -low) >= EXACT_INTEGER


def has_long_digits(content: bytes, delimiter: str) -> bool:
    """Return whether a cell may be an integer that is too long for double precision."""
    if b"0" * _MIN_DIGITS not in content.translate(_DIGITS_TO_ZEROS):  # faster than the pattern
        return False
    starts = rb'(?:^|[\r\n"' + re.escape(delimiter.encode()) + rb"])"
    digits = str(_MIN_DIGITS).encode()
    return bool(re.search(starts + rb"[ \t]*[-+]?\d{" + digits + rb",}(?![\d.eE])", content))


def find_long_integers(blocks: Iterable[Mapping[str, pa.ChunkedArray]], names: Sequence[str]) -> set[str]:
    """Return the columns that contain integers without a representation in double precision.

    Parameters
    ----------
    blocks : iterable of mapping of str to arrow column
        Blocks of cells as text, without surrounding blanks. Missing and infinite values are ignored.
    names : sequence of str
        The columns. One with decimals or exponents is of floating-point numbers.
    """
    integers, rounded = set(names), set()
    for block in blocks:
        for name in names:
            if name in integers and not _are_integers(block[name]):
                integers.discard(name)
            elif name in integers and name not in rounded and _has_rounded(block[name]):
                rounded.add(name)
        if not integers:
            break
    return integers & rounded


def _are_integers(cells: pa.ChunkedArray) -> bool:
    pa = optional_import("pyarrow", _PURPOSE)
    compute = optional_import("pyarrow.compute", _PURPOSE)
    ignored = compute.or_(
        compute.is_in(cells, value_set=pa.array(MISSING_MARKERS)),
        compute.match_substring_regex(cells, _NOT_FINITE),
    )
    return bool(
        compute.all(compute.or_(ignored, compute.match_substring_regex(cells, _INTEGER)), min_count=0).as_py()
    )


def _has_rounded(cells: pa.ChunkedArray) -> bool:
    compute = optional_import("pyarrow.compute", _PURPOSE)
    is_long = compute.match_substring_regex(cells, rf"^[-+]?\d{{{_MIN_DIGITS},}}$")
    return any(
        len(cell) > _MAX_DIGITS or int(cell) != float(cell) for cell in cells.filter(is_long).to_pylist()
    )
