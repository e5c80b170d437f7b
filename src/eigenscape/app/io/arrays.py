"""Arrays as such: npy and npz (no pickles), Matrix Market, sparse npz, zarr, AnnData."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmread

from eigenscape._format import format_bytes
from eigenscape._memory import fits, require
from eigenscape.app.io.columns import ColumnSelection, handle_missing
from eigenscape.app.io.table import Table, default_names
from eigenscape.app.io.annotated import read_annotated
from eigenscape.exceptions import InputFileError
from eigenscape.streams import SlicedChunks

_ROWS = ("X", "data", "array", "coordinates")
_LABELS = ("labels", "label", "y")
_IDS = ("ids", "id")


def read_npy(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """A memory-mapped array; nothing is unpickled."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise InputFileError(
            f"{path} is no npy file of numbers, or is cut off ({_first(error)}); pickles and arrays of objects are not loaded,"
            " for loading them can run any program"
        ) from error
    if not isinstance(array, np.ndarray):
        raise InputFileError(f"{path} is an npz archive by its content; give it the suffix .npz")
    return finish(array, selection, str(path), stream)


def read_npz(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """The array ``X`` of an archive, or its only matrix; or the sparse matrix that scipy stored in it."""
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if not fits(unpacked):
            raise InputFileError(
                f"{path} would take {format_bytes(unpacked)} when unpacked, more than is free; store the array as npy"
            )
        with np.load(path, allow_pickle=False) as archive:
            if {"format", "shape", "data"} <= set(archive.files):
                return finish(sparse.csr_array(sparse.load_npz(path)), selection, str(path), stream)
            return _of_archive({name: archive[name] for name in archive.files}, selection, path, stream)
    except InputFileError:
        raise
    except (ValueError, EOFError, OSError, KeyError, MemoryError, zipfile.BadZipFile) as error:
        raise InputFileError(
            f"{path} is damaged, or holds objects, which are not loaded ({_first(error)}); store arrays of numbers with numpy.savez"
        ) from error


def _of_archive(arrays: dict[str, np.ndarray], selection: ColumnSelection, path: Path, stream: bool) -> Table:
    matrices = [name for name, array in arrays.items() if array.ndim >= 2]
    named = [name for name in (*(selection.columns or ()), *_ROWS) if name in matrices]
    if not matrices or (len(matrices) > 1 and not named):
        held = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise InputFileError(
            f"{path} holds {held}: which are the rows? Store them as X, or name the array with columns"
        )
    rows = named[0] if named else matrices[0]
    beside = {name: array for name, array in arrays.items() if array.shape == arrays[rows].shape[:1]}
    label = _named(beside, selection.label, _LABELS, path)
    names = _named(beside, selection.id, _IDS, path)
    held_names = arrays.get("names")
    columns = (
        tuple(map(str, held_names))
        if held_names is not None and held_names.shape == arrays[rows].shape[1:2]
        else ()
    )
    extra = {name: array for name, array in beside.items() if name not in (label, names)}
    chosen = None if selection.columns is not None and selection.columns[0] in matrices else selection.columns
    plain = ColumnSelection(chosen, None, None, selection.missing)
    return finish(
        arrays[rows],
        plain,
        str(path),
        stream,
        columns,
        beside.get(label or ""),
        beside.get(names or ""),
        extra,
    )


def _named(
    beside: dict[str, np.ndarray], asked: str | None, usual: tuple[str, ...], path: Path
) -> str | None:
    if asked is not None and asked not in beside:
        raise InputFileError(
            f"{path} has no array {asked!r} with a value for each row; it has {', '.join(beside) or 'none'}"
        )
    return asked or next((name for name in usual if name in beside), None)


def read_mtx(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """A matrix in Matrix Market's format, sparse or not."""
    try:
        matrix = mmread(path)
    except (ValueError, OSError, OverflowError) as error:
        raise InputFileError(f"{path} is no Matrix Market file, or is cut off: {_first(error)}") from error
    return finish(
        sparse.csr_array(matrix) if sparse.issparse(matrix) else np.asarray(matrix),
        selection,
        str(path),
        stream,
    )


def read_zarr(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """A zarr array, whole or by its chunks."""
    try:
        import zarr
    except ImportError as error:
        raise InputFileError(f"{path}: reading zarr needs the package zarr; pip install zarr") from error
    try:
        array = zarr.open_array(str(path), mode="r")
    except Exception as error:  # zarr's errors have no common base
        raise InputFileError(f"{path} is no zarr array: {_first(error)}") from error
    if not stream:
        require(8 * int(np.prod(array.shape)), f"reading {path}", "use stream=True with a dictionary method")
    return finish(array if stream else np.asarray(array[:]), selection, str(path), stream)


def finish(
    array: Any,
    selection: ColumnSelection,
    source: str,
    stream: bool,
    names: tuple[str, ...] = (),
    labels: np.ndarray | None = None,
    ids: np.ndarray | None = None,
    extra: dict[str, np.ndarray] | None = None,
) -> Table:
    """A table of an array: checked, images laid flat, columns chosen."""
    if array.ndim == 1 or array.ndim > 3 or (array.ndim == 3 and sparse.issparse(array)):
        raise InputFileError(
            f"{source} holds an array of shape {array.shape}; rows and columns (n, d), or images (n, h, w), are needed"
        )
    if array.dtype.kind not in "fiub":
        raise InputFileError(f"{source} holds values of type {array.dtype}, not real numbers")
    if 0 in array.shape:
        raise InputFileError(f"{source} is empty: its array has the shape {array.shape}")
    image_shape = (int(array.shape[1]), int(array.shape[2])) if array.ndim == 3 else None
    if image_shape is not None and not stream:
        array = array.reshape(len(array), -1)
    names = names or default_names(int(np.prod(array.shape[1:])))
    selection.check(names, source)
    kind = "rows" if image_shape is None else "images"
    if stream and not sparse.issparse(array):
        if selection.columns is not None:
            raise InputFileError(
                f"columns of {source} cannot be chosen while it is streamed; store those wanted, or read it whole"
            )
        return Table(SlicedChunks(array), labels, ids, names, extra or {}, kind, image_shape, source)
    if selection.columns is not None:
        place = {name: i for i, name in enumerate(names)}
        array, names = array[:, [place[name] for name in selection.columns]], selection.columns
    if array.dtype.kind != "f":
        if not sparse.issparse(array):
            require(
                8 * array.size, f"reading {source}", "store it as floating-point numbers, or use stream=True"
            )
        array = array.astype(np.float64)
    elif array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float64)
    return handle_missing(
        Table(array, labels, ids, names, extra or {}, kind, image_shape, source), selection.missing
    )


def _annotated(path: Path, selection: ColumnSelection, stream: bool) -> Table:  # noqa: ARG001
    found = read_annotated(path, selection)
    return finish(
        found.array,
        ColumnSelection(selection.columns, None, None, selection.missing),
        str(path),
        False,
        *found.beside(),
    )


def _first(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


READERS: dict[str, Callable[[Path, ColumnSelection, bool], Table]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".mtx": read_mtx,
    ".h5ad": _annotated,
}
