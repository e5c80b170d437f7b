"""Arrays without column types: npy, npz, Matrix Market and zarr files."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmread

from eigenscape._extras import optional_import
from eigenscape._format import format_bytes
from eigenscape._memory import fits, require
from eigenscape._typing import is_sparse
from eigenscape.app.io.annotated import LABEL_NAME, checked_csr, read_h5ad
from eigenscape.app.io.child import Answer, call_child
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.guards import EXACT_INTEGER, check_expansion, integer_error, named_damage, npy_bytes
from eigenscape.app.io.table import Table, default_names
from eigenscape.exceptions import InputFileError
from eigenscape.streams import SlicedChunks

#: Names of the arrays of an npz archive that are used unless others are requested.
_DATA_NAMES = ("X", "data", "array", "coordinates")
#: Arrays with more columns are rejected: each column has a name.
_MAX_COLUMNS = 10_000_000
#: A matrix with more rows must have a byte of its file for every 64 of them.
_MANY_EMPTY_ROWS = 2**20


def read_npy(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """Read an array, without pickles; a stream reads its rows from the file in each iteration.

    The rows are copied: a process that reads a mapped file which another one truncates is ended by a signal.
    """
    with named_damage(
        f"{path} is truncated or not an npy file of numbers",
        "; pickles and arrays of objects are not loaded, because loading them can execute arbitrary code",
    ):
        if not stream:
            require(
                path.stat().st_size,
                f"reading {path}",
                "use stream=True with an estimator that learns from chunks",
            )
        array = np.load(path, mmap_mode="r" if stream else None, allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise InputFileError(f"{path} is an npz archive; rename it with the extension .npz")
    return table_from_array(Table(array, source=str(path)), selection, stream)


def read_npz(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """Read the array ``X`` of an archive, its only matrix, or a sparse matrix stored by SciPy."""
    with named_damage(
        f"{path} is damaged, or contains objects, which are not loaded",
        "; store arrays of numbers with numpy.savez",
    ):
        _check_npz(path)
        with np.load(path, allow_pickle=False) as arrays:
            if {"format", "shape", "data"} <= set(arrays.files):
                table = Table(checked_csr(sparse.load_npz(path)), source=str(path))
                return table_from_array(table, selection, stream)
            content = {name: np.asarray(arrays[name]) for name in arrays.files}
        return _read_archive(content, selection, path, stream)


def _check_npz(path: Path) -> None:
    """Raise if the arrays of an archive do not fit in memory, or a member is shorter than its array.

    Other damage is left to NumPy, whose errors name it.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        n_bytes = sum(member.file_size for member in members)
        check_expansion(n_bytes, path.stat().st_size, str(path))
        if not fits(n_bytes):
            raise InputFileError(
                f"{path} needs {format_bytes(n_bytes)} of memory, more than is available; store the array"
                " as npy"
            )
        for member in members:
            with archive.open(member) as file:
                declared = npy_bytes(file)
            if declared > member.file_size:
                raise InputFileError(
                    f"{path} is truncated or damaged: its array {member.filename.removesuffix('.npy')!r}"
                    f" needs {format_bytes(declared)}, and {format_bytes(member.file_size)} are stored; write"
                    " the file again"
                )


def _read_archive(
    arrays: dict[str, np.ndarray], selection: ColumnSelection, path: Path, stream: bool
) -> Table:
    """Return the table of the arrays of an archive: the matrix, labels, ids and further columns."""
    matrices = [name for name, array in arrays.items() if array.ndim >= 2]
    candidates = [name for name in (*(selection.columns or ()), *_DATA_NAMES) if name in matrices]
    if not matrices or (len(matrices) > 1 and not candidates):
        content = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise InputFileError(
            f"{path} contains {content}, and the matrix to read is ambiguous; store it as X, or name it with"
            " columns (--columns)"
        )
    data = candidates[0] if candidates else matrices[0]
    n_samples, n_columns = arrays[data].shape[:2]
    beside = {name: array for name, array in arrays.items() if array.shape == (n_samples,)}
    names: Any = arrays.get("names")
    names = () if names is None or names.shape != (n_columns,) else tuple(map(str, names))
    table = Table(arrays[data], names=names, extra=beside, source=str(path))
    names_matrix = selection.columns is not None and selection.columns[0] in matrices
    columns = None if names_matrix else selection.columns
    table = table_from_array(table, replace(selection, columns=columns), stream)
    stored = arrays.get(LABEL_NAME)  # of labels that this library wrote
    if table.label_name == "labels" and stored is not None and stored.shape == ():
        table = replace(table, label_name=str(stored))
    return table


def read_mtx(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """Read a matrix in Matrix Market format, sparse or dense.

    The declared sizes are checked first, since SciPy allocates them at once. It is called in a child process,
    since it crashes at NUL bytes and at numbers that are cut off.
    """
    with named_damage(f"{path} is truncated or not a Matrix Market file"):
        with path.open("rb") as file:
            head = file.read(2**16)
            needed = _market_bytes(head, path.stat().st_size)
            remedy = "store fewer rows, or a dense array as npy and use stream=True"
            require(needed, f"reading {path}", remedy)
            while head:
                if b"\0" in head:
                    raise ValueError("it contains binary data")
                head = file.read(2**22)
        header, parts = call_child("eigenscape.app.io.arrays", str(path), path)
        array: Any = parts[0]
        if header["shape"] is not None:
            array = checked_csr(sparse.csr_array(tuple(parts), shape=tuple(header["shape"])))
    return table_from_array(Table(array, source=str(path)), selection, stream)


def _market_bytes(head: bytes, n_bytes: int) -> int:
    """Check the sizes that a Matrix Market file declares, and return the memory that they need.

    Parameters
    ----------
    head : bytes
        The beginning of the file, with the line of sizes.
    n_bytes : int
        Size of the file.

    Returns
    -------
    int
        Bytes of memory that the matrix needs.

    Raises
    ------
    ValueError
        If the file is too short for the declared number of entries, or if almost all of a large number of
        rows are empty, which take memory and time although the file has no data for them.
    """
    lines = head.split(b"\n")
    if not lines[0].lower().startswith(b"%%matrixmarket"):
        raise ValueError("the first line does not begin with %%MatrixMarket")
    is_sparse = b"coordinate" in lines[0].lower()
    sizes = next((line for line in lines[1:] if line.strip() and not line.startswith(b"%")), b"")
    numbers = [int(word) for word in sizes.split()]
    if len(numbers) != (3 if is_sparse else 2) or min(numbers) < 0:
        raise ValueError(f"the line of sizes is {sizes.decode(errors='replace')[:60]!r}")
    entries = numbers[2] if is_sparse else int(np.prod(numbers, dtype=object))
    symmetric = any(word in lines[0].lower() for word in (b"symmetric", b"hermitian"))
    stored = entries if is_sparse or not symmetric else entries // 2
    pattern = b"pattern" in lines[0].lower()
    shortest = (4 if pattern else 6) if is_sparse else 2  # bytes of an entry: "1 1 1\n", "1\n"
    if stored * shortest > n_bytes + 2:
        raise ValueError(f"{entries} entries are declared, more than {n_bytes} bytes can contain")
    if is_sparse and numbers[0] > max(_MANY_EMPTY_ROWS, 64 * n_bytes):
        raise ValueError(f"{numbers[0]} rows are declared, almost all of them empty ({entries} entries)")
    return 24 * entries + 8 * (numbers[0] + numbers[1]) if is_sparse else 8 * entries


def answer(path: str) -> Answer:
    """Read a Matrix Market file in a child process: a dense matrix, or data, indices, pointers and shape."""
    with open(path, "rb") as file, warnings.catch_warnings():
        # An array or a matrix: it changes in SciPy 1.20 and cannot be chosen in 1.13. Both are read.
        warnings.filterwarnings("ignore", "The default value for `spmatrix`")
        matrix = mmread(file)
    if not sparse.issparse(matrix):
        return Answer({"shape": None}, [np.asarray(matrix)])
    csr = checked_csr(matrix)
    return Answer({"shape": list(csr.shape)}, [csr.data, csr.indices, csr.indptr])


def read_zarr(path: Path, selection: ColumnSelection, stream: bool) -> Table:
    """Read a zarr array, whole or in chunks."""
    zarr = optional_import("zarr", "reading a zarr array")
    with named_damage(f"{path} is not a zarr array"):
        array = zarr.open_array(str(path), mode="r")
    if not stream:
        remedy = "use stream=True with an estimator that learns from chunks"
        require(8 * int(np.prod(array.shape)), f"reading {path}", remedy)
        with named_damage(f"{path} is damaged"):
            array = np.asarray(array[:])
    return table_from_array(Table(array, source=str(path)), selection, stream)


def read_annotated(path: Path, selection: ColumnSelection, stream: bool) -> Table:  # noqa: ARG001
    """Read ``X``, or another part, and ``obs`` of an AnnData file into memory."""
    return table_from_array(read_h5ad(path, selection.part), selection, stream=False)


def table_from_array(table: Table, selection: ColumnSelection, stream: bool) -> Table:
    """Check the array of a table, flatten images, select columns, and convert integers to floats."""
    array, source = table.array, table.source
    if array.ndim not in (2, 3) or (array.ndim == 3 and sparse.issparse(array)):
        raise InputFileError(
            f"{source} contains an array of shape {array.shape}; the shape must be (n_samples, n_features)"
            " or (n_images, height, width)"
        )
    if array.dtype.kind not in "fiub":
        raise InputFileError(f"{source} contains values of type {array.dtype}, not real numbers")
    if 0 in array.shape:
        raise InputFileError(f"{source} is empty: its array has shape {array.shape}")
    if array.ndim == 3:
        table = replace(table, kind="images", image_shape=(int(array.shape[1]), int(array.shape[2])))
        array = array if stream else array.reshape(len(array), -1)
    n_columns = int(np.prod(array.shape[1:], dtype=object))
    if n_columns > _MAX_COLUMNS:
        raise InputFileError(
            f"{source} has {n_columns} columns, and a table may have at most {_MAX_COLUMNS}; is it transposed"
            " or damaged?"
        )
    names = table.names or default_names(n_columns)
    table, indices = _select_columns(table, names, selection)
    names = table.names
    if stream and not sparse.issparse(array):
        chunks = ArrayChunks(SlicedChunks(array), source, indices)
        if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
            for chunk in chunks.stored():
                _check_integers(chunk, names, source)
        return replace(table, array=chunks)
    if indices is not None:
        array = array[:, indices]
    if not _is_float(array.dtype):
        _check_integers(array, names, source)
        if not sparse.issparse(array):
            remedy = "store it as floating-point numbers, or use stream=True"
            require(8 * array.size, f"reading {source}", remedy)
        array = array.astype(np.float64)
    return replace(table, array=array)


def _select_columns(
    table: Table, names: tuple[str, ...], selection: ColumnSelection
) -> tuple[Table, tuple[int, ...] | None]:
    """Return the table with the names of its features, its label and its id, and the indices of the features.

    The indices are None for all columns. Names of rows are the ids unless others are requested.
    """
    others, requested = table.extra, (selection.id, selection.known_id)
    selection = selection.complete([*others, *names], table.source, list(others))
    if table.ids is not None and selection.id not in requested:
        selection = replace(selection, id=None)
    text = {name: column.tolist() for name, column in others.items() if column.dtype.kind in "OUS"}
    n_distinct = {name: len({*filter(None, values)}) for name, values in text.items()}
    selection = selection.with_text_roles(
        [name for name in text if table.ids is None and n_distinct[name] == len(text[name])],
        [name for name in text if n_distinct[name] < sum(map(bool, text[name]))],
    )
    label, id_name = selection.label, selection.id
    place = {name: i for i, name in enumerate(names)}
    found = {name: _column(table.array, place[name]) for name in (label, id_name) if name in place} | others
    selection = replace(
        selection, label=None if label in others else label, id=None if id_name in others else id_name
    )
    kind = {"f": "float", "b": "bool"}.get(table.array.dtype.kind, "int")
    chosen = tuple(selection.features(dict.fromkeys(names, kind), table.source))
    if not chosen:
        raise InputFileError(f"no column of {table.source} is left; change columns or exclude (--exclude)")
    table = replace(
        table,
        labels=None if label is None else found[label],
        label_name=label,
        ids=table.ids if id_name is None else found[id_name],
        id_name=id_name,
        extra={name: column for name, column in others.items() if name not in (label, id_name)},
        names=chosen,
        dtypes=(kind,) * len(chosen),
    )
    return table, None if chosen == names else tuple(place[name] for name in chosen)


def _column(array: Any, index: int) -> np.ndarray:
    """Return a column of an array of two or three dimensions."""
    if is_sparse(array):
        return np.asarray(array[:, [index]].toarray()).ravel()
    place = np.unravel_index(index, array.shape[1:])
    return np.asarray(array[(slice(None), *map(int, place))])


@dataclass(frozen=True, eq=False)
class ArrayChunks:
    """Rows of an array in chunks, with the columns and the type that it has when it is read whole."""

    slices: SlicedChunks
    source: str
    columns: tuple[int, ...] | None = None

    def stored(self) -> Iterator[np.ndarray]:
        """Yield chunks of the stored type."""
        with named_damage(f"{self.source} is damaged"):
            for chunk in self.slices:
                yield chunk if self.columns is None else chunk[:, self.columns]

    def __iter__(self) -> Iterator[np.ndarray]:
        for rows in self.stored():
            yield rows if _is_float(rows.dtype) else rows.astype(np.float64)


def _is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether values of this type are used without conversion."""
    return dtype.kind == "f" and dtype.itemsize in (4, 8) and dtype.isnative


def _check_integers(array: Any, names: Sequence[str], source: str) -> None:
    """Raise if an integer cannot be represented in double precision."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
        return
    values = np.asarray(array.data if is_sparse(array) else array)
    if values.size and (int(values.max()) > EXACT_INTEGER or int(values.min()) < -EXACT_INTEGER):
        large = (array > EXACT_INTEGER) + (array < -EXACT_INTEGER)
        column = int(large.nonzero()[-1][0])
        raise integer_error(names[column] if column < len(names) else str(column), source)


READERS: dict[str, Callable[[Path, ColumnSelection, bool], Table]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".mtx": read_mtx,
    ".h5ad": read_annotated,
    ".zarr": read_zarr,
}
