"""Tomorrow's columns against those that a model knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eigenscape.app.cli._shared import say
from eigenscape.app.io.cells import looks_numeric, parse_numbers
from eigenscape.app.io.columns import handle_missing
from eigenscape.app.io.table import default_names
from eigenscape.exceptions import InputFileError


def matched(table: Any, wanted: Sequence[str], label: str | None, missing: str, quiet: bool) -> Any:
    """The table with the columns that a model wants, in its order: by name where both have names, else by
    place.

    Further columns are left out, and said; the column of labels, where there is one, becomes the labels.
    """
    table = _with_numbers(table, wanted)
    names = list(table.names)
    if label is not None and label in names and label not in wanted:
        table = replace(table, labels=table.array[:, names.index(label)], label_name=label)
        table = _chosen(table, [place for place, name in enumerate(names) if name != label])
        names.remove(label)
    lacking = [name for name in wanted if name not in names]
    if not lacking:
        further = [name for name in names if name not in wanted]
        if further:
            say(f"columns that the model does not know are left out: {_some(further)}", quiet)
        return handle_missing(_chosen(table, [names.index(name) for name in wanted]), missing)
    nameless = tuple(names) == default_names(len(names)) or tuple(wanted) == default_names(len(wanted))
    if nameless and len(names) == len(wanted):
        return handle_missing(table, missing)
    if nameless:
        raise InputFileError(
            f"{table.source} has {len(names)} columns of numbers, and the model was made from {len(wanted)}"
        )
    alike = [
        f"{name} for {lacks}" for lacks in lacking for name in names if name.casefold() == lacks.casefold()
    ]
    meant = f"; did you mean {_some(alike)}? Rename it" if alike else ""
    raise InputFileError(
        f"{table.source} lacks columns that the model needs: {_some(lacking)}; it has {_some(names)}{meant}"
    )


def on_the_map(table: Any, wanted: Sequence[str], label: str | None, quiet: bool) -> Any:
    """The table with the coordinates of a map, by their names; by place where it has none of these names."""
    if set(wanted) & {*table.names, *table.extra, table.label_name}:
        return matched(table, wanted, label, "error", quiet)
    if len(table.names) != len(wanted):
        raise InputFileError(
            f"{table.source} has {len(table.names)} column(s) of numbers ({_some(table.names)}), and the map has {len(wanted)} coordinates;"
            f" name those that are meant {_some(wanted)}"
        )
    return handle_missing(table, "error")


def _with_numbers(table: Any, wanted: Sequence[str]) -> Any:
    """The table with columns that were taken for text, and that the model wants, as numbers."""
    text = dict(table.extra)
    if table.labels is not None and table.label_name in wanted and table.label_name not in table.names:
        text[table.label_name] = table.labels
        table = replace(table, labels=None, label_name=None)
    for name in (name for name in wanted if name in text and name not in table.names):
        cells = [str(cell) for cell in text[name]]
        column = parse_numbers(cells)
        if column is None:
            row, cell = next(
                ((i, cell) for i, cell in enumerate(cells) if not looks_numeric(cell) or "," in cell), (0, "")
            )
            raise InputFileError(
                f"column {name!r} of {table.source} holds text ({cell!r} in row {row + 1}, counted from 1) where the model needs numbers"
            )
        extra = {known: values for known, values in table.extra.items() if known != name}
        table = replace(
            table, array=np.column_stack([table.array, column]), names=(*table.names, name), extra=extra
        )
    return table


def _chosen(table: Any, places: list[int]) -> Any:
    columns = np.asarray(places, dtype=np.intp)
    return replace(table, array=table.array[:, columns], names=tuple(table.names[place] for place in places))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f", ... ({len(names)})" if len(names) > 10 else "")
