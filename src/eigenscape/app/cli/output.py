"""Writing the results of a command.

All targets are checked before the computation starts; every file is written completely or not at all.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from eigenscape._format import to_json
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import InputOptions, column_notes, is_streamed
from eigenscape.app.cli.training_labels import label_notes
from eigenscape.app.methods import class_name

if TYPE_CHECKING:
    import numpy as np

    from eigenscape.app.cli.run import CommandFit
    from eigenscape.app.io import Table

_PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def check_targets(
    source: str,
    force: bool,
    as_json: bool,
    model: str | None = None,
    **targets: str | None,
) -> None:
    """Raise CommandError if a target cannot be written or is also a file to read or another target.

    Parameters
    ----------
    source : str
        The input file.
    force : bool
        Whether existing files may be overwritten.
    as_json : bool
        Whether standard output is used for a summary.
    model : str, optional
        The model file that the command reads.
    **targets : str or None
        The target of each option, by its name: ``out``, ``plot``, ``report``, ``save``.
    """
    if as_json and targets.get("out") == "-":
        raise CommandError("-o - and --json both write to standard output; give -o a file")
    if sys.stdout is None and (as_json or targets.get("out") == "-"):
        raise CommandError("standard output is closed; write to a file with -o")
    from eigenscape.app.io.atomic import check_target
    from eigenscape.app.io.writing import check_format

    used: dict[str, str] = {}
    if source != "-" and not source.endswith(".h5ad"):  # coordinates may be added to an h5ad file
        used[os.path.realpath(source)] = "the input"
    if model is not None:
        used[os.path.realpath(Path(model).expanduser())] = "the model"
    for name, target in targets.items():
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
        check_target(target, force)
        if name == "out":
            check_format(target)


def write_coordinates(
    path: str,
    embedding: np.ndarray,
    method: str,
    table: Table,
    force: bool,
    clusters: np.ndarray | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write coordinates with the ids and labels of their rows, and with their clusters if given."""
    from eigenscape.app.io import write_table

    names = coordinate_names(method, embedding.shape[1])
    extra = row_numbers(table) | ({} if clusters is None else {"cluster": clusters})
    write_table(
        path,
        embedding,
        names=names,
        ids=table.ids,
        labels=table.labels,
        label_name=label_column(table, [*names, *extra]),
        extra=extra,
        force=force,
        like=table.source if table.source.endswith(".h5ad") else None,
        rows=table.rows,
        method=method.replace("-", "_"),
        spreadsheet_safe=spreadsheet_safe,
    )


def coordinate_names(method: str, count: int) -> list[str]:
    """Return the names of the columns of coordinates, as ``get_feature_names_out``: ``kernelpca0``, ..."""
    return [f"{class_name(method).lower()}{number}" for number in range(count)]


def row_numbers(table: Table) -> dict[str, np.ndarray]:
    """Return a column ``row`` of the rows in the file, counted from 1, if some were dropped without ids."""
    return {} if table.rows is None or table.ids is not None else {"row": table.rows + 1}


def label_column(table: Table, used: Sequence[str]) -> str:
    """Return the name of the column of labels: as in the input, or "label" if it has none or is in use."""
    name = table.label_name
    unnamed = name is None or re.fullmatch(r"x\d+", name) is not None  # x0, x1, ... are default names
    return "label" if unnamed or name in (*used, "id", "row") else str(name)


def write_plot(
    path: str,
    embedding: np.ndarray,
    *,
    title: str,
    table: Table | None = None,
    labels: np.ndarray | None = None,
    new: np.ndarray | None = None,
    force: bool = False,
) -> None:
    """Write a scatter plot of the first two coordinates, with the labels and images of a table."""
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


def write_fit_report(
    path: str,
    result: CommandFit,
    command: str,
    force: bool,
    *,
    max_points: int | None,
    compact: int | bool | None,
) -> None:
    """Write the HTML report of a fit."""
    from eigenscape._memory import peak_memory
    from eigenscape.app.report import write_report

    write_report(
        path,
        result.estimator,
        result.fitted_table,
        command=command,
        timings=result.timer.by_stage(),
        memory=peak_memory(),
        max_points=max_points,
        compact=compact if compact is True or compact is None or compact < len(result.embedding) else None,
        force=force,
    )


def parse_compact(text: str | None) -> int | bool | None:
    """Convert the value of ``--compact``: a number of rows, or True to choose it automatically."""
    if text is None or text == "auto":
        return None if text is None else True
    if not text.isdigit() or int(text) == 0:
        raise CommandError(f"--compact must be a number of rows of at least 1, or empty, got {text!r}")
    return int(text)


def save_model(
    path: str,
    result: CommandFit,
    options: InputOptions,
    command: str,
    *,
    compact: int | bool | None = None,
    force: bool,
    quiet: bool,
) -> dict[str, Any] | None:
    """Save a fitted model with the names of its columns; return size and error of a compact model."""
    from sklearn.pipeline import Pipeline

    from eigenscape.app.io import describe, save

    table, model, n_rows = result.table, result.estimator, len(result.embedding)
    notes = {**column_notes(table, options), "command": command}
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
        path,
        compact=compact,
        force=force,
        notes=json.dumps(notes),
        data=None if is_streamed(table.array) or table.kind == "edges" else table.array,
    )
    compacted = describe(path)["compact"]
    if compacted is not None:
        kept = "no rows" if compacted["size"] is None else f"{compacted['size']} rows"
        error = f"{100 * compacted['error']:.2g} % of the spread of the coordinates"
        print_message(f"the compact model keeps {kept}; its error on the training rows is {error}", quiet)
    return compacted


def print_summary(summary: dict[str, Any], files: dict[str, str | None], as_json: bool, quiet: bool) -> None:
    """Print the summary of a command as JSON, or the names of the files it wrote."""
    written = {name: file for name, file in files.items() if file is not None}
    if as_json:
        typer.echo(json.dumps(to_json({**summary, "files": written}), indent=2))
        return
    for name, file in written.items():
        if file != "-":
            print_message(f"wrote {file} ({name})", quiet)
