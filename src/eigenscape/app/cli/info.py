"""``eigenscape info``: what a model file holds."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from eigenscape._format import to_json
from eigenscape.app.cli._models import notes_of
from eigenscape.app.cli._shared import AsJson


def info(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file written by --save.")],
    as_json: AsJson = False,
) -> None:
    """Print what a model file holds: method, parameters, training size, spectrum, fingerprint of the data.

    Examples

        eigenscape info iris.model
        eigenscape info iris.model --json

    Nothing in the file is run, and the model itself is not loaded.
    """
    from eigenscape.app.io import describe

    found = to_json(describe(model))
    noted = notes_of(found)
    found["feature_names"] = found["feature_names"] or noted.pop("columns", None)
    found["notes"] = noted or found["notes"]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        typer.echo(f"{name.replace('_', ' '):<16}{_readable(value)}")


def _readable(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={each!r}" for name, each in value.items()) or "none"
    if isinstance(value, list):
        shown = [f"{each:.6g}" if isinstance(each, float) else str(each) for each in value[:12]]
        return ", ".join(shown) + (f", ... ({len(value)})" if len(value) > 12 else "")
    return "none" if value is None else str(value)
