"""Reading the input of a command: tables, models, and the columns that a model needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.errors import CommandError, print_message, with_option_names
from eigenscape.app.cli.estimators import method_of
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.preprocessing import StandardScaler

    from eigenscape.app.io import Table

#: Number of column names that a message shows.
_SHOWN_READ, _SHOWN_ERROR = 8, 10
#: Classes that can be fitted in chunks.
_STREAMING = ("GreedySpectralEmbedding", "PCA")
#: Size of a file in bytes from which these are fitted in chunks by default.
STREAM_BYTES = 2**28
#: Meaning of the input if a parameter is "precomputed".
_KINDS = {
    ("metric", "precomputed"): "distances",
    ("affinity", "precomputed"): "affinities",
    ("affinity", "precomputed_nearest_neighbors"): "distances",
    ("kernel", "precomputed"): "affinities",
}


@dataclass(frozen=True)
class InputOptions:
    """Options about reading a file, as given on the command line."""

    label: str | None = None
    id: str | None = None
    columns: str | None = None
    missing: str = "error"
    size: str | None = None
    kind: str | None = None
    stream: bool = False

    def as_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments for :func:`eigenscape.read`."""
        return {
            "columns": split_names(self.columns),
            "label": self.label,
            "id": self.id,
            "size": _image_size(self.size),
            "kind": self.kind,
            "missing": self.missing,
            "stream": self.stream,
        }


def split_names(text: str | None) -> list[str] | None:
    """Split the names of columns at commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _image_size(text: str | None) -> tuple[int, int] | None:
    """Convert ``28x32`` to (28, 32) and ``28`` to (28, 28)."""
    if text is None:
        return None
    parts = text.lower().split("x")
    if len(parts) > 2 or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise CommandError(f"--size must be HEIGHTxWIDTH, such as 28x28, got {text!r}")
    return int(parts[0]), int(parts[-1])


def input_kind(kind: str | None, parameters: dict[str, Any]) -> str | None:
    """Return the kind of input given by ``--kind`` or by a parameter such as ``--metric precomputed``."""
    implied = {_KINDS[item] for item in parameters.items() if isinstance(item[1], str) and item in _KINDS}
    if kind is None:
        return next(iter(implied), None)
    if kind != "edges" and implied and kind not in implied:
        raise CommandError(
            f"--kind {kind} contradicts the parameters, which require {implied.pop()}; omit one of them"
        )
    return kind


def use_stream(source: str, requested: bool, class_name: str) -> bool:
    """Return whether to read in chunks: if requested, or if the file is large and the method allows it."""
    if requested and class_name not in _STREAMING:
        raise CommandError(
            f"--stream is supported by -m greedy and -m pca only; {class_name} needs all rows in memory"
        )
    if requested or class_name not in _STREAMING or source == "-":
        return requested
    path = Path(source)
    files = [path] if path.is_file() else list(path.glob("*.parquet"))
    return sum(file.stat().st_size for file in files) > STREAM_BYTES


def read_table(source: str, options: InputOptions, quiet: bool = False) -> Table:
    """Read a file, or CSV from standard input if ``source`` is ``-``."""
    import numpy as np

    from eigenscape.app.io import read

    table = read(source, **options.as_arguments())
    if isinstance(table.array, np.memmap) and not options.stream:
        table = replace(table, array=np.asarray(table.array))  # estimators fit a memmap in chunks
    print_message(f"read {table.source or source}: {_describe(table)}", quiet)
    return table


def read_training_table(source: str, options: InputOptions, quiet: bool) -> Table:
    """Read the rows to fit; print remarks on its columns, and require at least two rows."""
    table = read_table(source, options, quiet)
    for remark in table.remarks:
        print_message(f"warning: {with_option_names(remark)}")
    shape = getattr(table.array, "shape", None)
    if shape is not None and shape[0] < 2:
        raise CommandError(
            f"{table.source or source} has {_count(shape[0], 'row')}; at least 2 samples are needed"
        )
    return table


def is_streamed(X: Any) -> bool:
    """Return whether rows are read in chunks or are a dask collection."""
    from eigenscape.distributed import is_collection
    from eigenscape.streams import as_chunks

    return is_collection(X) or as_chunks(X) is not None


def row_chunks(X: Any) -> Iterable[Any]:
    """Return the chunks of streamed rows; a dask collection is one chunk."""
    from eigenscape.streams import as_chunks

    chunks = as_chunks(X)
    return [X] if chunks is None else chunks


def column_roles(table: Table) -> dict[str, Any]:
    """Return which columns are used, for ``--json``."""
    return {"columns": list(table.names), "label": table.label_name, "id": table.id_name}


def _describe(table: Table) -> str:
    """Return the shape of a table and the roles of its columns."""
    from eigenscape.app.io.table import default_names

    shape = getattr(table.array, "shape", None)
    parts = [f"{_count(shape[0], 'row')}, {_count(shape[1], 'column')}" if shape else "rows in chunks"]
    if table.kind == "rows" and tuple(table.names) != default_names(len(table.names)):
        more = ", ..." if len(table.names) > _SHOWN_READ else ""
        parts[0] += f" ({', '.join(table.names[:_SHOWN_READ])}{more})"
    roles = {"label": table.label_name, "id": table.id_name}
    return ", ".join(parts + [f"{role} {name}" for role, name in roles.items() if name is not None])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model file: the model, its parts, and the notes written by the command that saved it."""

    model: BaseEstimator  # the estimator, or a pipeline of scaler and estimator
    estimator: BaseEstimator
    scaler: StandardScaler | None
    method: str
    notes: dict[str, Any]  # columns, label, id, size, command


def load_model(path: str) -> SavedModel:
    """Load a model file."""
    from eigenscape.app.io import describe, load

    model, header = load(path), describe(path)
    steps = getattr(model, "steps", None)
    estimator, scaler = (model, None) if steps is None else (steps[-1][1], steps[0][1])
    return SavedModel(model, estimator, scaler, method_of(header["method"]), parse_notes(header["notes"]))


def parse_notes(text: str | None) -> dict[str, Any]:
    """Parse the notes that a command wrote to a model file; return {} for notes written from Python."""
    try:
        notes = json.loads(text or "{}")
    except ValueError:
        return {}
    return notes if isinstance(notes, dict) else {}


def read_new_table(source: str, options: InputOptions, notes: dict[str, Any], quiet: bool) -> Table:
    """Read new rows with the columns that a model was fitted to, in the same order."""
    names = notes.get("columns", [])
    if options.stream:
        has_names = not source.endswith(".npy")
        columns = ",".join(names) if has_names and names else None
        return read_table(source, replace(options, columns=columns), quiet)
    table = _read_with_roles(source, replace(options, missing="keep", size=notes.get("size")), notes, quiet)
    if not names:
        return table
    return match_columns(table, names, options.label or notes.get("label"), options.missing, quiet)


def _read_with_roles(source: str, options: InputOptions, notes: dict[str, Any], quiet: bool) -> Table:
    """Read with the label and id columns of the training file, if the new file has them."""
    known = replace(options, label=options.label or notes.get("label"), id=options.id or notes.get("id"))
    if source == "-" or known == options:  # standard input can be read only once
        return read_table(source, options, quiet)
    for attempt in (known, replace(known, label=options.label), replace(known, id=options.id)):
        try:
            return read_table(source, attempt, quiet)
        except InputFileError as error:
            if "has no column" not in str(error):
                raise
    return read_table(source, options, quiet)


def match_columns(table: Table, wanted: Sequence[str], label: str | None, missing: str, quiet: bool) -> Table:
    """Select and order the columns that a model was fitted to: by name, or by position without names.

    Other columns are dropped with a message, except for the column of labels.
    """
    from eigenscape.app.io.missing import handle_missing
    from eigenscape.app.io.table import default_names

    table = _parse_text_columns(table, wanted)
    names = list(table.names)
    if label is not None and label in names and label not in wanted:
        table = replace(table, labels=table.array[:, names.index(label)], label_name=label)
        table = _select_columns(table, [index for index, name in enumerate(names) if name != label])
        names.remove(label)
    lacking = [name for name in wanted if name not in names]
    if not lacking:
        others = [name for name in names if name not in wanted]
        if others:
            print_message(f"columns that the model does not use are ignored: {list_names(others)}", quiet)
        return handle_missing(_select_columns(table, [names.index(name) for name in wanted]), missing)
    by_position = tuple(names) == default_names(len(names)) or tuple(wanted) == default_names(len(wanted))
    if by_position and len(names) == len(wanted):
        return handle_missing(table, missing)
    if by_position:
        raise InputFileError(
            f"{table.source} has {len(names)} numeric columns, but the model was fitted to {len(wanted)}"
        )
    pairs = [(name, lack) for lack in lacking for name in names if name.casefold() == lack.casefold()]
    hint = f"; did you mean {list_names([f'{a} for {b}' for a, b in pairs])}? Rename it" if pairs else ""
    raise InputFileError(
        f"{table.source} lacks columns that the model needs: {list_names(lacking)};"
        f" it has {list_names(names)}{hint}"
    )


def _parse_text_columns(table: Table, wanted: Sequence[str]) -> Table:
    """Convert columns that were read as text to numbers if the model needs them."""
    import numpy as np

    from eigenscape.app.io.cells import looks_numeric, parse_numbers

    text = dict(table.extra)
    label = table.label_name
    if table.labels is not None and label is not None and label in wanted and label not in table.names:
        text[label] = table.labels
        table = replace(table, labels=None, label_name=None)
    for name in (name for name in wanted if name in text and name not in table.names):
        cells = [str(cell) for cell in text[name]]
        column = parse_numbers(cells)
        if column is None:
            invalid = ((i, cell) for i, cell in enumerate(cells) if not looks_numeric(cell) or "," in cell)
            row, cell = next(invalid, (0, ""))
            raise InputFileError(
                f"column {name!r} of {table.source} holds text ({cell!r} in row {row + 1}, counted from 1),"
                " but the model needs numbers"
            )
        extra = {known: values for known, values in table.extra.items() if known != name}
        array = np.column_stack([table.array, column])
        table = replace(table, array=array, names=(*table.names, name), extra=extra)
    return table


def _select_columns(table: Table, indices: list[int]) -> Table:
    import numpy as np

    names = tuple(table.names[index] for index in indices)
    return replace(table, array=table.array[:, np.array(indices, dtype=np.intp)], names=names)


def list_names(names: Sequence[str]) -> str:
    """Join names by commas; of many, only the first."""
    more = f", ... ({len(names)})" if len(names) > _SHOWN_ERROR else ""
    return ", ".join(names[:_SHOWN_ERROR]) + more
