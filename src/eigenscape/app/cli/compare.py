"""``eigenscape compare``: fit several methods to one file and write a report that compares them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, format_error, print_message
from eigenscape.app.cli.fitting import build_estimator
from eigenscape.app.cli.options import Display, InputOptions, Only, OutputOptions
from eigenscape.app.cli.run import Run
from eigenscape.app.methods import estimator_class

#: Methods compared by default, one of each family.
DEFAULT = ("pca", "kernel-pca", "isomap", "locally-linear-embedding", "laplacian-eigenmaps", "diffusion-map")


def compare(
    ctx: typer.Context,
    source: options.Source,
    *,
    method: Annotated[
        list[str] | None,
        options.option("-m", help="Method; repeat the option for each one.", metavar="METHOD"),
    ] = None,
    dimensions: options.Dimensions = None,
    writing: Annotated[OutputOptions, Only("report", "report_points", "force", required="report")],
    reading: Annotated[InputOptions, options.TABLES],
    display: Display,
) -> None:
    """Fit several methods to the rows of a file and write a report that compares their maps.

    A parameter applies to every method that has it. Without -m, one method of each family is fitted.

    Examples

        eigenscape compare iris.csv --report comparison.html
        eigenscape compare iris.csv -m pca -m isomap -m lle --n-neighbors 12 --report comparison.html
    """
    chosen = {cls: options.chosen_parameters(ctx, cls) for cls in map(estimator_class, method or DEFAULT)}
    if len(chosen) < 2:
        only = next(iter(chosen))._method.name
        raise CommandError(f"a comparison needs two different methods, got {only} only; add another -m")
    run = Run(source, reading, writing, display, ctx.meta.get(options.COMMAND, ""))
    table = run.read(None, *chosen.values())
    models: dict[str, Any] = {}
    summaries: dict[str, Any] = {}
    for cls, parameters in chosen.items():
        name = cls._method.name
        try:
            run.fit(build_estimator(cls, parameters, dimensions, table.kind, table.array), name)
        except (ValueError, TypeError, RuntimeError, MemoryError) as error:
            print_message(f"warning: {name} is left out: {format_error(error)}")
            continue
        models[name] = run.estimator
        figures = {"timings": {"fit": run.seconds[name]}, "memory": {"estimate": run.memory}}
        summaries[name] = {**run.describe_fit(), **figures}
    if len(models) < 2:
        raise CommandError(
            f"a comparison needs two methods, but only {len(models)} could be fitted; use other methods (-m)"
        )
    from eigenscape.app.report import write_comparison

    timings = {name: run.seconds[name] for name in models}
    write_comparison(str(writing.report), models, table, timings=timings, **run.report_arguments())
    run.finish(methods=summaries)
