"""What the commands have in common that give every row a class or a score, instead of coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.input import InputOptions, SavedModel, load_model, read_new_table
from eigenscape.app.cli.output import label_column, row_numbers
from eigenscape.app.cli.run import CommandFit, Timer, fit_scaler, scale, show_progress

if TYPE_CHECKING:
    import numpy as np
    from sklearn.base import BaseEstimator

    from eigenscape.app.io import Table


def fit_rows(
    estimator: BaseEstimator,
    table: Table,
    y: np.ndarray | None,
    *,
    standardize: bool,
    progress: bool | None,
    quiet: bool,
    timer: Timer,
) -> CommandFit:
    """Fit an estimator that has no coordinates to the rows of a table, and to labels if given."""
    import numpy as np

    if table.kind not in ("rows", "images"):
        raise CommandError(f"rows of numbers are needed, but the input is {table.kind}")
    with show_progress(progress, quiet) as stages, timer.measure("fit"):
        scaler = fit_scaler(table.array) if standardize else None
        fitted_table = table if scaler is None else scale(table, scaler)
        if y is None:
            estimator.fit(fitted_table.array)
        else:
            estimator.fit(fitted_table.array, y)
    timer.stages.update(stages)
    coordinates = np.empty((table.array.shape[0], 0))  # there are none
    return CommandFit(estimator, coordinates, table, fitted_table, scaler, timer, None)


def refuse_with_model(given: Mapping[str, object]) -> None:
    """Raise CommandError for options that were given although a saved model has decided them."""
    for option, value in given.items():
        if value:
            raise CommandError(f"{option} does not apply to --model, which is fitted already; omit it")


def load_for(
    model_file: str, source: str, options: InputOptions, cls: type[Any], quiet: bool
) -> tuple[SavedModel, Any]:
    """Return a saved model of a class, and new rows as it needs them."""
    saved = load_model(model_file)
    if not isinstance(saved.estimator, cls):
        found = type(saved.estimator).__name__
        raise CommandError(
            f"{model_file} contains a {found}, not a {cls.__name__}; fit one to a file with --save, or"
            " use transform"
        )
    table = read_new_table(source, options, saved.notes, quiet)
    return saved, table


def write_scores(
    path: str, columns: Mapping[str, np.ndarray], table: Table, force: bool, spreadsheet_safe: bool
) -> None:
    """Write columns of numbers or text with the ids and labels of their rows."""
    import numpy as np

    from eigenscape.app.io import write_table

    numbers = {name: values for name, values in columns.items() if values.dtype.kind in "fiub"}
    text = {name: values for name, values in columns.items() if name not in numbers}
    write_table(
        path,
        np.column_stack(list(numbers.values())),
        names=list(numbers),
        ids=table.ids,
        labels=table.labels,
        label_name=label_column(table, list(columns)),
        extra={**row_numbers(table), **text},
        force=force,
        spreadsheet_safe=spreadsheet_safe,
    )
