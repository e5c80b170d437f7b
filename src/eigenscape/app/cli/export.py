"""``eigenscape export``: write the map of a model file in the format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import load_model

_To = Annotated[
    str, typer.Option("--to", metavar="FILE", help="The file to write: .onnx.", show_default=False)
]
_Compact = Annotated[
    int | None,
    typer.Option(
        "--compact",
        min=2,
        metavar="N",
        help="Approximate the map by kernels around N training rows, for maps that have no formula of their"
        " own (graphs). Default: the exact map.",
        show_default=False,
    ),
]
_Double = Annotated[
    bool, typer.Option("--double", help="Rows and coordinates in double precision; default: single.")
]


def export(
    model: options.Model,
    to: _To,
    compact: _Compact = None,
    double: _Double = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Export the map of a model to ONNX, for programs without Python.

    Examples

        eigenscape export iris.model --to iris.onnx
        eigenscape export roll.model --to roll.onnx --compact 200

    The input X (n, columns) and the output Y (n, coordinates) have any number of rows.
    """
    from eigenscape.app.io import export_onnx

    if Path(to).suffix.lower() != ".onnx":
        raise CommandError(f"--to {to}: unsupported file extension; choose a name that ends in .onnx")
    dtype = "float64" if double else "float32"
    export_onnx(load_model(model).model, to, compact=compact, dtype=dtype, force=force)
    print_message(f"wrote {to} (map)", quiet)
