"""AnnData files (h5ad): samples with annotations, and embeddings of the samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._extras import optional_import
from eigenscape._memory import fits
from eigenscape._numbers import check_indices
from eigenscape._warnings import warn
from eigenscape.app.io.child import Answer, call_child
from eigenscape.app.io.guards import named_damage
from eigenscape.app.io.table import Table
from eigenscape.exceptions import InputFileError
from eigenscape.graph.row_index import canonical_csr

#: Array of an npz archive that this library writes: the name of the labels.
LABEL_NAME = "label_name"
#: Option of the command line that reads each group of a file.
_OPTIONS = {"obsm": "--use-rep", "layers": "--layer", "obsp": "--obsp"}


def read_h5ad(path: Path, part: tuple[str, str] | None) -> Table:
    """Read ``X`` or another part, and the columns of ``obs``, whose roles are open; nothing else is read.

    The file is parsed in a child process, since the HDF5 library may crash or not end for damaged files.
    """
    optional_import("anndata", f"reading {path}")
    group, key = part or ("X", "")
    request = json.dumps({"path": str(path), "group": group, "key": key})
    answer = call_child("eigenscape.app.io.annotated", request, path)
    header, arrays = answer.header, answer.arrays
    columns = arrays[header["n_parts"] :]
    obs = {name: _as_objects(column) for name, column in zip(header["columns"], columns, strict=False)}
    rows: Any = arrays[0]
    if header["n_parts"] > 1:
        try:
            rows = checked_csr(sparse.csr_array(tuple(arrays[:3]), shape=tuple(header["shape"])))
        except ValueError as error:
            raise InputFileError(f"{path} is damaged: {group} {key} has {error}") from error
    ids, names = _as_objects(columns[-2]), tuple(map(str, columns[-1]))
    return Table(rows, ids=ids, names=names, extra=obs, source=str(path))


def checked_csr(matrix: Any) -> sparse.csr_array:
    """Return a sparse matrix from a file in CSR format, with sorted indices and without repeated entries.

    Raises
    ------
    ValueError
        If indices are out of range.
    """
    check_indices(matrix)
    return canonical_csr(matrix)


def answer(argument: str) -> Answer:
    """Read a file in a child process: a matrix (dense, or data, indices and pointers of CSR), ``obs``, names.

    Parameters
    ----------
    argument : str
        The path, and the ``group`` ("X", "obsm", "layers" or "obsp") and ``key`` of the matrix, in JSON.
    """
    request = json.loads(argument)
    path, group, key = Path(request["path"]), request["group"], request["key"]
    rows, obs, features = _read(path, group, key)
    names = [str(name) for name in features] if len(features) == rows.shape[1] else []
    names = names or [f"{key or 'x'}{i}" for i in range(rows.shape[1])]
    if sparse.issparse(rows):
        csr = checked_csr(rows)
        parts = [csr.data, csr.indices, csr.indptr]
    else:
        parts = [np.asarray(rows)]
    columns = [_to_array(obs[name]) for name in obs.columns]
    header = {
        "n_parts": len(parts),
        "shape": list(rows.shape),
        "columns": [str(name) for name in obs.columns],
    }
    return Answer(header, [*parts, *columns, _to_array(obs.index), np.array(names, dtype=str)])


def _read(path: Path, group: str, key: str) -> tuple[Any, Any, Any]:
    """Return the matrix, ``obs``, and the names of the features, if it has any."""
    import anndata

    h5py = optional_import("h5py", "reading an h5ad file")  # a dependency of anndata

    with h5py.File(path, "r") as file:
        element = _find(file, group, key, path)
        if not fits(2 * _n_bytes(element)):  # it is sent to the parent process
            raise MemoryError
        read = anndata.io.read_elem
        rows = read(element)
        features: Any = ()
        if group in ("X", "layers"):
            features = read(file["var"]).index
        elif hasattr(rows, "columns"):  # a data frame
            rows, features = rows.to_numpy(), rows.columns
        return rows, read(file["obs"]), features


def _find(stored: Any, group: str, key: str, path: Path) -> Any:
    """Return an element of a file; raise an error that lists what there is."""
    if group == "X":
        if "X" in stored and getattr(stored["X"], "shape", ()) is not None:  # anndata 0.12.0 writes a null
            return stored["X"]
        remedy = "; ".join(
            f"{option} reads {name}: {', '.join(stored[name])}"
            for name, option in _OPTIONS.items()
            if name in stored and len(stored[name])
        )
        raise InputFileError(f"{path} has no X, only annotations; {remedy or 'it has no other matrix'}")
    found = stored.get(group, {})
    if key in found:
        return found[key]
    similar = f"X_{key}"
    hint = f"; did you mean {similar!r}?" if group == "obsm" and similar in found else ""
    raise InputFileError(f"{path} has no {key!r} in {group}; it has {', '.join(found) or 'none'}{hint}")


def _n_bytes(element: Any) -> int:
    """Return the size in memory of an array, or of all arrays of a group, as declared."""
    if hasattr(element, "shape"):
        return int(np.prod(element.shape, dtype=object)) * element.dtype.itemsize
    return sum(_n_bytes(element[name]) for name in element)


def _to_array(column: Any) -> np.ndarray:
    """Return numbers as they are, other values as text; missing text is empty."""
    values = np.asarray(column)
    if values.dtype.kind in "fiub":
        return values
    missing = np.asarray(column.isna()) if hasattr(column, "isna") else np.zeros(len(values), dtype=bool)
    return np.array(["" if gap else str(x) for x, gap in zip(values, missing, strict=True)], dtype=str)


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
        with named_damage(f"{like} is damaged or not an h5ad file"):
            data = anndata.read_h5ad(like)
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
