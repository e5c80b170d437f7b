"""Reading tables of numbers in all supported formats."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from eigenscape._extras import optional_import
from eigenscape.app.io import arrays, columnar, images, relations
from eigenscape.app.io.columns import ColumnSelection
from eigenscape.app.io.delimited import read_delimited
from eigenscape.app.io.formats import EDGES, TEXT, extension
from eigenscape.app.io.missing import handle_missing
from eigenscape.app.io.table import KINDS, Table
from eigenscape.app.io.text_blocks import TextInput, read_bytes
from eigenscape.exceptions import InputFileError


def read(
    path: str | Path,
    *,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    id: str | None = None,  # noqa: A002
    size: int | tuple[int, int] | None = None,
    kind: str | None = None,
    missing: str = "error",
    stream: bool = False,
    dask: bool = False,
) -> Table:
    """Read a table of numbers with its labels and row ids.

    The file extension defines the format: csv, tsv, txt (also compressed with gz, bz2 or zst); parquet,
    arrow, feather; npy, npz (arrays, or a sparse matrix of SciPy); mtx; h5ad; zarr; a folder of images or of
    parquet files. ``-`` is standard input in text format.

    Parameters
    ----------
    path : str or Path
        File or folder to read.
    columns : str or sequence of str, optional
        Columns of the array, in this order. If None, all numeric columns except the label and the id. For an
        npz archive with several matrices, the name of the matrix.
    label : str, optional
        Column of labels. If None, the column named ``label`` in any case, or the first text column with
        repeated values, or the first text column.
    id : str, optional
        Column of row ids. If None, the column named ``id`` in any case, or a first column without a name, as
        pandas and R write it. Ids and codes with leading zeros, such as ``00417``, are text.
    size : int or (height, width), optional
        Size to which the images of a folder are resized.
    kind : {"rows", "distances", "affinities", "edges", "images"}, optional
        Meaning of the numbers. Matrices of distances or affinities are checked: square, symmetric,
        non-negative; distances have a zero diagonal. Edges are rows with source, target and optionally
        weight; the array is the symmetric sparse matrix of weights.
    missing : {"error", "drop", "keep"}, default="error"
        Treatment of rows with missing or infinite values: raise an error, drop them, or keep NaN for
        estimators that support it (infinite values raise an error).
    stream : bool, default=False
        If True, ``array`` is an iterable of chunks of rows with bounded memory, for estimators that learn
        from a stream. The result is otherwise the same, except that ``extra`` is empty. Text files are read
        once to find the types of their columns, and again in each iteration. Standard input, npz, mtx, h5ad
        and images are read into memory.
    dask : bool, default=False
        If True, ``array`` is a dask array whose partitions are read by the workers: parquet files and folders
        of them, zarr and npy. Options other than ``columns``, ``label`` and ``id`` are not supported.

    Returns
    -------
    Table
        ``X, labels, ids = read(path)`` unpacks it; ``names``, ``extra``, ``kind`` and others are attributes.

    Raises
    ------
    InputFileError
        If the file does not exist, is empty, damaged or not in the expected format. The message names the
        place and the remedy.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = file.write_text("length,width,kind\\n1.5,0.2,a\\n4.7,1.4,b\\n4.5,1.5,b\\n")
    >>> X, labels, ids = read(file)
    >>> X.shape, labels.tolist(), ids
    ((3, 2), ['a', 'b', 'b'], None)

    In chunks:

    >>> [chunk.shape for chunk in read(file, stream=True).array]
    [(3, 2)]
    """
    selection = ColumnSelection.from_options(columns, label, id, missing)
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind={kind!r} must be one of {', '.join(map(repr, KINDS))}")
    if dask:
        others = {
            "size": size is not None,
            "kind": kind is not None,
            "missing": missing != "error",
            "stream": stream,
        }
        if any(others.values()):
            raise TypeError(
                f"{', '.join(name for name in others if others[name])} is not supported with dask=True, which"
                " reads partitions unchanged; omit one of them"
            )
        optional_import("dask.array", "read with dask=True")
        from eigenscape.app.io.dask_reading import read_collection

        return read_collection(path, selection)
    if str(path) == "-":
        text = TextInput(sys.stdin.buffer.read(), "standard input")
        return _read_text(text, selection, None, kind, stream=False)
    path = Path(path).expanduser()
    check_input(path)
    try:
        return _read_path(path, selection, size, kind, stream)
    except PermissionError as error:
        raise InputFileError(f"{path} cannot be read: permission denied; check its permissions") from error


def check_input(path: Path) -> None:
    """Raise if a path does not exist, or is a pipe or a device, whose opening may not end."""
    if not path.exists():
        raise InputFileError(f"file {path} does not exist")
    if not path.is_file() and not path.is_dir():
        raise InputFileError(
            f"{path} is a pipe or a device, not a file; use - and standard input for a text table"
        )


def _read_path(
    path: Path, selection: ColumnSelection, size: int | tuple[int, int] | None, kind: str | None, stream: bool
) -> Table:
    suffix = extension(path)
    if path.is_file():
        if path.stat().st_size == 0:
            raise InputFileError(f"{path} is empty")
        if kind == "edges" or (kind is None and suffix in EDGES):
            return relations.read_edges(path, selection)
        if suffix in TEXT:
            whole = not stream or kind in ("distances", "affinities")
            text = TextInput(read_bytes(path) if whole else path, str(path))
            return _read_text(text, selection, TEXT[suffix], kind, stream)
    table = handle_missing(read_non_text(path, selection, size, stream), selection.missing)
    return relations.as_relation(table, kind)


def read_non_text(
    path: Path, selection: ColumnSelection, size: int | tuple[int, int] | None = None, stream: bool = False
) -> Table:
    """Read a file or folder that is not text; missing values are not handled."""
    suffix = extension(path)
    if path.is_dir() and suffix != ".zarr":
        if any(path.glob("*.parquet")):
            return columnar.read_columnar(path, selection, stream)
        return images.read_images(path, size)
    if suffix in columnar.SUFFIXES:
        return columnar.read_columnar(path, selection, stream)
    if suffix in arrays.READERS:
        return arrays.READERS[suffix](path, selection, stream)
    if suffix in images.SUFFIXES:
        raise InputFileError(f"{path} is a single image; use the folder that contains all images")
    supported = ", ".join(sorted([*TEXT, *columnar.SUFFIXES, *arrays.READERS, *EDGES]))
    raise InputFileError(f"{path} has the unsupported file extension {suffix!r}; use one of {supported}")


def _read_text(
    text: TextInput, selection: ColumnSelection, delimiter: str | None, kind: str | None, stream: bool
) -> Table:
    if kind == "edges":
        return relations.read_edges_text(text, selection)
    if kind in ("distances", "affinities"):
        return relations.read_matrix_text(text, kind, delimiter)
    return handle_missing(read_delimited(text, selection, delimiter, stream), selection.missing)
