"""Tables about pairs of samples: matrices of distances or affinities, and lists of edges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.app.io import columnar
from eigenscape.app.io.columns import ColumnSelection
from eigenscape.app.io.table import Table, default_names
from eigenscape.app.io.delimited import _parse, _with_tabs, as_utf8, find_layout, read_bytes, read_delimited
from eigenscape.exceptions import InputFileError

_ROUNDING = 1e-8
_SOURCE = ("source", "from", "src", "i", "a")
_TARGET = ("target", "to", "dst", "j", "b")
_WEIGHT = ("weight", "w", "value", "affinity", "similarity")


def as_relation(table: Table, kind: str | None) -> Table:
    """The table as what the caller says it is."""
    if kind in ("distances", "affinities"):
        return check_relation(replace(table, kind=kind))
    return table


def matrix_of_text(content: bytes, kind: str, source: str, delimiter: str | None) -> Table:
    """A square matrix from a text file, with or without names along its edges."""
    table = read_delimited(content, ColumnSelection(), source, delimiter)
    ids = table.ids if table.ids is not None else table.labels
    if (
        ids is None
        and table.array.shape[0] == table.array.shape[1]
        and table.names != default_names(table.array.shape[1])
    ):
        ids = np.array(table.names, dtype=object)
    return check_relation(
        replace(table, kind=kind, ids=ids, labels=None, label_name=None, id_name=None, remarks=())
    )


def check_relation(table: Table) -> Table:
    """Square, symmetric and not negative; zeros on the diagonal of distances."""
    array, source, what = (
        table.array,
        table.source,
        table.kind[:-1] if table.kind == "distances" else "affinity",
    )
    if not hasattr(array, "shape"):
        raise InputFileError(f"{source}: a matrix of {table.kind} cannot be streamed; read it whole")
    n, d = array.shape
    if n != d:
        raise InputFileError(
            f"{source} is no matrix of {table.kind}: it has {n} rows and {d} columns, and must be square"
        )
    stored = array.data if sparse.issparse(array) else np.asarray(array)
    if stored.size and stored.min() < 0:
        row, column = _place(array < 0)
        raise InputFileError(
            f"{source} has a negative {what} in row {row + 1}, column {column + 1}; is it a matrix of {table.kind}?"
        )
    largest = float(stored.max()) if stored.size else 0.0
    if table.kind == "distances":
        own = np.abs(array.diagonal() if sparse.issparse(array) else np.diagonal(array))
        if own.max() > _ROUNDING * largest:
            i = int(np.argmax(own))
            raise InputFileError(
                f"{source}: the distance of row {i + 1} to itself is {own[i]:g}, not 0; are these similarities?"
            )
    if not (
        sparse.issparse(array) and table.kind == "distances"
    ):  # lists of neighbours need not be symmetric
        gap = abs(array - array.T)
        if gap.max() > _ROUNDING * largest:
            row, column = _place(gap > _ROUNDING * largest)
            raise InputFileError(
                f"{source} is not symmetric: row {row + 1}, column {column + 1} differs from row {column + 1}, column {row + 1};"
                " correct it or take the mean of both"
            )
    return table


def _place(where: Any) -> tuple[int, int]:
    rows, columns = where.nonzero()
    return int(rows[0]), int(columns[0])


def read_edges(path: Path, suffix: str, selection: ColumnSelection) -> Table:
    """A graph from a file of edges."""
    if suffix in columnar.SUFFIXES:
        table = columnar.arrow_table(path)
        return _graph(dict(zip(table.column_names, table.columns, strict=True)), selection, str(path))
    return edges_of_text(read_bytes(path), selection, str(path))


def edges_of_text(content: bytes, selection: ColumnSelection, source: str) -> Table:
    """A graph from lines of two names and perhaps a weight, divided by commas, tabs or blanks; lines with #
    or % are comments."""
    content = as_utf8(content, source)
    lines = [
        line for line in content.splitlines() if line.strip() and not line.lstrip().startswith((b"#", b"%"))
    ]
    if not lines:
        raise InputFileError(f"{source} has comments and no edges")
    content = b"\n".join(lines) + b"\n"
    if not any(mark in content for mark in (b",", b"\t", b";", b"|")):
        content = _with_tabs(content)
    layout = find_layout(content, source, None)
    return _graph(_parse(content, layout, source), selection, source)


def _graph(columns: dict[str, Any], selection: ColumnSelection, source: str) -> Table:
    """The sparse symmetric matrix of weights; a pair that is listed more than once has the largest of its
    weights."""
    selection.check(list(columns), source)
    names = list(columns) if selection.columns is None else list(selection.columns)
    if len(names) < 2:
        raise InputFileError(f"{source} has {len(names)} column(s); edges need a source and a target")
    first = next((name for name in names if name.lower() in _SOURCE), names[0])
    second = next(
        (name for name in names if name.lower() in _TARGET and name != first),
        next(n for n in names if n != first),
    )
    rest = [name for name in names if name not in (first, second)]
    weight = next((name for name in rest if name.lower() in _WEIGHT), rest[0] if rest else None)
    ends = [[str(cell) for cell in columns[name].to_pylist()] for name in (first, second)]
    n_edges = len(ends[0])
    ids, number = np.unique(np.array(ends[0] + ends[1], dtype=str), return_inverse=True)
    values = np.ones(n_edges) if weight is None else _weights(columns[weight], weight, source)
    row, column = number[:n_edges], number[n_edges:]
    low, high = np.minimum(row, column), np.maximum(row, column)
    order = np.lexsort((-values, high, low))
    low, high, values = low[order], high[order], values[order]
    new = np.ones(n_edges, dtype=bool)
    new[1:] = (np.diff(low) > 0) | (np.diff(high) > 0)
    half = sparse.coo_array((values[new], (low[new], high[new])), shape=(len(ids), len(ids)))
    array = sparse.csr_array(half + sparse.triu(half, 1).T)
    return Table(array, None, ids.astype(object), tuple(ids.tolist()), {}, "edges", None, source)


def _weights(column: Any, name: str, source: str) -> np.ndarray:
    from eigenscape.app.io.columns import is_number, numbers

    if not is_number(column.type):
        raise InputFileError(
            f"the weights of {source} (column {name!r}) are {column.type}, not numbers; choose columns=(source, target, weight)"
        )
    weights = numbers(column)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InputFileError(
            f"the weight of edge {bad[0] + 1} in {source} is {weights[bad[0]]:g}; weights are finite and not negative"
        )
    return weights
