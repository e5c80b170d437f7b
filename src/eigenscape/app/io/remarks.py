"""Notes about columns whose interpretation may not be the intended one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from eigenscape._extras import optional_import
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.column_source import ColumnSource
from eigenscape.app.io.conversion import is_nested, is_string, to_floats

#: A column is reported as a row counter only if it has at least this many rows.
_MIN_COUNTER_ROWS = 5
#: Names of the columns of a list of edges, which is asked about.
_EDGE_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"))


def column_remarks(
    source: ColumnSource, selection: ColumnSelection, features: Collection[str]
) -> tuple[str, ...]:
    """Return notes about columns whose interpretation may not be the intended one."""
    types = optional_import("pyarrow", "reading a table").types
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
