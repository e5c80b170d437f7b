"""AnnData files (h5ad): the rows with what is known about them, and coordinates put back beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenscape.app.io.columns import ColumnSelection
from eigenscape.exceptions import InputFileError


class Annotated(NamedTuple):
    """What an h5ad file says."""

    array: Any
    names: tuple[str, ...]
    labels: np.ndarray | None
    ids: np.ndarray
    extra: dict[str, np.ndarray]

    def beside(self) -> tuple[Any, ...]:
        """Everything but the array."""
        return self[1:]


def _package() -> Any:
    try:
        import anndata
    except ImportError as error:
        raise InputFileError(
            "h5ad files need the package anndata; pip install eigenscape[anndata]"
        ) from error
    return anndata


def _load(path: Path) -> Any:
    anndata = _package()
    try:
        return anndata.read_h5ad(path)
    except Exception as error:  # h5py and anndata raise all kinds
        raise InputFileError(
            f"{path} is damaged or no h5ad file: {(str(error).splitlines() or ['unknown error'])[0]}"
        ) from error


def read_annotated(path: Path, selection: ColumnSelection) -> Annotated:
    """``X`` of an h5ad file, with its observations' columns."""
    data = _load(path)
    if data.X is None:
        raise InputFileError(f"{path} has no X, only annotations")
    extra = {str(name): _plain(data.obs[name]) for name in data.obs.columns}
    for asked in (selection.label, selection.id):
        if asked is not None and asked not in extra:
            raise InputFileError(
                f"{path} has no column {asked!r} in obs; it has {', '.join(extra) or 'none'}"
            )
    text = [name for name, column in extra.items() if column.dtype.kind == "O" and name != selection.id]
    label = selection.label or next(iter(text), None)
    labels = extra.pop(label) if label else None
    ids = extra.pop(selection.id) if selection.id else np.array(data.obs_names, dtype=object)
    array = sparse.csr_array(data.X) if sparse.issparse(data.X) else np.asarray(data.X)
    return Annotated(array, tuple(map(str, data.var_names)), labels, ids, extra)


def _plain(column: Any) -> np.ndarray:
    values = np.asarray(column)
    return values if values.dtype.kind in "fiub" else np.array([str(value) for value in values], dtype=object)


def write_annotated(
    path: Path, coordinates: np.ndarray, like: Path | None, method: str, beside: dict[str, np.ndarray]
) -> None:
    """A copy of ``like``, or a new file, with the coordinates in ``obsm``."""
    anndata = _package()
    if like is not None:
        data = _load(like)
        if data.n_obs != len(coordinates):
            raise InputFileError(
                f"{like} has {data.n_obs} observations, and there are {len(coordinates)} rows of coordinates"
            )
    else:
        import pandas as pd

        ids = beside.pop("id", None)
        index = [str(name) for name in (range(len(coordinates)) if ids is None else ids)]
        data = anndata.AnnData(
            np.asarray(coordinates),
            obs=pd.DataFrame({name: list(column) for name, column in beside.items()}, index=index),
        )
    data.obsm[f"X_{method}"] = np.asarray(coordinates)
    data.write_h5ad(path)
