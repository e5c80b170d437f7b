"""Columns of a file and their roles: features, label, id. Whole and streamed reading share this code.

See docs/decisions/app-columns.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from eigenscape._memory import require
from eigenscape.app.io.arrow import pa
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.conversion import column_kind, is_nested, is_string, to_array, to_floats
from eigenscape.app.io.features import FeatureColumn, feature_names, fill_features, find_categories
from eigenscape.app.io.guards import integer_error
from eigenscape.app.io.missing import empty_column_error
from eigenscape.app.io.table import Table, default_names, format_names
from eigenscape.app.io.text_cells import TextSummary
from eigenscape.exceptions import InputFileError

#: A column is reported as a row counter only if it has at least this many rows.
_MIN_COUNTER_ROWS = 5
#: Names of the columns of a list of edges, which is asked about.
_EDGE_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"))


class ColumnSource(Protocol):
    """Columns of a file with known types, readable in blocks of rows any number of times."""

    source: str
    selection: ColumnSelection
    types: dict[str, pa.DataType]  # of all columns, in the order of the file
    codes: frozenset[str]  # columns of digits that are text because of leading zeros
    long_integers: frozenset[str]  # columns of integers that floats do not represent, read as text
    first_line: int | None  # line of the first row in a text file

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield the columns ``names`` in blocks of rows."""
        ...

    def summaries(self, names: Sequence[str]) -> Mapping[str, TextSummary]:
        """Return statistics of text columns."""
        ...


class DistinctValues:
    """Text columns whose values are repeated or all differ; most are known from the first block of rows.

    Parameters
    ----------
    source : ColumnSource
        The file. Its first block is read once for all columns.
    names : sequence of str
        The columns.
    """

    def __init__(self, source: ColumnSource, names: Sequence[str]) -> None:
        self._source = source
        blocks = source.read(names) if names else iter(())
        self._first = next(blocks, {})
        self._is_complete = next(blocks, None) is None
        self._found: dict[str, tuple[bool, bool]] = {}

    def has_repeats(self, name: str) -> bool:
        """Return whether a value, other than missing ones, occurs twice."""
        return self._count(name)[0]

    def is_unique(self, name: str) -> bool:
        """Return whether all values differ and none is missing."""
        return self._count(name) == (False, False)

    def _count(self, name: str) -> tuple[bool, bool]:
        """Return whether a value is repeated, where the search ends, and whether one is missing."""
        if name in self._found:
            return self._found[name]
        seen: set[object] = set()
        n_values, has_missing = 0, False
        for column in self._columns(name):
            values = [value for value in to_array(column).tolist() if value != ""]
            has_missing = has_missing or len(values) < len(column)
            n_values += len(values)
            seen.update(values)
            if len(seen) < n_values:
                break
        self._found[name] = len(seen) < n_values, has_missing
        return self._found[name]

    def _columns(self, name: str) -> Iterator[pa.ChunkedArray]:
        """Yield the first block of a column and then its other rows, which are read only if requested."""
        first, start = self._first[name], 0
        yield first
        others = () if self._is_complete else self._source.read([name])
        for block in others:  # of other lengths than the first, perhaps
            column = block[name]
            if start + len(column) > len(first):
                yield column.slice(max(len(first) - start, 0))
            start += len(column)


@dataclass(frozen=True)
class ColumnRoles:
    """Use of the columns of a file."""

    features: tuple[FeatureColumn, ...]
    label: str | None
    id: str | None
    others: tuple[str, ...]
    remarks: tuple[str, ...]


def read_columns(source: ColumnSource, stream: bool) -> Table:
    """Read the table of a source, whole or as chunks of rows."""
    roles = assign_roles(source)
    names = feature_names(roles.features, source.source)
    if stream:
        _reject_empty_columns(source, roles.features)
    used = [name for name in (roles.label, roles.id) if name is not None]
    beside = collect(source, used if stream else [*used, *roles.others])
    return Table(
        ColumnChunks(source, roles.features) if stream else _read_array(source, roles.features),
        labels=None if roles.label is None else beside[roles.label],
        ids=None if roles.id is None else beside[roles.id],
        names=names,
        extra={name: beside[name] for name in roles.others if name in beside},
        source=source.source,
        label_name=roles.label,
        id_name=roles.id,
        remarks=roles.remarks,
        categories={f.column: f.categories for f in roles.features if f.categories is not None},
        dtypes=tuple(feature.kind for feature in roles.features for _ in feature.names),
    )


def assign_roles(source: ColumnSource) -> ColumnRoles:
    """Decide which columns are features, label and id, from all rows.

    A text column whose values all differ is an id, if none is requested; the label is a text column with
    repeated values. Text that is encoded is a feature, so only a column named ``label`` is then a label.
    """
    types, names = source.types, list(source.types)
    source.selection.check(names, source.source)
    selection = source.selection.complete(names)
    kinds = {name: column_kind(types[name]) for name in types}
    text = [
        name
        for name in types
        if kinds[name] in ("text", "other")
        and not is_nested(types[name])
        and name not in (selection.label, *selection.named(names), *selection.known_columns)
        and not selection.excludes(name, kinds[name])
    ]
    requested, distinct = selection, DistinctValues(source, text)
    if selection.id is None:
        words = [name for name in text if kinds[name] == "text"]
        selection = replace(selection, id=_find_id(source, words, distinct))
    features = _find_features(source, selection, kinds)
    label = selection.label
    if label is None and selection.known_label is None and selection.encode is None:
        label = next((name for name in text if name != selection.id and distinct.has_repeats(name)), None)
    columns = {feature.column for feature in features}
    used = {*columns, label, selection.id}
    others = tuple(name for name in types if name not in used)
    remarks = column_remarks(source, requested, columns)
    return ColumnRoles(features, label, selection.id, others, remarks)


def _find_features(
    source: ColumnSource, selection: ColumnSelection, kinds: Mapping[str, str]
) -> tuple[FeatureColumn, ...]:
    """Return the features; raise if a requested column cannot be one, or there is none."""
    names = selection.features(kinds, source.source)
    known = selection.categories or {}
    encoded = {name for name in names if selection.encodes(name, kinds[name])}
    unknown = [name for name in names if name in encoded and not known.get(name)]
    categories = {**known, **find_categories(source.read(unknown), unknown, source.source)}
    features = []
    for name in names:
        if name in encoded:
            features.append(FeatureColumn(name, "text", tuple(categories[name]), name in known))
        elif name in source.long_integers:
            raise integer_error(name, source.source)
        elif kinds[name] in ("text", "other"):
            encode = "; encode='onehot' (--encode onehot) uses categories" if kinds[name] == "text" else ""
            raise InputFileError(
                f"column {name!r} of {source.source} contains {source.types[name]}, not numbers; remove it"
                f" from columns{encode}"
            )
        else:
            features.append(FeatureColumn(name, kinds[name]))
    if not features:
        raise InputFileError(f"{source.source} has no numeric column; {_describe_columns(source)}")
    return tuple(features)


def _find_id(source: ColumnSource, text: Sequence[str], distinct: DistinctValues) -> str | None:
    """Return the first text column whose values all differ, except numbers with units."""
    for name in text:
        if not distinct.is_unique(name):
            continue
        summary = source.summaries([name]).get(name) if is_string(source.types[name]) else None
        if summary is None or summary.value_with_unit is None:
            return name
    return None


def _describe_columns(source: ColumnSource) -> str:
    names = tuple(source.types)
    if source.first_line == 1 and names == default_names(len(names)):  # no header: show the first row
        block = next(source.read(names))
        return f"its first line is {format_names([str(block[name][0]) for name in names], 20)}"
    return f"its columns are {format_names(names, 20)}"


def _read_array(source: ColumnSource, features: tuple[FeatureColumn, ...]) -> np.ndarray:
    """Return the features of all rows in one array."""
    columns = [feature.column for feature in features]
    blocks = list(source.read(columns))
    n_rows = sum(len(block[columns[0]]) for block in blocks)
    width = sum(len(feature.names) for feature in features)
    require(
        8 * n_rows * width,
        f"reading {source.source}",
        "select fewer columns, or use stream=True with an estimator that learns from chunks",
    )
    array = np.empty((n_rows, width))
    start = 0
    for block in blocks:
        stop = start + len(block[columns[0]])
        fill_features(array[start:stop], block, features, source.source)
        start = stop
    return array


@dataclass(frozen=True, eq=False)
class ColumnChunks:
    """Features of a source as arrays of rows, read again in every iteration."""

    columns: ColumnSource
    features: tuple[FeatureColumn, ...]

    def __iter__(self) -> Iterator[np.ndarray]:
        names = [feature.column for feature in self.features]
        width = sum(len(feature.names) for feature in self.features)
        for block in self.columns.read(names):
            chunk = np.empty((len(block[names[0]]), width))
            fill_features(chunk, block, self.features, self.columns.source)
            yield chunk


def _reject_empty_columns(source: ColumnSource, features: Sequence[FeatureColumn]) -> None:
    """Raise if a feature is known by its type to have no value in any row."""
    null = pa.null()
    for feature in features:
        if source.types[feature.column] == null and source.selection.missing != "keep":
            raise empty_column_error(feature.column, source.source)


def collect(source: ColumnSource, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the values of columns in all rows."""
    if not names:
        return {}
    blocks = list(source.read(names))  # joined before they are converted, so that all have one type
    return {
        name: to_array(pa.chunked_array([chunk for block in blocks for chunk in block[name].chunks], kind))
        for name, kind in ((name, blocks[0][name].type) for name in names)
    }


def column_remarks(
    source: ColumnSource, selection: ColumnSelection, features: Collection[str]
) -> tuple[str, ...]:
    """Return notes about columns whose interpretation may not be the intended one."""
    types = pa.types
    remarks = _edge_remarks(source)
    chosen = {selection.label, selection.id, *selection.named(list(source.types))}
    names = [name for name in source.types if name not in chosen and selection.may_use(name)]
    text = [name for name in names if is_string(source.types[name]) and name not in source.codes]
    summaries = source.summaries(text)
    integers = [name for name in names if name in features and types.is_integer(source.types[name])]
    counters = _row_numbers(source, integers)
    for name in names:
        if name in source.codes:
            remarks.append(
                f"column {name!r} has numbers with leading zeros and is read as text;"
                f" columns=[{name!r}] (--columns) reads it as numbers"
            )
        elif name in counters:
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


def _edge_remarks(source: ColumnSource) -> list[str]:
    """Return a note if the columns have the names of a list of edges, and their meaning is not given."""
    names = {name.casefold(): name for name in source.types}
    ends = next((ends for ends in _EDGE_ENDS if set(ends) <= set(names)), None)
    if ends is None or len(names) > 3 or source.selection.kind is not None:
        return []
    first, second = (names[end] for end in ends)
    return [
        f"columns {first!r} and {second!r} look like edges of a graph, but every line is read as a row of"
        " features; read the graph with kind='edges' (--kind edges), or confirm with kind='rows'"
        " (--kind rows)"
    ]


def _row_numbers(source: ColumnSource, names: Sequence[str]) -> set[str]:
    """Return the columns that are 0, 1, 2, ... or 1, 2, 3, ...; all are compared in one pass."""
    first: dict[str, float] = {}
    n_rows = 0
    others: set[str] = set()
    for block in source.read(names) if names else ():
        length = len(block[names[0]])
        rows = np.arange(n_rows, n_rows + length)
        for name in names if length else ():
            if name in others:
                continue
            column = to_floats(block[name])
            start = first.setdefault(name, column[0])
            if start not in (0, 1) or not np.array_equal(column, start + rows):
                others.add(name)
        n_rows += length
        if len(others) == len(names):
            break
    return set(names) - others if n_rows >= _MIN_COUNTER_ROWS else set()
