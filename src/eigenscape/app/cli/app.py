"""The commands of ``eigenscape``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from eigenscape import __version__
from eigenscape.app.cli import embed, rows
from eigenscape.app.cli.errors import INTERRUPTED, handle_errors
from eigenscape.app.cli.explore import explore
from eigenscape.app.cli.models import export, info, methods
from eigenscape.app.cli.options import MethodCommand, grouped, option


class Commands(TyperGroup):
    """The group of commands. Errors are printed on one line; ``--debug`` is accepted in any position."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        """Run a command and exit with its code."""
        given = sys.argv[1:] if args is None else args
        with handle_errors(debug="--debug" in given):
            words = [word for word in given if word != "--debug"] or ["--help"]
            code = super().main(words, *rest, **{**extra, "standalone_mode": False})
            if code == INTERRUPTED:  # typer returns a code for Ctrl-C instead of raising
                raise KeyboardInterrupt
        raise SystemExit(code if isinstance(code, int) else 0)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
)


_Version = Annotated[bool, option("--version", help="Print the version and exit.")]
_Debug = Annotated[bool, option("--debug", help="Print a traceback with errors; accepted anywhere.")]


@app.callback(invoke_without_command=True)
def eigenscape(version: _Version = False, debug: _Debug = False) -> None:  # noqa: ARG001
    """Spectral dimensionality reduction of files; fitted models compute the coordinates of new rows, too.

    Examples

        eigenscape methods
        eigenscape embed iris.csv -m isomap --report iris.html --save iris.model
        eigenscape transform iris.model new.csv -o new-map.csv
        eigenscape compare iris.csv --report comparison.html

    `eigenscape COMMAND --help` describes a command.
    """
    if version:
        typer.echo(f"eigenscape {__version__}")
        raise typer.Exit


def _method_command(*methods: str) -> type[MethodCommand]:
    """Return a command with the parameters of methods as options, unless ``-m`` is given."""
    return type("MethodCommandWithDefault", (MethodCommand,), {"default_methods": methods})


app.command(cls=MethodCommand)(grouped(embed.embed))
app.command()(grouped(rows.transform))
app.command(cls=_method_command(*embed.COMPARED))(grouped(embed.compare))
app.command(cls=MethodCommand)(grouped(explore))
app.command(cls=_method_command(embed.DEFAULT))(grouped(embed.cluster))
app.command()(grouped(rows.classify))
app.command(cls=_method_command(rows.DEFAULT))(grouped(rows.density))
for _command in (rows.inverse, info, export):
    app.command()(grouped(_command))
app.command()(methods)
