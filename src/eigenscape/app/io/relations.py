"""Matrices of distances or affinities of pairs of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape.app.io.table import Table
from eigenscape.exceptions import InputFileError

#: Asymmetry and self-distances up to this share of the largest entry are rounding errors.
_ROUNDING = 1e-8
#: Numbers of rows of tables that may be matrices of distances.
_MIN_MATRIX, _MAX_MATRIX = 4, 20_000


def matrix_remarks(table: Table) -> tuple[str, ...]:
    """Return a note if rows look like a matrix of distances or affinities, and their meaning is not given."""
    width = len(table.names)
    if table.kind != "rows" or not _MIN_MATRIX <= width <= _MAX_MATRIX:
        return ()
    for value, kind in ((0.0, "distances"), (1.0, "affinities")):
        matrix = _square(table.array, width, value)
        if matrix is not None and matrix.min() >= 0 < matrix.max() and _first_asymmetry(matrix) is None:
            return (
                f"the table is square and symmetric with a diagonal of {value:g}, like a matrix of {kind},"
                f" but its rows are read as features; use kind={kind!r} (--kind {kind}), or confirm with"
                " kind='rows' (--kind rows)",
            )
    return ()


def _square(rows: Any, width: int, diagonal: float) -> Any:
    """Return the rows as a matrix if there are as many as columns, with this diagonal; otherwise None."""
    if hasattr(rows, "shape"):
        is_square = rows.shape == (width, width) and (rows.diagonal() == diagonal).all()
        return rows if is_square else None
    blocks, n_rows = [], 0
    for block in rows:
        stop = n_rows + len(block)
        if stop > width or (np.diagonal(block[:, n_rows:stop]) != diagonal).any():
            return None
        blocks.append(block)
        n_rows = stop
    return np.concatenate(blocks) if n_rows == width else None


def _first_asymmetry(matrix: Any) -> tuple[int, int] | None:
    """Return the first entry that differs from its mirror image by more than rounding errors, if any."""
    tolerance = _ROUNDING * float(matrix.max())
    for part in row_blocks(matrix.shape[0], 8 * matrix.shape[0]):
        difference = abs(matrix[part] - matrix[:, part].T)
        rows, columns = (difference > tolerance).nonzero()
        if len(rows):
            return part.start + int(rows[0]), int(columns[0])
    return None


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
        row, column = (int(places[0]) for places in (array < 0).nonzero())
        what = "distance" if table.kind == "distances" else "affinity"
        raise InputFileError(
            f"{source} has a negative {what} in row {row + 1}, column {column + 1}; is it a matrix of"
            f" {table.kind}?"
        )
    diagonal = np.abs(array.diagonal())
    if table.kind == "distances" and diagonal.max() > _ROUNDING * (stored.max() if stored.size else 0.0):
        i = int(np.argmax(diagonal))
        raise InputFileError(
            f"{source}: the distance of row {i + 1} to itself is {diagonal[i]:g}, not 0; are these"
            " similarities?"
        )
    place = None if is_sparse and table.kind == "distances" else _first_asymmetry(array)
    if place is not None:  # neighbour graphs, which are sparse distances, may be asymmetric
        row, column = place[0] + 1, place[1] + 1
        raise InputFileError(
            f"{source} is not symmetric: row {row}, column {column} differs from row {column}, column {row};"
            " correct it or use the mean of both"
        )
    return table
