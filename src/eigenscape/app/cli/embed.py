"""``eigenscape embed``: fit a method to a file and write coordinates, a plot, a report or the model."""

from __future__ import annotations

from typing import Annotated

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.distributed import embed_on_cluster
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.fitting import build_estimator
from eigenscape.app.cli.options import (
    ClusterOptions,
    Display,
    InputOptions,
    OutputOptions,
    chosen_parameters,
    command_line,
)
from eigenscape.app.cli.output import write_coordinates, write_plot
from eigenscape.app.cli.run import Run, summarize
from eigenscape.app.methods import estimator_class


def embed(
    ctx: typer.Context,
    source: options.Source,
    method: Annotated[
        str, options.option("-m", help="Method; `eigenscape methods` lists them.", metavar="METHOD")
    ],
    *,
    dimensions: options.Dimensions = None,
    writing: OutputOptions,
    reading: InputOptions,
    display: Display,
    cluster: ClusterOptions,
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
    if not any((writing.out, writing.plot, writing.report, writing.save)):
        raise CommandError("nothing to write: give -o OUT for coordinates, --plot, --report or --save")
    if writing.compact_size is not None and not (writing.save or writing.report):
        raise CommandError("--compact needs --save MODEL or --report FILE.html")
    cls = estimator_class(method)
    parameters = chosen_parameters(ctx, cls)
    if cluster.dask is not None:
        estimator = build_estimator(cls, parameters, dimensions, "rows")
        return embed_on_cluster(cluster.dask, source, estimator, reading, writing, display, command_line(ctx))
    run = Run(source, reading, writing, display, command_line(ctx))
    table = run.read(cls, parameters)
    result = run.fit(build_estimator(cls, parameters, dimensions, table.kind, table.array), table)
    summary = summarize(result, with_loss=display.as_json)
    write_coordinates(result.embedding, cls._method.name, table, writing)
    write_plot(writing.plot, result.embedding, table=table, force=writing.force, title=cls._method.name)
    run.report(result)
    if writing.save is not None:
        summary["compact"] = run.save(result)
    run.finish(summary)
