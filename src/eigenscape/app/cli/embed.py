"""``eigenscape embed``: a file in; coordinates, a picture, a report and a model out."""

from __future__ import annotations

from typing import Annotated

import typer

from eigenscape.app.cli import _reading as reading
from eigenscape.app.cli._building import build, wanted_kind
from eigenscape.app.cli._dask import Dask, check_method, check_request, embed_on_cluster
from eigenscape.app.cli._errors import WrongCommandError
from eigenscape.app.cli._fitting import summary
from eigenscape.app.cli._methods import canonical, estimator_class
from eigenscape.app.cli._models import compact_rows, save_model
from eigenscape.app.cli._options import chosen_parameters, command_line
from eigenscape.app.cli._outputs import Out, Plot, ReportFile, Save, check_targets, draw, write_coordinates
from eigenscape.app.cli._reading import Reading, streams
from eigenscape.app.cli._shared import AsJson, Force, Progress, Quiet, finish
from eigenscape.app.cli._work import Work, read_and_fit

Compact = Annotated[
    str | None,
    typer.Option(
        help="Save a dictionary of M points (or as many as it takes) instead of all rows.",
        metavar="[M]",
        rich_help_panel="Writing",
    ),
]


def embed(
    ctx: typer.Context,
    source: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="A file, a folder of images, or - for CSV on standard input."),
    ],
    method: Annotated[
        str, typer.Option("-m", help="The method: see `eigenscape methods`.", metavar="METHOD")
    ],
    dimensions: Annotated[
        int | None, typer.Option("-d", help="Number of coordinates; 2 unless you say.", min=1)
    ] = None,
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
    members = compact_rows(compact)
    cls = estimator_class(canonical(method))
    chosen = chosen_parameters(ctx, cls)
    if dask is not None:
        check_method(canonical(method))
        check_targets(source, force, as_json, save=save)
        check_request(
            out, force, {"the input": source, "the target of --save": save}, plot=plot, report=report, compact=compact, label=label,
            id=id_column, missing=missing, size=size, kind=kind, stream=stream, standardize=standardize
        )  # fmt: skip
        manners = {
            "columns": columns,
            "force": force,
            "as_json": as_json,
            "quiet": quiet or as_json,
            "progress": progress,
        }
        return embed_on_cluster(
            dask, source, build(cls, chosen, dimensions, "rows"), out, save, command_line(ctx), **manners
        )
    check_targets(source, force, as_json, out=out, plot=plot, report=report, save=save)
    how = Reading(
        label,
        id_column,
        columns,
        missing,
        size,
        wanted_kind(kind, chosen),
        streams(source, stream, cls.__name__),
    )
    work = read_and_fit(source, cls, chosen, dimensions, how, standardize, progress, quiet or as_json)
    found = summary(work)
    if out:
        write_coordinates(out, work.embedding, found["method"], work.raw, force)
    if plot:
        draw(plot, work.embedding, table=work.raw, force=force, title=found["method"])
    if report:
        _write_report(report, work, command_line(ctx), force)
    if save:
        found["compact"] = save_model(save, work, members, command_line(ctx), force, quiet or as_json)
    finish(found, {"coordinates": out, "plot": plot, "report": report, "model": save}, as_json, quiet)


def _write_report(path: str, work: Work, command: str, force: bool) -> None:
    from eigenscape._memory import peak_memory
    from eigenscape.app.report import write_report

    write_report(
        path,
        work.estimator,
        work.table,
        command=command,
        timings=work.timings(),
        memory=peak_memory(),
        force=force,
    )
