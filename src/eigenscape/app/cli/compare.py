"""``eigenscape compare``: several maps of the same rows, side by side."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from eigenscape._memory import peak_memory
from eigenscape.app.cli import _reading as reading
from eigenscape.app.cli._building import build, wanted_kind
from eigenscape.app.cli._errors import WrongCommandError, one_line
from eigenscape.app.cli._fitting import Clock, announce_memory, coordinates, described, fit
from eigenscape.app.cli._methods import canonical, estimator_class
from eigenscape.app.cli._options import MethodCommand, chosen_parameters, command_line
from eigenscape.app.cli._outputs import check_targets
from eigenscape.app.cli._reading import Reading, fitted_scaler, read_for_fitting, scaled, used
from eigenscape.app.cli._shared import AsJson, Force, Progress, Quiet, finish, say, showing

#: What is compared where nothing is named: one of each family.
_USUAL = ("pca", "kernel-pca", "isomap", "locally-linear-embedding", "laplacian-eigenmaps", "diffusion-map")


class CompareCommand(MethodCommand):
    """An option goes to every method that has a parameter of its name."""

    default_methods = _USUAL


def compare(
    ctx: typer.Context,
    source: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="A file, a folder of images, or - for CSV on standard input."),
    ],
    report: Annotated[str, typer.Option(help="The comparison, one HTML file.", metavar="FILE.html")],
    method: Annotated[
        list[str] | None, typer.Option("-m", help="A method; say it again for each.", metavar="METHOD")
    ] = None,
    dimensions: Annotated[
        int | None, typer.Option("-d", help="Number of coordinates; 2 unless you say.", min=1)
    ] = None,
    force: Force = False,
    label: reading.Label = None,
    id_column: reading.Id = None,
    columns: reading.Columns = None,
    missing: reading.Missing = "error",
    size: reading.Size = None,
    kind: reading.Kind = None,
    standardize: reading.Standardize = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    progress: Progress = None,
) -> None:
    """Put maps by several methods side by side in one report, which says which fits and why.

    A parameter goes to every method that has it. Without -m, one method of each family is taken.

    Examples

        eigenscape compare iris.csv --report comparison.html
        eigenscape compare iris.csv -m pca -m isomap -m lle --n-neighbors 12 --report comparison.html
    """
    names = list(dict.fromkeys(canonical(name) for name in method or _USUAL))
    if len(names) < 2:
        raise WrongCommandError(
            f"a comparison needs two different methods, got {names[0]} alone; name another with -m"
        )
    check_targets(source, force, as_json, report=report)
    classes = {name: estimator_class(name) for name in names}
    kinds = [wanted_kind(kind, chosen_parameters(ctx, cls)) for cls in classes.values()]
    how = Reading(label, id_column, columns, missing, size, next((each for each in kinds if each), None))
    quiet, clock = quiet or as_json, Clock()
    with clock.timed("reading"):
        table = read_for_fitting(source, how, quiet)
    table = scaled(table, fitted_scaler(table.array)) if standardize else table
    models: dict[str, Any] = {}
    found: dict[str, Any] = {}
    with showing(progress, quiet):
        for name, cls in classes.items():
            each = Clock()
            try:
                estimator = build(cls, chosen_parameters(ctx, cls), dimensions, table.kind, table.array)
                memory = announce_memory(estimator, table.array, quiet)
                with each.timed("fit"), clock.timed(name):
                    models[name] = fit(estimator, table)
            except (ValueError, TypeError, RuntimeError, MemoryError) as error:
                say(f"warning: {name} is left out: {one_line(error)}")
                continue
            found[name] = described(estimator, coordinates(estimator, table)) | {
                "timings": each.seconds,
                "memory": {"estimate": memory},
            }
    if len(models) < 2:
        raise WrongCommandError(
            f"a comparison needs two methods, and {len(models)} could be fitted; name others with -m"
        )
    _write(report, models, table, command_line(ctx), clock, force)
    finish(
        {"methods": found, "input": used(table), "timings": clock.seconds}, {"report": report}, as_json, quiet
    )


def _write(path: str, models: dict[str, Any], table: Any, command: str, clock: Clock, force: bool) -> None:
    from eigenscape.app.report import write_comparison

    seconds = {name: clock.seconds[name] for name in models}
    write_comparison(path, models, table, command=command, timings=seconds, memory=peak_memory(), force=force)
