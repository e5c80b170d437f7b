"""Options that several commands have, and what they print."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print a summary as JSON on standard output, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")]
Force = Annotated[bool, typer.Option("--force", help="Write over files that exist.")]


def jsonable(value: Any) -> Any:
    """The same in lists, numbers and text; numbers that JSON does not know become None."""
    import numpy as np

    if isinstance(value, dict):
        return {str(name): jsonable(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, (list, tuple)):
        return [jsonable(each) for each in value]
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def say(text: str, quiet: bool = False) -> None:
    """A line for the reader, on standard error: standard output is for results."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)
