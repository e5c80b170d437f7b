"""The option ``--weight``: a column of sample weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.input import InputOptions, is_streamed, split_names
from eigenscape.app.methods import method_of

if TYPE_CHECKING:
    import numpy as np
    from sklearn.base import BaseEstimator

    from eigenscape.app.io import Table


def check_weight_option(cls: type[BaseEstimator], options: InputOptions) -> None:
    """Raise CommandError before any work if a method has no weights, or their column has another role."""
    from sklearn.utils.validation import has_fit_parameter

    name = options.weight
    if name is None:
        return
    if not has_fit_parameter(cls, "sample_weight"):
        raise CommandError(
            f"{method_of(cls)} has no sample weights; omit --weight, or use a method such as kernel-pca,"
            " laplacian-eigenmaps or pca"
        )
    roles = {"--label": [options.label], "--id": [options.id], "--columns": split_names(options.columns)}
    for option, names in roles.items():
        if name in (names or ()):
            raise CommandError(f"column {name!r} is given by --weight and by {option}; omit one of them")


def weight_column(table: Table, name: str | None) -> np.ndarray | None:
    """Return the weights of the rows, or raise CommandError if the column does not contain weights."""
    import numpy as np

    if name is None:
        return None
    if is_streamed(table.array):
        raise CommandError("--weight needs all rows in memory; omit --stream, or use a smaller file")
    if name not in table.extra:
        raise CommandError(
            f"--weight {name}: {table.source} is not a table that contains this column and features; weights"
            " are a column of a table with names, such as a CSV or Parquet file"
        )
    column = table.extra[name]
    if column.dtype.kind not in "fiub":
        shown = next((value for value in column.tolist() if not _is_number(value)), "")
        raise CommandError(f"column {name!r} of {table.source} contains text ({shown!r}), not weights")
    weights = column.astype(np.float64)
    problem = ~np.isfinite(weights) | (weights < 0)
    if problem.any():
        row = int(np.flatnonzero(problem)[0])
        number = row if table.rows is None else int(table.rows[row])
        kind = "is missing or infinite" if not np.isfinite(weights[row]) else f"is {weights[row]:g}"
        raise CommandError(
            f"the weight in column {name!r} of {table.source} {kind} in row {number + 1} (counted from 1);"
            " weights are numbers of at least 0"
        )
    if not weights.any():
        raise CommandError(f"all weights in column {name!r} of {table.source} are 0")
    return weights


def _is_number(value: object) -> bool:
    """Return whether a value is a number, or a text that can be read as one."""
    try:
        float(str(value))
    except ValueError:
        return False
    return True
