"""From named columns to a table: which are numbers, which are labels and names, and where values are
missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import require, row_blocks
from eigenscape.app.io.cells import (
    count_of_rows,
    looks_like_amounts,
    parse_numbers,
    refuse_slips,
    stripped,
)
from eigenscape.app.io.table import Table, default_names
from eigenscape.exceptions import InputFileError

MISSING = ("error", "drop", "keep")


@dataclass(frozen=True)
class ColumnSelection:
    """What the caller wants of a file's columns."""

    columns: tuple[str, ...] | None = None
    label: str | None = None
    id: str | None = None
    missing: str = "error"

    @staticmethod
    def of(
        columns: str | Sequence[str] | None, label: str | None, id: str | None, missing: str
    ) -> ColumnSelection:  # noqa: A002
        """The same, checked."""
        if missing not in MISSING:
            raise ValueError(
                f"missing={missing!r} is not known; choose one of {', '.join(map(repr, MISSING))}"
            )
        if columns is not None:
            columns = (columns,) if isinstance(columns, str) else tuple(columns)
        return ColumnSelection(columns, label, id, missing)

    def check(self, names: Sequence[str], source: str) -> None:
        """Every column asked for must be there."""
        for name in (*(self.columns or ()), self.label, self.id):
            if name is not None and name not in names:
                alike = [known for known in names if known.casefold() == name.casefold()]
                meant = f"; did you mean {alike[0]!r}?" if alike else ""
                raise InputFileError(f"{source} has no column {name!r}; it has {some(names, 20)}{meant}")

    def completed(self, names: Sequence[str]) -> ColumnSelection:
        """The same, with columns called ``id`` and ``label`` (as :func:`write_table` calls them) taken for
        what they are, also ``Id``."""
        taken = (*(self.columns or ()), self.label, self.id)

        def called(word: str) -> str | None:
            alike = [name for name in names if name.casefold() == word and name not in taken]
            return word if word in alike else next(iter(alike), None)

        return ColumnSelection(
            self.columns, self.label or called("label"), self.id or called("id"), self.missing
        )

    def features(self, names: Sequence[str], text: set[str]) -> tuple[str, ...]:
        """The columns that make the array: those asked for, or all numbers that are neither label nor
        name."""
        if self.columns is not None:
            return self.columns
        return tuple(name for name in names if name not in text and name not in (self.label, self.id))


def assemble(
    columns: dict[str, Any],
    selection: ColumnSelection,
    source: str,
    first_line: int | None = None,
    codes: frozenset[str] = frozenset(),
) -> Table:
    """The table that arrow columns make.

    ``first_line`` is the line of a text file where the first row stands; None for typed columns. ``codes``
    are columns of digits that are text, because some begin with zeros."""
    selection.check(list(columns), source)
    selection = selection.completed(list(columns))
    columns = _without_lists(columns)
    if first_line is not None:
        columns = _understood(columns, selection, source, first_line, codes)
    text = {name for name, column in columns.items() if not is_number(column.type)}
    names = selection.features(tuple(columns), text)
    wrong = [name for name in names if name in text]
    if wrong:
        raise InputFileError(
            f"column {wrong[0]!r} of {source} holds {columns[wrong[0]].type}, not numbers; leave it out of columns"
        )
    if not names:
        raise InputFileError(f"{source} has no column of numbers; {_what_there_is(columns, first_line)}")
    n_rows = len(next(iter(columns.values())))
    require(
        8 * n_rows * len(names),
        f"reading {source}",
        "choose fewer columns, or stream=True with a dictionary method",
    )
    array = np.empty((n_rows, len(names)))
    for place, name in enumerate(names):
        array[:, place] = numbers(columns[name])
    others = {name: values(column) for name, column in columns.items() if name not in names}
    label = selection.label or _label_among(others, selection.id)
    remarks = _remarks(columns, selection, names, codes)
    table = Table(
        array,
        labels=others.pop(label) if label in others else _beside(columns, label),
        ids=others.pop(selection.id) if selection.id in others else _beside(columns, selection.id),
        names=names,
        extra=others,
        source=source,
        label_name=label,
        id_name=selection.id,
        remarks=remarks,
    )
    return handle_missing(table, selection.missing)


def _understood(
    columns: dict[str, Any], selection: ColumnSelection, source: str, first_line: int, codes: frozenset[str]
) -> dict[str, Any]:
    """The columns of a text file: slips refused, blanks around words left off, numbers beside blank cells
    found."""
    import pyarrow as pa

    found = dict(columns)
    for name, column in columns.items():
        if not pa.types.is_string(column.type):
            continue
        cells = stripped(column)
        plain = name not in (selection.label, selection.id) and (
            name not in codes or name in (selection.columns or ())
        )
        if plain:
            refuse_slips(name, cells, source, first_line)
        array = parse_numbers(cells) if plain else None
        found[name] = pa.chunked_array([pa.array(cells if array is None else array)])
    return found


def _what_there_is(columns: dict[str, Any], first_line: int | None) -> str:
    if first_line == 1 and tuple(columns) == default_names(
        len(columns)
    ):  # no line of names: the words of the first row say more
        return f"its first line is {some([str(column[0]) for column in columns.values()], 20)}"
    return f"its columns are {some(list(columns), 20)}"


def _remarks(
    columns: dict[str, Any], selection: ColumnSelection, names: Sequence[str], codes: frozenset[str]
) -> tuple[str, ...]:
    """What was decided about columns that somebody may have meant otherwise."""
    import pyarrow as pa

    found = []
    for name, column in columns.items():
        if name in (selection.label, selection.id, *(selection.columns or ())):
            continue
        if name in codes:
            found.append(
                f"column {name!r} has numbers that begin with 0 and is taken as text; columns=[{name!r}] (--columns) makes it numbers"
            )
        elif name in names and pa.types.is_integer(column.type) and count_of_rows(numbers(column)):
            found.append(
                f"column {name!r} counts the rows and is used as a coordinate; if it only names them, say so with id={name!r} (--id {name})"
            )
        elif pa.types.is_string(column.type) and (amount := looks_like_amounts(column.to_pylist())):
            found.append(
                f"column {name!r} holds text such as {amount!r} and is no coordinate; write plain numbers to use it"
            )
    return tuple(found)


def some(names: Sequence[str], most: int) -> str:
    """Names in quotation marks, not too many."""
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")


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
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
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

    if not any(
        pa.types.is_list(c.type) or pa.types.is_large_list(c.type) or pa.types.is_fixed_size_list(c.type)
        for c in columns.values()
    ):
        return columns
    flat: dict[str, Any] = {}
    for name, column in columns.items():
        kind = column.type
        if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
            flat[name] = column
            continue
        lengths = {len(row) if row is not None else -1 for row in column.to_pylist()}
        if len(lengths) != 1:
            raise InputFileError(
                f"the lists of column {name!r} have different lengths ({min(lengths)} to {max(lengths)}); make them equal"
            )
        rows = column.combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
        flat.update({f"{name}_{i}": pa.chunked_array([pa.array(rows[:, i])]) for i in range(rows.shape[1])})
    return flat


def handle_missing(table: Table, missing: str) -> Table:
    """The table with its rows that are not finite refused, dropped, or (NaN alone) kept."""
    lacking, infinite = rows_not_finite(table.array)
    bad = infinite if missing == "keep" else np.union1d(lacking, infinite)
    if len(bad) == 0:
        return table
    width = len(table.names) if len(table.names) == table.array.shape[1] and table.kind == "rows" else 0
    columns = [table.names[place] for place in _columns_not_finite(table.array, bad)] if width else []
    if len(bad) == table.array.shape[0] > 1:
        _refuse_empty(table, columns)
    if missing == "drop":
        keep = np.setdiff1d(np.arange(table.array.shape[0]), bad)
        if len(keep) == 0:
            raise InputFileError(
                f"every row of {table.source} has a missing value; choose columns, or missing='keep' (--missing keep)"
            )
        return select_rows(table, keep)
    shown = ", ".join(str(row + 1) for row in bad[:5]) + (", ..." if len(bad) > 5 else "")
    where = f" (column(s) {some(columns, 5)})" if columns else ""
    what = (
        "a missing value (NaN)"
        if len(infinite) == 0
        else "an infinite value"
        if len(lacking) == 0
        else "missing or infinite values"
    )
    remedy = "missing='drop' (--missing drop) leaves them out"
    if len(infinite) == 0:
        remedy += ", missing='keep' (--missing keep) keeps NaN for methods that take it (ProbabilisticPCA, MixturePPCA)"
    raise InputFileError(
        f"{table.source} has {what} in {len(bad)} row(s): row(s) {shown}, counted from 1{where}; {remedy}"
    )


def _columns_not_finite(array: Any, rows: np.ndarray) -> np.ndarray:
    part = array[rows[:1000]]
    part = part.toarray() if sparse.issparse(part) else np.asarray(part)
    return np.flatnonzero(~np.isfinite(part).all(axis=0))


def _refuse_empty(table: Table, columns: Sequence[str]) -> None:
    """A column without any value is no matter of rows."""
    names = list(table.names)
    for name in columns:
        if np.isnan(table.array[:, [names.index(name)]]).all():
            raise InputFileError(
                f"column {name!r} of {table.source} is empty; leave it out with columns=[...] (--columns)"
            )


def select_rows(table: Table, rows: np.ndarray) -> Table:
    """The same table with these rows alone."""

    def chosen(column: np.ndarray | None) -> np.ndarray | None:
        return None if column is None else column[rows]

    extra = {name: column[rows] for name, column in table.extra.items()}
    array = table.array[rows]
    if table.kind in ("distances", "affinities"):
        array = array[:, rows]
    names = (
        tuple(table.names[i] for i in rows)
        if table.kind == "distances" and len(table.names) == len(table.array)
        else table.names
    )
    return replace(
        table, array=array, labels=chosen(table.labels), ids=chosen(table.ids), names=names, extra=extra
    )


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
