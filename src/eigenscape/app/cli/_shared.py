"""Options that several commands have, and what they print."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from eigenscape._format import to_json

AsJson = Annotated[
    bool, typer.Option("--json", metavar="", help="Print a summary as JSON on standard output, for machines.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", metavar="", help="Print nothing but warnings and errors.")
]
Force = Annotated[
    bool, typer.Option("--force", metavar="", help="Write over files that exist.", rich_help_panel="Writing")
]
Progress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress", metavar="", help="Show the stages of the work; else on a terminal only."
    ),
]


def say(text: str, quiet: bool = False) -> None:
    """A line for the reader, on standard error: standard output is for results."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)


@contextmanager
def showing(progress: bool | None, quiet: bool) -> Iterator[dict[str, float]]:
    """Show the stages announced inside the block, on standard error, if asked to or on a terminal; the
    seconds of each, at the end."""
    from eigenscape._progress import recording, reporting

    wanted = sys.stderr.isatty() and not quiet if progress is None else progress
    seconds: dict[str, float] = {}
    with reporting(wanted), recording() as stages:
        yield seconds
    seconds.update({stage.name: stage.seconds for stage in stages})


def finish(found: dict[str, Any], files: dict[str, str | None], as_json: bool, quiet: bool) -> None:
    """The last words of a command: a summary for machines, or the files written."""
    written = {name: file for name, file in files.items() if file is not None}
    if as_json:
        typer.echo(json.dumps(to_json({**found, "files": written}), indent=2))
        return
    for name, file in written.items():
        if file != "-":
            say(f"wrote {file} ({name})", quiet)
