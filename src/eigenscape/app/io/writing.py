"""Writing coordinates, in the formats that are read."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import mmwrite

from eigenscape.app.io.annotated import write_h5ad
from eigenscape.app.io.atomic import whole_file
from eigenscape.app.io.formats import extension

SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".arrow", ".feather", ".npy", ".npz", ".mtx", ".h5ad")


def write_table(
    path: str | Path,
    coordinates: Any,
    *,
    names: Sequence[str] | None = None,
    ids: Any = None,
    labels: Any = None,
    label_name: str = "label",
    extra: Mapping[str, Any] | None = None,
    force: bool = False,
    like: str | Path | None = None,
    method: str = "embedding",
) -> None:
    """Write coordinates, whole or not at all; the suffix says the format.

    Parameters
    ----------
    path : str or Path
        Suffix csv, tsv, parquet, arrow, feather, npy, npz, mtx or h5ad; ``-`` is standard output, as CSV.
    coordinates : array-like of shape (n, d)
        The numbers.
    names : sequence of d str, optional
        Names of the columns. Default: ``x0``, ``x1`` and so on.
    ids, labels : array-like of n values, optional
        Written as columns ``id`` (first) and ``label`` (last); npy and mtx hold numbers alone.
    label_name : str, default="label"
        Another name for the column of labels (npz has its own, ``labels``).
    extra : mapping of name to n values, optional
        Further columns.
    force : bool, default=False
        Whether an existing file may be replaced.
    like : str or Path, optional
        For h5ad: the file of which a copy gets the coordinates.
    method : str, default="embedding"
        For h5ad: the coordinates become ``obsm["X_<method>"]``.

    Examples
    --------
    >>> write_table("-", [[0.5, 1.0], [2.0, -1.0]], names=["first", "second"], ids=["a", "b"])
    "id","first","second"
    "a",0.5,1
    "b",2,-1
    """
    coordinates = np.asarray(coordinates)
    if coordinates.ndim != 2:
        raise ValueError(f"coordinates must be a table (n, d), got shape {coordinates.shape}")
    names = tuple(names) if names is not None else tuple(f"x{i}" for i in range(coordinates.shape[1]))
    if len(names) != coordinates.shape[1]:
        raise ValueError(f"{len(names)} names for {coordinates.shape[1]} columns of coordinates")
    beside = {**(extra or {}), **({} if labels is None else {label_name: labels})}
    columns = _columns(coordinates, names, ids, beside)
    if str(path) == "-":
        _write_text(sys.stdout.buffer if hasattr(sys.stdout, "buffer") else None, columns, ",")
        return
    suffix = check_format(path)
    with whole_file(path, force=force) as part:
        if suffix in (".csv", ".tsv"):
            with part.open("wb") as file:
                _write_text(file, columns, "," if suffix == ".csv" else "\t")
        elif suffix in (".parquet", ".pq", ".arrow", ".feather"):
            _write_arrow(part, columns, suffix)
        elif suffix == ".npy":
            with part.open("wb") as file:
                np.save(file, coordinates, allow_pickle=False)
        elif suffix == ".npz":
            own = {"id": "ids", label_name: "labels"}
            _write_npz(
                part,
                coordinates,
                names,
                {own.get(name, name): columns[name] for name in columns if name not in names},
            )
        elif suffix == ".mtx":
            with part.open("wb") as file:
                mmwrite(file, coordinates)
        else:
            beside = {name: columns[name] for name in columns if name not in names}
            write_h5ad(part, coordinates, None if like is None else Path(like), method, beside)


def check_format(path: str | Path) -> str:
    """The suffix, if tables can be written so."""
    suffix = extension(Path(path)) if Path(path).suffix.lower() in SUFFIXES else Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(
            f"{path}: tables are written as {', '.join(suffix[1:] for suffix in SUFFIXES)}; choose one of these suffixes"
        )
    return suffix


def _columns(
    coordinates: np.ndarray, names: tuple[str, ...], ids: Any, beside: Mapping[str, Any]
) -> dict[str, Any]:
    columns: dict[str, Any] = {} if ids is None else {"id": np.asarray(ids)}
    columns.update({name: coordinates[:, place] for place, name in enumerate(names)})
    for name, column in beside.items():
        if name in columns:
            raise ValueError(f"two columns would have the name {name!r}; rename one")
        columns[name] = np.asarray(column)
    for name, column in columns.items():
        if len(column) != len(coordinates):
            raise ValueError(
                f"column {name!r} has {len(column)} values for {len(coordinates)} rows of coordinates"
            )
    return columns


def _arrow(columns: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    def array(column: np.ndarray) -> Any:
        return pa.array([str(value) for value in column]) if column.dtype.kind in "OUS" else pa.array(column)

    return pa.table({name: array(column) for name, column in columns.items()})


def _write_text(file: Any, columns: Mapping[str, Any], delimiter: str) -> None:
    from io import BytesIO

    from pyarrow import csv

    text = BytesIO() if file is None else file
    csv.write_csv(_arrow(columns), text, csv.WriteOptions(delimiter=delimiter))
    if file is None:  # standard output that takes text alone
        sys.stdout.write(text.getvalue().decode())
    text.flush()


def _write_arrow(part: Path, columns: Mapping[str, Any], suffix: str) -> None:
    from pyarrow import feather, parquet

    if suffix in (".parquet", ".pq"):
        parquet.write_table(_arrow(columns), part)
    else:
        feather.write_feather(_arrow(columns), str(part))


def _write_npz(
    part: Path, coordinates: np.ndarray, names: tuple[str, ...], beside: Mapping[str, Any]
) -> None:
    arrays = {
        name: column.astype(str) if column.dtype.kind == "O" else column for name, column in beside.items()
    }
    with part.open("wb") as file:
        np.savez(file, X=coordinates, names=np.array(names), **arrays)
