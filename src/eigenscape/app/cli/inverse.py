"""``eigenscape inverse``: reconstruct rows from coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import (
    InputOptions,
    finish_rows,
    load_model,
    read_table,
)
from eigenscape.app.cli.output import check_targets, coordinate_names, label_column, print_summary
from eigenscape.app.cli.run import show_progress
from eigenscape.app.methods import method_of
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    from eigenscape.app.io import Table


def inverse(
    model_file: options.Model,
    source: Annotated[
        str, typer.Argument(metavar="COORDS", help="Coordinates: a file, or - for CSV on standard input.")
    ],
    out: Annotated[
        str,
        typer.Option(
            "-o",
            "--out",
            help="Write the rows: .csv, .parquet, .npy, ...; - for standard output.",
            metavar="OUT",
            rich_help_panel="Writing",
        ),
    ],
    force: options.Force = False,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    progress: options.Progress = None,
) -> None:
    """Reconstruct rows from coordinates, with a saved model.

    Examples

        eigenscape inverse iris.model map.csv -o rows.csv
        echo 0.5,-1.2 | eigenscape inverse iris.model - -o -

    Columns of coordinates are matched by the names that embed writes, or by position if the file has none of
    these names. Not every method has an inverse.
    """
    check_targets(source, force, as_json, model_file, out=out)
    from eigenscape.app.io import write_table

    quiet = quiet or as_json
    saved = load_model(model_file)
    estimator, method = saved.estimator, method_of(saved.estimator)
    if not hasattr(estimator, "inverse_transform"):
        raise CommandError(f"{method} has no inverse_transform; pca, kernel-pca and isomap have one")
    table = read_table(source, InputOptions(missing="keep"), quiet)
    names = coordinate_names(method, len(estimator.get_feature_names_out()))
    table = _match_coordinates(table, names, saved.notes.get("label"), quiet)
    with show_progress(progress, quiet):
        rows = estimator.inverse_transform(table.array)
        rows = rows if saved.scaler is None else saved.scaler.inverse_transform(rows)
    columns = saved.notes.get("columns")
    columns = columns if columns and len(columns) == rows.shape[1] else None
    write_table(
        out,
        rows,
        names=columns,
        ids=table.ids,
        labels=table.labels,
        label_name=label_column(table, columns or []),
        force=force,
        spreadsheet_safe=spreadsheet_safe,
    )
    print_summary({"method": method, "shape": list(rows.shape)}, {"rows": out}, as_json, quiet)


def _match_coordinates(table: Table, wanted: Sequence[str], label: str | None, quiet: bool) -> Table:
    """Select the columns of coordinates by name, or by position if the table has none of these names."""
    from eigenscape.app.io.matching import list_names, match_columns

    if set(wanted) & {*table.names, *table.extra, table.label_name}:
        matched = match_columns(table, wanted, label, lambda text: print_message(text, quiet))
        return finish_rows(matched, "error", quiet)
    if len(table.names) != len(wanted):
        raise InputFileError(
            f"{table.source} has {len(table.names)} numeric column(s) ({list_names(table.names)}), but the"
            f" model has {len(wanted)} coordinates; name their columns {list_names(wanted)}"
        )
    return finish_rows(table, "error", quiet)
