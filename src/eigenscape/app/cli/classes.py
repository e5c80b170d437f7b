"""Classes of rows from a column of labels; some labels may be missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigenscape.app.cli.errors import CommandError

if TYPE_CHECKING:
    import numpy as np

    from eigenscape.app.io import Table


def given_labels(table: Table) -> np.ndarray:
    """Return the labels of a table, -1 or None for rows that have none."""
    import numpy as np

    if table.labels is None:
        raise CommandError(
            f"{table.source} has no column of labels; name it with --label, with empty cells for unlabelled"
            " rows"
        )
    labels = np.asarray(table.labels)
    if labels.dtype.kind == "f":
        known = np.isfinite(labels)
        if (labels[known] == np.round(labels[known])).all():
            return np.where(known, np.nan_to_num(labels), -1).astype(np.int64)
        raise CommandError(
            f"column {table.label_name!r} of {table.source} has numbers that are not integers, which are no"
            " classes; name another column with --label"
        )
    if labels.dtype.kind in "iu":
        return labels
    found = np.empty(len(labels), dtype=object)
    for row, value in enumerate(labels):
        found[row] = None if value is None or str(value).strip() == "" else str(value)
    return found
