"""Text tables of pairs of samples: lists of edges, and matrices with or without names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from eigenscape.app.io.arrow import pa
from eigenscape.app.io.column_selection import NUMBERS, ColumnSelection, named
from eigenscape.app.io.missing import handle_missing
from eigenscape.app.io.roles import column_kind, read_columns
from eigenscape.app.io.table import COLUMNAR, Table, default_names
from eigenscape.app.io.text import TextSource, read_chunks
from eigenscape.app.io.text_layout import blanks_to_tabs, content_lines
from eigenscape.exceptions import InputFileError

_SOURCE_NAMES = ("source", "from", "src", "i", "a")
_TARGET_NAMES = ("target", "to", "dst", "j", "b")
_WEIGHT_NAMES = ("weight", "w", "value", "affinity", "similarity")


def read_matrix_text(content: bytes | Path, source: str, delimiter: str | None) -> Table:
    """Read a square matrix from a text file, with or without names of its rows and columns."""
    table = read_columns(TextSource(content, source, ColumnSelection(), delimiter))
    table = handle_missing(table, "error")
    ids = table.ids if table.ids is not None else table.labels
    n, d = table.array.shape
    if ids is None and n == d and table.names != default_names(d):
        ids = np.array(table.names, dtype=object)
    return replace(table, ids=ids, labels=None, label_name=None, id_name=None, remarks=())


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
    table = TextSource(text, source, ColumnSelection())
    return _build_graph(next(table.read(list(table.columns))), selection, source)


def _build_graph(columns: Mapping[str, pa.ChunkedArray], selection: ColumnSelection, source: str) -> Table:
    """Return the symmetric sparse matrix of weights; repeated edges have the largest of their weights."""
    selection.complete(list(columns), source)
    names = list(columns) if selection.columns is None else list(selection.columns)
    if len(names) < 2:
        raise InputFileError(f"{source} has {len(names)} column(s); edges need a source and a target")
    first, *_ = *named(names, _SOURCE_NAMES), names[0]
    remaining = [name for name in names if name != first]
    second, *_ = *named(remaining, _TARGET_NAMES), remaining[0]
    remaining.remove(second)
    weight = next(iter((*named(remaining, _WEIGHT_NAMES), *remaining)), None)
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
    if column_kind(column.type) not in NUMBERS:
        raise InputFileError(
            f"the weights of {source} (column {name!r}) are {column.type}, not numbers; use"
            " columns=(source, target, weight)"
        )
    weights = np.asarray(column.cast(pa.float64(), safe=False))  # integers above 2^53 are rounded
    invalid = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(invalid):
        raise InputFileError(
            f"the weight of edge {invalid[0] + 1} in {source} is {weights[invalid[0]]:g}; weights must be"
            " finite and non-negative"
        )
    return weights
