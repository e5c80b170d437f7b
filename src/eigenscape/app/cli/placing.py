"""``eigenscape transform`` and ``eigenscape inverse``: coordinates of new rows, and rows of coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.fitting import apply_to_rows
from eigenscape.app.cli.input import SavedModel, finish_rows, load_map, load_model, read_table
from eigenscape.app.cli.options import Display, InputOptions, Only, OutputOptions
from eigenscape.app.cli.output import coordinate_names, labels_from_notes, write_rows
from eigenscape.app.cli.run import Run
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    import numpy as np


def transform(
    model_file: options.Model,
    source: Annotated[
        str, typer.Argument(metavar="NEW", help="New rows: a file, or - for CSV on standard input.")
    ],
    *,
    writing: Annotated[OutputOptions, Only("out", "plot", "force", "spreadsheet_safe")],
    reading: Annotated[InputOptions, Only("label", "id", "missing", "stream")],
    display: Display,
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
    if not (writing.out or writing.plot):
        raise CommandError("nothing to write: give -o OUT for coordinates, or --plot")
    if dask is not None:
        from eigenscape.app.cli.distributed import transform_on_cluster

        run = Run(source, reading, writing, display, model_file=model_file, folder=True)
        return transform_on_cluster(dask, run)
    run = Run(source, reading, writing, display, model_file=model_file)
    with run.step("loading"):
        saved = load_map(model_file)
    table, clusters = run.read_new(saved), None
    with run.step("placing"):
        embedding = apply_to_rows(saved.model.transform, table.array)
        if getattr(getattr(saved.estimator, "_method", None), "clusters", ""):
            clusters = apply_to_rows(saved.model.predict, table.array)
    extra = {} if clusters is None else {"cluster": clusters}
    names = coordinate_names(saved.class_name, embedding.shape[1])
    write_rows(embedding, names, table, writing, extra=extra, method=saved.method)
    if writing.plot is not None:
        _plot(run, saved, embedding)
    run.finish(method=saved.method, shape=list(embedding.shape), clusters=clusters)


def _plot(run: Run, saved: SavedModel, embedding: np.ndarray) -> None:
    """Write a plot of new rows, among the training rows in the colours of their clusters or labels."""
    training = vars(saved.estimator).get("embedding_")
    if training is None:  # a compact model has no training rows
        labels = run.table.labels
        own = labels if labels is not None and len(labels) == len(embedding) else None
        return run.plot(embedding, saved.method, labels=own)
    colors = vars(saved.estimator).get("labels_")
    if colors is None or len(colors) != len(training):
        colors = labels_from_notes(saved.notes, len(training))
    run.plot(training, saved.method, labels=colors, new=embedding)


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
    if not hasattr(saved.estimator, "inverse_transform"):
        raise CommandError(f"{saved.method} has no inverse_transform; pca, kernel-pca and isomap have one")
    _read_coordinates(run, saved)
    with run.step("inverse"):
        rows = saved.estimator.inverse_transform(run.table.array)
        rows = rows if saved.scaler is None else saved.scaler.inverse_transform(rows)
    columns = saved.notes.get("columns")
    write_rows(rows, columns if columns and len(columns) == rows.shape[1] else None, run.table, writing)
    run.finish("rows", method=saved.method, shape=list(rows.shape))


def _read_coordinates(run: Run, saved: SavedModel) -> None:
    """Read the columns of coordinates, found by name, or by position if there are none of these names."""
    from eigenscape.app.io.matching import list_names, match_columns

    table = read_table(run.source, run.reading, run.display.quiet)
    wanted = coordinate_names(saved.class_name, len(saved.estimator.get_feature_names_out()))
    if set(wanted) & {*table.names, *table.extra, table.label_name}:
        table = match_columns(table, wanted, saved.notes.get("label"), run.say)
    elif len(table.names) != len(wanted):
        raise InputFileError(
            f"{table.source} has {len(table.names)} numeric column(s) ({list_names(table.names)}), but the"
            f" model has {len(wanted)} coordinates; name their columns {list_names(wanted)}"
        )
    run.table = finish_rows(table, "error", run.display.quiet)
