"""``eigenscape embed``: fit a method to a file and write coordinates, a plot, a report or the model."""

from __future__ import annotations

from typing import Annotated

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.distributed import check_method, check_options, embed_on_cluster
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.input import InputOptions, input_kind, read_training_table, use_stream
from eigenscape.app.cli.options import chosen_parameters, command_line
from eigenscape.app.cli.output import (
    check_targets,
    parse_compact,
    print_summary,
    save_model,
    write_coordinates,
    write_fit_report,
    write_plot,
)
from eigenscape.app.cli.run import Timer, build_estimator, fit, summarize
from eigenscape.app.cli.weights import check_weight_option, weight_column
from eigenscape.app.methods import estimator_class, method_name


def embed(
    ctx: typer.Context,
    source: options.Source,
    method: Annotated[
        str, typer.Option("-m", help="Method; `eigenscape methods` lists them.", metavar="METHOD")
    ],
    dimensions: options.Dimensions = None,
    out: options.Out = None,
    plot: options.Plot = None,
    report: options.Report = None,
    report_points: options.ReportPoints = 50_000,
    save: options.Save = None,
    compact: options.Compact = None,
    force: options.Force = False,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    label: options.Label = None,
    id_column: options.Id = None,
    weight: options.Weight = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    encode: options.Encode = None,
    missing: options.Missing = "error",
    use_rep: options.UseRep = None,
    layer: options.Layer = None,
    obsp: options.Obsp = None,
    size: options.Size = None,
    kind: options.Kind = None,
    stream: options.Stream = False,
    standardize: options.Standardize = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    progress: options.Progress = None,
    dask: options.Dask = None,
) -> None:
    """Fit a method to the rows of a file; write coordinates, a plot, a report or the model.

    Examples

        eigenscape embed iris.csv -m isomap -o map.csv --plot map.png
        eigenscape embed iris.csv -m isomap --n-neighbors 12 --report iris.html --save iris.model
        eigenscape embed iris.csv -m lle --standardize --label species -d 3 -o map.parquet
        eigenscape embed distances.csv -m mds --metric precomputed -o map.csv
        eigenscape embed large.npy -m greedy --dictionary-size 500 -o map.npy
        eigenscape embed BIG/ -m kernel-pca --dictionary-size 500 --dask local -o OUT/
        cut -d, -f1-4 iris.csv | eigenscape embed - -m pca -o - | head

    The parameters of the method are further options: `eigenscape embed -m isomap --help` lists them.
    """
    if not any((out, plot, report, save)):
        raise CommandError("nothing to write: give -o OUT for coordinates, --plot, --report or --save")
    if compact is not None and save is None and report is None:
        raise CommandError("--compact needs --save MODEL or --report FILE.html")
    compact_size = parse_compact(compact)
    cls = estimator_class(method)
    parameters = chosen_parameters(ctx, cls)
    command = command_line(ctx)
    quiet = quiet or as_json
    if dask is not None:
        if weight is not None:
            raise CommandError("--weight is not supported with --dask; omit one of them")
        check_method(method_name(method))
        check_targets(source, force, as_json, save=save)
        check_options(ctx, out, force, {"the input": source, "the target of --save": save})
        return embed_on_cluster(
            dask,
            source,
            build_estimator(cls, parameters, dimensions, "rows"),
            columns=columns,
            exclude=exclude,
            out=out,
            save=save,
            command=command,
            force=force,
            as_json=as_json,
            quiet=quiet,
            progress=progress,
        )
    check_targets(source, force, as_json, out=out, plot=plot, report=report, save=save)
    input_options = InputOptions(
        label,
        id_column,
        columns,
        missing,
        size,
        input_kind(kind, parameters),
        use_stream(source, stream, cls),
        exclude=exclude,
        encode=encode,
        use_rep=use_rep,
        layer=layer,
        obsp=obsp,
        weight=weight,
    )
    check_weight_option(cls, input_options)
    timer = Timer()
    with timer.measure("reading"):
        table = read_training_table(source, input_options, quiet)
    result = fit(
        table,
        cls,
        parameters,
        dimensions,
        standardize=standardize,
        progress=progress,
        quiet=quiet,
        timer=timer,
        weights=weight_column(table, weight),
    )
    summary = summarize(result, with_loss=as_json)
    if out:
        write_coordinates(
            out, result.embedding, summary["method"], table, force, spreadsheet_safe=spreadsheet_safe
        )
    if plot:
        write_plot(plot, result.embedding, table=table, force=force, title=summary["method"])
    if report:
        write_fit_report(
            report, result, command, force, max_points=report_points or None, compact=compact_size
        )
    if save:
        summary["compact"] = save_model(
            save, result, input_options, command, compact=compact_size, force=force, quiet=quiet
        )
    files = {"coordinates": out, "plot": plot, "report": report, "model": save}
    print_summary(summary, files, as_json, quiet)
