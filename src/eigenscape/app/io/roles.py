"""Roles of the columns of a file: feature, label, id or other. Whole and streamed reading share this code.

See docs/decisions/app-columns.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from eigenscape._memory import require
from eigenscape._roles import MISSING_WORDS
from eigenscape._warnings import warn
from eigenscape.app.io.arrow import compute, pa
from eigenscape.app.io.column_selection import NUMBERS, ColumnSelection, matches
from eigenscape.app.io.columns import Column
from eigenscape.app.io.guards import EXACT_INTEGER, empty_column_error, integer_error
from eigenscape.app.io.table import Table, default_names, format_names
from eigenscape.exceptions import InputFileError

#: A column is reported as a row counter only if it has at least this many rows.
_MIN_COUNTER_ROWS = 5
#: Names of columns that are probably labels or ids, even if they contain integers.
_LABEL_NAMES = ("class", "labels", "target", "species", "category", "cluster")
_ID_NAME = re.compile(r"([_ .-]id|[_ .-]ID|[a-z]I[dD])$")
#: A column with more categories is not encoded.
_MAX_CATEGORIES = 200
#: Names of the columns of a list of edges, which is asked about.
_EDGE_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"))
#: Features by the name of their column: categories, which have an indicator (1 or 0) each; None for numbers.
Features = Mapping[str, tuple[str, ...] | None]


class ColumnSource(Protocol):
    """Columns of a file with known types, readable in blocks of rows any number of times."""

    source: str
    selection: ColumnSelection  # with the label and the id that the file has by name
    columns: dict[str, Column]  # in the order of the file
    remarks: tuple[str, ...]  # on the layout of the file
    first_line: int | None  # line of the first row in a text file

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield the columns ``names`` in blocks of rows."""
        ...


def column_kind(dtype: pa.DataType) -> str:
    """Return the kind of an arrow type: "float", "int", "bool", "text", "nested" or "other" (dates).

    A column without values is numeric, and categories are text.
    """
    types = pa.types
    if types.is_dictionary(dtype):
        return column_kind(dtype.value_type)
    if types.is_boolean(dtype):
        return "bool"
    if types.is_integer(dtype):
        return "int"
    if types.is_floating(dtype) or types.is_decimal(dtype) or types.is_null(dtype):
        return "float"
    if types.is_string(dtype) or types.is_large_string(dtype):
        return "text"
    return "nested" if types.is_nested(dtype) else "other"


def assign_roles(source: ColumnSource) -> tuple[Features, Table]:
    """Return the features, and a table without rows that names features, label and id.

    Amounts, such as 6.4%, are neither label nor id, and dates are no ids.
    """
    columns, selection = source.columns, source.selection
    kinds = {name: "int" if each.is_long else column_kind(each.dtype) for name, each in columns.items()}
    excluded = set(selection.exclude)
    kept = [name for name in kinds if name not in excluded]
    remarks = (*source.remarks, *_remarks(source, kept, kinds))
    text = [name for name in kinds if kinds[name] in ("text", "other") and not columns[name].has_units]
    selection = selection.with_text_roles(
        (name for name in text if kinds[name] == "text" and columns[name].is_unique),
        (name for name in text if columns[name].has_repeats),
    )
    features = _find_features(source, selection, kinds)
    names: list[str] = []
    dtypes: list[str] = []
    for name, categories in features.items():
        names += [name] if categories is None else [f"{name}_{category}" for category in categories]
        dtypes += [kinds[name]] * (len(names) - len(dtypes))
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InputFileError(f"{source.source}: two features are named {twice!r} after encoding; rename one")
    encoded = {name: values for name, values in features.items() if values is not None}
    table = Table(
        None,
        names=tuple(names),
        source=source.source,
        label_name=selection.label,
        id_name=selection.id,
        remarks=remarks,
        categories=encoded,
        dtypes=tuple(dtypes),
    )
    return features, table


def _find_features(source: ColumnSource, selection: ColumnSelection, kinds: Mapping[str, str]) -> Features:
    """Return the features; raise if a requested column cannot be one, or there is none."""
    names = selection.features(kinds, source.source)
    known = selection.categories or {}
    encoded = {name for name in names if name in known or (selection.encode and kinds[name] == "text")}
    for name in names:
        if source.columns[name].is_long and name not in encoded:
            raise integer_error(name, source.source)
        if source.columns[name].dtype == pa.null() and selection.missing != "keep":
            raise empty_column_error(name, source.source)
        if kinds[name] not in NUMBERS and name not in encoded:
            encode = "; encode='onehot' (--encode onehot) uses categories" if kinds[name] == "text" else ""
            raise InputFileError(
                f"column {name!r} of {source.source} contains {source.columns[name].dtype}, not numbers;"
                f" remove it from columns{encode}"
            )
    if not names:
        raise InputFileError(f"{source.source} has no numeric column; {_describe_columns(source)}")
    unknown = [name for name in names if name in encoded and not known.get(name)]
    found = {**known, **(find_categories(source, unknown) if unknown else {})}
    return {name: tuple(found[name]) if name in encoded else None for name in names}


def _describe_columns(source: ColumnSource) -> str:
    names = tuple(source.columns)
    if source.first_line == 1 and names == default_names(len(names)):  # no header: show the first row
        block = next(source.read(names))
        return f"its first line is {format_names([str(block[name][0]) for name in names], 20)}"
    return f"its columns are {format_names(names, 20)}"


def _remarks(source: ColumnSource, kept: Sequence[str], kinds: Mapping[str, str]) -> tuple[str, ...]:
    """Return notes about columns whose interpretation may not be the intended one.

    Raise if a column of text is numeric except for a few words.
    """
    remarks = []
    cased = {name.casefold(): name for name in source.columns}
    ends = next((ends for ends in _EDGE_ENDS if set(ends) <= set(cased)), None)
    if ends is not None and len(cased) <= 3 and source.selection.kind is None:
        remarks.append(
            f"columns {cased[ends[0]]!r} and {cased[ends[1]]!r} look like edges of a graph, but every line is"
            " read as a row of features; read the graph with kind='edges' (--kind edges), or confirm with"
            " kind='rows' (--kind rows)"
        )
    taken = {source.selection.label, source.selection.id, *(source.selection.categories or ())}
    requested = source.selection.columns
    patterns = [each for each in requested or () if each not in kinds]
    named = {each for each in requested or () if each in kinds}
    for name in (name for name in kept if name not in taken):
        column = source.columns[name]
        is_chosen = requested is None or any(matches(each, name) for each in patterns)
        if name not in named and not is_chosen:
            continue
        is_typo = kinds[name] == "text" and 2 * column.n_words < column.n_values and not column.is_code
        if is_typo and source.first_line is not None:
            column.check_words(name, source.source, source.first_line)
        remark = None if name in named else _column_remark(name, column, kinds[name])
        if remark is not None and name.casefold() not in (ends or ()):
            remarks.append(f"column {name!r} {remark}")
    return tuple(remarks)


def _column_remark(name: str, column: Column, kind: str) -> str | None:
    """Return a note about a column that is neither label nor id and is not requested by name, if any."""
    label, row_id = f"label={name!r} (--label {name})", f"id={name!r} (--id {name})"
    if column.is_code:
        return (
            "has numbers with leading zeros and is read as text;"
            f" columns=[{name!r}] (--columns) reads it as numbers"
        )
    if kind == "int" and name.casefold() in _LABEL_NAMES:
        return f"contains integers and is used as a feature; if it is the label, use {label}"
    if kind == "int" and column.is_counter and column.n_rows >= _MIN_COUNTER_ROWS:
        return f"counts the rows and is used as a feature; if it identifies them, use {row_id}"
    if kind == "int" and _ID_NAME.search(name):
        return f"contains integers and is used as a feature; if it identifies the rows, use {row_id}"
    if kind == "nested":
        return f"contains {column.dtype} and is not used"
    if kind == "text" and column.has_units:
        return (
            f"contains text such as {column.amount!r} and is not used as a feature; write plain numbers to"
            f" use it, or name it as the label with {label}"
        )
    return None


def read_columns(source: ColumnSource, stream: bool = False) -> Table:
    """Read the table of a source, whole or as chunks of rows."""
    features, table = assign_roles(source)
    used = [name for name in (table.label_name, table.id_name) if name is not None]
    others = [name for name in source.columns if name not in {*used, *features} and not stream]
    blocks = list(source.read([*used, *others])) if used or others else []
    arrays: dict[str | None, np.ndarray] = {}
    for name in (*used, *others):  # blocks are joined before they are converted, so that all have one type
        parts = [chunk for block in blocks for chunk in block[name].chunks]
        arrays[name] = to_array(pa.chunked_array(parts, blocks[0][name].type), name == table.id_name)
    chunks = ColumnChunks(source, features, len(table.names))
    return replace(
        table,
        array=chunks if stream else np.concatenate(list(chunks)),
        labels=arrays.get(table.label_name),
        ids=arrays.get(table.id_name),
        extra={name: arrays[name] for name in others},
    )


@dataclass(frozen=True, eq=False)
class ColumnChunks:
    """Features of a source as arrays of rows, read again in every iteration."""

    columns: ColumnSource
    features: Features
    width: int

    def __iter__(self) -> Iterator[np.ndarray]:
        for block in self.columns.read(list(self.features)):
            n_rows, start = len(next(iter(block.values()))), 0
            remedy = "select fewer columns, or use stream=True with an estimator that learns from chunks"
            require(8 * n_rows * self.width, f"reading {self.columns.source}", remedy)
            rows = np.empty((n_rows, self.width))
            for name, categories in self.features.items():
                cells, stop = block[name], start + (1 if categories is None else len(categories))
                if categories is not None:
                    rows[:, start:stop] = _indicators(cells, categories, name, self.columns.source)
                elif cells.type == pa.float64():  # without a cast, which takes longer than a short column
                    rows[:, start] = cells
                elif _has_large_integers(cells):
                    raise integer_error(name, self.columns.source)
                else:
                    rows[:, start] = cells.cast(pa.float64(), safe=False)
                start = stop
            yield rows


def _indicators(cells: pa.ChunkedArray, categories: tuple[str, ...], name: str, source: str) -> np.ndarray:
    """Return an indicator of each category, (n, len(categories)); NaN where the cell is missing."""
    text = cells.cast(pa.string())
    is_missing = compute.or_(compute.is_null(text), compute.is_in(text, pa.array(MISSING_WORDS)))
    missing = np.asarray(is_missing)
    place = np.asarray(compute.fill_null(compute.index_in(text, pa.array(categories, pa.string())), -1))
    found = np.eye(len(categories) + 1)[place, :-1]  # the last row, of unknown values, is 0
    found[missing] = np.nan
    unknown = np.flatnonzero((place < 0) & ~missing)
    if len(unknown):
        warn(
            f"column {name!r} of {source} has values that are not among the categories of the model, such as"
            f" {text[int(unknown[0])].as_py()!r}; their encoded columns are 0",
            UserWarning,
        )
    return found


def find_categories(source: ColumnSource, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the distinct values of text columns in all rows, sorted; raise if a column has too many."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for block in source.read(names):
        for name in names:
            if len(found[name]) <= _MAX_CATEGORIES:
                cells = block[name].cast(pa.string()).unique().to_pylist()
                found[name].update(cell for cell in cells if cell not in (None, *MISSING_WORDS))
        if len(found[names[0]]) > _MAX_CATEGORIES:
            break  # of several columns the first one is named, however the rows are divided into blocks
    for name, values in found.items():
        if len(values) > _MAX_CATEGORIES:
            raise InputFileError(
                f"column {name!r} of {source.source} has more than {_MAX_CATEGORIES} different values, too"
                f" many to encode; exclude it with exclude=[{name!r}] (--exclude {name})"
            )
    return {name: tuple(sorted(values)) for name, values in found.items()}


def _has_large_integers(column: pa.ChunkedArray) -> bool:
    """Return whether a column contains integers that are too large for double precision."""
    types = pa.types
    is_decimal = types.is_decimal(column.type) and column.type.scale <= 0
    if not is_decimal and not (types.is_integer(column.type) and column.type.bit_width == 64):
        return False
    limits = compute.min_max(column).as_py()
    return limits["max"] is not None and max(limits["max"], -limits["min"]) > EXACT_INTEGER


def to_array(column: pa.ChunkedArray, is_id: bool = False) -> np.ndarray:
    """Convert an arrow column to numbers if it is numeric, to text otherwise; missing text is empty.

    Ids such as "NA" are not missing. Integers that floating-point numbers do not represent become text if
    some values are missing.
    """
    kind = column_kind(column.type)
    if kind in NUMBERS and pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind in NUMBERS and column.null_count and _has_large_integers(column):
        column, kind = column.cast(pa.string()), "text"
    if kind in NUMBERS:
        exact = kind == "int" and column.null_count == 0
        return np.asarray(column if exact else column.cast(pa.float64(), safe=False))
    if kind == "nested":
        return np.array(["" if value is None else str(value) for value in column.to_pylist()], dtype=object)
    parts = [np.empty(0, dtype=object)]
    for chunk in column.chunks:  # rows with the same text share one object
        encoded = chunk.dictionary_encode()
        values = ["" if value is None else str(value) for value in encoded.dictionary.to_pylist()]
        values = values if is_id else ["" if value in MISSING_WORDS else value for value in values]
        indices = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        parts.append(np.array([*values, ""], dtype=object)[indices])  # -1: the text appended last
    return np.concatenate(parts)
