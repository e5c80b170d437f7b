"""``eigenscape transform`` and ``eigenscape inverse``: coordinates of new rows, and rows of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.distributed import transform_on_cluster
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.fitting import apply_to_rows
from eigenscape.app.cli.input import column_roles, finish_rows, load_map, load_model, read_table
from eigenscape.app.cli.options import ClusterOptions, Display, InputOptions, Only, OutputOptions
from eigenscape.app.cli.output import (
    coordinate_names,
    labels_from_notes,
    write_coordinates,
    write_plot,
    write_rows,
)
from eigenscape.app.cli.run import Run, show_progress
from eigenscape.app.methods import method_of
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    import numpy as np

    from eigenscape.app.cli.input import SavedModel
    from eigenscape.app.io import Table


def transform(
    model_file: options.Model,
    source: Annotated[
        str, typer.Argument(metavar="NEW", help="New rows: a file, or - for CSV on standard input.")
    ],
    *,
    writing: Annotated[OutputOptions, Only("out", "plot", "force", "spreadsheet_safe")],
    reading: Annotated[InputOptions, Only("label", "id", "missing", "stream")],
    display: Display,
    cluster: ClusterOptions,
) -> None:
    """Compute the coordinates of new rows with a saved model.

    Columns are matched by name, in any order; columns that the model does not use are ignored.

    Examples

        eigenscape transform iris.model new.csv -o new-map.csv
        eigenscape transform iris.model new.csv -o new-map.csv --plot new-map.png
        eigenscape transform iris.model BIG/ --dask tcp://10.0.0.1:8786 -o OUT/
        tail -n +2 new.csv | eigenscape transform iris.model - -o -
    """
    if not (writing.out or writing.plot):
        raise CommandError("nothing to write: give -o OUT for coordinates, or --plot")
    if cluster.dask is not None:
        return transform_on_cluster(cluster.dask, model_file, source, reading, writing, display)
    run = Run(source, reading, writing, display, model_file=model_file)
    with run.timer.measure("loading"):
        saved = load_map(model_file)
    table = run.read_new(saved)
    with show_progress(display), run.timer.measure("placing"):
        embedding = apply_to_rows(saved.model.transform, table.array)
        has_clusters = bool(getattr(getattr(saved.estimator, "_method", None), "clusters", ""))
        clusters = apply_to_rows(saved.model.predict, table.array) if has_clusters else None
    write_coordinates(embedding, saved.method, table, writing, clusters)
    _plot(saved, embedding, table, writing)
    from eigenscape._memory import peak_memory

    summary: dict[str, Any] = {
        "method": saved.method,
        "shape": list(embedding.shape),
        "timings": run.timer.seconds,
        "memory": {"peak": peak_memory()},
        "input": column_roles(table),
    }
    if clusters is not None:
        summary["clusters"] = clusters
    run.finish(summary)


def _plot(saved: SavedModel, embedding: np.ndarray, table: Table, writing: OutputOptions) -> None:
    """Write a plot of new rows, among the training rows in the colours of their clusters or labels."""
    training = vars(saved.estimator).get("embedding_")
    if writing.plot is None:
        return
    if training is None:  # a compact model has no training rows
        own = table.labels if table.labels is not None and len(table.labels) == len(embedding) else None
        write_plot(writing.plot, embedding, labels=own, force=writing.force, title=saved.method)
        return
    colors = vars(saved.estimator).get("labels_")
    if colors is None or len(colors) != len(training):
        colors = labels_from_notes(saved.notes, len(training))
    write_plot(writing.plot, training, labels=colors, new=embedding, force=writing.force, title=saved.method)


def inverse(
    model_file: options.Model,
    source: Annotated[
        str, typer.Argument(metavar="COORDS", help="Coordinates: a file, or - for CSV on standard input.")
    ],
    *,
    writing: Annotated[OutputOptions, Only("out", "force", "spreadsheet_safe", required="out")],
    display: Display,
) -> None:
    """Reconstruct rows from coordinates, with a saved model.

    Examples

        eigenscape inverse iris.model map.csv -o rows.csv
        echo 0.5,-1.2 | eigenscape inverse iris.model - -o -

    Columns of coordinates are matched by the names that embed writes, or by position if the file has none of
    these names. Not every method has an inverse.
    """
    run = Run(source, InputOptions(missing="keep"), writing, display, model_file=model_file)
    saved = load_model(model_file)
    estimator, method = saved.estimator, method_of(saved.estimator)
    if not hasattr(estimator, "inverse_transform"):
        raise CommandError(f"{method} has no inverse_transform; pca, kernel-pca and isomap have one")
    table = read_table(source, run.reading, display.quiet)
    names = coordinate_names(method, len(estimator.get_feature_names_out()))
    table = _match_coordinates(table, names, saved.notes.get("label"), run)
    with show_progress(display):
        rows = estimator.inverse_transform(table.array)
        rows = rows if saved.scaler is None else saved.scaler.inverse_transform(rows)
    columns = saved.notes.get("columns")
    write_rows(rows, columns if columns and len(columns) == rows.shape[1] else None, table, writing)
    run.finish({"method": method, "shape": list(rows.shape)}, "rows")


def _match_coordinates(table: Table, wanted: Sequence[str], label: str | None, run: Run) -> Table:
    """Select the columns of coordinates by name, or by position if the table has none of these names."""
    from eigenscape.app.io.matching import list_names, match_columns

    if set(wanted) & {*table.names, *table.extra, table.label_name}:
        table = match_columns(table, wanted, label, run.say)
    elif len(table.names) != len(wanted):
        raise InputFileError(
            f"{table.source} has {len(table.names)} numeric column(s) ({list_names(table.names)}), but the"
            f" model has {len(wanted)} coordinates; name their columns {list_names(wanted)}"
        )
    return finish_rows(table, "error", run.display.quiet)
