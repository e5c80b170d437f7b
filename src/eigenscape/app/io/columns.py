"""Columns of a file and their roles: features, label, id. Whole and streamed reading share this code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from eigenscape._extras import optional_import
from eigenscape._memory import require
from eigenscape.app.io.cells import TextSummary
from eigenscape.app.io.missing import empty_column_error
from eigenscape.app.io.table import Table, default_names, format_names
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = ("error", "drop", "keep")
#: A column is reported as a row counter only if it has at least this many rows.
_MIN_COUNTER_ROWS = 5
#: Larger integers are not all represented in double precision.
EXACT_INTEGER = 2**53


@dataclass(frozen=True)
class ColumnSelection:
    """Columns requested by the caller; None where the file decides."""

    columns: tuple[str, ...] | None = None
    label: str | None = None
    id: str | None = None
    missing: str = "error"

    @staticmethod
    def from_options(
        columns: str | Sequence[str] | None,
        label: str | None,
        id: str | None,  # noqa: A002
        missing: str,
    ) -> ColumnSelection:
        """Check the options of :func:`eigenscape.read` and return the selection."""
        if missing not in MISSING:
            raise ValueError(f"missing={missing!r} must be one of {', '.join(map(repr, MISSING))}")
        if columns is not None:
            columns = (columns,) if isinstance(columns, str) else tuple(columns)
        return ColumnSelection(columns, label, id, missing)

    def check(self, names: Sequence[str], source: str) -> None:
        """Raise if a requested column is not among ``names``."""
        for name in (*(self.columns or ()), self.label, self.id):
            if name is not None and name not in names:
                similar = [known for known in names if known.casefold() == name.casefold()]
                hint = f"; did you mean {similar[0]!r}?" if similar else ""
                shown = format_names(tuple(names), 20)
                raise InputFileError(f"{source} has no column {name!r}; it has {shown}{hint}")

    def complete(self, names: Sequence[str]) -> ColumnSelection:
        """Use columns named ``label`` and ``id``, in any case, unless others are requested."""
        taken = (*(self.columns or ()), self.label, self.id)

        def find(word: str) -> str | None:
            matches = [name for name in names if name.casefold() == word and name not in taken]
            return word if word in matches else next(iter(matches), None)

        return replace(self, label=self.label or find("label"), id=self.id or find("id"))


class ColumnSource(Protocol):
    """Columns of a file with known types, readable in blocks of rows any number of times."""

    source: str
    selection: ColumnSelection
    types: dict[str, pa.DataType]  # of all columns, in the order of the file
    codes: frozenset[str]  # columns of digits that are text because of leading zeros
    first_line: int | None  # line of the first row in a text file

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield the columns ``names`` in blocks of rows."""
        ...

    def summaries(self, names: Sequence[str]) -> Mapping[str, TextSummary]:
        """Return statistics of text columns."""
        ...


@dataclass(frozen=True)
class ColumnRoles:
    """Use of the columns of a file."""

    features: tuple[str, ...]
    label: str | None
    id: str | None
    others: tuple[str, ...]
    remarks: tuple[str, ...]


def read_columns(source: ColumnSource, stream: bool) -> Table:
    """Read the table of a source, whole or as chunks of rows."""
    roles = assign_roles(source)
    if stream:
        _reject_empty_columns(source, roles.features)
    used = [name for name in (roles.label, roles.id) if name is not None]
    beside = collect(source, used if stream else [*used, *roles.others])
    return Table(
        ColumnChunks(source, roles.features) if stream else _read_array(source, roles.features),
        labels=None if roles.label is None else beside[roles.label],
        ids=None if roles.id is None else beside[roles.id],
        names=roles.features,
        extra={name: beside[name] for name in roles.others if name in beside},
        source=source.source,
        label_name=roles.label,
        id_name=roles.id,
        remarks=roles.remarks,
    )


def assign_roles(source: ColumnSource) -> ColumnRoles:
    """Decide which columns are features, label and id, from all rows."""
    selection, types = source.selection, source.types
    selection.check(list(types), source.source)
    selection = selection.complete(list(types))
    text = [name for name in types if not is_number(types[name])]
    features = selection.columns
    if features is None:
        features = tuple(name for name in types if name not in (*text, selection.label, selection.id))
    for name in features:
        if name in text:
            raise InputFileError(
                f"column {name!r} of {source.source} contains {types[name]}, not numbers; remove it"
                " from columns"
            )
    if not features:
        raise InputFileError(f"{source.source} has no numeric column; {_describe_columns(source)}")
    candidates = [name for name in text if name != selection.id and not is_nested(types[name])]
    label = selection.label or _find_label(source, candidates)
    others = tuple(name for name in types if name not in (*features, label, selection.id))
    remarks = _remarks(source, selection, features)
    return ColumnRoles(features, label, selection.id, others, remarks)


def _find_label(source: ColumnSource, text: Sequence[str]) -> str | None:
    """Return the first text column with repeated values, or the first text column."""
    return next((name for name in text if _has_repeats(source, name)), next(iter(text), None))


def _has_repeats(source: ColumnSource, name: str) -> bool:
    seen: set[object] = set()
    n_rows = 0
    for block in source.read([name]):
        column = to_array(block[name])
        n_rows += len(column)
        seen.update(column.tolist())
        if len(seen) < n_rows:
            return True
    return False


def _describe_columns(source: ColumnSource) -> str:
    names = tuple(source.types)
    if source.first_line == 1 and names == default_names(len(names)):  # no header: show the first row
        block = next(source.read(names))
        return f"its first line is {format_names([str(block[name][0]) for name in names], 20)}"
    return f"its columns are {format_names(names, 20)}"


def _remarks(source: ColumnSource, selection: ColumnSelection, features: Sequence[str]) -> tuple[str, ...]:
    """Return notes about columns whose interpretation may not be the intended one."""
    types = optional_import("pyarrow", "reading a table").types
    remarks = []
    chosen = (selection.label, selection.id, *(selection.columns or ()))
    names = [name for name in source.types if name not in chosen]
    text = [name for name in names if is_string(source.types[name]) and name not in source.codes]
    summaries = source.summaries(text)
    for name in names:
        if name in source.codes:
            remarks.append(
                f"column {name!r} has numbers with leading zeros and is read as text;"
                f" columns=[{name!r}] (--columns) reads it as numbers"
            )
        elif name in features and types.is_integer(source.types[name]) and _is_row_number(source, name):
            remarks.append(
                f"column {name!r} counts the rows and is used as a feature; if it identifies them, use"
                f" id={name!r} (--id {name})"
            )
        elif is_nested(source.types[name]):
            remarks.append(f"column {name!r} contains {source.types[name]} and is not used")
        elif name in summaries and (value := summaries[name].value_with_unit):
            remarks.append(
                f"column {name!r} contains text such as {value!r} and is not used as a feature; write plain"
                " numbers to use it"
            )
    return tuple(remarks)


def _is_row_number(source: ColumnSource, name: str) -> bool:
    """Return whether a column is 0, 1, 2, ... or 1, 2, 3, ..."""
    first, n_rows = 0.0, 0
    for block in source.read([name]):
        column = to_floats(block[name])
        if n_rows == 0 and len(column):
            first = column[0]
        if first not in (0, 1) or not np.array_equal(column, first + n_rows + np.arange(len(column))):
            return False
        n_rows += len(column)
    return n_rows >= _MIN_COUNTER_ROWS


def summarize_text(
    blocks: Iterator[dict[str, pa.ChunkedArray]], names: Sequence[str]
) -> dict[str, TextSummary]:
    """Return statistics of text columns, from all blocks."""
    summaries = {name: TextSummary() for name in names}
    n_rows = 0
    for block in blocks:
        for name in names:
            summaries[name].add(block[name], n_rows)
        n_rows += len(block[names[0]])
    return summaries


def _read_array(source: ColumnSource, features: tuple[str, ...]) -> np.ndarray:
    """Return the features of all rows in one array."""
    blocks = list(source.read(features))
    n_rows = sum(len(block[features[0]]) for block in blocks)
    require(
        8 * n_rows * len(features),
        f"reading {source.source}",
        "select fewer columns, or use stream=True with an estimator that learns from chunks",
    )
    array = np.empty((n_rows, len(features)))
    start = 0
    for block in blocks:
        stop = start + len(block[features[0]])
        for i, name in enumerate(features):
            array[start:stop, i] = _feature(block[name], name, source.source)
        start = stop
    return array


@dataclass(frozen=True, eq=False)
class ColumnChunks:
    """Features of a source as arrays of rows, read again in every iteration."""

    columns: ColumnSource
    features: tuple[str, ...]

    def __iter__(self) -> Iterator[np.ndarray]:
        for block in self.columns.read(self.features):
            chunk = np.empty((len(block[self.features[0]]), len(self.features)))
            for i, name in enumerate(self.features):
                chunk[:, i] = _feature(block[name], name, self.columns.source)
            yield chunk


def _reject_empty_columns(source: ColumnSource, features: Sequence[str]) -> None:
    """Raise if a feature is known by its type to have no value in any row."""
    null = optional_import("pyarrow", "reading a table").null()
    for name in features:
        if source.types[name] == null and source.selection.missing != "keep":
            raise empty_column_error(name, source.source)


def collect(source: ColumnSource, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the values of columns in all rows."""
    if not names:
        return {}
    pa = optional_import("pyarrow", "reading a table")
    blocks = list(source.read(names))  # joined before they are converted, so that all have one type
    return {
        name: to_array(pa.chunked_array([chunk for block in blocks for chunk in block[name].chunks], kind))
        for name, kind in ((name, blocks[0][name].type) for name in names)
    }


def is_string(dtype: pa.DataType) -> bool:
    """Return whether an arrow type is text."""
    types = optional_import("pyarrow", "reading a table").types
    return bool(types.is_string(dtype) or types.is_large_string(dtype))


def is_nested(dtype: pa.DataType) -> bool:
    """Return whether an arrow type is a list, a structure or a map."""
    return bool(optional_import("pyarrow", "reading a table").types.is_nested(dtype))


def is_number(dtype: pa.DataType) -> bool:
    """Return whether an arrow type is numeric; a column without values is."""
    types = optional_import("pyarrow", "reading a table").types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(dtype) for test in tests)


def _feature(column: pa.ChunkedArray, name: str, source: str) -> np.ndarray:
    """Convert a numeric column to floats; raise if an integer is too large for double precision."""
    if _has_large_integers(column):
        raise integer_error(name, source)
    return to_floats(column)


def _has_large_integers(column: pa.ChunkedArray) -> bool:
    """Return whether a column is of integers, some of which are too large for double precision."""
    types = optional_import("pyarrow", "reading a table").types
    is_decimal = types.is_decimal(column.type) and column.type.scale <= 0
    if not is_decimal and not (types.is_integer(column.type) and column.type.bit_width == 64):
        return False
    limits = optional_import("pyarrow.compute", "reading a table").min_max(column).as_py()
    return limits["max"] is not None and max(limits["max"], -limits["min"]) > EXACT_INTEGER


def integer_error(name: str, source: str) -> InputFileError:
    """Return the error for a feature with integers beyond 2^53."""
    return InputFileError(
        f"column {name!r} of {source} has integers beyond 2^53, which floating-point numbers do not represent"
        f" exactly; use it as id={name!r} (--id {name}) or label, exclude it, or store it as floating-point"
        " numbers"
    )


def to_floats(column: pa.ChunkedArray) -> np.ndarray:
    """Convert a numeric arrow column to floats, missing values to NaN."""
    pa = optional_import("pyarrow", "reading a table")
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def to_array(column: pa.ChunkedArray) -> np.ndarray:
    """Convert an arrow column to numbers if it is numeric, to text otherwise; missing text is empty.

    Integers that floating-point numbers do not represent become text if some values are missing.
    """
    pa = optional_import("pyarrow", "reading a table")
    if pa.types.is_dictionary(column.type) and is_number(column.type.value_type):
        column = column.cast(column.type.value_type)
    if column.null_count and _has_large_integers(column):
        column = column.cast(pa.string())
    if is_number(column.type):
        exact = pa.types.is_integer(column.type) and column.null_count == 0
        return np.asarray(column.to_numpy()) if exact else to_floats(column)
    if pa.types.is_nested(column.type):
        values = ["" if value is None else str(value) for value in column.to_pylist()]
        return np.array(values, dtype=object)
    parts = [np.empty(0, dtype=object)]
    for chunk in column.chunks:  # rows with the same text share one object
        encoded = chunk.dictionary_encode()
        values = ["" if value is None else str(value) for value in encoded.dictionary.to_pylist()]
        indices = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        parts.append(np.array([*values, ""], dtype=object)[indices])  # -1: the text appended last
    return np.concatenate(parts)
