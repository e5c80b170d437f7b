"""Reading of AnnData files, for a child process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._extras import optional_import
from eigenscape._memory import fits
from eigenscape.app.io.child import Answer
from eigenscape.app.io.sparse_checks import checked_csr
from eigenscape.exceptions import InputFileError

#: What each group of a file is called on the command line.
_OPTIONS = {"obsm": "--use-rep", "layers": "--layer", "obsp": "--obsp"}


def answer(argument: str) -> Answer:
    """Return a matrix of a file (dense, or the data, indices and pointers of CSR), ``obs``, and names.

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
        if file.attrs.get("encoding-type") != "anndata":  # written before anndata 0.7: read as a whole
            data = anndata.read_h5ad(path)
            stored = {name: getattr(data, name) for name in _OPTIONS} | (
                {} if data.X is None else {"X": data.X}
            )
            return (
                _find(stored, group, key, path),
                data.obs,
                data.var_names if group in ("X", "layers") else (),
            )
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
