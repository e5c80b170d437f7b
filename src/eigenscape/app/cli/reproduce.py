"""``eigenscape reproduce``: a pointer to the experiments, which are not part of the installed package."""

from __future__ import annotations

import typer

from eigenscape.app.cli._errors import WRONG


def reproduce() -> None:
    """Print how to run the experiments of the papers."""
    typer.echo(
        "the experiments are run from the source tree: python -m experiments --list, or make reproduce",
        err=True,
    )
    raise typer.Exit(WRONG)
