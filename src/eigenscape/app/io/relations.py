"""Tables of pairs of samples: matrices of distances or affinities, and lists of edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape.app.io.arrow import pa
from eigenscape.app.io.column_selection import DTYPES, ColumnSelection
from eigenscape.app.io.columns import Column, convert
from eigenscape.app.io.formats import COLUMNAR
from eigenscape.app.io.missing import handle_missing
from eigenscape.app.io.roles import column_kind, read_columns
from eigenscape.app.io.table import Table, default_names
from eigenscape.app.io.text import TextSource, parse_text, read_chunks
from eigenscape.app.io.text_layout import blanks_to_tabs, content_lines, find_layout
from eigenscape.exceptions import InputFileError

#: Asymmetry and self-distances up to this share of the largest entry are rounding errors.
_ROUNDING = 1e-8
#: Numbers of rows of tables that may be matrices of distances.
_MIN_MATRIX, _MAX_MATRIX = 4, 20_000
_SOURCE_NAMES = ("source", "from", "src", "i", "a")
_TARGET_NAMES = ("target", "to", "dst", "j", "b")
_WEIGHT_NAMES = ("weight", "w", "value", "affinity", "similarity")


def matrix_remarks(table: Table) -> tuple[str, ...]:
    """Return a note if rows look like a matrix of distances or affinities, and their meaning is not given."""
    width = len(table.names)
    if table.kind != "rows" or not _MIN_MATRIX <= width <= _MAX_MATRIX:
        return ()
    for value, kind in ((0.0, "distances"), (1.0, "affinities")):
        matrix = _square(table.array, width, value)
        if matrix is not None and _is_symmetric(matrix) and matrix.max() > 0:
            return (
                f"the table is square and symmetric with a diagonal of {value:g}, like a matrix of {kind},"
                f" but its rows are read as features; use kind={kind!r} (--kind {kind}), or confirm with"
                " kind='rows' (--kind rows)",
            )
    return ()


def _square(rows: Any, width: int, diagonal: float) -> Any:
    """Return the rows as a matrix if there are as many as columns, with this diagonal; otherwise None."""
    whole = hasattr(rows, "shape")
    if whole and rows.shape != (width, width):
        return None
    if isinstance(rows, sparse.csr_array):
        return rows if (rows.diagonal() == diagonal).all() and np.isfinite(rows.data).all() else None
    blocks, n_rows = [], 0
    for block in (rows[part] for part in row_blocks(width, 8 * width)) if whole else rows:
        stop = n_rows + len(block)
        if stop > width or (np.diagonal(block[:, n_rows:stop]) != diagonal).any():
            return None
        blocks.append(block)
        n_rows = stop
    if n_rows < width:
        return None
    return rows if whole else np.concatenate(blocks)


def _is_symmetric(matrix: Any) -> bool:
    """Return whether a matrix is finite, non-negative and symmetric up to rounding."""
    if isinstance(matrix, sparse.csr_array):
        return matrix.min() >= 0 and abs(matrix - matrix.T).max() <= _ROUNDING * matrix.max()
    tolerance = _ROUNDING * float(matrix.max())  # NaN compares as False below
    return all(
        bool((matrix[part] >= 0).all() and (abs(matrix[part] - matrix[:, part].T) <= tolerance).all())
        for part in row_blocks(matrix.shape[0], 8 * matrix.shape[0])
    )


def read_matrix_text(content: bytes | Path, source: str, delimiter: str | None) -> Table:
    """Read a square matrix from a text file, with or without names of its rows and columns."""
    table = read_columns(TextSource(content, source, ColumnSelection(), delimiter))
    table = handle_missing(table, "error")
    ids = table.ids if table.ids is not None else table.labels
    n, d = table.array.shape
    if ids is None and n == d and table.names != default_names(d):
        ids = np.array(table.names, dtype=object)
    return replace(table, ids=ids, labels=None, label_name=None, id_name=None, remarks=())


def check_relation(table: Table) -> Table:
    """Raise unless the matrix is square, symmetric and non-negative, and distances have a zero diagonal."""
    array, source = table.array, table.source
    if not hasattr(array, "shape"):
        raise InputFileError(f"{source}: a matrix of {table.kind} cannot be streamed; use stream=False")
    is_sparse = isinstance(array, sparse.csr_array)
    n, d = array.shape
    if n != d:
        raise InputFileError(
            f"{source} is not a matrix of {table.kind}: it has {n} rows and {d} columns and must be square"
        )
    stored = array.data if is_sparse else np.asarray(array)
    if stored.size and stored.min() < 0:
        row, column = _first_true(array < 0)
        what = "distance" if table.kind == "distances" else "affinity"
        raise InputFileError(
            f"{source} has a negative {what} in row {row + 1}, column {column + 1}; is it a matrix of"
            f" {table.kind}?"
        )
    largest = float(stored.max()) if stored.size else 0.0
    if table.kind == "distances":
        diagonal = np.abs(array.diagonal() if is_sparse else np.diagonal(array))
        if diagonal.max() > _ROUNDING * largest:
            i = int(np.argmax(diagonal))
            raise InputFileError(
                f"{source}: the distance of row {i + 1} to itself is {diagonal[i]:g}, not 0; are these"
                " similarities?"
            )
    if not (is_sparse and table.kind == "distances"):  # neighbour graphs may be asymmetric
        difference = abs(array - array.T)
        if difference.max() > _ROUNDING * largest:
            row, column = _first_true(difference > _ROUNDING * largest)
            raise InputFileError(
                f"{source} is not symmetric: row {row + 1}, column {column + 1} differs from row "
                f"{column + 1}, column {row + 1}; correct it or use the mean of both"
            )
    return table


def _first_true(mask: Any) -> tuple[int, int]:
    rows, columns = mask.nonzero()
    return int(rows[0]), int(columns[0])


def read_edges(content: bytes | Path, source: str, selection: ColumnSelection) -> Table:
    """Read a graph from a file of edges in text, parquet or arrow format.

    The lines of a text are source, target and optionally weight, separated by commas, tabs, semicolons, bars
    or blanks; lines that begin with # or % are comments.
    """
    if isinstance(content, Path) and content.suffix.lower() in COLUMNAR:
        from eigenscape.app.io.columnar import read_arrow_table

        table = read_arrow_table(content)
        return _build_graph(dict(zip(table.column_names, table.columns, strict=True)), selection, source)
    text = b"".join(read_chunks(content, source, whole=True))
    lines = content_lines(text)
    if not lines:
        raise InputFileError(
            f"{source} contains comments and no edges" if text.strip() else f"{source} is empty"
        )
    text = b"\n".join(lines) + b"\n"
    if not any(mark in text for mark in (b",", b"\t", b";", b"|")):
        text = blanks_to_tabs(text)
    layout = replace(find_layout(text, source, None), by_blanks=False)
    columns = {}
    for name, cells in parse_text(text, layout, source, layout.names).items():
        column = Column(marks=(layout.decimal,))
        column.add_cells(cells)
        if column.is_long:  # vertices would be rounded to one
            column.dtype = pa.string()
        columns[name] = cells if column.dtype == pa.string() else convert(cells, column)
    return _build_graph(columns, selection, source)


def _build_graph(columns: Mapping[str, pa.ChunkedArray], selection: ColumnSelection, source: str) -> Table:
    """Return the symmetric sparse matrix of weights; repeated edges have the largest of their weights."""
    selection.complete(list(columns), source)
    names = list(columns) if selection.columns is None else list(selection.columns)
    if len(names) < 2:
        raise InputFileError(f"{source} has {len(names)} column(s); edges need a source and a target")
    first = next((name for name in names if name.lower() in _SOURCE_NAMES), names[0])
    remaining = [name for name in names if name != first]
    second = next((name for name in remaining if name.lower() in _TARGET_NAMES), remaining[0])
    remaining.remove(second)
    weight = next((name for name in remaining if name.lower() in _WEIGHT_NAMES), next(iter(remaining), None))
    ends = [[str(cell) for cell in columns[name].to_pylist()] for name in (first, second)]
    n_edges = len(ends[0])
    ids, vertex = np.unique(np.array(ends[0] + ends[1], dtype=str), return_inverse=True)
    weights = np.ones(n_edges) if weight is None else _edge_weights(columns[weight], weight, source)
    low, high = np.sort(vertex.reshape(2, n_edges), axis=0)
    order = np.lexsort((-weights, high, low))
    low, high, weights = low[order], high[order], weights[order]
    is_first = np.ones(n_edges, dtype=bool)  # of the repetitions of an edge, sorted by weight
    is_first[1:] = (np.diff(low) > 0) | (np.diff(high) > 0)
    half = sparse.coo_array((weights[is_first], (low[is_first], high[is_first])), shape=(len(ids), len(ids)))
    array = sparse.csr_array(half + sparse.triu(half, 1).T)
    return Table(array, None, ids.astype(object), tuple(ids.tolist()), {}, "edges", None, source)


def _edge_weights(column: pa.ChunkedArray, name: str, source: str) -> np.ndarray:
    if column_kind(column.type) not in DTYPES["number"]:
        raise InputFileError(
            f"the weights of {source} (column {name!r}) are {column.type}, not numbers; use"
            " columns=(source, target, weight)"
        )
    weights = np.asarray(column.cast(pa.float64()))
    invalid = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(invalid):
        raise InputFileError(
            f"the weight of edge {invalid[0] + 1} in {source} is {weights[invalid[0]]:g}; weights must be"
            " finite and non-negative"
        )
    return weights
