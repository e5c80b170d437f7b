"""``eigenscape density``: log densities of rows, and which of them are outliers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import InputOptions, column_roles, read_training_table
from eigenscape.app.cli.options import MethodCommand, chosen_parameters, command_line
from eigenscape.app.cli.output import check_targets, print_summary, save_model
from eigenscape.app.cli.run import Timer, build_estimator, show_progress
from eigenscape.app.cli.scoring import fit_rows, load_for, refuse_with_model, write_scores
from eigenscape.app.methods import estimator_class, method_name

if TYPE_CHECKING:
    import numpy as np

#: The embedder if no ``-m`` is given, and the number of its coordinates.
_DEFAULT, _COORDINATES = "kernel-pca", 10


class DensityCommand(MethodCommand):
    """A command with the parameters of kernel PCA as options, unless ``-m`` is given."""

    default_methods = (_DEFAULT,)


def density(
    ctx: typer.Context,
    source: options.Source,
    method: Annotated[
        str, typer.Option("-m", help="Method whose coordinates have the density.", metavar="METHOD")
    ] = _DEFAULT,
    n_components: Annotated[
        int | None,
        typer.Option(
            "-d", help="Number of coordinates. Default: 10 of kernel-pca, else 2.", metavar="N", min=1
        ),
    ] = None,
    mixtures: Annotated[
        int | None,
        typer.Option(help="Number of Gaussians. Default: by rows left out.", metavar="K", min=1),
    ] = None,
    contamination: Annotated[
        float | None,
        typer.Option(
            help="Share of the rows that are called outliers. Default: one in a hundred usual rows.",
            metavar="SHARE",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--out",
            help="Write log density, distance from the span, score and outlier (0 or 1) of every row: .csv,"
            " .parquet, ...; - for standard output.",
            metavar="OUT",
            rich_help_panel="Writing",
        ),
    ] = None,
    model_file: Annotated[
        str | None,
        typer.Option("--model", help="Score the rows by a model that density saved.", metavar="MODEL"),
    ] = None,
    save: options.Save = None,
    force: options.Force = False,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    label: options.Label = None,
    id_column: options.Id = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    encode: options.Encode = None,
    missing: options.NewMissing = "",
    use_rep: options.UseRep = None,
    layer: options.Layer = None,
    size: options.Size = None,
    standardize: options.Standardize = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    progress: options.Progress = None,
) -> None:
    """Compute the density of rows among the others, and find outliers; a saved model scores new rows.

    Examples

        eigenscape density iris.csv -o scores.csv --contamination 0.05
        eigenscape density usual.csv -m pca -d 3 --save usual.model
        eigenscape density new.csv --model usual.model -o scores.csv

    The parameters of the method are further options: `eigenscape density -m kernel-pca --help` lists them.
    """
    from eigenscape import EigenspaceDensity

    if not (out or save or as_json):
        raise CommandError("nothing to write: give -o OUT for the scores, --save or --json")
    check_targets(source, force, as_json, model_file, out=out, save=save)
    quiet = quiet or as_json
    timer = Timer()
    reading = InputOptions(
        label, id_column, columns, missing, size, exclude=exclude, encode=encode, use_rep=use_rep, layer=layer
    )
    if model_file is not None:
        refuse_with_model(
            {
                "--save": save,
                "--standardize": standardize,
                "--contamination": contamination is not None,
                "--mixtures": mixtures,
                "-d": n_components,
                "-m": method != _DEFAULT,
                **_method_options(ctx, method),
                "--columns": columns,
                "--exclude": exclude,
                "--encode": encode,
            }
        )
        with timer.measure("reading"):
            saved, table = load_for(model_file, source, reading, EigenspaceDensity, quiet)
        estimator = saved.estimator
        rows = table.array if saved.scaler is None else saved.scaler.transform(table.array)
    else:
        cls = estimator_class(method_name(method))
        parameters = chosen_parameters(ctx, cls)
        with timer.measure("reading"):
            reading = replace(reading, missing=missing or "error")
            table = read_training_table(source, reading, quiet)
        if n_components is None and method_name(method) == _DEFAULT and "n_components" not in parameters:
            n_components = max(1, min(_COORDINATES, table.array.shape[0] // 2 - 1))
        estimator = EigenspaceDensity(
            build_estimator(cls, parameters, n_components, table.kind, table.array),
            "auto" if mixtures is None else mixtures,
            contamination="auto" if contamination is None else contamination,
        )
        result = fit_rows(
            estimator, table, None, standardize=standardize, progress=progress, quiet=quiet, timer=timer
        )
        rows = result.fitted_table.array
        if save:
            save_model(save, result, reading, command_line(ctx), force=force, quiet=quiet)
    with show_progress(progress, quiet), timer.measure("scoring"):
        scores = estimator.decision_function(rows)
        found: dict[str, np.ndarray] = {
            "log_density": estimator.score_samples(rows),
            "span_distance": estimator.span_distances(rows),
            "score": scores,
            "outlier": (scores < 0).astype("int64"),
        }
    if out:
        write_scores(out, found, table, force, spreadsheet_safe)
    n_outliers = int(found["outlier"].sum())
    print_message(f"{n_outliers} of {len(scores)} rows are outliers", quiet)
    summary: dict[str, Any] = {
        "method": "density",
        "n_outliers": n_outliers,
        "n_mixtures": estimator.n_mixtures_,
        "span_distance": estimator.span_distance_,
        "mean_log_density": float(found["log_density"].mean()),
        "timings": timer.seconds,
        "input": column_roles(table),
    }
    print_summary(summary, {"scores": out, "model": save}, as_json, quiet)


def _method_options(ctx: typer.Context, method: str) -> dict[str, bool]:
    """Return the options given for parameters of the method."""
    given = chosen_parameters(ctx, estimator_class(method_name(method)))
    return {f"--{name.replace('_', '-')}": True for name in given}
