"""Files of tables by their extension, and the result of reading one: numbers, labels, ids and names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    from eigenscape.app.io.missing import Imputation

#: Text formats and the delimiter that the extension defines, if any.
TEXT: dict[str, str | None] = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None}
EDGES = (".edges", ".edgelist")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
COLUMNAR = (*PARQUET, *ARROW)
ARRAYS = (".npy", ".npz", ".mtx", ".h5ad", ".zarr")
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".webp")
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
#: Meanings of the numbers of a table.
KINDS = ("rows", "distances", "affinities", "edges", "images")


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers of a file with labels, ids and column names; unpacks to ``array, labels, ids``.

    Attributes
    ----------
    array : ndarray, csr_array, dask array or iterable of chunks
        The numbers, of shape (n_samples, n_features). With ``stream=True``, an iterable of arrays of rows
        that can be iterated repeatedly.
    labels : ndarray of shape (n_samples,) or None
        Values of the label column.
    ids : ndarray of shape (n_samples,) or None
        Names of the rows.
    names : tuple of str
        Names of the columns of ``array``.
    extra : dict of str to ndarray
        All other columns; empty for tables that are read in chunks.
    kind : {"rows", "distances", "affinities", "edges", "images"}
        Meaning of the numbers.
    image_shape : tuple of int (height, width) or None
        Shape of the image stored in each row, if any.
    source : str
        Path of the file, or ``"standard input"``.
    label_name, id_name : str or None
        Names of the columns that contain the labels and the ids.
    remarks : tuple of str
        Notes about columns whose interpretation may not be the intended one, such as a feature that counts
        the rows.
    categories : dict of str to tuple of str
        Categories of each text column that is encoded, in the order of its features.
    dtypes : tuple of str
        Kind of each column of ``array`` as stored: "float", "int", "bool" or "text"; empty if unknown.
    rows : ndarray of shape (n_samples,) or None
        Indices of the rows in the file, if some were dropped.
    n_dropped : int
        Number of rows that were dropped because of missing or infinite values.
    imputation : Imputation or None
        How missing values were filled in, if they were.
    unscaled : array or None
        The rows before they were standardised, if they were.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import eigenscape
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("width,height,kind\\n1,2,oak\\n3,4,oak\\n5,7,elm\\n")
    ...     table = eigenscape.read(path)
    >>> table.array.shape, table.names, table.label_name
    ((3, 2), ('width', 'height'), 'kind')
    """

    array: Any
    labels: np.ndarray | None = None
    ids: np.ndarray | None = None
    names: tuple[str, ...] = ()
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    kind: str = "rows"
    image_shape: tuple[int, ...] | None = None
    source: str = ""
    label_name: str | None = None
    id_name: str | None = None
    remarks: tuple[str, ...] = ()
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ()
    rows: np.ndarray | None = None
    n_dropped: int = 0
    imputation: Imputation | None = None
    unscaled: Any = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.array, self.labels, self.ids))

    def __repr__(self) -> str:
        shape = getattr(self.array, "shape", "streamed")
        return (
            f"Table({self.kind}, {shape}, labels={self.labels is not None}, ids={self.ids is not None},"
            f" source={self.source!r})"
        )

    @property
    def is_streamed(self) -> bool:
        """Return whether the array is an iterable of chunks."""
        return not hasattr(self.array, "shape")

    @property
    def chunks(self) -> Iterable[Any]:
        """Return the chunks of a streamed array; another array is one chunk."""
        return self.array if self.is_streamed else [self.array]

    def with_rows(self, function: Callable[[Any], Any]) -> Table:
        """Return a table with a function of its rows, applied to each chunk when it is read."""
        array = MappedChunks(self.array, function) if self.is_streamed else function(self.array)
        return replace(self, array=array)

    def select_rows(self, rows: np.ndarray) -> Table:
        """Return a table of some rows; of a square matrix the columns are selected too.

        An array that is streamed is left unchanged.
        """
        array, names = self.array, self.names
        if not self.is_streamed:
            array = array[rows]
            if self.kind in ("distances", "affinities"):
                array = array[:, rows]
            if self.kind == "distances" and len(names) == self.array.shape[0]:
                names = tuple(names[row] for row in rows)
        return replace(
            self,
            array=array,
            labels=None if self.labels is None else self.labels[rows],
            ids=None if self.ids is None else self.ids[rows],
            names=names,
            extra={name: column[rows] for name, column in self.extra.items()},
            rows=None if self.rows is None else self.rows[rows],
        )


@dataclass(frozen=True, eq=False)
class MappedChunks:
    """Chunks of rows, each changed by a function when it is read."""

    chunks: Iterable[Any]
    function: Callable[[Any], Any]

    def __iter__(self) -> Iterator[Any]:
        return map(self.function, self.chunks)


def default_names(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns without a header: ``x0``, ``x1``, ..."""
    return tuple(f"x{i}" for i in range(n_columns))


def format_names(names: list[str] | tuple[str, ...], limit: int) -> str:
    """Return the first ``limit`` names, quoted and separated by commas."""
    return ", ".join(map(repr, names[:limit])) + (", ..." if len(names) > limit else "")


def find_input(path: str | Path) -> tuple[Path, str]:
    """Return the path of an input and its lower-case extension, without a compression suffix.

    Raises
    ------
    InputFileError
        If it does not exist, is empty, or is a pipe, whose opening may not end.
    """
    path = Path(path).expanduser()
    if not path.exists():
        raise InputFileError(f"file {path} does not exist")
    if not path.is_file() and not path.is_dir():
        raise InputFileError(
            f"{path} is a pipe or a device, not a file; use - and standard input for a text table"
        )
    if path.is_file() and path.stat().st_size == 0:
        raise InputFileError(f"{path} is empty")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return path, next((suffix for suffix in reversed(suffixes) if suffix not in COMPRESSED), "")
