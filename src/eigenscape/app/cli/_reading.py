"""Options about the input, and reading it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from eigenscape.app.cli._errors import WrongCommandError, in_options
from eigenscape.app.cli._shared import say

_PANEL = "Reading"

Label = Annotated[
    str | None, typer.Option(help="Column of labels; else the first text column.", rich_help_panel=_PANEL)
]
Id = Annotated[str | None, typer.Option("--id", help="Column that names the rows.", rich_help_panel=_PANEL)]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Columns to use, separated by commas; else all with numbers.",
        metavar="A,B,C",
        rich_help_panel=_PANEL,
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        help="Rows with missing values: error, drop, or keep (probabilistic-pca, mixture-ppca).",
        metavar="WHAT",
        rich_help_panel=_PANEL,
    ),
]
Size = Annotated[
    str | None,
    typer.Option(
        help="Size to bring the images of a folder to.", metavar="HEIGHTxWIDTH", rich_help_panel=_PANEL
    ),
]
Kind = Annotated[
    str | None,
    typer.Option(
        help="What the file holds: rows, distances, affinities or edges.",
        metavar="KIND",
        rich_help_panel=_PANEL,
    ),
]
Stream = Annotated[
    bool,
    typer.Option(
        "--stream",
        metavar="",
        help="Read in chunks (greedy, pca); by itself for files larger than 256 MiB.",
        rich_help_panel=_PANEL,
    ),
]
Standardize = Annotated[
    bool,
    typer.Option(
        "--standardize",
        metavar="",
        help="Scale every column to mean 0 and variance 1; transform will too.",
        rich_help_panel=_PANEL,
    ),
]

#: Names of columns that are said.
_SHOWN = 8
#: Methods that can learn from chunks, by the name of their class.
STREAMING = ("GreedySpectralEmbedding", "PCA")


@dataclass(frozen=True)
class Reading:
    """How to read a file."""

    label: str | None = None
    id: str | None = None
    columns: str | None = None
    missing: str = "error"
    size: str | None = None
    kind: str | None = None
    stream: bool = False

    def options(self) -> dict[str, Any]:
        """As :func:`eigenscape.read` takes them."""
        columns = (
            None
            if self.columns is None
            else [name.strip() for name in self.columns.split(",") if name.strip()]
        )
        found = {
            "columns": columns,
            "label": self.label,
            "id": self.id,
            "size": image_size(self.size),
            "kind": self.kind,
        }
        return {**found, "missing": self.missing, "stream": self.stream}


def image_size(text: str | None) -> tuple[int, int] | None:
    """``28x28``, or ``28`` for a square."""
    if text is None:
        return None
    parts = text.lower().split("x")
    if len(parts) > 2 or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise WrongCommandError(f"--size takes HEIGHTxWIDTH, such as 28x28, got {text!r}")
    return int(parts[0]), int(parts[-1])


#: Bytes of a file from which on methods that can learn from chunks do so.
LARGE = 2**28


def streams(source: str, asked: bool, class_name: str) -> bool:
    """Whether to read in chunks: on request, or where the file is large; the map is the same, and the memory
    that of a chunk."""
    if asked and class_name not in STREAMING:
        raise WrongCommandError(
            f"--stream is for methods that learn from chunks: -m greedy, or -m pca; {class_name} needs all rows"
        )
    if asked or class_name not in STREAMING or source == "-":
        return asked
    path = Path(source)
    files = [path] if path.is_file() else list(path.glob("*.parquet"))
    return sum(file.stat().st_size for file in files) > LARGE


def read_table(source: str, how: Reading, quiet: bool = False) -> Any:
    """The table in a file, or on standard input (``-``)."""
    import numpy as np

    from eigenscape.app.io import read

    table = read(source, **how.options())
    if isinstance(table.array, np.memmap) and not how.stream:
        table = replace(
            table, array=np.asarray(table.array)
        )  # the same bytes on disk; a memmap means a stream to the library
    say(f"read {table.source or source}: {_described(table)}", quiet)
    return table


def read_for_fitting(source: str, how: Reading, quiet: bool) -> Any:
    """The same, where it is the training set: what is odd about its columns is said, and one row is
    refused."""
    table = read_table(source, how, quiet)
    for remark in table.remarks:
        say(f"warning: {in_options(remark)}")
    shape = getattr(table.array, "shape", None)
    if shape is not None and shape[0] < 2:
        raise WrongCommandError(
            f"{table.source or source} has {counted(shape[0], 'row')}; a map needs at least 2 samples"
        )
    return table


def counted(number: int, what: str) -> str:
    """``1 row``, ``2 rows``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def used(table: Any) -> dict[str, Any]:
    """The columns of a table, for ``--json``."""
    return {"columns": list(table.names), "label": table.label_name, "id": table.id_name}


def _described(table: Any) -> str:
    """Size, and which columns are what, where they have names."""
    from eigenscape.app.io.table import default_names

    shape = getattr(table.array, "shape", None)
    parts = [f"{counted(shape[0], 'row')}, {counted(shape[1], 'column')}" if shape else "rows in chunks"]
    if table.kind == "rows" and tuple(table.names) != default_names(len(table.names)):
        parts[0] += f" ({', '.join(table.names[:_SHOWN])}{', ...' if len(table.names) > _SHOWN else ''})"
    parts += [
        f"{what} {name}"
        for what, name in (("label", table.label_name), ("id", table.id_name))
        if name is not None
    ]
    return ", ".join(parts)


def scaled(table: Any, scaler: Any) -> Any:
    """The table with its columns standardised."""
    if getattr(table.array, "shape", None) is None or how_streamed(table.array):
        return replace(table, array=ScaledChunks(table.array, scaler))
    return replace(table, array=scaler.transform(table.array))


def fitted_scaler(X: Any) -> Any:
    """A scaler that has seen all rows, in chunks where there are chunks. Sparse rows are not centred: they
    would not be sparse."""
    from scipy import sparse
    from sklearn.preprocessing import StandardScaler

    if how_streamed(X):
        scaler = StandardScaler()
        for chunk in _chunks(X):
            scaler.partial_fit(chunk)
        return scaler
    return StandardScaler(with_mean=not sparse.issparse(X)).fit(X)


def how_streamed(X: Any) -> bool:
    """Whether rows come in chunks, or lie on a cluster."""
    from eigenscape.distributed import is_collection
    from eigenscape.streams import as_chunks

    return is_collection(X) or as_chunks(X) is not None


def _chunks(X: Any) -> Iterable[Any]:
    from eigenscape.streams import as_chunks

    found = as_chunks(X)
    return [X] if found is None else found


@dataclass(frozen=True, eq=False)
class ScaledChunks:
    """Chunks of rows, standardised as they come."""

    chunks: Any
    scaler: Any

    def __iter__(self) -> Iterator[Any]:
        for chunk in _chunks(self.chunks):
            yield self.scaler.transform(chunk)
