"""The command line ``eigenscape``."""

from __future__ import annotations

import os
import sys

from eigenscape._extras import optional_import
from eigenscape.exceptions import MissingDependencyError


def main() -> None:
    """Run the command line with the arguments of this process."""
    _open_standard_streams()
    try:
        for package in ("typer", "rich"):
            optional_import(package, "the command line")
    except MissingDependencyError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    from eigenscape.app.cli.app import app

    app(prog_name="eigenscape")


def _open_standard_streams() -> None:
    """Connect closed standard streams to the null device.

    Otherwise the next file that is opened gets their number, and messages of libraries would be written to
    it. ``sys.stdout`` stays None if it is closed, so that results are not lost in silence.
    """
    for number in range(3):  # in ascending order: the lowest free number is used
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
