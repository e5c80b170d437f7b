"""``eigenscape transform``: new rows on an old map."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from eigenscape._memory import peak_memory
from eigenscape.app.cli import _reading as reading
from eigenscape.app.cli._dask import Dask, check_request, transform_on_cluster
from eigenscape.app.cli._errors import WrongCommandError
from eigenscape.app.cli._fitting import Clock, clusters_of, place
from eigenscape.app.cli._methods import CLUSTERING, method_named, method_of
from eigenscape.app.cli._models import notes_of, parts
from eigenscape.app.cli._outputs import Out, Plot, check_targets, draw, write_coordinates
from eigenscape.app.cli._reading import Reading, read_table, used
from eigenscape.app.cli._shared import AsJson, Force, Progress, Quiet, finish, showing


def transform(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help="A file written by --save.")],
    source: Annotated[
        str, typer.Argument(metavar="NEW", help="The new rows: a file, or - for CSV on standard input.")
    ],
    out: Out = None,
    plot: Plot = None,
    force: Force = False,
    label: reading.Label = None,
    id_column: reading.Id = None,
    missing: reading.Missing = "error",
    stream: reading.Stream = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    progress: Progress = None,
    dask: Dask = None,
) -> None:
    """Place new rows on the map of a saved model.

    Columns are found by their names, in any order; columns that the model does not know are left out.

    Examples

        eigenscape transform iris.model new.csv -o new-map.csv
        eigenscape transform iris.model new.csv -o new-map.csv --plot new-map.png
        eigenscape transform iris.model BIG/ --dask tcp://10.0.0.1:8786 -o OUT/
        tail -n +2 new.csv | eigenscape transform iris.model - -o -
    """
    if not (out or plot):
        raise WrongCommandError("nothing to write: give -o OUT for coordinates, or --plot")
    if dask is not None:
        check_request(
            out,
            force,
            {"the input": source, "the model": model_file},
            plot=plot,
            label=label,
            id=id_column,
            missing=missing,
            stream=stream,
        )
        how = {"force": force, "as_json": as_json, "quiet": quiet or as_json, "progress": progress}
        return transform_on_cluster(dask, model_file, source, str(out), **how)
    check_targets(source, force, as_json, model_file, out=out, plot=plot)
    from eigenscape.app.io import describe, load

    quiet, clock = quiet or as_json, Clock()
    with clock.timed("loading"):
        model, about = load(model_file), describe(model_file)
    notes, method = notes_of(about), method_named(about["method"])
    with clock.timed("reading"):
        table = new_rows(source, Reading(label, id_column, missing=missing, stream=stream), notes, quiet)
    estimator, _ = parts(model)
    with showing(progress, quiet), clock.timed("placing"):
        placed = place(model, table.array)
        clusters = clusters_of(model, table.array) if method_of(estimator) in CLUSTERING else None
    if out:
        write_coordinates(out, placed, method, table, force, clusters)
    if plot:
        known = vars(estimator).get("embedding_")
        draw(
            plot,
            placed if known is None else known,
            new=None if known is None else placed,
            force=force,
            title=method,
        )
    found = {
        "method": method,
        "shape": list(placed.shape),
        "timings": clock.seconds,
        "memory": {"peak": peak_memory()},
    }
    found |= {"input": used(table)} | ({} if clusters is None else {"clusters": clusters})
    finish(found, {"coordinates": out, "plot": plot}, as_json, quiet)


def new_rows(source: str, how: Reading, notes: dict[str, Any], quiet: bool) -> Any:
    """The new rows with the columns that the model wants, in its order, and with their names and labels."""
    from eigenscape.app.cli._matching import matched

    wanted = notes.get("columns", [])
    if how.stream:
        named = not source.endswith(".npy")  # whose columns have places, no names
        return read_table(source, replace(how, columns=",".join(wanted) if named and wanted else None), quiet)
    table = _with_known_columns(source, replace(how, missing="keep"), notes, quiet)
    return matched(table, wanted, how.label or notes.get("label"), how.missing, quiet) if wanted else table


def _with_known_columns(source: str, how: Reading, notes: dict[str, Any], quiet: bool) -> Any:
    """Read with the label and id columns of the training file, as far as the new file has them (standard
    input is read once)."""
    from eigenscape.exceptions import InputFileError

    known = replace(
        how, label=how.label or notes.get("label"), id=how.id or notes.get("id"), size=notes.get("size")
    )
    if source == "-" or known == how:
        return read_table(source, replace(how, size=notes.get("size")), quiet)
    for trial in (known, replace(known, label=how.label), replace(known, id=how.id)):
        try:
            return read_table(source, trial, quiet)
        except InputFileError as error:
            if "has no column" not in str(error):
                raise
    return read_table(source, replace(how, size=notes.get("size")), quiet)
