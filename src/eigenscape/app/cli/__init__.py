"""The command line ``eigenscape``."""

from __future__ import annotations

import sys

from eigenscape._extras import optional_import
from eigenscape.exceptions import MissingDependencyError


def main() -> None:
    """Run the command line with the arguments of this process."""
    try:
        for package in ("typer", "rich"):
            optional_import(package, "the command line")
    except MissingDependencyError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    from eigenscape.app.cli.app import app

    app(prog_name="eigenscape")
