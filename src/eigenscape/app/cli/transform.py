"""``eigenscape transform``: compute the coordinates of new rows with a saved model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.distributed import check_options, transform_on_cluster
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.input import InputOptions, column_roles, load_map, read_new_table
from eigenscape.app.cli.output import check_targets, print_summary, write_coordinates, write_plot
from eigenscape.app.cli.run import Timer, predict_rows, show_progress, transform_rows
from eigenscape.app.cli.training_labels import labels_from_notes

if TYPE_CHECKING:
    import numpy as np

    from eigenscape.app.cli.input import SavedModel
    from eigenscape.app.io import Table


def transform(
    ctx: typer.Context,
    model_file: options.Model,
    source: Annotated[
        str, typer.Argument(metavar="NEW", help="New rows: a file, or - for CSV on standard input.")
    ],
    out: options.Out = None,
    plot: options.Plot = None,
    force: options.Force = False,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    label: options.Label = None,
    id_column: options.Id = None,
    missing: options.NewMissing = "",
    stream: options.Stream = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    progress: options.Progress = None,
    dask: options.Dask = None,
) -> None:
    """Compute the coordinates of new rows with a saved model.

    Columns are matched by name, in any order; columns that the model does not use are ignored.

    Examples

        eigenscape transform iris.model new.csv -o new-map.csv
        eigenscape transform iris.model new.csv -o new-map.csv --plot new-map.png
        eigenscape transform iris.model BIG/ --dask tcp://10.0.0.1:8786 -o OUT/
        tail -n +2 new.csv | eigenscape transform iris.model - -o -
    """
    if not (out or plot):
        raise CommandError("nothing to write: give -o OUT for coordinates, or --plot")
    quiet = quiet or as_json
    if dask is not None:
        check_options(ctx, out, force, {"the input": source, "the model": model_file})
        return transform_on_cluster(
            dask,
            model_file,
            source,
            str(out),
            force=force,
            as_json=as_json,
            quiet=quiet,
            progress=progress,
        )
    check_targets(source, force, as_json, model_file, out=out, plot=plot)
    timer = Timer()
    with timer.measure("loading"):
        saved = load_map(model_file)
    with timer.measure("reading"):
        input_options = InputOptions(label, id_column, missing=missing, stream=stream)
        table = read_new_table(source, input_options, saved.notes, quiet)
    with show_progress(progress, quiet), timer.measure("placing"):
        embedding = transform_rows(saved.model, table.array)
        description = getattr(saved.estimator, "_method", None)
        has_clusters = description is not None and bool(description.clusters)
        clusters = predict_rows(saved.model, table.array) if has_clusters else None
    if out:
        write_coordinates(out, embedding, saved.method, table, force, clusters, spreadsheet_safe)
    if plot:
        training = vars(saved.estimator).get("embedding_")
        if training is None:  # a compact model has no training rows
            write_plot(
                plot, embedding, labels=_own_labels(table, len(embedding)), force=force, title=saved.method
            )
        else:
            colors = _training_labels(saved, len(training))
            write_plot(plot, training, labels=colors, new=embedding, force=force, title=saved.method)
    from eigenscape._memory import peak_memory

    summary: dict[str, Any] = {
        "method": saved.method,
        "shape": list(embedding.shape),
        "timings": timer.seconds,
        "memory": {"peak": peak_memory()},
        "input": column_roles(table),
    }
    if clusters is not None:
        summary["clusters"] = clusters
    print_summary(summary, {"coordinates": out, "plot": plot}, as_json, quiet)


def _training_labels(saved: SavedModel, n: int) -> np.ndarray | None:
    """Return what the plot of the training rows was coloured by: their clusters, or their labels."""
    clusters = vars(saved.estimator).get("labels_")
    return labels_from_notes(saved.notes, n) if clusters is None or len(clusters) != n else clusters


def _own_labels(table: Table, n: int) -> np.ndarray | None:
    """Return the labels of the new rows, if each has one."""
    return table.labels if table.labels is not None and len(table.labels) == n else None
