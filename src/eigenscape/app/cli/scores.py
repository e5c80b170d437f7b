"""``eigenscape classify`` and ``eigenscape density``: a class or a score for every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.fitting import build_estimator, given_labels
from eigenscape.app.cli.options import Display, InputOptions, OutputOptions, setting
from eigenscape.app.cli.output import write_rows
from eigenscape.app.cli.run import Run
from eigenscape.app.methods import estimator_class

#: The embedder of ``density`` if no ``-m`` is given, and the number of its coordinates.
DEFAULT, _COORDINATES = "kernel-pca", 10

_Model = Annotated[
    str | None,
    options.option("--model", help="Use a model that this command saved with --save.", metavar="MODEL"),
]


def classify(
    ctx: typer.Context,
    source: options.Source,
    *,
    model_file: _Model = None,
    balanced: Annotated[bool, options.option("--balanced", help="Give all classes the same weight.")] = False,
    writing: Annotated[OutputOptions, options.ROWS_AND_MODEL],
    reading: Annotated[InputOptions, options.ROWS],
    display: Display,
) -> None:
    """Predict the class of every row from the labels of some; -o writes the classes and probabilities.

    Examples

        eigenscape classify iris.csv --label species -o classes.csv
        eigenscape classify iris.csv --label species --save iris.model
        eigenscape classify new.csv --model iris.model -o classes.csv

    Rows with an empty label are unlabelled. Labels that are given are not changed.
    """
    from eigenscape import EigenfunctionClassifier

    _check_written(writing, display, "classes")
    run = Run(source, reading, writing, display, ctx.meta.get(options.COMMAND, ""), model_file)
    if model_file is not None:
        saved = run.load(EigenfunctionClassifier, {"--balanced": balanced})
        with run.step("predicting"):
            probabilities = saved.model.predict_proba(run.table.array)
        classes = saved.estimator.classes_
        predicted = classes[probabilities.argmax(axis=1)]
    else:
        labels = given_labels(run.read())
        run.fit_rows(EigenfunctionClassifier(class_weight="balanced" if balanced else None), labels)
        classes, predicted = run.estimator.classes_, run.estimator.transduction_
        probabilities = run.estimator.predict_proba(run.table.array)
        if writing.save is not None:
            run.save()
    found = {"class": predicted.astype(str).astype(object)}
    write_rows(probabilities.max(axis=1)[:, None], ["probability"], run.table, writing, extra=found)
    sizes = {str(name): int((predicted == name).sum()) for name in classes}
    run.say(f"rows in each class: {', '.join(f'{name} {size}' for name, size in sizes.items())}")
    run.finish("classes", method="classify", sizes=sizes)


def _check_written(writing: OutputOptions, display: Display, what: str) -> None:
    if not (writing.out or writing.save or display.as_json):
        raise CommandError(f"nothing to write: give -o OUT for the {what}, --save or --json")


@dataclass(frozen=True)
class DensityOptions:
    """Options about the density and its outliers, as given on the command line."""

    n_components: int | None = setting(
        "Number of coordinates. Default: 10 of kernel-pca, else 2.", "N", "-d", min=1
    )
    mixtures: int | None = setting("Number of Gaussians. Default: by rows left out.", "K", min=1)
    contamination: float | None = setting(
        "Share of the rows that are called outliers. Default: one in a hundred usual rows.", "SHARE"
    )


def density(
    ctx: typer.Context,
    source: options.Source,
    *,
    method: Annotated[
        str, options.option("-m", help="Method whose coordinates have the density.", metavar="METHOD")
    ] = DEFAULT,
    given: DensityOptions,
    model_file: _Model = None,
    writing: Annotated[OutputOptions, options.ROWS_AND_MODEL],
    reading: Annotated[InputOptions, options.ROWS],
    display: Display,
) -> None:
    """Compute the density of rows among the others, and find outliers; a saved model scores new rows.

    -o writes the log density, the distance from the span, the score and 0 or 1 for outliers of every row.

    Examples

        eigenscape density iris.csv -o scores.csv --contamination 0.05
        eigenscape density usual.csv -m pca -d 3 --save usual.model
        eigenscape density new.csv --model usual.model -o scores.csv

    The parameters of the method are further options: `eigenscape density -m kernel-pca --help` lists them.
    """
    import numpy as np

    from eigenscape import EigenspaceDensity

    _check_written(writing, display, "scores")
    run = Run(source, reading, writing, display, ctx.meta.get(options.COMMAND, ""), model_file)
    cls = estimator_class(method)
    chosen = options.chosen_parameters(ctx, cls)
    if model_file is not None:
        refused = {"--contamination": given.contamination is not None, "--mixtures": given.mixtures}
        refused |= {"-d": given.n_components, "-m": cls._method.name != DEFAULT}
        refused |= {f"--{each.replace('_', '-')}": True for each in chosen}
        saved = run.load(EigenspaceDensity, refused)
        estimator, rows = saved.estimator, saved.scaled(run.table.array)
    else:
        table, n_components = run.read(), given.n_components
        if n_components is None and cls._method.name == DEFAULT and "n_components" not in chosen:
            n_components = max(1, min(_COORDINATES, table.array.shape[0] // 2 - 1))
        embedder = build_estimator(cls, chosen, n_components, table.kind, table.array)
        share: Any = "auto" if given.contamination is None else given.contamination
        estimator = EigenspaceDensity(embedder, given.mixtures or "auto", contamination=share)
        run.fit_rows(estimator)
        rows = table.array
        if writing.save is not None:
            run.save()
    with run.step("scoring"):
        scores = estimator.decision_function(rows)
        found: dict[str, Any] = {
            "log_density": estimator.score_samples(rows),
            "span_distance": estimator.span_distances(rows),
            "score": scores,
            "outlier": scores < 0,
        }
    write_rows(np.column_stack(list(found.values())), list(found), run.table, writing)
    n_outliers = int(found["outlier"].sum())
    run.say(f"{n_outliers} of {len(scores)} rows are outliers")
    run.finish(
        "scores",
        method="density",
        n_outliers=n_outliers,
        n_mixtures=estimator.n_mixtures_,
        span_distance=estimator.span_distance_,
        mean_log_density=float(found["log_density"].mean()),
    )
