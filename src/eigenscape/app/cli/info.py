"""``eigenscape info``: print the contents of a model file."""

from __future__ import annotations

import json
from typing import Any

import typer

from eigenscape._format import escape_controls, to_json
from eigenscape.app.cli import options
from eigenscape.app.cli.input import parse_notes

#: Number of items of a list that are printed.
_SHOWN = 12


def info(model: options.Model, as_json: options.AsJson = False) -> None:
    """Print the method, parameters, training size, spectrum and data fingerprint of a model file.

    Examples

        eigenscape info iris.model
        eigenscape info iris.model --json

    Only the header of the file is read; the model is not loaded.
    """
    from eigenscape.app.io import describe

    header = to_json(describe(model))
    notes = parse_notes(header["notes"])
    header["feature_names"] = header["feature_names"] or notes.pop("columns", None)
    header["notes"] = notes or header["notes"]
    if as_json:
        typer.echo(json.dumps(header, indent=2))
        return
    for name, value in header.items():
        typer.echo(escape_controls(f"{name.replace('_', ' '):<16}{_format(value)}"))


def _format(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={item!r}" for name, item in value.items()) or "none"
    if isinstance(value, list):
        shown = [f"{item:.6g}" if isinstance(item, float) else str(item) for item in value[:_SHOWN]]
        return ", ".join(shown) + (f", ... ({len(value)})" if len(value) > _SHOWN else "")
    return "none" if value is None else str(value)
