"""``eigenscape inverse``: from coordinates back to rows."""

from __future__ import annotations

from typing import Annotated

import typer

from eigenscape.app.cli._errors import WrongCommandError
from eigenscape.app.cli._methods import method_of
from eigenscape.app.cli._models import notes_of, parts
from eigenscape.app.cli._outputs import check_targets, coordinate_names, label_name
from eigenscape.app.cli._reading import Reading, read_table
from eigenscape.app.cli._shared import AsJson, Force, Progress, Quiet, finish, showing


def inverse(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="A file written by --save.")],
    source: Annotated[
        str,
        typer.Argument(
            metavar="COORDS", help="Coordinates on the map: a file, or - for CSV on standard input."
        ),
    ],
    out: Annotated[
        str, typer.Option("-o", "--out", help="The rows: .csv, .parquet, .npy, ...; - for standard output.")
    ],
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    progress: Progress = None,
) -> None:
    """Make rows from coordinates: what would a point at this place of the map look like?

    Examples

        eigenscape inverse iris.model map.csv -o rows.csv
        echo 0.5,-1.2 | eigenscape inverse iris.model - -o -

    The coordinates are found by their names, as embed writes them; columns of other names count by their
    places. Not every map leads back; the model of one that does not says so."""
    check_targets(source, force, as_json, model_file, out=out)
    from eigenscape.app.io import describe, load, write_table

    quiet = quiet or as_json
    model, notes = load(model_file), notes_of(describe(model_file))
    estimator, scaler = parts(model)
    if not hasattr(estimator, "inverse_transform"):
        raise WrongCommandError(
            f"{method_of(estimator)} has no way back from coordinates to rows; pca, kernel-pca and isomap have one"
        )
    from eigenscape.app.cli._matching import on_the_map

    table = read_table(source, Reading(missing="keep"), quiet)
    wanted = coordinate_names(method_of(estimator), len(estimator.get_feature_names_out()))
    table = on_the_map(table, wanted, notes.get("label"), quiet)
    with showing(progress, quiet):
        rows = estimator.inverse_transform(table.array)
        rows = rows if scaler is None else scaler.inverse_transform(rows)
    names = notes.get("columns")
    names = names if names and len(names) == rows.shape[1] else None
    called = label_name(table, names or [])
    write_table(out, rows, names=names, ids=table.ids, labels=table.labels, label_name=called, force=force)
    finish({"method": method_of(estimator), "shape": list(rows.shape)}, {"rows": out}, as_json, quiet)
