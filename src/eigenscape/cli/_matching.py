"""Tomorrow's columns against those that a model knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eigenscape.cli._shared import say
from eigenscape.exceptions import InputFileError
from eigenscape.io._columns import without_missing
from eigenscape.io._table import numbered


def matched(table: Any, wanted: Sequence[str], label: str | None, missing: str, quiet: bool) -> Any:
    """The table with the columns that a model wants, in its order: by name where both have names, else by place.

    Further columns are left out, and said; the column of labels, where there is one, becomes the labels.
    """
    names = list(table.names)
    if label is not None and label in names and label not in wanted:
        table = replace(table, labels=table.array[:, names.index(label)])
        table = _chosen(table, [place for place, name in enumerate(names) if name != label])
        names.remove(label)
    lacking = [name for name in wanted if name not in names]
    if not lacking:
        further = [name for name in names if name not in wanted]
        if further:
            say(f"columns that the model does not know are left out: {_some(further)}", quiet)
        return without_missing(_chosen(table, [names.index(name) for name in wanted]), missing)
    nameless = tuple(names) == numbered(len(names)) or tuple(wanted) == numbered(len(wanted))
    if nameless and len(names) == len(wanted):
        return without_missing(table, missing)
    if nameless:
        raise InputFileError(f"{table.source} has {len(names)} columns of numbers, and the model was made from {len(wanted)}")
    raise InputFileError(f"{table.source} lacks columns that the model needs: {_some(lacking)}; it has {_some(names)}")


def _chosen(table: Any, places: list[int]) -> Any:
    columns = np.asarray(places, dtype=np.intp)
    return replace(table, array=table.array[:, columns], names=tuple(table.names[place] for place in places))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f", ... ({len(names)})" if len(names) > 10 else "")
