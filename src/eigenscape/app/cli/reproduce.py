"""``eigenscape reproduce``: a pointer to the experiments, which are not part of the installed package."""

from __future__ import annotations

import typer

from eigenscape.app.cli.errors import INVALID, print_message


def reproduce() -> None:
    """Print how to run the experiments of the papers."""
    print_message("experiments are run from the source tree by `python -m experiments` or `make reproduce`")
    raise typer.Exit(INVALID)
