"""``eigenscape embed``: a file in; coordinates, a picture, a report and a model out."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from eigenscape.cli import _reading as reading
from eigenscape.cli._building import build, wanted_kind
from eigenscape.cli._dask import Dask, check_request, embed_on_cluster
from eigenscape.cli._errors import WrongCommandError
from eigenscape.cli._fitting import Clock, announce_memory, coordinates, fit, summary
from eigenscape.cli._methods import canonical, estimator_class
from eigenscape.cli._models import save_model
from eigenscape.cli._options import chosen_parameters, command_line
from eigenscape.cli._outputs import Out, Plot, ReportFile, Save, check_targets, draw, write_coordinates
from eigenscape.cli._reading import Reading, fitted_scaler, how_streamed, read_table, scaled, streams
from eigenscape.cli._shared import AsJson, Force, Progress, Quiet, finish, showing

Compact = Annotated[
    str | None,
    typer.Option(
        help="Save a dictionary of M points (or as many as it takes) instead of all rows.", metavar="[M]", rich_help_panel="Writing"
    ),
]


def embed(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="INPUT", help="A file, a folder of images, or - for CSV on standard input.")],
    method: Annotated[str, typer.Option("-m", help="The method: see `eigenscape methods`.", metavar="METHOD")],
    dimensions: Annotated[int | None, typer.Option("-d", help="Number of coordinates; 2 unless you say.", min=1)] = None,
    out: Out = None,
    plot: Plot = None,
    report: ReportFile = None,
    save: Save = None,
    compact: Compact = None,
    force: Force = False,
    label: reading.Label = None,
    id_column: reading.Id = None,
    columns: reading.Columns = None,
    missing: reading.Missing = "error",
    size: reading.Size = None,
    kind: reading.Kind = None,
    stream: reading.Stream = False,
    standardize: reading.Standardize = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    progress: Progress = None,
    dask: Dask = None,
) -> None:
    """Learn a map of the rows of a file.

    Examples

        eigenscape embed iris.csv -m isomap -o map.csv --plot map.png
        eigenscape embed iris.csv -m isomap --n-neighbors 12 --report iris.html --save iris.model
        eigenscape embed iris.csv -m lle --standardize --label species -d 3 -o map.parquet
        eigenscape embed distances.csv -m mds --metric precomputed -o map.csv
        eigenscape embed large.npy -m greedy --dictionary-size 500 -o map.npy
        eigenscape embed BIG/ -m kernel-pca --dictionary-size 500 --dask local -o OUT/
        cut -d, -f1-4 iris.csv | eigenscape embed - -m pca -o - | head

    The parameters of the method are options too: `eigenscape embed -m isomap --help` lists them.
    """
    if not any((out, plot, report, save)):
        raise WrongCommandError("nothing to write: give -o OUT for coordinates, --plot, --report or --save")
    if compact is not None and save is None:
        raise WrongCommandError("--compact is about the saved model; give --save MODEL too")
    if as_json and out == "-":
        raise WrongCommandError("-o - and --json both write to standard output; give -o a file")
    cls = estimator_class(canonical(method))
    chosen = chosen_parameters(ctx, cls)
    if dask is not None:
        check_targets(source, force, save=save)
        check_request(
            out, force, plot=plot, report=report, compact=compact, label=label, id=id_column, missing=missing, size=size, kind=kind,
            stream=stream, standardize=standardize
        )  # fmt: skip
        how = {"columns": columns, "force": force, "as_json": as_json, "quiet": quiet or as_json, "progress": progress}
        return embed_on_cluster(dask, source, build(cls, chosen, dimensions, "rows"), out, save, command_line(ctx), **how)
    check_targets(source, force, out=out, plot=plot, report=report, save=save)
    how = Reading(label, id_column, columns, missing, size, wanted_kind(kind, chosen), streams(source, stream, cls.__name__))
    quiet = quiet or as_json
    clock = Clock()
    with clock.timed("reading"):
        table = read_table(source, how, quiet)
    estimator = build(cls, chosen, dimensions, table.kind)
    memory = announce_memory(estimator, table.array, quiet)
    with showing(progress, quiet):
        scaler = fitted_scaler(table.array) if standardize else None
        table = scaled(table, scaler) if scaler else table
        with clock.timed("fit"):
            fit(estimator, table)
        with clock.timed("placing"):
            embedding = coordinates(estimator, table)
    found = summary(estimator, embedding, clock, memory)
    command = command_line(ctx)
    if out:
        write_coordinates(out, embedding, found["method"], table, force)
    if plot:
        draw(plot, embedding, labels=table.labels, force=force, title=found["method"])
    if report:
        _write_report(report, estimator, table, command, clock, force)
    if save:
        save_model(save, estimator, scaler, table, how, command, compact, force)
    finish(found, {"coordinates": out, "plot": plot, "report": report, "model": save}, as_json, quiet)


def _write_report(path: str, estimator: Any, table: Any, command: str, clock: Clock, force: bool) -> None:
    if how_streamed(table.array):
        raise WrongCommandError("a report needs all rows in memory; leave --stream out")
    from eigenscape.cli._estimate import peak_memory
    from eigenscape.report import write_report

    write_report(path, estimator, table, command=command, timings=clock.seconds, memory=peak_memory(), force=force)
