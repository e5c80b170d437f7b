"""All commands under one name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from eigenscape import __version__
from eigenscape.app.cli._errors import INTERRUPTED, ending
from eigenscape.app.cli._options import MethodCommand
from eigenscape.app.cli.cluster import ClusterCommand, cluster
from eigenscape.app.cli.compare import CompareCommand, compare
from eigenscape.app.cli.embed import embed
from eigenscape.app.cli.info import info
from eigenscape.app.cli.inverse import inverse
from eigenscape.app.cli.methods import methods
from eigenscape.app.cli.reproduce import reproduce
from eigenscape.app.cli.transform import transform


class Commands(TyperGroup):
    """The group of commands. Errors are one line; ``--debug`` may stand anywhere."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        """Run a command and exit with its code."""
        words = list(sys.argv[1:] if args is None else args) or ["--help"]
        debug = "--debug" in words
        with ending(debug):
            code = super().main(
                [word for word in words if word != "--debug"], *rest, **{**extra, "standalone_mode": False}
            )
            if code == INTERRUPTED:  # typer has taken Ctrl-C for an answer
                raise KeyboardInterrupt
        raise SystemExit(code if isinstance(code, int) else 0)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"eigenscape {__version__}")
        raise typer.Exit


@app.callback()
def eigenscape(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            metavar="",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", metavar="", help="Show a traceback with errors. May stand anywhere.")
    ] = False,
) -> None:
    """Maps of data that have a place for every later point, too.

    Examples

        eigenscape methods                                                    # what there is
        eigenscape embed iris.csv -m isomap --report iris.html --save iris.model
        eigenscape transform iris.model new.csv -o new-map.csv                # tomorrow's rows
        eigenscape compare iris.csv --report comparison.html                  # which method fits?

    Every command explains itself: `eigenscape embed --help`.
    """


app.command(cls=MethodCommand)(embed)
app.command()(transform)
app.command(cls=CompareCommand)(compare)
app.command(cls=ClusterCommand)(cluster)
app.command()(inverse)
app.command()(info)
app.command()(methods)
app.command(hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    reproduce
)
