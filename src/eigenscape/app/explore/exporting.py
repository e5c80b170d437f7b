"""Tables that are downloaded: ids, rows, coordinates and annotations of selected points."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigenscape.app.errors import CommandError
from eigenscape.app.explore.requests import parse_mask
from eigenscape.app.explore.session import Session
from eigenscape.app.io.writing import write_table
from eigenscape.app.methods import class_name

WHAT = ("ids", "rows", "coordinates", "annotations")


def export_table(session: Session, request: Mapping[str, Any]) -> tuple[Path, str]:
    """Write a CSV file of selected rows; return its temporary path and the name of the download."""
    data, what = session.data, request.get("what")
    if what not in WHAT:
        raise CommandError(f"what must be one of {', '.join(WHAT)}, got {str(what)[:40]!r}")
    if request.get("format", "csv") != "csv":
        raise CommandError(f"format must be csv, got {str(request.get('format'))[:40]!r}")
    safe = request.get("spreadsheet_safe", False)
    if not isinstance(safe, bool):
        raise CommandError(f"spreadsheet_safe must be true or false, got {str(safe)[:40]!r}")
    mask = request.get("mask")
    rows = np.arange(data.n) if mask is None else np.flatnonzero(parse_mask(mask, data.n))
    numbers: Any = np.empty((len(rows), 0))
    names: list[str] = []
    if what == "rows":
        numbers, names = data.rows(rows), list(data.names)
    elif what == "coordinates":
        map_id = request.get("map")
        if not isinstance(map_id, str):
            raise CommandError("map must be the id of a map, for its coordinates")
        entry = session.find_map(map_id)
        numbers = entry.coordinates[rows]
        stem = class_name(entry.method).lower() if entry.method else "map"
        names = [f"{stem}{i}" for i in range(entry.n_components)]
    extra: dict[str, Any] = {} if data.ids is not None else {_unused("row", set(names)): rows}
    if what != "ids":
        extra |= _labels(session, rows, {*names, "id", *extra})
        for name, values in session.annotations.as_dict().items():
            extra[_unused(name, {*names, *extra, "id"})] = values[rows]
    folder = Path(tempfile.mkdtemp(dir=session.folder))
    path = folder / "export.csv"
    ids = None if data.ids is None else np.array([str(data.ids[row]) for row in rows], dtype=object)
    write_table(path, numbers, names=names, ids=ids, extra=extra, spreadsheet_safe=safe)
    return path, f"eigenscape-{what}.csv"


def _labels(session: Session, rows: np.ndarray, used: set[str]) -> dict[str, Any]:
    data = session.data
    if data.labels is None or data.label is None:
        return {}
    return {_unused(data.columns[data.label].name, used): data.labels[rows]}


def _unused(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    return name
