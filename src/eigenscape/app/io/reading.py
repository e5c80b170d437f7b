"""Reading tables of numbers in all supported formats."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eigenscape._extras import optional_import
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.missing import handle_missing
from eigenscape.app.io.table import ARRAYS, COLUMNAR, EDGES, IMAGES, TEXT, Table, find_input
from eigenscape.exceptions import InputFileError


def read(
    path: str | Path,
    *,
    columns: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    label: str | None = None,
    id: str | None = None,  # noqa: A002
    encode: str | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    obsp: str | None = None,
    size: int | tuple[int, int] | None = None,
    kind: str | None = None,
    header: bool | None = None,
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
        Columns of the array, in this order: names, or patterns such as ``"px*"``. If None, all numeric
        columns except the label and the id. For an npz archive with several matrices, the name of the matrix.
    exclude : str or sequence of str, optional
        Columns that are not used, in the same form.
    label : str, optional
        Column of labels. If None, the column named ``label`` in any case, or the first text column with
        repeated values.
    id : str, optional
        Column of row ids. If None, the column named ``id`` in any case, a first column without a name, as
        pandas and R write it, or the first text column whose values all differ. Ids and codes with leading
        zeros, such as ``00417``, are text.
    encode : {"onehot"}, optional
        Use text columns, too: one column of 0 and 1 for each of their values, ``color_blue``, ``color_red``,
        ... A missing value is missing in all of them. The label is then the column named ``label``, if none
        is given.
    use_rep, layer, obsp : str, optional
        What is read from an h5ad file instead of ``X``: an entry of ``obsm`` (``"X_pca"``), an entry of
        ``layers``, or a graph of ``obsp``, which is a matrix of distances if its name contains "distances",
        and of affinities otherwise.
    size : int or (height, width), optional
        Size to which the images of a folder are resized.
    kind : {"rows", "distances", "affinities", "edges", "images"}, optional
        Meaning of the numbers. Matrices of distances or affinities are checked: square, symmetric,
        non-negative; distances have a zero diagonal. Edges are rows with source, target and optionally
        weight; the array is the symmetric sparse matrix of weights.
    header : bool, optional
        Whether the first line of a text table contains the names of its columns. If None, its cells tell: a
        word above numbers is a name, and so are 0, 1, 2, ... as pandas writes them, and years or wavelengths
        above numbers of another kind. ``remarks`` of the result name a decision about numbers.
    missing : {"error", "drop", "keep", "mean"}, default="error"
        Treatment of rows with missing or infinite values: raise an error; drop them (``rows`` of the result
        are then the indices of the others); keep NaN for estimators that support it; or fill in the mean of
        the column. With the last two, infinite values raise an error.
    stream : bool, default=False
        If True, ``array`` is an iterable of chunks of rows with bounded memory, for estimators that learn
        from a stream. The result is otherwise the same, except that ``extra`` is empty. Text files are read
        to find the types of their columns, and again in each iteration. Standard input, npz, mtx, h5ad
        and images are read into memory.
    dask : bool, default=False
        If True, ``array`` is a dask array whose partitions are read by the workers: parquet files and folders
        of them, zarr and npy. Options other than ``columns``, ``exclude``, ``label`` and ``id`` are not
        supported.

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
    selection = ColumnSelection.from_options(
        columns, label, id, missing, exclude, encode, kind, use_rep, layer, obsp, header
    )
    if not dask:
        return read_selection(path, selection, size, stream)
    given = {"encode": encode, "size": size, "kind": kind, "missing": missing != "error", "stream": stream}
    if any(given.values()):
        raise TypeError(
            f"{', '.join(name for name in given if given[name])} is not supported with dask=True, which reads"
            " partitions unchanged; omit one of them"
        )
    optional_import("dask.array", "read with dask=True")
    from eigenscape.app.io.dask_reading import read_collection

    return read_collection(path, selection)


def read_selection(
    path: str | Path,
    selection: ColumnSelection,
    size: int | tuple[int, int] | None = None,
    stream: bool = False,
) -> Table:
    """Read a table; see :func:`eigenscape.read`."""
    kind, missing = selection.kind, selection.missing
    if selection.part is not None and not str(path).endswith(".h5ad"):
        raise InputFileError(f"{path} is not an h5ad file, so it has no {' '.join(selection.part)}")
    if kind in ("distances", "affinities", "edges") and missing == "mean":
        raise InputFileError(
            f"{path}: missing {kind} are not filled in; use missing='error' (--missing error)"
        )
    try:
        table = _read_rows(path, selection, size, stream)
    except PermissionError as error:
        raise InputFileError(f"{path} cannot be read: permission denied; check its permissions") from error
    remarks: tuple[str, ...] = ()
    if kind is None and (not hasattr(table.array, "shape") or table.array.shape[0] == table.array.shape[1]):
        from eigenscape.app.io.relations import matrix_remarks

        remarks = matrix_remarks(table)
    if table.kind != "edges":
        table = handle_missing(table, missing, selection.imputation)
    if kind in ("distances", "affinities"):
        from eigenscape.app.io.relations import check_relation

        table = check_relation(replace(table, kind=kind))
    return replace(table, remarks=(*table.remarks, *remarks))


def _read_rows(
    path: str | Path, selection: ColumnSelection, size: int | tuple[int, int] | None, stream: bool
) -> Table:
    """Read a table whose missing values are not handled yet."""
    content: bytes | Path
    source, kind = "standard input", selection.kind
    if str(path) == "-":
        content, suffix = sys.stdin.buffer.read(), ".csv"
    else:
        content, suffix = find_input(path)
        source = str(content)
    if kind == "edges" or (kind is None and suffix in EDGES):
        from eigenscape.app.io.edges import read_edges

        return read_edges(content, source, selection)
    if isinstance(content, Path) and (suffix not in TEXT or content.is_dir()):
        return read_non_text(content, suffix, selection, size, stream)
    if kind in ("distances", "affinities"):
        from eigenscape.app.io.edges import read_matrix_text

        return read_matrix_text(content, source, TEXT[suffix])
    from eigenscape.app.io.roles import read_columns
    from eigenscape.app.io.text import TextSource

    stream = stream and isinstance(content, Path)
    return read_columns(TextSource(content, source, selection, TEXT[suffix], stream), stream)


def read_non_text(
    path: Path,
    suffix: str,
    selection: ColumnSelection,
    size: int | tuple[int, int] | None = None,
    stream: bool = False,
) -> Table:
    """Read a file or folder that is not text; missing values are not handled."""
    is_folder = path.is_dir() and suffix != ".zarr"
    if suffix in COLUMNAR or (is_folder and any(path.glob("*.parquet"))):
        from eigenscape.app.io.columnar import read_columnar

        return read_columnar(path, selection, stream)
    if is_folder:
        from eigenscape.app.io.images import read_images

        return read_images(path, size)
    if suffix in ARRAYS:
        from eigenscape.app.io.arrays import READERS

        return READERS[suffix](path, selection, stream)
    if suffix in IMAGES:
        raise InputFileError(f"{path} is a single image; use the folder that contains all images")
    supported = ", ".join(sorted([*TEXT, *COLUMNAR, *ARRAYS, *EDGES]))
    raise InputFileError(f"{path} has the unsupported file extension {suffix!r}; use one of {supported}")
