"""Writing the results of a command.

All targets are checked before the computation starts; every file is written completely or not at all.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from eigenscape._format import to_json
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import column_notes, is_streamed
from eigenscape.app.cli.options import Display, InputOptions, OutputOptions
from eigenscape.app.methods import class_name

if TYPE_CHECKING:
    import numpy as np

    from eigenscape.app.cli.run import CommandFit
    from eigenscape.app.io import Table

_PLOT_SUFFIXES = (".png", ".svg", ".pdf")
#: Maximum number of characters of the labels in a model file, whose header is limited to 16 MiB.
MAX_CHARACTERS = 4_000_000


def check_targets(source: str, options: OutputOptions, display: Display, model: str | None = None) -> None:
    """Raise CommandError if a target cannot be written or is also a file to read or another target.

    Parameters
    ----------
    source : str
        The input file.
    options : OutputOptions
        The targets.
    display : Display
        Whether standard output is used for a summary.
    model : str, optional
        The model file that the command reads.
    """
    if display.as_json and options.out == "-":
        raise CommandError("-o - and --json both write to standard output; give -o a file")
    if sys.stdout is None and (display.as_json or options.out == "-"):
        raise CommandError("standard output is closed; write to a file with -o")
    from eigenscape.app.io.atomic import check_target
    from eigenscape.app.io.writing import check_format

    used: dict[str, str] = {}
    if source != "-" and not source.endswith(".h5ad"):  # coordinates may be added to an h5ad file
        used[os.path.realpath(source)] = "the input"
    if model is not None:
        used[os.path.realpath(Path(model).expanduser())] = "the model"
    for name in ("out", "plot", "report", "save"):
        target = getattr(options, name)
        option = "-o" if name == "out" else f"--{name}"
        if target is None or (target == "-" and name == "out"):
            continue
        if target == "-":
            raise CommandError(f"{option} needs a file; only -o accepts - for standard output")
        path = os.path.realpath(Path(target).expanduser())
        if path in used:
            raise CommandError(f"{option} {target} is also {used[path]}; use another name")
        used[path] = f"the target of {option}"
        suffix = Path(target).suffix.lower()
        if name == "plot" and suffix not in _PLOT_SUFFIXES:
            raise CommandError(f"--plot {target}: the suffix must be one of {', '.join(_PLOT_SUFFIXES)}")
        if name == "report" and suffix not in (".html", ".htm"):
            raise CommandError(f"--report {target}: the suffix must be .html")
        check_target(target, options.force)
        if name == "out":
            check_format(target)


def write_rows(
    rows: np.ndarray,
    names: Sequence[str] | None,
    table: Table,
    options: OutputOptions,
    *,
    extra: Mapping[str, np.ndarray] | None = None,
    method: str | None = None,
) -> None:
    """Write a line for each row of a table, with its id and label, if there is a target.

    Coordinates are added to a copy of an h5ad file under the name of their ``method``.
    """
    if options.out is None:
        return
    from eigenscape.app.io import write_table

    numbers = {} if table.rows is None or table.ids is not None else {"row": table.rows + 1}  # counted from 1
    extra = {**numbers, **(extra or {})}
    annotated: dict[str, Any] = {}
    if method is not None:
        like = table.source if table.source.endswith(".h5ad") else None
        annotated = {"like": like, "rows": table.rows, "method": method.replace("-", "_")}
    write_table(
        options.out,
        rows,
        names=names,
        ids=table.ids,
        labels=table.labels,
        label_name=_label_column(table, [*(names or ()), *extra]),
        extra=extra,
        force=options.force,
        spreadsheet_safe=options.spreadsheet_safe,
        **annotated,
    )


def write_coordinates(
    embedding: np.ndarray,
    method: str,
    table: Table,
    options: OutputOptions,
    clusters: np.ndarray | None = None,
) -> None:
    """Write coordinates with the ids and labels of their rows, and with their clusters if given."""
    names = coordinate_names(method, embedding.shape[1])
    write_rows(
        embedding,
        names,
        table,
        options,
        extra=None if clusters is None else {"cluster": clusters},
        method=method,
    )


def coordinate_names(method: str, count: int) -> list[str]:
    """Return the names of the columns of coordinates, as ``get_feature_names_out``: ``kernelpca0``, ..."""
    return [f"{class_name(method).lower()}{number}" for number in range(count)]


def _label_column(table: Table, used: Sequence[str]) -> str:
    """Return the name of the column of labels: as in the input, or "label" if it has none or is in use."""
    name = table.label_name
    unnamed = name is None or re.fullmatch(r"x\d+", name) is not None  # x0, x1, ... are default names
    return "label" if unnamed or name in (*used, "id", "row") else str(name)


def write_plot(
    path: str | None,
    embedding: np.ndarray,
    *,
    title: str,
    table: Table | None = None,
    labels: np.ndarray | None = None,
    new: np.ndarray | None = None,
    force: bool = False,
) -> None:
    """Write a scatter plot of the first two coordinates, with the labels and images of a table, to a path."""
    if path is None:
        return
    from matplotlib.figure import Figure

    from eigenscape.app.io import whole_file
    from eigenscape.plot import scatter

    figure = Figure(figsize=(7, 6), layout="constrained")  # without pyplot: no global state, no window
    labels = table.labels if labels is None and table is not None else labels
    images = None
    if table is not None and table.image_shape is not None:
        images = table.array.reshape(-1, *table.image_shape)
    scatter(embedding, labels=labels, images=images, new=new, title=title, ax=figure.add_subplot())
    picture = io.BytesIO()  # in memory first: matplotlib's writers replace errors of a full disk by others
    figure.savefig(picture, format=Path(path).suffix.lower()[1:], dpi=150)
    with whole_file(path, force=force) as part:
        part.write_bytes(picture.getbuffer())


def write_fit_report(result: CommandFit, command: str, options: OutputOptions) -> None:
    """Write the HTML report of a fit if there is a target."""
    if options.report is None:
        return
    from eigenscape._memory import peak_memory
    from eigenscape.app.report import write_report

    compact = options.compact_size
    write_report(
        options.report,
        result.estimator,
        result.fitted_table,
        command=command,
        timings=result.timer.by_stage(),
        memory=peak_memory(),
        max_points=options.report_points or None,
        compact=compact if compact is True or compact is None or compact < result.n_rows else None,
        force=options.force,
    )


def save_model(
    result: CommandFit, reading: InputOptions, writing: OutputOptions, command: str, quiet: bool
) -> dict[str, Any] | None:
    """Save a fitted model with the names of its columns; return size and error of a compact model."""
    if writing.save is None:
        return None
    from sklearn.pipeline import Pipeline

    from eigenscape.app.io import describe, save

    table, model, n_rows, compact = result.table, result.estimator, result.n_rows, writing.compact_size
    notes = {**column_notes(table, reading), "command": command}
    if table.labels is not None and len(table.labels) == n_rows and compact is None:
        notes["training_labels"] = label_notes(table.labels)
        if notes["training_labels"] is None:
            print_message("the labels are too many for the model file, so that plots of it have none", quiet)
    if compact is not None and compact is not True and compact >= n_rows:
        print_message(f"--compact {compact} is ignored: there are only {n_rows} rows", quiet)
        compact = None
    if result.scaler is not None:
        model = Pipeline([("standardize", result.scaler), ("map", model)])
    save(
        model,
        writing.save,
        compact=compact,
        force=writing.force,
        notes=json.dumps(notes),
        data=None if is_streamed(table.array) or table.kind == "edges" else table.array,
    )
    compacted = describe(writing.save)["compact"]
    if compacted is not None:
        kept = "no rows" if compacted["size"] is None else f"{compacted['size']} rows"
        error = f"{100 * compacted['error']:.2g} % of the spread of the coordinates"
        print_message(f"the compact model keeps {kept}; its error on the training rows is {error}", quiet)
    return compacted


def label_notes(labels: np.ndarray | None) -> dict[str, Any] | None:
    """Return labels in a form for JSON: numbers, or codes of texts; None if there are none or too many."""
    import numpy as np

    from eigenscape._roles import missing_labels

    if labels is None:
        return None
    if labels.dtype.kind in "iuf":
        values, names = labels.astype("<i8" if labels.dtype.kind in "iu" else "<f8"), None
    else:
        missing = missing_labels(labels)
        texts, codes = np.unique(np.array([str(label) for label in labels[~missing]]), return_inverse=True)
        values, names = np.full(len(labels), -1, dtype="<i4"), [str(text) for text in texts]
        values[~missing] = codes
    packed = base64.b64encode(zlib.compress(values.tobytes(), 6)).decode("ascii")
    if len(packed) + sum(len(name) + 4 for name in names or ()) > MAX_CHARACTERS:
        return None
    return {"dtype": values.dtype.str, "values": packed, "names": names}


def labels_from_notes(notes: dict[str, Any], n: int) -> np.ndarray | None:
    """Return the labels of ``n`` training rows from the notes of a model file, or None if it has none."""
    import numpy as np

    stored = notes.get("training_labels")
    if stored is None:
        return None
    try:
        dtype, names = np.dtype(stored["dtype"]), stored["names"]
        if dtype.str not in ("<i8", "<f8", "<i4"):
            raise ValueError(dtype.str)
        n_bytes = n * dtype.itemsize
        raw = zlib.decompressobj().decompress(base64.b64decode(stored["values"], validate=True), n_bytes + 1)
        if len(raw) != n_bytes:
            raise ValueError(f"{len(raw)} bytes")
        values = np.frombuffer(raw, dtype)
        if names is None:
            return values
        if values.dtype.kind != "i" or not ((values >= -1) & (values < len(names))).all():
            raise ValueError("a code without a name")
        return np.array([*(str(name) for name in names), None], dtype=object)[values]
    except (KeyError, IndexError, TypeError, ValueError, binascii.Error, zlib.error) as error:
        raise CommandError(
            f"the labels of the training rows in the model file are damaged ({error}); save the model again"
        ) from error


def print_summary(summary: dict[str, Any], files: dict[str, str | None], display: Display) -> None:
    """Print the summary of a command as JSON, or the names of the files it wrote."""
    written = {name: file for name, file in files.items() if file is not None}
    if display.as_json:
        typer.echo(json.dumps(to_json({**summary, "files": written}), indent=2))
        return
    for name, file in written.items():
        if file != "-":
            print_message(f"wrote {file} ({name})", display.quiet)
