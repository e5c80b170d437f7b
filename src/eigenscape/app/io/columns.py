"""Columns of a file and their roles: features, label, id. Whole and streamed reading share this code.

See docs/decisions/app-columns.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from eigenscape._extras import optional_import
from eigenscape._memory import require
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.column_source import ColumnSource, DistinctValues
from eigenscape.app.io.conversion import column_kind, integer_error, is_nested, is_string, to_array
from eigenscape.app.io.features import FeatureColumn, feature_names, fill_features, find_categories
from eigenscape.app.io.missing import empty_column_error
from eigenscape.app.io.remarks import column_remarks
from eigenscape.app.io.table import Table, default_names, format_names
from eigenscape.app.io.text_cells import TextSummary
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    import pyarrow as pa


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
    null = optional_import("pyarrow", "reading a table").null()
    for feature in features:
        if source.types[feature.column] == null and source.selection.missing != "keep":
            raise empty_column_error(feature.column, source.source)


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
