"""Reading a table of numbers, whatever its format."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from eigenscape.app.io import arrays, columnar, images, relations
from eigenscape.app.io.columns import ColumnSelection
from eigenscape.app.io.table import KINDS, Table
from eigenscape.app.io.delimited import read_bytes, read_delimited
from eigenscape.exceptions import InputFileError

TEXT = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None}
EDGES = (".edges", ".edgelist")
PACKED = (".gz", ".bz2", ".zst")


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
) -> Table:
    """Read a table: numbers, labels and names of its rows.

    The suffix says the format: csv, tsv, txt (gz, bz2 or zst packed too); parquet, arrow, feather; npy, npz
    (of arrays, or a sparse matrix); mtx; h5ad; zarr; a folder of images or of parquet files; ``-`` is
    standard input, as text.

    Parameters
    ----------
    path : str or Path
        The file or folder.
    columns : sequence of str, optional
        The columns that make the array, in this order. Default: all numbers that are neither label nor name.
    label : str, optional
        The column of labels. Default: the column ``label`` (or ``Label``), or the first column of text.
    id : str, optional
        The column that names the rows. Default: the column ``id`` (or ``ID``), or the first where it alone
        has no name (as pandas and R write it). Ids and codes with zeros before them, such as ``00417``, are
        text.
    size : int or (height, width), optional
        Size to which images are brought.
    kind : {"rows", "distances", "affinities", "edges", "images"}, optional
        What the numbers mean. A matrix of distances is checked: square, symmetric, zeros on the diagonal,
        none negative. Edges are rows of source, target and perhaps a weight; the array is the sparse
        symmetric matrix of weights.
    missing : {"error", "drop", "keep"}, default="error"
        What to do with rows in which a value is missing or infinite. "keep" keeps NaN, for methods that know
        what to do with it.
    stream : bool, default=False
        Give chunks of rows in place of an array, for methods that learn from a stream. Rows are checked as
        they come. Text, npz, mtx, h5ad and images are read whole nevertheless.

    Returns
    -------
    Table
        ``X, labels, ids = read(path)`` unpacks it; ``names``, ``extra``, ``kind`` and others are attributes
        (:class:`Table`).

    Raises
    ------
    InputFileError
        The file is missing, empty, damaged, or not what it was taken for. The message says where and what
        helps.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = file.write_text("length,width,kind\\n1.5,0.2,a\\n4.7,1.4,b\\n4.5,1.5,b\\n")
    >>> X, labels, ids = read(file)
    >>> X.shape, labels.tolist(), ids
    ((3, 2), ['a', 'b', 'b'], None)
    """
    selection = ColumnSelection.of(columns, label, id, missing)
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not known; choose one of {', '.join(map(repr, KINDS))}")
    if str(path) == "-":
        return _of_kind(kind, sys.stdin.buffer.read(), selection, "standard input", None)
    path = Path(path).expanduser()
    if not path.exists():
        raise InputFileError(f"there is no file {path}")
    try:
        return _by_format(path, selection, size, kind, stream)
    except PermissionError as error:
        raise InputFileError(f"{path} may not be read; check its permissions") from error


def _by_format(
    path: Path, selection: ColumnSelection, size: int | tuple[int, int] | None, kind: str | None, stream: bool
) -> Table:
    suffix = format_of(path)
    if path.is_dir():
        if suffix == ".zarr":
            return arrays.read_zarr(path, selection, stream)
        if any(path.glob("*.parquet")):
            return columnar.read_columnar(path, selection, stream)
        return images.read_images(path, size)
    if path.stat().st_size == 0:
        raise InputFileError(f"{path} is empty")
    if kind == "edges" or (kind is None and suffix in EDGES):
        return relations.read_edges(path, suffix, selection)
    if suffix in TEXT:
        return _of_kind(kind, read_bytes(path), selection, str(path), TEXT[suffix])
    if suffix in columnar.SUFFIXES:
        table = columnar.read_columnar(path, selection, stream)
    elif suffix in arrays.READERS:
        table = arrays.READERS[suffix](path, selection, stream)
    elif suffix in images.SUFFIXES:
        raise InputFileError(f"{path} is one image; name the folder that holds all of them")
    else:
        known = ", ".join(sorted([*TEXT, *columnar.SUFFIXES, *arrays.READERS, *EDGES]))
        raise InputFileError(
            f"{path} has the suffix {suffix!r}, which says no format known here; use one of {known}"
        )
    return relations.as_relation(table, kind)


def _of_kind(
    kind: str | None, content: bytes, selection: ColumnSelection, source: str, delimiter: str | None
) -> Table:
    if kind == "edges":
        return relations.edges_of_text(content, selection, source)
    if kind in ("distances", "affinities"):
        return relations.matrix_of_text(content, kind, source, delimiter)
    return read_delimited(content, selection, source, delimiter)


def format_of(path: Path) -> str:
    """The suffix that says the format, a packing suffix left off."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
