"""``eigenscape compare``: fit several methods to one file and write a report that compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, format_error, print_message
from eigenscape.app.cli.input import InputOptions, column_roles, input_kind, read_training_table
from eigenscape.app.cli.memory import announce_memory
from eigenscape.app.cli.options import MethodCommand, chosen_parameters, command_line
from eigenscape.app.cli.output import check_targets, print_summary
from eigenscape.app.cli.run import (
    Timer,
    build_estimator,
    describe_dominance,
    describe_fit,
    fit_estimator,
    fit_scaler,
    scale,
    show_progress,
    training_coordinates,
    warn_of_few_points,
    warn_of_scales,
)
from eigenscape.app.methods import estimator_class, method_name

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Methods compared by default, one of each family.
_DEFAULT_METHODS = (
    "pca",
    "kernel-pca",
    "isomap",
    "locally-linear-embedding",
    "laplacian-eigenmaps",
    "diffusion-map",
)


class CompareCommand(MethodCommand):
    """A command with the parameters of several methods as options."""

    default_methods = _DEFAULT_METHODS


def compare(
    ctx: typer.Context,
    source: options.Source,
    report: Annotated[str, typer.Option(help="Write the comparison: one HTML file.", metavar="FILE.html")],
    method: Annotated[
        list[str] | None,
        typer.Option("-m", help="Method; repeat the option for each one.", metavar="METHOD"),
    ] = None,
    dimensions: options.Dimensions = None,
    report_points: options.ReportPoints = 50_000,
    force: options.Force = False,
    label: options.Label = None,
    id_column: options.Id = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    encode: options.Encode = None,
    missing: options.Missing = "error",
    use_rep: options.UseRep = None,
    layer: options.Layer = None,
    obsp: options.Obsp = None,
    size: options.Size = None,
    kind: options.Kind = None,
    standardize: options.Standardize = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    progress: options.Progress = None,
) -> None:
    """Fit several methods to the rows of a file and write a report that compares their maps.

    A parameter applies to every method that has it. Without -m, one method of each family is fitted.

    Examples

        eigenscape compare iris.csv --report comparison.html
        eigenscape compare iris.csv -m pca -m isomap -m lle --n-neighbors 12 --report comparison.html
    """
    names = list(dict.fromkeys(method_name(name) for name in method or _DEFAULT_METHODS))
    if len(names) < 2:
        raise CommandError(f"a comparison needs two different methods, got {names[0]} only; add another -m")
    check_targets(source, force, as_json, report=report)
    quiet = quiet or as_json
    parameters = {name: chosen_parameters(ctx, estimator_class(name)) for name in names}
    kinds = [input_kind(kind, chosen) for chosen in parameters.values()]
    input_options = InputOptions(
        label,
        id_column,
        columns,
        missing,
        size,
        next((found for found in kinds if found), None),
        exclude=exclude,
        encode=encode,
        use_rep=use_rep,
        layer=layer,
        obsp=obsp,
    )
    timer = Timer()
    with timer.measure("reading"):
        table = read_training_table(source, input_options, quiet)
    table = scale(table, fit_scaler(table.array)) if standardize else table
    dominance = None
    if not standardize:
        estimators = [estimator_class(name)().set_params(**parameters[name]) for name in names]
        dominance = warn_of_scales(estimators, table)
    models: dict[str, BaseEstimator] = {}
    summaries: dict[str, Any] = {}
    with show_progress(progress, quiet):
        for name in names:
            try:
                cls = estimator_class(name)
                estimator = build_estimator(cls, parameters[name], dimensions, table.kind, table.array)
                memory = announce_memory(estimator, table.array, quiet)
                with timer.measure(name):
                    models[name] = fit_estimator(estimator, table)
            except (ValueError, TypeError, RuntimeError, MemoryError) as error:
                print_message(f"warning: {name} is left out: {format_error(error)}")
                continue
            embedding = training_coordinates(estimator, table)
            warn_of_few_points(embedding, table, name)
            summaries[name] = describe_fit(estimator, embedding) | {
                "timings": {"fit": timer.seconds[name]},
                "memory": {"estimate": memory},
            }
    if len(models) < 2:
        raise CommandError(
            f"a comparison needs two methods, but only {len(models)} could be fitted; use other methods (-m)"
        )
    from eigenscape._memory import peak_memory
    from eigenscape.app.report import write_comparison

    write_comparison(
        report,
        models,
        table,
        command=command_line(ctx),
        timings={name: timer.seconds[name] for name in models},
        memory=peak_memory(),
        max_points=report_points or None,
        force=force,
    )
    summary = {
        "methods": summaries,
        "input": column_roles(table),
        "dominant_columns": describe_dominance(dominance),
        "timings": timer.seconds,
    }
    print_summary(summary, {"report": report}, as_json, quiet)
