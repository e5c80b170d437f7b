"""Writing tables of coordinates."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.io import mmwrite

from eigenscape._extras import optional_import
from eigenscape.app.io.annotated import LABEL_NAME, write_h5ad
from eigenscape.app.io.atomic import whole_file
from eigenscape.app.io.formats import ARROW, PARQUET
from eigenscape.app.io.table import default_names

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
    beside = {**(extra or {}), **({} if labels is None else {label_name: labels})}
    columns = _columns(coordinates, names, ids, beside)
    text = _without_formulas(columns) if spreadsheet_safe else columns
    if str(path) == "-":
        _write_text(sys.stdout.buffer if hasattr(sys.stdout, "buffer") else None, text, ",")
        return
    suffix = check_format(path)
    with whole_file(path, force=force) as part:
        if suffix in (".csv", ".tsv"):
            with part.open("wb") as file:
                _write_text(file, text, "," if suffix == ".csv" else "\t")
        elif suffix in (*PARQUET, *ARROW):
            _write_columnar(part, columns, suffix)
        elif suffix == ".npy":
            with part.open("wb") as file:
                np.save(file, coordinates, allow_pickle=False)
        elif suffix == ".npz":
            renamed = {"id": "ids", label_name: "labels"}
            others = {renamed.get(name, name): columns[name] for name in columns if name not in names}
            if labels is not None:
                others[LABEL_NAME] = np.array(label_name)
            _write_npz(part, coordinates, names, others)
        elif suffix == ".mtx":
            with part.open("wb") as file:
                mmwrite(file, coordinates)
        else:
            others = {name: columns[name] for name in columns if name not in names}
            source = None if like is None else Path(like)
            write_h5ad(part, coordinates, source, method, others, None if rows is None else np.asarray(rows))


def check_format(path: str | Path) -> str:
    """Return the file extension; raise if it is not supported."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(
            f"{path} has an unsupported file extension; tables are written as"
            f" {', '.join(suffix[1:] for suffix in SUFFIXES)}"
        )
    return suffix


def _columns(
    coordinates: np.ndarray,
    names: tuple[str, ...],
    ids: ArrayLike | None,
    beside: Mapping[str, ArrayLike],
) -> dict[str, np.ndarray]:
    """Return all columns by name; raise if a name occurs twice or a length is wrong."""
    columns: dict[str, np.ndarray] = {} if ids is None else {"id": np.asarray(ids)}
    columns.update({name: coordinates[:, place] for place, name in enumerate(names)})
    for name, column in beside.items():
        if name in columns:
            raise ValueError(f"two columns are named {name!r}; rename one")
        columns[name] = np.asarray(column)
    for name, column in columns.items():
        if len(column) != len(coordinates):
            raise ValueError(
                f"column {name!r} has {len(column)} values for {len(coordinates)} rows of coordinates"
            )
    return columns


def _without_formulas(columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Precede text that a spreadsheet would take for a formula by an apostrophe, names of columns too."""

    def plain(cell: object) -> str:
        return f"'{cell}" if str(cell).startswith(_FORMULA_MARKS) else str(cell)

    return {
        plain(name): np.array([plain(cell) for cell in column], dtype=object)
        if column.dtype.kind in "OUS"
        else column
        for name, column in columns.items()
    }


def _to_arrow(columns: Mapping[str, np.ndarray]) -> pa.Table:
    """Return an arrow table; columns that are not numbers become text."""
    arrow = optional_import("pyarrow", "writing a table")
    return arrow.table(
        {
            name: arrow.array([str(value) for value in column] if column.dtype.kind in "OUS" else column)
            for name, column in columns.items()
        }
    )


def _write_text(file: IO[bytes] | None, columns: Mapping[str, np.ndarray], delimiter: str) -> None:
    """Write a text table to a file, or to standard output if that accepts text only."""
    csv = optional_import("pyarrow.csv", "writing a text table")
    buffer = BytesIO()
    csv.write_csv(_to_arrow(columns), buffer if file is None else file, csv.WriteOptions(delimiter=delimiter))
    if file is None:
        sys.stdout.write(buffer.getvalue().decode())
    else:
        file.flush()


def _write_columnar(part: Path, columns: Mapping[str, np.ndarray], suffix: str) -> None:
    if suffix in PARQUET:
        write = optional_import("pyarrow.parquet", "writing a parquet file").write_table
    else:
        write = optional_import("pyarrow.feather", "writing an arrow file").write_feather
    with part.open("wb") as file:
        write(_to_arrow(columns), file)


def _write_npz(
    part: Path, coordinates: np.ndarray, names: tuple[str, ...], beside: Mapping[str, np.ndarray]
) -> None:
    arrays: dict[str, Any] = {
        name: column.astype(str) if column.dtype.kind == "O" else column for name, column in beside.items()
    }
    # numpy.savez of old versions does not close the archive if a write fails.
    with zipfile.ZipFile(part, "w") as archive:
        for name, array in {"X": coordinates, "names": np.array(names), **arrays}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
