"""Writing tables of coordinates."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._extras import optional_import
from eigenscape.app.io.annotated import LABEL_NAME, write_h5ad
from eigenscape.app.io.atomic import whole_file
from eigenscape.app.io.table import ARROW, PARQUET, default_names

if TYPE_CHECKING:
    import pyarrow as pa

#: Cells that begin with one of these are formulas in spreadsheets.
_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".arrow", ".feather", ".npy", ".npz", ".mtx", ".h5ad")


def write_table(
    path: str | Path,
    coordinates: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    ids: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    label_name: str = "label",
    extra: Mapping[str, ArrayLike] | None = None,
    force: bool = False,
    like: str | Path | None = None,
    method: str = "embedding",
    rows: ArrayLike | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write a table of coordinates atomically, in the format defined by the file extension.

    Parameters
    ----------
    path : str or Path
        File with the extension csv, tsv, parquet, arrow, feather, npy, npz, mtx or h5ad; ``-`` is standard
        output in CSV format.
    coordinates : array-like of shape (n_samples, n_components)
        The coordinates.
    names : sequence of str, optional
        Names of the columns. If None, ``x0``, ``x1``, ...
    ids : array-like of shape (n_samples,), optional
        Row ids, the first column ``id``. Ignored for npy and mtx.
    labels : array-like of shape (n_samples,), optional
        Labels, the last column. Ignored for npy and mtx.
    label_name : str, default="label"
        Name of the column of labels. In npz the labels are ``labels``, and their name ``label_name``.
    extra : mapping of str to array-like of shape (n_samples,), optional
        Further columns. Ignored for npy and mtx.
    force : bool, default=False
        Whether an existing file may be replaced.
    like : str or Path, optional
        An h5ad file; the coordinates are added to a copy of it. Used for h5ad only.
    method : str, default="embedding"
        The coordinates are stored as ``obsm["X_<method>"]``. Used for h5ad only.
    rows : array-like of shape (n_samples,), optional
        Indices of the observations of ``like`` that the coordinates belong to. If None, all. Used for h5ad
        only.
    spreadsheet_safe : bool, default=False
        If True, text of csv and tsv files that a spreadsheet would take for a formula (ids, labels and names
        that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return) is preceded by an apostrophe.
        Numbers are not changed.

    Raises
    ------
    FileExistsError
        If the file exists and ``force`` is False.
    WriteError
        If the file cannot be written. An existing file is unchanged.

    Examples
    --------
    >>> write_table("-", [[0.5, 1.0], [2.0, -1.0]], names=["first", "second"], ids=["a", "b"])
    "id","first","second"
    "a",0.5,1
    "b",2,-1
    """
    coordinates = np.asarray(coordinates)
    if coordinates.ndim != 2:
        raise ValueError(f"coordinates must be two-dimensional, got shape {coordinates.shape}")
    names = default_names(coordinates.shape[1]) if names is None else tuple(names)
    if len(names) != coordinates.shape[1]:
        raise ValueError(f"{len(names)} names for {coordinates.shape[1]} columns of coordinates")
    pairs: list[tuple[str, Any]] = [] if ids is None else [("id", ids)]
    pairs += [*zip(names, coordinates.T, strict=True), *(extra or {}).items()]
    pairs += [] if labels is None else [(label_name, labels)]
    columns = _by_name(pairs, len(coordinates))
    others = {name: column for name, column in columns.items() if name not in names}
    if str(path) == "-":
        _write_text(getattr(sys.stdout, "buffer", None), columns, ",", spreadsheet_safe)
        return
    suffix = check_format(path)
    with whole_file(path, force=force) as part:
        if suffix == ".h5ad":
            source, kept = None if like is None else Path(like), None if rows is None else np.asarray(rows)
            write_h5ad(part, coordinates, source, method, others, kept)
            return
        with part.open("wb") as file:
            if suffix in (".csv", ".tsv"):
                _write_text(file, columns, "," if suffix == ".csv" else "\t", spreadsheet_safe)
            elif suffix in PARQUET:
                optional_import("pyarrow.parquet", "writing a table").write_table(_to_arrow(columns), file)
            elif suffix in ARROW:
                optional_import("pyarrow.feather", "writing a table").write_feather(_to_arrow(columns), file)
            elif suffix == ".npy":
                np.save(file, coordinates, allow_pickle=False)
            elif suffix == ".mtx":
                from scipy.io import mmwrite

                mmwrite(file, coordinates)
            else:
                _write_npz(file, coordinates, names, others, None if labels is None else label_name)


def check_format(path: str | Path) -> str:
    """Return the file extension; raise if it is not supported."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(
            f"{path} has an unsupported file extension; tables are written as"
            f" {', '.join(suffix[1:] for suffix in SUFFIXES)}"
        )
    return suffix


def _by_name(columns: Sequence[tuple[str, ArrayLike]], n_rows: int) -> dict[str, np.ndarray]:
    """Return columns by name; raise if a name occurs twice or a length is wrong."""
    found: dict[str, np.ndarray] = {}
    for name, values in columns:
        if name in found:
            raise ValueError(f"two columns are named {name!r}; rename one")
        found[name] = np.asarray(values)
        if len(found[name]) != n_rows:
            raise ValueError(
                f"column {name!r} has {len(found[name])} values for {n_rows} rows of coordinates"
            )
    return found


def _to_arrow(columns: Mapping[str, np.ndarray], spreadsheet_safe: bool = False) -> pa.Table:
    """Return an arrow table; columns that are not numbers become text.

    If ``spreadsheet_safe``, text and names that are formulas in spreadsheets are preceded by an apostrophe.
    """
    marks = _FORMULA_MARKS if spreadsheet_safe else ()
    arrow = optional_import("pyarrow", "writing a table")
    table = {}
    for name, column in columns.items():
        values: Any = column
        if column.dtype.kind in "OUS":
            values = [f"'{cell}" if str(cell).startswith(marks) else str(cell) for cell in column]
        table[f"'{name}" if name.startswith(marks) else name] = arrow.array(values)
    return arrow.table(table)


def _write_text(
    file: IO[bytes] | None, columns: Mapping[str, np.ndarray], delimiter: str, spreadsheet_safe: bool
) -> None:
    """Write a text table to a file, or to standard output if that accepts text only."""
    csv = optional_import("pyarrow.csv", "writing a text table")
    buffer, table = BytesIO(), _to_arrow(columns, spreadsheet_safe)
    csv.write_csv(table, buffer if file is None else file, csv.WriteOptions(delimiter=delimiter))
    if file is None:
        sys.stdout.write(buffer.getvalue().decode())
    else:
        file.flush()


def _write_npz(
    file: IO[bytes],
    coordinates: np.ndarray,
    names: tuple[str, ...],
    others: Mapping[str, np.ndarray],
    label_name: str | None,
) -> None:
    """Write the coordinates as ``X``, their names, ids, labels, their name, and further columns."""
    renamed = {"id": "ids", label_name: "labels"}
    arrays: dict[str, Any] = {"X": coordinates, "names": np.array(names)}
    for name, column in others.items():
        arrays[renamed.get(name, name)] = column.astype(str) if column.dtype.kind == "O" else column
    if label_name is not None:
        arrays[LABEL_NAME] = np.array(label_name)
    np.savez(file, **arrays)
