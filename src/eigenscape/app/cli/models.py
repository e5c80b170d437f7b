"""``eigenscape info``, ``export`` and ``methods``: a model file, its map as ONNX, and the list of methods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigenscape._format import escape_controls, to_json
from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import load_model, parse_notes, read_new_table
from eigenscape.app.cli.options import Display, InputOptions, Only, OutputOptions
from eigenscape.app.methods import EVERYDAY, all_methods, estimator_class, parameters, summary

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
    """Print the method, parameters, training size and spectrum of a model file.

    Examples

        eigenscape info iris.model
        eigenscape info iris.model --json
        eigenscape info iris.model --verify iris.csv

    Only the header of the file is read; the model is loaded with --verify. The exit code is 1 if a check
    fails.
    """
    from eigenscape.app.io.models import describe

    if source is not None and not verify:
        raise CommandError(f"the training data {source} are used with --verify only; add it")
    verification = _verify(model, source) if verify else None
    header = to_json(describe(model))
    notes = parse_notes(header["notes"])
    for name, note in (("feature_names", "columns"), ("n_samples", "n_rows")):  # not all models have them
        header[name] = header[name] or notes.get(note)
        notes.pop(note, None)
    if notes.get("imputation"):  # without its numbers
        notes["imputation"] = "mean"
    header["notes"] = notes or header["notes"]
    if display.as_json:
        if verification is not None:
            checks = [vars(check) for check in verification.checks]
            header["verification"] = to_json({"passed": verification.passed, "checks": checks})
        typer.echo(json.dumps(header, indent=2))
    else:
        for name, value in header.items():
            typer.echo(escape_controls(f"{name.replace('_', ' '):<16}{_format(value)}"))
        if verification is not None:
            typer.echo(escape_controls(repr(verification)))
    if verification is not None and not verification:
        raise typer.Exit(1)


def _verify(model_file: str, source: str | None) -> Verification:
    """Load a model and check it, with its training data if they are given."""
    saved = load_model(model_file)
    if source is None:
        return saved.estimator.verify(None)
    table = read_new_table(source, InputOptions(missing=""), saved.notes, quiet=True)
    return saved.estimator.verify(saved.scaled(table.array))


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
    from eigenscape.app.io.onnx_export import export_onnx

    if Path(to).suffix.lower() != ".onnx":
        raise CommandError(f"--to {to}: unsupported file extension; choose a name that ends in .onnx")
    dtype = "float64" if double else "float32"
    export_onnx(load_model(model).model, to, compact=compact, dtype=dtype, force=writing.force)
    print_message(f"wrote {to} (map)", display.quiet)


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A method, to list its parameters.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
) -> None:
    """List the methods, or the parameters of one.

    Examples

        eigenscape methods
        eigenscape methods isomap

    The parameters are options of `eigenscape embed`. The estimator in Python has the same parameters, some
    of them as fields of objects such as KNNGraph (eigenscape.options).
    """
    if as_json:
        known = {} if name else {each: _describe(cls) for each, cls in all_methods().items()}
        typer.echo(json.dumps(_describe(estimator_class(name)) if name else known, indent=2))
    elif name:
        show_method(name)
    else:
        _show_methods()


def _describe(cls: Any) -> dict[str, Any]:
    """Return the class, aliases, summary and parameters of a method, for ``--json``."""
    names = {"name": "name", "option": "option", "type": "type_text", "default": "default"}
    names["text"] = "description"
    found = [{key: getattr(each, name) for key, name in names.items()} for each in parameters(cls).values()]
    aliases = list(cls._method.aliases)
    return {"class": cls.__name__, "aliases": aliases, "summary": summary(cls), "parameters": found}


def _show_methods() -> None:
    """Print a table of all methods."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("method", "aliases", "description"):
        table.add_column(heading, no_wrap=heading == "method")
    for name, cls in all_methods().items():
        table.add_row(name, ", ".join(cls._method.aliases), summary(cls))
    console = Console()
    console.print(table, markup=False)
    console.print("\nParameters of a method: eigenscape methods isomap", highlight=False)


def show_method(name: str) -> None:
    """Print the parameters of a method as options."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    cls = estimator_class(name)
    console = Console(highlight=False)
    console.print(Text(f"{cls._method.name}: {summary(cls)}", style="bold"))
    package = cls.__module__.split(".")[0]
    console.print(Text(f"Parameters of {package}.{cls.__name__} as options:\n"))
    group = EVERYDAY
    for parameter in parameters(cls).values():
        if parameter.group != group:
            group = parameter.group
            console.print(Text(f"\n{_heading(group)}\n"))
        default = "" if "default=" in parameter.doc_type else f", default={parameter.default!r}"
        flag = f" / --no-{parameter.option[2:]}" if parameter.is_flag else ""
        option = (f"  {parameter.option}{flag}", "cyan")
        console.print(Text.assemble(option, f"  {parameter.type_text}{default}"))
        if parameter.description:
            console.print(Padding(Text(parameter.description), (0, 0, 0, 6)))


def _heading(group: str) -> str:
    """Return the heading of the parameters that are not for everyday use."""
    from eigenscape import options

    if group not in options.__all__:
        return "Further parameters:"
    return f"Fields of {group}: {summary(getattr(options, group))}"
