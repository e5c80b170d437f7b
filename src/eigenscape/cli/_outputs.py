"""What a command writes: every target is checked before the work, and every file appears whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from eigenscape.cli._errors import WrongCommandError

_PANEL = "Writing"
PLOTS = (".png", ".svg", ".pdf")

Plot = Annotated[str | None, typer.Option(help="Draw the map: .png, .svg or .pdf.", metavar="FILE", rich_help_panel=_PANEL)]
Out = Annotated[
    str | None,
    typer.Option(
        "-o", "--out", help="Coordinates: .csv, .tsv, .parquet, .npy, .npz, .h5ad; - for standard output.", rich_help_panel=_PANEL
    ),
]
ReportFile = Annotated[str | None, typer.Option(help="An interactive report, one HTML file.", metavar="FILE.html", rich_help_panel=_PANEL)]
Save = Annotated[str | None, typer.Option(help="The model, for transform.", metavar="MODEL", rich_help_panel=_PANEL)]


def check_targets(source: str, force: bool, **targets: str | None) -> None:
    """Refuse targets that cannot be written, that are the input, or that are one another."""
    from eigenscape.io.whole import check_target
    from eigenscape.io.writing import check_format

    seen = {os.path.realpath(source): "the input"} if source != "-" else {}
    for name, target in targets.items():
        if target is None or (target == "-" and name == "out"):
            continue
        if target == "-":
            raise WrongCommandError(f"--{name} needs a file; only -o takes - for standard output")
        place = os.path.realpath(Path(target).expanduser())
        if place in seen:
            raise WrongCommandError(f"{'-o' if name == 'out' else f'--{name}'} {target} is also {seen[place]}; give another name")
        seen[place] = "the target of " + ("-o" if name == "out" else f"--{name}")
        if name == "plot" and Path(target).suffix.lower() not in PLOTS:
            raise WrongCommandError(f"--plot {target}: draw to one of {', '.join(PLOTS)}")
        if name == "report" and Path(target).suffix.lower() not in (".html", ".htm"):
            raise WrongCommandError(f"--report {target}: a report is an HTML file, name it .html")
        check_target(target, force)
        if name == "out":
            check_format(target)


def draw(path: str, embedding: Any, *, labels: Any = None, new: Any = None, force: bool = False, title: str | None = None) -> None:
    """A scatter plot of the first two coordinates in a file."""
    from eigenscape.io.whole import whole_file

    with _quiet_figure() as axes:
        from eigenscape.plot import scatter

        scatter(embedding, labels=labels, new=new, ax=axes)
        if title:
            axes.set_title(title)
        with whole_file(path, force=force) as part:
            axes.figure.savefig(part, dpi=150)


@contextmanager
def _quiet_figure() -> Iterator[Any]:
    """Axes of a figure that no window shows and nobody else knows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 6), layout="constrained")
    FigureCanvasAgg(figure)
    yield figure.add_subplot()
    figure.clear()


def write_coordinates(path: str, embedding: Any, method: str, table: Any, force: bool) -> None:
    """Coordinates with the names and labels of their rows."""
    from eigenscape.io import write_table

    short = method.replace("-", "_")
    names = [f"{short}_{place + 1}" for place in range(embedding.shape[1])]
    like = table.source if table.source.endswith(".h5ad") else None  # whose other annotations are kept
    write_table(path, embedding, names=names, ids=table.ids, labels=table.labels, force=force, like=like, method=short)
