"""``eigenscape compare``: fit several methods to one file and write a report that compares them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, format_error, print_message
from eigenscape.app.cli.fitting import (
    announce_memory,
    build_estimator,
    describe_dominance,
    describe_fit,
    fit_estimator,
    fit_scaler,
    scale,
    training_coordinates,
    warn_of_few_points,
    warn_of_scales,
)
from eigenscape.app.cli.input import column_roles, input_kind
from eigenscape.app.cli.options import (
    TABLES,
    Display,
    InputOptions,
    Only,
    OutputOptions,
    chosen_parameters,
    command_line,
)
from eigenscape.app.cli.run import Run, show_progress
from eigenscape.app.methods import estimator_class, make_estimator, method_name

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
    reading: Annotated[InputOptions, TABLES],
    display: Display,
) -> None:
    """Fit several methods to the rows of a file and write a report that compares their maps.

    A parameter applies to every method that has it. Without -m, one method of each family is fitted.

    Examples

        eigenscape compare iris.csv --report comparison.html
        eigenscape compare iris.csv -m pca -m isomap -m lle --n-neighbors 12 --report comparison.html
    """
    names = list(dict.fromkeys(method_name(name) for name in method or DEFAULT))
    if len(names) < 2:
        raise CommandError(f"a comparison needs two different methods, got {names[0]} only; add another -m")
    parameters = {name: chosen_parameters(ctx, estimator_class(name)) for name in names}
    kinds = [input_kind(reading.kind, chosen) for chosen in parameters.values()]
    reading = replace(reading, kind=next((kind for kind in kinds if kind), None))
    run = Run(source, reading, writing, display, command_line(ctx))
    table = run.read()
    dominance = None
    if reading.standardize:
        table = scale(table, fit_scaler(table.array))
    else:
        estimators = [make_estimator(estimator_class(name), parameters[name]) for name in names]
        dominance = warn_of_scales(estimators, table)
    models: dict[str, Any] = {}
    summaries: dict[str, Any] = {}
    with show_progress(display):
        for name in names:
            try:
                cls = estimator_class(name)
                estimator = build_estimator(cls, parameters[name], dimensions, table.kind, table.array)
                memory = announce_memory(estimator, table.array, display.quiet)
                with run.timer.measure(name):
                    models[name] = fit_estimator(estimator, table)
            except (ValueError, TypeError, RuntimeError, MemoryError) as error:
                print_message(f"warning: {name} is left out: {format_error(error)}")
                continue
            embedding = training_coordinates(estimator, table)
            warn_of_few_points(embedding, table, name)
            summaries[name] = describe_fit(estimator, embedding) | {
                "timings": {"fit": run.timer.seconds[name]},
                "memory": {"estimate": memory},
            }
    if len(models) < 2:
        raise CommandError(
            f"a comparison needs two methods, but only {len(models)} could be fitted; use other methods (-m)"
        )
    from eigenscape._memory import peak_memory
    from eigenscape.app.report import write_comparison

    write_comparison(
        str(writing.report),
        models,
        table,
        command=run.command,
        timings={name: run.timer.seconds[name] for name in models},
        memory=peak_memory(),
        max_points=writing.report_points or None,
        force=writing.force,
    )
    summary = {
        "methods": summaries,
        "input": column_roles(table),
        "dominant_columns": describe_dominance(dominance),
        "timings": run.timer.seconds,
    }
    run.finish(summary)
