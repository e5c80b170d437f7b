"""From named columns to a table: which are numbers, which are labels and names, and where values are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import require, row_blocks
from eigenscape.exceptions import InputFileError
from eigenscape.io._table import Table

MISSING = ("error", "drop", "keep")
#: A text column of which more than this share is numbers is a column of numbers with a mistake in it.
_MOSTLY = 0.5


@dataclass(frozen=True)
class Choice:
    """What the caller wants of a file's columns."""

    columns: tuple[str, ...] | None = None
    label: str | None = None
    id: str | None = None
    missing: str = "error"

    @staticmethod
    def of(columns: str | Sequence[str] | None, label: str | None, id: str | None, missing: str) -> Choice:  # noqa: A002
        """The same, checked."""
        if missing not in MISSING:
            raise ValueError(f"missing={missing!r} is not known; choose one of {', '.join(map(repr, MISSING))}")
        if columns is not None:
            columns = (columns,) if isinstance(columns, str) else tuple(columns)
        return Choice(columns, label, id, missing)

    def check(self, names: Sequence[str], source: str) -> None:
        """Every column asked for must be there."""
        for name in (*(self.columns or ()), self.label, self.id):
            if name is not None and name not in names:
                shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
                raise InputFileError(f"{source} has no column {name!r}; it has {shown}")

    def completed(self, names: Sequence[str]) -> Choice:
        """The same, with columns called ``id`` and ``label`` (as :func:`write_table` calls them) taken for what they are."""
        taken = (*(self.columns or ()), self.label, self.id)
        label = self.label or ("label" if "label" in names and "label" not in taken else None)
        named = self.id or ("id" if "id" in names and "id" not in taken else None)
        return Choice(self.columns, label, named, self.missing)

    def features(self, names: Sequence[str], text: set[str]) -> tuple[str, ...]:
        """The columns that make the array: those asked for, or all numbers that are neither label nor name."""
        if self.columns is not None:
            return self.columns
        return tuple(name for name in names if name not in text and name not in (self.label, self.id))


def assemble(columns: dict[str, Any], choice: Choice, source: str, first_line: int | None = None) -> Table:
    """The table that arrow columns make. ``first_line`` is the line of a text file where the first row stands; None for typed columns."""
    choice.check(list(columns), source)
    choice = choice.completed(list(columns))
    columns = _without_lists(columns)
    text = {name for name, column in columns.items() if not is_number(column.type)}
    for name in text:
        if first_line is not None and name not in (choice.label, choice.id):
            _refuse_slips(name, columns[name], source, first_line)
    names = choice.features(tuple(columns), text)
    wrong = [name for name in names if name in text]
    if wrong:
        raise InputFileError(f"column {wrong[0]!r} of {source} holds {columns[wrong[0]].type}, not numbers; leave it out of columns")
    if not names:
        raise InputFileError(f"{source} has no column of numbers; its columns are {', '.join(map(repr, list(columns)[:20]))}")
    n_rows = len(next(iter(columns.values())))
    require(8 * n_rows * len(names), f"reading {source}", "choose fewer columns, or stream=True with a dictionary method")
    array = np.empty((n_rows, len(names)))
    for place, name in enumerate(names):
        array[:, place] = numbers(columns[name])
    others = {name: values(column) for name, column in columns.items() if name not in names}
    label = choice.label or _label_among(others, choice.id)
    table = Table(
        array,
        labels=others.pop(label) if label in others else _beside(columns, label),
        ids=others.pop(choice.id) if choice.id in others else _beside(columns, choice.id),
        names=names,
        extra=others,
        source=source,
    )
    return without_missing(table, choice.missing)


def _beside(columns: dict[str, Any], name: str | None) -> np.ndarray | None:
    """A column that was asked for as numbers and as label or name."""
    return None if name is None else values(columns[name])


def _label_among(others: dict[str, np.ndarray], id_column: str | None) -> str | None:
    """The first text column; one in which every value is different is taken only if there is no other."""
    text = [name for name, column in others.items() if column.dtype.kind in "OU" and name != id_column]
    repeated = [name for name in text if len(set(others[name].tolist())) < len(others[name])]
    return next(iter(repeated or text), None)


def is_number(kind: Any) -> bool:
    """Whether arrow columns of this type hold numbers."""
    from pyarrow import types

    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind)
    )


def numbers(column: Any) -> np.ndarray:
    """A column of numbers in double precision; NaN where a value is missing."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


def values(column: Any) -> np.ndarray:
    """Any column as an array: numbers where it holds some, otherwise text."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_number(column.type):
        whole = pa.types.is_integer(column.type) and column.null_count == 0
        return np.asarray(column.to_numpy()) if whole else numbers(column)
    return np.array([str(value) if value is not None else "" for value in column.to_pylist()], dtype=object)


def _without_lists(columns: dict[str, Any]) -> dict[str, Any]:
    """Columns of lists, all of one length, as one column for each place."""
    import pyarrow as pa

    if not any(pa.types.is_list(c.type) or pa.types.is_large_list(c.type) or pa.types.is_fixed_size_list(c.type) for c in columns.values()):
        return columns
    flat: dict[str, Any] = {}
    for name, column in columns.items():
        kind = column.type
        if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
            flat[name] = column
            continue
        lengths = {len(row) if row is not None else -1 for row in column.to_pylist()}
        if len(lengths) != 1:
            raise InputFileError(f"the lists of column {name!r} have different lengths ({min(lengths)} to {max(lengths)}); make them equal")
        rows = column.combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
        flat.update({f"{name}_{i}": pa.chunked_array([pa.array(rows[:, i])]) for i in range(rows.shape[1])})
    return flat


def _refuse_slips(name: str, column: Any, source: str, first_line: int) -> None:
    """A word among numbers is a mistake, not a label."""
    import pyarrow as pa

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return
    cells = column.to_pylist()
    slips = [i for i, cell in enumerate(cells) if cell and not looks_numeric(cell)]
    filled = sum(bool(cell) for cell in cells)
    if slips and len(slips) < (1 - _MOSTLY) * filled:
        shown = ", ".join(f"{cells[i]!r} in line {i + first_line}" for i in slips[:3]) + (", ..." if len(slips) > 3 else "")
        raise InputFileError(
            f"column {name!r} of {source} holds numbers but for {shown}; correct it, make it the label, or choose other columns"
        )
    if filled and not slips and any("," in cell for cell in cells):
        shown = next(cell for cell in cells if "," in cell)
        raise InputFileError(
            f"column {name!r} of {source} holds numbers such as {shown!r}; write them without commas, or make it the label"
        )


def looks_numeric(cell: str) -> bool:
    """Whether a cell of text is a number."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def without_missing(table: Table, missing: str) -> Table:
    """The table with its rows that are not finite refused, dropped, or (NaN alone) kept."""
    lacking, infinite = rows_not_finite(table.array)
    bad = infinite if missing == "keep" else np.union1d(lacking, infinite)
    if len(bad) == 0:
        return table
    if missing == "drop":
        keep = np.setdiff1d(np.arange(table.array.shape[0]), bad)
        if len(keep) == 0:
            raise InputFileError(f"every row of {table.source} has a missing value; choose columns, or missing='keep' (--missing keep)")
        return select_rows(table, keep)
    shown = ", ".join(str(row + 1) for row in bad[:5]) + (", ..." if len(bad) > 5 else "")
    what = "a missing value (NaN)" if len(infinite) == 0 else "an infinite value" if len(lacking) == 0 else "missing or infinite values"
    remedy = "missing='drop' (--missing drop) leaves them out"
    if len(infinite) == 0:
        remedy += ", missing='keep' keeps NaN for methods that take it (ProbabilisticPCA, MixturePPCA)"
    raise InputFileError(f"{table.source} has {what} in {len(bad)} row(s): row(s) {shown}, counted from 1; {remedy}")


def select_rows(table: Table, rows: np.ndarray) -> Table:
    """The same table with these rows alone."""

    def some(column: np.ndarray | None) -> np.ndarray | None:
        return None if column is None else column[rows]

    extra = {name: column[rows] for name, column in table.extra.items()}
    array = table.array[rows]
    if table.kind in ("distances", "affinities"):
        array = array[:, rows]
    names = tuple(table.names[i] for i in rows) if table.kind == "distances" and len(table.names) == len(table.array) else table.names
    return Table(array, some(table.labels), some(table.ids), names, extra, table.kind, table.image_shape, table.source)


def rows_not_finite(array: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows with NaN, and rows with an infinite value."""
    if sparse.issparse(array):
        row = np.repeat(np.arange(array.shape[0]), np.diff(array.indptr))
        return np.unique(row[np.isnan(array.data)]), np.unique(row[np.isinf(array.data)])
    lacking, infinite = [], []
    for block in row_blocks(array.shape[0], 8 * max(array.shape[1], 1)):
        part = np.asarray(array[block], dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            total = part.sum()
        if np.isfinite(total):  # a sum hides no NaN, and an infinite one is looked into below
            continue
        lacking.append(block.start + np.flatnonzero(np.isnan(part).any(axis=1)))
        infinite.append(block.start + np.flatnonzero(np.isinf(part).any(axis=1)))
    empty = np.empty(0, dtype=np.intp)
    return np.concatenate([empty, *lacking]), np.concatenate([empty, *infinite])
