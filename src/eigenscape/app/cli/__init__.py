"""The command line: a file in; coordinates, a picture, a report and a model out."""

from __future__ import annotations


def main() -> None:
    """Run the command that the shell asks for."""
    from eigenscape.app.cli.app import app

    app(prog_name="eigenscape")
