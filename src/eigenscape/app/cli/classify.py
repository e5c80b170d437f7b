"""``eigenscape classify``: predict the classes of rows from the labels of some."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.classes import given_labels
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import InputOptions, column_roles, read_training_table
from eigenscape.app.cli.options import command_line
from eigenscape.app.cli.output import check_targets, print_summary, save_model
from eigenscape.app.cli.run import Timer, show_progress
from eigenscape.app.cli.scoring import fit_rows, load_for, refuse_with_model, write_scores


def classify(
    ctx: typer.Context,
    source: options.Source,
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--out",
            help="Write the class of every row and its probability: .csv, .parquet, ...; - for standard"
            " output.",
            metavar="OUT",
            rich_help_panel="Writing",
        ),
    ] = None,
    model_file: Annotated[
        str | None,
        typer.Option("--model", help="Classify by a model that classify saved.", metavar="MODEL"),
    ] = None,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Give all classes the same weight.", metavar="")
    ] = False,
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
    """Predict the class of every row from the labels of some.

    Examples

        eigenscape classify iris.csv --label species -o classes.csv
        eigenscape classify iris.csv --label species --save iris.model
        eigenscape classify new.csv --model iris.model -o classes.csv

    Rows with an empty label are unlabelled. Labels that are given are not changed.
    """
    from eigenscape import EigenfunctionClassifier

    if not (out or save or as_json):
        raise CommandError("nothing to write: give -o OUT for the classes, --save or --json")
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
                "--balanced": balanced,
                "--standardize": standardize,
                "--columns": columns,
                "--exclude": exclude,
                "--encode": encode,
            }
        )
        with timer.measure("reading"):
            saved, table = load_for(model_file, source, reading, EigenfunctionClassifier, quiet)
        with show_progress(progress, quiet), timer.measure("predicting"):
            probabilities = saved.model.predict_proba(table.array)
            classes = saved.estimator.classes_
            predicted = classes[probabilities.argmax(axis=1)]
    else:
        from dataclasses import replace

        reading = replace(reading, missing=missing or "error")
        with timer.measure("reading"):
            table = read_training_table(source, reading, quiet)
            given = given_labels(table)
        estimator = EigenfunctionClassifier(class_weight="balanced" if balanced else None)
        result = fit_rows(
            estimator, table, given, standardize=standardize, progress=progress, quiet=quiet, timer=timer
        )
        classes, predicted = estimator.classes_, estimator.transduction_
        probabilities = estimator.predict_proba(result.fitted_table.array)
        if save:
            save_model(save, result, reading, command_line(ctx), force=force, quiet=quiet)
    sizes = {str(name): int((predicted == name).sum()) for name in classes}
    if out:
        likely = probabilities.max(axis=1)
        found = {"class": predicted.astype(str).astype(object), "probability": likely}
        write_scores(out, found, table, force, spreadsheet_safe)
    print_message(f"rows in each class: {', '.join(f'{k} {n}' for k, n in sizes.items())}", quiet)
    summary: dict[str, Any] = {
        "method": "classify",
        "sizes": sizes,
        "timings": timer.seconds,
        "input": column_roles(table),
    }
    print_summary(summary, {"classes": out, "model": save}, as_json, quiet)
