"""Reading the input of a command: tables, models, and the columns that a model needs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.errors import CommandError, print_message, with_option_names
from eigenscape.app.cli.options import InputOptions
from eigenscape.app.methods import find_class, method_of, methods_with

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.preprocessing import StandardScaler

    from eigenscape.app.io.missing import Imputation
    from eigenscape.app.io.table import Table

#: Number of column names that a message shows.
_SHOWN_READ, _SHOWN_ODD = 8, 4
#: Size of a file in bytes from which methods are fitted in chunks by default.
STREAM_BYTES = 2**28
#: Value of the parameter of an estimator that takes each kind of precomputed input.
PRECOMPUTED = {
    ("metric", "distances"): "precomputed",
    ("metric", "edges"): "precomputed",
    ("affinity", "distances"): "precomputed_nearest_neighbors",
    ("affinity", "affinities"): "precomputed",
    ("affinity", "edges"): "precomputed",
    ("kernel", "affinities"): "precomputed",
}


def reader_options(options: InputOptions) -> dict[str, Any]:
    """Return the options for reading that are given, as arguments of :func:`eigenscape.read`."""
    names = ("label", "id", "encode", "header", "kind", "use_rep", "layer", "obsp")
    chosen: dict[str, Any] = {name: getattr(options, name) for name in names}
    for name in ("columns", "exclude"):
        text = getattr(options, name)
        chosen[name] = None if text is None else [part.strip() for part in text.split(",") if part.strip()]
    if options.weight is not None:
        chosen["exclude"] = [*(chosen["exclude"] or ()), options.weight]
    if options.size is not None:
        chosen["size"] = image_size(options.size, "--size", 2)
    chosen["missing"] = options.missing or None
    return {name: value for name, value in chosen.items() if value is not None}


def image_size(text: str, option: str, max_parts: int) -> tuple[int, ...]:
    """Convert ``28x32`` to (28, 32) and ``28`` to (28, 28)."""
    parts = text.lower().split("x")
    if len(parts) > max_parts or not all(re.fullmatch("0*[1-9][0-9]{0,4}", part) for part in parts):
        raise CommandError(f"{option} must be HEIGHTxWIDTH, such as 28x28, got {text!r}")
    return tuple(map(int, parts * 2 if len(parts) == 1 else parts))


def input_kind(kind: str | None, *parameters: Mapping[str, Any]) -> str | None:
    """Return the kind of input given by ``--kind`` or by a parameter such as ``--metric precomputed``."""
    kinds = {(name, value): kind for (name, kind), value in PRECOMPUTED.items() if kind != "edges"}
    given = [item for chosen in parameters for item in chosen.items() if isinstance(item[1], str)]
    implied = [kinds[item] for item in given if item in kinds]
    if kind is None or kind == "edges" or not implied or kind in implied:
        return kind or next(iter(implied), None)
    raise CommandError(
        f"--kind {kind} contradicts the parameters, which require {implied[0]}; omit one of them"
    )


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


def read_table(source: str, options: InputOptions, quiet: bool, notes: dict[str, Any] | None = None) -> Table:
    """Read a file, or CSV from standard input if ``source`` is ``-``, and print what was read.

    ``notes`` describe the columns that a model was fitted to: label and id are used if the file has them, and
    text is encoded and missing values are filled in as in the training rows.
    """

    from eigenscape.app.io.column_selection import ColumnSelection
    from eigenscape.app.io.reading import read_selection

    given = reader_options(options)
    size = given.pop("size", None)
    if notes is None:
        selection = ColumnSelection.from_options(**given)
    else:
        from eigenscape.app.io.matching import known_selection

        selection = known_selection(notes, **given)
    table = read_selection(source, selection, size, options.stream)
    print_message(f"read {table.source or source}: {_describe(table)}", quiet)
    if table.n_dropped or table.imputation is not None:
        print_missing(table, quiet)
    return table


def read_training_table(source: str, options: InputOptions, quiet: bool) -> Table:
    """Read the rows to fit; print remarks on its columns, and require at least two rows."""
    table = read_table(source, options, quiet)
    for remark in table.remarks:
        print_message(f"warning: {with_option_names(remark)}")
    shape = getattr(table.array, "shape", None)
    if shape is not None and shape[0] < 2:
        rows = _count(shape[0], "row")
        raise CommandError(f"{table.source or source} has {rows}; at least 2 samples are needed")
    return table


def column_roles(table: Table) -> dict[str, Any]:
    """Return which columns are used, for ``--json``."""
    roles = {"columns": list(table.names), "label": table.label_name, "id": table.id_name}
    filled = {} if table.imputation is None else {"imputed_values": table.imputation.n_values}
    return {**roles, "dropped_rows": table.n_dropped, **filled}


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
    """List the names of columns, and those of an unusual type.

    A single column of integers among many others, which may not belong to the features, is seen in this way.
    """
    text = ", ".join(table.names[:_SHOWN_READ])
    if len(table.names) > _SHOWN_READ:
        text += f", ..., {table.names[-1]}"
    for kind, word in (("int", "integers"), ("bool", "true or false")):
        odd = [name for name, found in zip(table.names, table.dtypes, strict=False) if found == kind]
        if 0 < len(odd) <= _SHOWN_ODD and len(odd) < len(table.names) / 2:
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
    class_name: str  # of the estimator that was fitted, also if the model is a compact one
    notes: dict[str, Any]  # columns, label, id, size, command

    @property
    def method(self) -> str:
        """Return the name of the method; of other classes their name."""
        cls = find_class(self.class_name)
        return self.class_name if cls is None else method_of(cls)

    def scaled(self, X: Any) -> Any:
        """Return rows as the estimator was fitted to them."""
        return X if self.scaler is None else self.scaler.transform(X)


def load_model(path: str) -> SavedModel:
    """Load a model file."""
    from eigenscape.app.io.models import describe, load, split_scaler

    model, header = load(path), describe(path)
    scaler, estimator = split_scaler(model)
    return SavedModel(model, estimator, scaler, header["method"], parse_notes(header["notes"]))


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
        "categories": table.categories or None,
        "imputation": table.imputation and {"means": table.imputation.means.tolist()},
    }
    notes |= {name: getattr(options, name) for name in ("size", "use_rep", "layer", "obsp")}
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
    from eigenscape.app.io.matching import encoded_columns, known_selection, match_columns

    imputation = known_selection(notes).imputation
    missing = _new_missing(options.missing, imputation)
    names, encoded = notes.get("columns", []), encoded_columns(notes)
    options = replace(options, size=notes.get("size"), missing="keep")
    if source.endswith(".h5ad"):
        options = replace(options, use_rep=notes.get("use_rep"), layer=notes.get("layer"))
    if options.stream:
        stored = dict.fromkeys(encoded.get(name, name) for name in names)
        columns = ",".join(stored) if names and not source.endswith((".npy", ".zarr")) else None
        return read_table(source, replace(options, columns=columns, missing=missing), quiet, notes)
    table = read_table(source, options, quiet, notes)
    if names:
        table = match_columns(table, names, lambda text: print_message(text, quiet), encoded)
    return finish_rows(table, missing, quiet, imputation)


def _new_missing(missing: str, imputation: Imputation | None) -> str:
    """Return how missing values of new rows are treated."""
    if missing == "mean" and imputation is None:
        raise CommandError(
            "--missing mean needs a model that was fitted with it, which has the values to fill in; use"
            " --missing drop"
        )
    return missing or ("error" if imputation is None else "mean")


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
        print_message(
            f"filled in {_count(found.n_values, 'missing value')} in {_count(found.n_rows, 'row')}, each by"
            " the mean of its column",
            quiet,
        )
