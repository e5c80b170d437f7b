"""Writing the results of a command.

All targets are checked before the computation starts; every file is written completely or not at all.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.options import Display, OutputOptions

if TYPE_CHECKING:
    import numpy as np

    from eigenscape.app.io.table import Table

_SUFFIXES = {"plot": (".png", ".svg", ".pdf"), "report": (".html", ".htm")}


def check_targets(source: str, options: OutputOptions, display: Display, model: str | None) -> None:
    """Raise CommandError if a target cannot be written or is also a file to read or another target.

    ``source`` and ``model`` are the files that the command reads.
    """
    if display.as_json and options.out == "-":
        raise CommandError("-o - and --json both write to standard output; give -o a file")
    if sys.stdout is None and (display.as_json or options.out == "-"):
        raise CommandError("standard output is closed; write to a file with -o")
    from eigenscape.app.io.atomic import check_target
    from eigenscape.app.io.writing import check_format

    used: dict[str, str] = {}
    if source != "-" and not source.endswith(".h5ad"):  # coordinates may be added to an h5ad file
        used[os.path.realpath(source)] = "the input"
    if model is not None:
        used[os.path.realpath(Path(model).expanduser())] = "the model"
    for name in ("out", "plot", "report", "save"):
        target, option = getattr(options, name), "-o" if name == "out" else f"--{name}"
        if target is None or (target == "-" and name == "out"):
            continue
        if target == "-":
            raise CommandError(f"{option} needs a file; only -o accepts - for standard output")
        path = os.path.realpath(Path(target).expanduser())
        if path in used:
            raise CommandError(f"{option} {target} is also {used[path]}; use another name")
        used[path] = f"the target of {option}"
        suffixes = _SUFFIXES.get(name)
        if suffixes is not None and Path(target).suffix.lower() not in suffixes:
            raise CommandError(f"{option} {target}: the suffix must be one of {', '.join(suffixes)}")
        check_target(target, options.force)
        if name == "out":
            check_format(target)


def write_rows(
    rows: np.ndarray,
    names: Iterable[str] | None,
    table: Table,
    options: OutputOptions,
    *,
    extra: Mapping[str, np.ndarray] | None = None,
    method: str | None = None,
) -> None:
    """Write a line for each row of a table, with its id and label, if there is a target.

    Coordinates are added to a copy of an h5ad file under the name of their ``method``.
    """
    if options.out is None:
        return
    from eigenscape.app.io.writing import write_table

    numbers = {} if table.rows is None or table.ids is not None else {"row": table.rows + 1}  # counted from 1
    extra = {**numbers, **(extra or {})}
    names = None if names is None else list(names)
    annotated: dict[str, Any] = {}
    if method is not None:
        like = table.source if table.source.endswith(".h5ad") else None
        annotated = {"like": like, "rows": table.rows, "method": method.replace("-", "_")}
    label = table.label_name or ""  # x0, x1, ... are names of columns without a header
    used = label in ("", *(names or ()), *extra, "id", "row") or re.fullmatch(r"x\d+", label) is not None
    write_table(
        options.out,
        rows,
        names=names,
        ids=table.ids,
        labels=table.labels,
        label_name="label" if used else label,
        extra=extra,
        force=options.force,
        spreadsheet_safe=options.spreadsheet_safe,
        **annotated,
    )


def coordinate_names(class_name: str, count: int) -> list[str]:
    """Return the names of the columns of coordinates, as ``get_feature_names_out``: ``kernelpca0``, ..."""
    return [f"{class_name.lower()}{number}" for number in range(count)]


def write_plot(options: OutputOptions, embedding: np.ndarray, title: str, **points: Any) -> None:
    """Write a scatter plot of the first two coordinates, if there is a target.

    ``points`` are arguments of :func:`eigenscape.plot.scatter`.
    """
    if options.plot is None:
        return
    from matplotlib.figure import Figure

    from eigenscape.app.io.atomic import whole_file
    from eigenscape.plot import scatter

    figure = Figure(figsize=(7, 6), layout="constrained")  # without pyplot: no global state, no window
    scatter(embedding, title=title, ax=figure.add_subplot(), **points)
    picture = io.BytesIO()  # in memory first: matplotlib's writers replace errors of a full disk by others
    figure.savefig(picture, format=Path(options.plot).suffix.lower()[1:], dpi=150)
    with whole_file(options.plot, force=options.force) as part:
        part.write_bytes(picture.getbuffer())
