"""``eigenscape info`` and ``eigenscape export``: the contents of a model file, and its map as ONNX."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigenscape._format import escape_controls, to_json
from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import load_model, parse_notes, read_new_table
from eigenscape.app.cli.options import Display, InputOptions, Only, OutputOptions

if TYPE_CHECKING:
    from eigenscape.estimators._verify import Verification

#: Number of items of a list that are printed.
_SHOWN = 12


def info(
    model: options.Model,
    source: Annotated[
        str | None,
        typer.Argument(metavar="INPUT", help="The training data, for --verify.", show_default=False),
    ] = None,
    *,
    verify: Annotated[
        bool,
        options.option(
            "--verify",
            help="Load the model and check it: finite numbers, residuals, eigenvectors, and, with INPUT, the"
            " coordinates of its training points.",
        ),
    ] = False,
    display: Annotated[Display, Only("as_json")],
) -> None:
    """Print the method, parameters, training size, spectrum and data fingerprint of a model file.

    Examples

        eigenscape info iris.model
        eigenscape info iris.model --json
        eigenscape info iris.model --verify iris.csv

    Only the header of the file is read; the model is loaded with --verify. The exit code is 1 if a check
    fails.
    """
    from eigenscape.app.io import describe

    if source is not None and not verify:
        raise CommandError(f"the training data {source} are used with --verify only; add it")
    verification = _verify(model, source) if verify else None
    header = to_json(describe(model))
    notes = parse_notes(header["notes"])
    header["feature_names"] = header["feature_names"] or notes.pop("columns", None)
    if isinstance(notes.get("imputation"), dict):  # without its numbers
        notes["imputation"] = notes["imputation"].get("method")
    notes.pop("training_labels", None)  # one value per row
    header["notes"] = notes or header["notes"]
    if verification is not None:
        header["verification"] = _as_dict(verification)
    if display.as_json:
        typer.echo(json.dumps(header, indent=2))
    else:
        header.pop("verification", None)
        for name, value in header.items():
            typer.echo(escape_controls(f"{name.replace('_', ' '):<16}{_format(value)}"))
        if verification is not None:
            typer.echo(escape_controls(repr(verification)))
    if verification is not None and not verification:
        raise typer.Exit(1)


def _verify(model_file: str, source: str | None) -> Verification:
    """Load a model and check it, with its training data if they are given."""
    saved = load_model(model_file)
    rows = None
    if source is not None:
        rows = read_new_table(source, InputOptions(missing=""), saved.notes, quiet=True).array
        rows = rows if saved.scaler is None else saved.scaler.transform(rows)
    return saved.estimator.verify(rows)


def _as_dict(verification: Verification) -> dict[str, Any]:
    checks = [
        vars(check) | {name: _finite_or_none(getattr(check, name)) for name in ("error", "limit")}
        for check in verification.checks
    ]
    return {"passed": verification.passed, "checks": checks}


def _finite_or_none(value: float) -> float | None:
    """Return None for numbers that JSON does not have."""
    return value if math.isfinite(value) else None


def _format(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={item!r}" for name, item in value.items()) or "none"
    if isinstance(value, list):
        shown = [f"{item:.6g}" if isinstance(item, float) else str(item) for item in value[:_SHOWN]]
        return ", ".join(shown) + (f", ... ({len(value)})" if len(value) > _SHOWN else "")
    return "none" if value is None else str(value)


def export(
    model: options.Model,
    *,
    to: Annotated[str, options.option("--to", metavar="FILE", help="The file to write: .onnx.")],
    compact: Annotated[
        int | None,
        options.option(
            "--compact",
            min=2,
            metavar="N",
            help="Approximate the map by kernels around N training rows, for maps that have no formula of"
            " their own (graphs). Default: the exact map.",
        ),
    ] = None,
    double: Annotated[
        bool, options.option("--double", help="Rows and coordinates in double precision; default: single.")
    ] = False,
    writing: Annotated[OutputOptions, Only("force")],
    display: Annotated[Display, Only("quiet")],
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
    export_onnx(load_model(model).model, to, compact=compact, dtype=dtype, force=writing.force)
    print_message(f"wrote {to} (map)", display.quiet)
