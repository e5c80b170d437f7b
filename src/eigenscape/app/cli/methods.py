"""``eigenscape methods``: list the methods, or the parameters of one."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from eigenscape.app.methods import EVERYDAY, all_methods, estimator_class, parameters, summary


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
        every = {} if name else {method: _describe(cls) for method, cls in all_methods().items()}
        described = _describe(estimator_class(name)) if name else every
        typer.echo(json.dumps(described, indent=2))
    elif name:
        show_method(name)
    else:
        _show_methods()


def _describe(cls: Any) -> dict[str, Any]:
    """Return the class, aliases, summary and parameters of a method, for ``--json``."""
    described = [
        {
            "name": parameter.name,
            "option": parameter.option,
            "type": parameter.type_text,
            "default": parameter.default,
            "text": parameter.description,
        }
        for parameter in parameters(cls).values()
    ]
    return {
        "class": cls.__name__,
        "aliases": list(cls._method.aliases),
        "summary": summary(cls),
        "parameters": described,
    }


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
