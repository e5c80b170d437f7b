"""AnnData files (h5ad): samples with annotations, and embeddings stored beside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from eigenscape._extras import optional_import
from eigenscape.app.io.child import call_child
from eigenscape.app.io.columns import ColumnSelection
from eigenscape.app.io.sparse_checks import checked_csr
from eigenscape.app.io.table import Table
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    from anndata import AnnData


def _load(path: Path) -> AnnData:
    anndata = optional_import("anndata", f"reading or writing {path}")
    try:
        return anndata.read_h5ad(path)
    except Exception as error:  # h5py and anndata raise errors without a common base class
        reason = (str(error).splitlines() or ["unknown error"])[0]
        raise InputFileError(f"{path} is damaged or not an h5ad file: {reason}") from error


def read_h5ad(path: Path, selection: ColumnSelection) -> Table:
    """Read ``X`` and the columns of ``obs``; the default label is its first text column.

    The file is parsed in a child process, since the HDF5 library may crash or not end for damaged files.
    """
    optional_import("anndata", f"reading {path}")
    answer = call_child("eigenscape.app.io.annotated_child", str(path), path)
    header, arrays = answer.header, answer.arrays
    columns = arrays[header["n_parts"] :]
    extra = {name: _as_objects(column) for name, column in zip(header["columns"], columns, strict=False)}
    for name in (selection.label, selection.id):
        if name is not None and name not in extra:
            raise InputFileError(f"{path} has no column {name!r} in obs; it has {', '.join(extra) or 'none'}")
    text = [name for name, column in extra.items() if column.dtype.kind == "O" and name != selection.id]
    label = selection.label or next(iter(text), None)
    labels = extra.pop(label) if label else None
    ids = extra.pop(selection.id) if selection.id else _as_objects(columns[-2])
    names = tuple(map(str, columns[-1]))
    if header["n_parts"] == 1:
        return Table(arrays[0], labels, ids, names, extra, source=str(path))
    try:
        csr = sparse.csr_array(tuple(arrays[:3]), shape=tuple(header["shape"]))
        return Table(checked_csr(csr), labels, ids, names, extra, source=str(path))
    except ValueError as error:
        raise InputFileError(f"{path} is damaged: X has {error}") from error


def _as_objects(column: np.ndarray) -> np.ndarray:
    return column.astype(object) if column.dtype.kind == "U" else column


def write_h5ad(
    path: Path, coordinates: np.ndarray, like: Path | None, method: str, beside: dict[str, np.ndarray]
) -> None:
    """Write the coordinates to ``obsm`` of a new file, or of a copy of ``like``."""
    anndata = optional_import("anndata", f"writing {path}")
    if like is not None:
        data = _load(like)
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
    data.obsm[f"X_{method}"] = np.asarray(coordinates)
    # In memory first: the HDF5 library may not end if the disk is full.
    h5py = optional_import("h5py", f"writing {path}")  # a dependency of anndata
    with h5py.File(path.name, "w", driver="core", backing_store=False) as file:
        anndata.io.write_elem(file, "/", data)
        file.flush()
        content = file.id.get_file_image()
    path.write_bytes(content)
