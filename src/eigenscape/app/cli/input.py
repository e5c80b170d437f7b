"""Reading the input of a command: tables, models, and the columns that a model needs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.errors import CommandError, print_message, with_option_names
from eigenscape.app.cli.options import InputOptions
from eigenscape.app.methods import find_class, method_of, methods_with
from eigenscape.exceptions import ModelFileError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.preprocessing import StandardScaler

    from eigenscape.app.io import Table
    from eigenscape.app.io.column_selection import ColumnSelection
    from eigenscape.app.io.imputation import Imputation

#: Number of column names that a message shows.
_SHOWN_READ, _SHOWN_ODD = 8, 4
#: Size of a file in bytes from which methods are fitted in chunks by default.
STREAM_BYTES = 2**28
#: Meaning of the input if a parameter is "precomputed".
_KINDS = {
    ("metric", "precomputed"): "distances",
    ("affinity", "precomputed"): "affinities",
    ("affinity", "precomputed_nearest_neighbors"): "distances",
    ("kernel", "precomputed"): "affinities",
}


def _selection(options: InputOptions, notes: dict[str, Any]) -> ColumnSelection:
    """Return the selection for the reader, with the columns that a model was fitted to, if any."""
    from eigenscape.app.io.column_selection import ColumnSelection
    from eigenscape.app.io.imputation import Imputation

    selection = ColumnSelection.from_options(
        split_names(options.columns),
        options.label,
        options.id,
        options.missing or "error",
        [*(split_names(options.exclude) or ()), *([] if options.weight is None else [options.weight])],
        options.encode,
        options.kind,
        obsm=options.use_rep,
        layers=options.layer,
        obsp=options.obsp,
    )
    imputation, categories = notes.get("imputation"), notes.get("categories")
    try:
        return replace(
            selection,
            encode="onehot" if categories else selection.encode,
            known_columns=tuple(notes.get("columns", ())),
            known_label=notes.get("label"),
            known_id=notes.get("id"),
            categories=categories and {name: tuple(values) for name, values in categories.items()},
            imputation=imputation and Imputation.from_notes(imputation),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # anything may be in a file
        raise ModelFileError(f"the description of columns of the model is damaged: {error}") from error


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


def use_stream(source: str, requested: bool, cls: type[Any]) -> bool:
    """Return whether to read in chunks: if requested, or if the file is large and the method allows it."""
    if requested and not cls._method.streams:
        supported = " and -m ".join(sorted(methods_with("streams")))
        raise CommandError(
            f"--stream is supported by -m {supported} only; {cls.__name__} needs all rows in memory"
        )
    if requested or not cls._method.streams or source == "-":
        return requested
    path = Path(source)
    files = [path] if path.is_file() else list(path.glob("*.parquet"))
    return sum(file.stat().st_size for file in files) > STREAM_BYTES


def read_table(
    source: str, options: InputOptions, quiet: bool = False, notes: dict[str, Any] | None = None
) -> Table:
    """Read a file, or CSV from standard input if ``source`` is ``-``.

    ``notes`` describe the columns that a model was fitted to: label and id are used if the file has them, and
    text is encoded and missing values are filled in as in the training rows.
    """
    import numpy as np

    from eigenscape.app.io.reading import read_selection

    selection = _selection(options, notes or {})
    table = read_selection(source, selection, _image_size(options.size), options.stream)
    if isinstance(table.array, np.memmap) and not options.stream:
        table = replace(table, array=np.asarray(table.array))  # estimators fit a memmap in chunks
    print_message(f"read {table.source or source}: {_describe(table)}", quiet)
    print_missing(table, quiet)
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
    roles: dict[str, Any] = {
        "columns": list(table.names),
        "label": table.label_name,
        "id": table.id_name,
        "dropped_rows": table.n_dropped,
    }
    if table.imputation is not None:
        roles["imputed_values"] = table.imputation.n_values
    return roles


def _describe(table: Table) -> str:
    """Return the shape of a table and the roles of its columns."""
    from eigenscape.app.io.table import default_names

    shape = getattr(table.array, "shape", None)
    rows = _count(shape[0], "row") if shape else "rows in chunks"
    parts = [f"{rows}, {_count(len(table.names), 'column')}"]
    if table.kind == "rows" and tuple(table.names) != default_names(len(table.names)):
        parts[0] += f" ({_summarize_names(table)})"
    roles = {"label": table.label_name, "id": table.id_name}
    return ", ".join(parts + [f"{role} {name}" for role, name in roles.items() if name is not None])


def _summarize_names(table: Table) -> str:
    """List the names of columns; numbered ones are joined, and columns of an unusual type are named.

    A single column of integers among many others, which may not belong to the features, is seen in this way.
    """
    groups: dict[str, list[str]] = {}
    for name in table.names:
        stem = re.sub(r"\d+", "0", name) if re.search(r"\d", name) else name
        groups.setdefault(stem, []).append(name)
    shown = []
    for names in groups.values():
        shown += names if len(names) < 4 else [f"{names[0]} ... {names[-1]}"]
    text = ", ".join(shown[:_SHOWN_READ])
    if len(shown) > _SHOWN_READ:
        text += f", ..., {shown[-1]}"
    kinds = Counter(table.dtypes)
    for kind, word in (("int", "integers"), ("bool", "true or false")):
        odd = [name for name, found in zip(table.names, table.dtypes, strict=False) if found == kind]
        if 0 < len(odd) <= _SHOWN_ODD and kinds[kind] < len(table.names) / 2:
            text += f"; {word}: {', '.join(odd)}"
    return text


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
    return SavedModel(
        model, estimator, scaler, _stored_method(header["method"]), parse_notes(header["notes"])
    )


def _stored_method(name: str) -> str:
    """Return the name of the method of a class that is named in a model file."""
    cls = find_class(name)
    return name if cls is None else method_of(cls)


def load_map(model_file: str) -> SavedModel:
    """Return a saved model that has coordinates."""
    saved = load_model(model_file)
    command = getattr(getattr(saved.estimator, "_method", None), "command", None)
    if command == "" or not hasattr(saved.estimator, "transform"):
        remedy = f"use eigenscape {command} --model" if command else "load it in Python"
        raise CommandError(f"{model_file} contains a {saved.method}, which has no coordinates; {remedy}")
    return saved


def parse_notes(text: str | None) -> dict[str, Any]:
    """Parse the notes that a command wrote to a model file; return {} for notes written from Python."""
    try:
        notes = json.loads(text or "{}")
    except ValueError:
        return {}
    return notes if isinstance(notes, dict) else {}


def column_notes(table: Table, options: InputOptions) -> dict[str, Any]:
    """Return the description of the columns that a model is fitted to, which is saved with it."""
    notes = {
        "columns": list(table.names),
        "label": table.label_name,
        "id": table.id_name,
        "size": options.size,
        "use_rep": options.use_rep,
        "layer": options.layer,
        "obsp": options.obsp,
        "categories": table.categories or None,
        "imputation": table.imputation and table.imputation.to_notes(),
    }
    return {name: value for name, value in notes.items() if value is not None}


def read_new_table(source: str, options: InputOptions, notes: dict[str, Any], quiet: bool) -> Table:
    """Read new rows with the columns that a model was fitted to, in the same order.

    Missing values are treated as in the training rows if ``options.missing`` is empty.
    """
    if notes.get("obsp"):
        raise CommandError(
            f"the model was fitted to the graph obsp[{notes['obsp']!r}], which has no new rows; fit it to"
            " rows, for example with --use-rep X_pca"
        )
    from eigenscape.app.io.matching import encoded_columns, match_columns

    names, requested = notes.get("columns", []), options.missing
    options = replace(options, size=notes.get("size"), missing="keep")
    imputation = _selection(options, notes).imputation
    missing = _new_missing(requested, imputation)
    if source.endswith(".h5ad"):
        options = replace(options, use_rep=notes.get("use_rep"), layer=notes.get("layer"))
    if options.stream:
        named = names and not source.endswith((".npy", ".zarr"))
        columns = ",".join(_stored_columns(names, notes)) if named else None
        return read_table(source, replace(options, columns=columns, missing=missing), quiet, notes)
    table = read_table(source, options, quiet, notes)
    if names:
        table = match_columns(
            table,
            names,
            options.label or notes.get("label"),
            lambda text: print_message(text, quiet),
            encoded_columns(notes),
        )
    return finish_rows(table, missing, quiet, imputation)


def _new_missing(missing: str, imputation: Imputation | None) -> str:
    """Return how missing values of new rows are treated."""
    method = None if imputation is None else imputation.method
    if missing in ("mean", "ppca") and missing != method:
        raise CommandError(
            f"--missing {missing} needs a model that was fitted with it, which has the values to fill in;"
            " use --missing drop"
        )
    return missing or method or "error"


def _stored_columns(names: Sequence[str], notes: dict[str, Any]) -> list[str]:
    """Return the columns of a file that a model needs: encoded ones by the name that they have there."""
    from eigenscape.app.io.matching import encoded_columns

    origin = encoded_columns(notes)
    return list(dict.fromkeys(origin.get(name, name) for name in names))


def finish_rows(table: Table, missing: str, quiet: bool, imputation: Imputation | None = None) -> Table:
    """Apply the option ``--missing`` to a table, and print what was done."""
    from eigenscape.app.io.missing import handle_missing

    table = handle_missing(table, missing, imputation)
    print_missing(table, quiet)
    return table


def print_missing(table: Table, quiet: bool) -> None:
    """Print how many rows were dropped, or how many values were filled in."""
    if table.n_dropped and table.rows is not None:
        kept = "ids" if table.ids is not None else "row numbers"
        print_message(
            f"dropped {table.n_dropped} of {_count(table.n_dropped + len(table.rows), 'row')} with missing or"
            f" infinite values; the output has the {kept} of the others",
            quiet,
        )
    found = table.imputation
    if found is not None and found.n_values:
        by = "the mean of its column" if found.method == "mean" else "probabilistic PCA"
        error = f" (error on hidden values: {found.error:.2f} of their spread)" if found.error else ""
        print_message(
            f"filled in {_count(found.n_values, 'missing value')} in {_count(found.n_rows, 'row')}, each by"
            f" {by}{error}",
            quiet,
        )
