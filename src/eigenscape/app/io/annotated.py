"""AnnData files (h5ad): samples with annotations, and embeddings of the samples."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from eigenscape._extras import optional_import
from eigenscape._warnings import warn
from eigenscape.app.io.child import call_child
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.sparse_checks import checked_csr
from eigenscape.app.io.table import Table, format_names
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    from anndata import AnnData

#: Names of arrays and columns that are labels and ids unless others are requested.
_LABEL_NAMES = ("labels", "label", "y")
_ID_NAMES = ("ids", "id")
#: Array of an npz archive that this library writes: the name of the labels.
LABEL_NAME = "label_name"


def _load(path: Path) -> AnnData:
    anndata = optional_import("anndata", f"reading or writing {path}")
    try:
        return anndata.read_h5ad(path)
    except Exception as error:  # h5py and anndata raise errors without a common base class
        reason = (str(error).splitlines() or ["unknown error"])[0]
        raise InputFileError(f"{path} is damaged or not an h5ad file: {reason}") from error


def read_h5ad(path: Path, selection: ColumnSelection) -> Table:
    """Read ``X`` or the part that is selected, and the columns of ``obs``; nothing else is read.

    The file is parsed in a child process, since the HDF5 library may crash or not end for damaged files.
    """
    optional_import("anndata", f"reading {path}")
    group, key = selection.part or ("X", "")
    request = json.dumps({"path": str(path), "group": group, "key": key})
    answer = call_child("eigenscape.app.io.annotated_child", request, path)
    header, arrays = answer.header, answer.arrays
    columns = arrays[header["n_parts"] :]
    obs = {name: _as_objects(column) for name, column in zip(header["columns"], columns, strict=False)}
    table = find_annotations(obs, selection, path, "column of obs", _as_objects(columns[-2]))
    table = replace(table, names=_names(columns[-1]))
    if header["n_parts"] == 1:
        return replace(table, array=arrays[0])
    try:
        csr = sparse.csr_array(tuple(arrays[:3]), shape=tuple(header["shape"]))
        return replace(table, array=checked_csr(csr))
    except ValueError as error:
        raise InputFileError(f"{path} is damaged: {group} {key} has {error}") from error


def graph_kind(selection: ColumnSelection) -> str | None:
    """Return the meaning of the numbers; the name of a graph of ``obsp`` determines it."""
    if selection.kind is None and selection.part is not None and selection.part[0] == "obsp":
        return "distances" if "distances" in selection.part[1].casefold() else "affinities"
    return selection.kind


def find_annotations(
    columns: dict[str, np.ndarray],
    selection: ColumnSelection,
    path: Path,
    what: str,
    ids: np.ndarray | None = None,
) -> Table:
    """Return a table without numbers: the label and the id among arrays with a value for each row.

    Parameters
    ----------
    columns : dict of str to ndarray
        The arrays.
    selection : ColumnSelection
        Label and id, if they are requested.
    path : Path
        The file.
    what : str
        What the arrays are, for the error message.
    ids : ndarray, optional
        Names of the rows, which are the ids unless an array is requested.
    """
    for name in (selection.label, selection.id):
        if name is not None and name not in columns:
            raise InputFileError(
                f"{path} has no {what} named {name!r} with one value per row; it has"
                f" {format_names(list(columns), 20) or 'none'}"
            )
    free = {name: column for name, column in columns.items() if name not in (selection.label, selection.id)}
    text = {name: column for name, column in free.items() if column.dtype.kind in "OUS"}
    id_name = selection.id or _first(free, (selection.known_id, *(() if ids is not None else _ID_NAMES)))
    if id_name is None and ids is None:
        id_name = next((name for name, column in text.items() if _is_unique(column)), None)
    free.pop(id_name or "", None)
    label = selection.label or _first(free, (selection.known_label, *_LABEL_NAMES))
    if label is None and selection.known_label is None:
        repeated = (name for name, column in text.items() if name != id_name and _has_repeats(column))
        label = next(repeated, None)
    return Table(
        None,
        None if label is None else columns[label],
        ids if id_name is None else columns[id_name],
        extra={name: column for name, column in columns.items() if name not in (label, id_name)},
        source=str(path),
        label_name=label,
        id_name=id_name,
    )


def without_roles(selection: ColumnSelection) -> ColumnSelection:
    """Return the selection of columns of an array whose label and id were found outside it."""
    return replace(selection, label=None, id=None, known_label=None, known_id=None)


def _first(columns: dict[str, np.ndarray], names: tuple[str | None, ...]) -> str | None:
    return next((name for name in names if name in columns), None)


def _has_repeats(column: np.ndarray) -> bool:
    values = [value for value in column.tolist() if value != ""]
    return len(set(values)) < len(values)


def _is_unique(column: np.ndarray) -> bool:
    values = column.tolist()
    return len(set(values)) == len(values) and "" not in values


def _names(column: np.ndarray) -> tuple[str, ...]:
    return tuple(map(str, column))


def _as_objects(column: np.ndarray) -> np.ndarray:
    return column.astype(object) if column.dtype.kind == "U" else column


def write_h5ad(
    path: Path,
    coordinates: np.ndarray,
    like: Path | None,
    method: str,
    beside: dict[str, np.ndarray],
    rows: np.ndarray | None = None,
) -> None:
    """Write the coordinates to ``obsm`` of a new file, or of a copy of ``like`` or of some of its rows."""
    anndata = optional_import("anndata", f"writing {path}")
    if like is not None:
        data = _load(like)
        data = data if rows is None else data[rows].copy()
        if data.n_obs != len(coordinates):
            raise InputFileError(
                f"{like} has {data.n_obs} observations, but there are {len(coordinates)} rows of coordinates"
            )
    else:
        pd = optional_import("pandas", f"writing {path}")  # a dependency of anndata
        ids = beside.get("id")
        index = [str(name) for name in (range(len(coordinates)) if ids is None else ids)]
        columns = {name: list(column) for name, column in beside.items() if name != "id"}
        data = anndata.AnnData(np.asarray(coordinates), obs=pd.DataFrame(columns, index=index))
    if like is not None and f"X_{method}" in data.obsm:
        warn(f"obsm['X_{method}'] of {like} is replaced in the copy")
    data.obsm[f"X_{method}"] = np.asarray(coordinates)
    # In memory first: the HDF5 library may not end if the disk is full.
    h5py = optional_import("h5py", f"writing {path}")  # a dependency of anndata
    with h5py.File(path.name, "w", driver="core", backing_store=False) as file:
        anndata.io.write_elem(file, "/", data)
        file.flush()
        content = file.id.get_file_image()
    path.write_bytes(content)
