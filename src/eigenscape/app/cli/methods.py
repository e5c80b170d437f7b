"""``eigenscape methods``: what there is, and what each takes."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from eigenscape.app.cli._methods import METHODS, aliases_of, canonical, estimator_class
from eigenscape.app.cli._parameters import parameters, summary


def methods(
    name: Annotated[str | None, typer.Argument(help="One method, to see all its parameters.")] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON, for machines.")] = False,
) -> None:
    """List the methods, or the parameters of one.

    Examples

        eigenscape methods
        eigenscape methods isomap

    The parameters are those of the estimator in Python, and options of `eigenscape embed`.
    """
    if name is not None:
        found = canonical(name)
        typer.echo(json.dumps(_described(found), indent=2)) if as_json else show_method(found)
        return
    if as_json:
        typer.echo(json.dumps({method: _described(method) for method in METHODS}, indent=2))
        return
    _list()


def _described(name: str) -> dict[str, Any]:
    cls = estimator_class(name)
    known = [
        {
            "name": each.name,
            "option": each.option,
            "type": each.kind or " | ".join(each.types),
            "default": each.default,
            "text": each.text,
        }
        for each in parameters(cls).values()
    ]
    return {"class": cls.__name__, "aliases": aliases_of(name), "summary": summary(cls), "parameters": known}


def _list() -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("method", "or", "what it does"):
        table.add_column(heading, no_wrap=heading == "method")
    for method in METHODS:
        table.add_row(method, ", ".join(aliases_of(method)), summary(estimator_class(method)))
    console = Console()
    console.print(table, markup=False)
    console.print("\nParameters of one: eigenscape methods isomap", highlight=False)


def show_method(name: str) -> None:
    """Print the parameters of one method."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    cls = estimator_class(name)
    console = Console(highlight=False)
    console.print(Text(f"{name}: {summary(cls)}", style="bold"))
    console.print(Text(f"eigenscape.{cls.__name__}; its parameters as options:\n"))
    for each in parameters(cls).values():
        default = "" if "default=" in each.kind else f", default={each.default!r}"
        flag = f" / --no-{each.option[2:]}" if each.is_flag else ""
        console.print(
            Text.assemble(
                (f"  {each.option}{flag}", "cyan"), f"  {each.kind or ' or '.join(each.types)}{default}"
            )
        )
        if each.text:
            console.print(Padding(Text(each.text), (0, 0, 0, 6)))
