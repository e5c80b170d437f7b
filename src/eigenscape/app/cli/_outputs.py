"""What a command writes: every target is checked before the work, and every file appears whole."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from eigenscape.app.cli._errors import WrongCommandError

_PANEL = "Writing"
PLOTS = (".png", ".svg", ".pdf")

Plot = Annotated[
    str | None, typer.Option(help="Draw the map: .png, .svg or .pdf.", metavar="FILE", rich_help_panel=_PANEL)
]
Out = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--out",
        help="Coordinates: .csv, .tsv, .parquet, .arrow, .feather, .npy, .npz, .mtx, .h5ad; - for standard output.",
        metavar="OUT",
        rich_help_panel=_PANEL,
    ),
]
ReportFile = Annotated[
    str | None,
    typer.Option(help="An interactive report, one HTML file.", metavar="FILE.html", rich_help_panel=_PANEL),
]
Save = Annotated[
    str | None, typer.Option(help="The model, for transform.", metavar="MODEL", rich_help_panel=_PANEL)
]


def check_targets(
    source: str, force: bool, as_json: bool, model: str | None = None, **targets: str | None
) -> None:
    """Refuse targets that cannot be written, that are the input or the model it meets, or that are one
    another."""
    if as_json and targets.get("out") == "-":
        raise WrongCommandError("-o - and --json both write to standard output; give -o a file")
    from eigenscape.app.io.atomic import check_target
    from eigenscape.app.io.writing import check_format

    annotated = source.endswith(".h5ad")  # coordinates may go into the file itself, which is copied with them
    seen = {} if source == "-" or annotated else {os.path.realpath(source): "the input"}
    if model is not None:
        seen[os.path.realpath(Path(model).expanduser())] = "the model"
    for name, target in targets.items():
        if target is None or (target == "-" and name == "out"):
            continue
        if target == "-":
            raise WrongCommandError(f"--{name} needs a file; only -o takes - for standard output")
        place = os.path.realpath(Path(target).expanduser())
        if place in seen:
            raise WrongCommandError(
                f"{'-o' if name == 'out' else f'--{name}'} {target} is also {seen[place]}; give another name"
            )
        seen[place] = "the target of " + ("-o" if name == "out" else f"--{name}")
        if name == "plot" and Path(target).suffix.lower() not in PLOTS:
            raise WrongCommandError(f"--plot {target}: draw to one of {', '.join(PLOTS)}")
        if name == "report" and Path(target).suffix.lower() not in (".html", ".htm"):
            raise WrongCommandError(f"--report {target}: a report is an HTML file, name it .html")
        check_target(target, force)
        if name == "out":
            check_format(target)


def draw(
    path: str,
    embedding: Any,
    *,
    title: str,
    table: Any = None,
    labels: Any = None,
    new: Any = None,
    force: bool = False,
) -> None:
    """A scatter plot of the first two coordinates in a file: with the labels of a table, and its images where
    it has some."""
    from matplotlib.figure import Figure

    from eigenscape.app.io.atomic import whole_file
    from eigenscape.plot import scatter

    figure = Figure(figsize=(7, 6), layout="constrained")  # not pyplot's: no window, and nobody else knows it
    labels = table.labels if labels is None and table is not None else labels
    images = None
    if table is not None and table.image_shape is not None:
        images = table.array.reshape(-1, *table.image_shape)
    scatter(embedding, labels=labels, images=images, new=new, title=title, ax=figure.add_subplot())
    with whole_file(path, force=force) as part:
        figure.savefig(part, dpi=150)


def coordinate_names(method: str, count: int) -> list[str]:
    """How the columns of a map are called in a file: ``kernel_pca_1``, ``kernel_pca_2``, ..."""
    short = method.replace("-", "_")
    return [f"{short}_{place + 1}" for place in range(count)]


def label_name(table: Any, taken: Sequence[str]) -> str:
    """What the labels of a table are called in a file: as they were in the input, unless they had no name
    there, or it is taken."""
    name = table.label_name
    nameless = name is None or re.fullmatch(r"x\d+", name) is not None  # as columns without a name are called
    return "label" if nameless or name in (*taken, "id") else str(name)


def write_coordinates(
    path: str, embedding: Any, method: str, table: Any, force: bool, clusters: Any = None
) -> None:
    """Coordinates with the names and labels of their rows, and their clusters, where the method has some."""
    from eigenscape.app.io import write_table

    short, names = method.replace("-", "_"), coordinate_names(method, embedding.shape[1])
    extra = {} if clusters is None else {"cluster": clusters}
    like = table.source if table.source.endswith(".h5ad") else None  # whose other annotations are kept
    called = label_name(table, [*names, *extra])
    beside = {"ids": table.ids, "labels": table.labels, "label_name": called, "extra": extra}
    write_table(path, embedding, names=names, **beside, force=force, like=like, method=short)
