"""Answers to the requests of a page: plain functions of the session and the fields of a request.

A handler receives the parts of the address and of the query as keyword arguments, the map that the address
names as ``entry``, the number of a row as ``row``, and the body, parsed as its annotation says, as ``body``.
It returns an object for JSON, an array or bytes, a :class:`Job` that computes the answer, or a path of a file
to download, which is removed afterwards; it raises an error for input that is not valid.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eigenscape.app.errors import CommandError
from eigenscape.app.explore import analysis, requests
from eigenscape.app.explore.data import MissingError
from eigenscape.app.explore.jobs import Job
from eigenscape.app.explore.maps import ExploredMap
from eigenscape.app.explore.placing import place
from eigenscape.app.explore.session import Session
from eigenscape.app.io.writing import write_table
from eigenscape.app.methods import class_name

#: Numbers of rows in answers.
_MAX_IMAGES, _MAX_FOUND = 256, 1000
#: Arrays that a job computes when they are requested first, and the kinds of jobs of other names.
_MEASURED = ("kept", "movement", "density", "novelty", "predicted")
_KINDS = {"kept": "measure", "density": "scores", "novelty": "scores"}

# --- data -----------------------------------------------------------------------------------------------


def column(session: Session, index: str) -> np.ndarray:
    """Return the values of a column."""
    data = session.data
    return data.column_values(requests.parse_index(index, len(data.columns) + len(data.features), "column"))


def row_values(session: Session, row: int) -> dict[str, Any]:
    """Return the values of a row as text."""
    return session.data.describe_row(row)


def images(session: Session, rows: str = "") -> bytes:
    """Return the images of some rows."""
    data = session.data
    if data.image_shape is None:
        raise CommandError("the rows are not images; name their size with --images HEIGHTxWIDTH")
    return data.to_pixels(data.take(np.array(requests.parse_rows(rows, data.n, _MAX_IMAGES)))).tobytes()


def search(session: Session, q: str = "") -> dict[str, Any]:
    """Return the rows whose id contains a text."""
    rows = session.data.search(q[:200])
    return {"rows": rows[:_MAX_FOUND], "total": len(rows)}


def distances(session: Session, row: int, map: str | None = None) -> np.ndarray:  # noqa: A002
    """Return the distances from a row, in the scaled units of a map if one is named."""
    return session.distances.from_row(row, None if map is None else session.find_map(map).scaler)


# --- maps -----------------------------------------------------------------------------------------------


def fit(session: Session, body: requests.FitBody) -> dict[str, str]:
    """Start a fit."""
    return {"job": session.fit(body.method, body.parameters, body.standardize).id}


def coordinates(_: Session, entry: ExploredMap, components: str | None = None) -> np.ndarray:
    """Return all coordinates of a map, or some of them."""
    found, n = entry.coordinates, entry.n_components
    return found if components is None else found[:, requests.parse_rows(components, n, n)]


def clusters(_: Session, entry: ExploredMap) -> np.ndarray:
    """Return the cluster of each row."""
    found = entry.array("clusters")
    if found is None:
        raise MissingError("the map has no clusters; fit spectral-clustering or mixture-ppca")
    return found


def measured(name: str, session: Session, entry: ExploredMap) -> np.ndarray | Job:
    """Return a measure of each row, or the job that computes it."""
    found = entry.array(name)
    if found is not None:
        return found
    if name == "predicted" and session.data.labels is None:
        raise CommandError("the rows have no labels, from which classes could be learnt")
    if name == "kept" and entry.measures.get("reason"):
        raise CommandError(f"neighbours kept cannot be measured: {entry.measures['reason']}")
    return session.measure(entry, _KINDS.get(name, name), per_point=True)


# --- selections -----------------------------------------------------------------------------------------


def annotate(session: Session, body: requests.AnnotationBody) -> dict[str, Any]:
    """Give a label to the selected rows."""
    session.annotations.set(body.name, body.label, requests.parse_mask(body.mask, session.data.n))
    return _changed_annotations(session)


def annotation(session: Session, name: str) -> np.ndarray:
    """Return the codes of an annotation."""
    return session.annotations.column(name)[1]


def remove_annotation(session: Session, name: str) -> dict[str, Any]:
    """Remove an annotation."""
    session.annotations.remove(name)
    return _changed_annotations(session)


def _changed_annotations(session: Session) -> dict[str, Any]:
    described = session.annotations.describe()
    session.events.publish("annotations", described)
    return {"annotations": described}


def export(session: Session, body: requests.ExportBody) -> Path:
    """Write a CSV file of selected rows."""
    data = session.data
    rows = np.arange(data.n) if body.mask is None else np.flatnonzero(requests.parse_mask(body.mask, data.n))
    numbers, names = np.empty((len(rows), 0)), list[str]()
    if body.what == "rows":
        numbers, names = data.take(rows), list(data.names)
    elif body.what == "coordinates":
        if body.map is None:
            raise CommandError("map must be the id of a map, for its coordinates")
        entry = session.find_map(body.map)
        numbers = entry.coordinates[rows]
        stem = class_name(entry.method).lower() if entry.method else "map"
        names = [f"{stem}{i}" for i in range(entry.n_components)]
    further: dict[str, Any] = {}
    if body.what != "ids":
        further = {} if data.labels is None else {data.columns[0].name: data.labels}
        further |= session.annotations.as_dict()
    extra: dict[str, Any] = {} if data.ids is not None else {_unused("row", names): rows}
    for name, values in further.items():
        extra[_unused(name, {*names, *extra, "id"})] = values[rows]
    path = Path(tempfile.mkdtemp(dir=session.folder)) / f"eigenscape-{body.what}.csv"
    ids = None if data.ids is None else data.ids[rows].astype(str).astype(object)
    write_table(path, numbers, names=names, ids=ids, extra=extra, spreadsheet_safe=body.spreadsheet_safe)
    return path


def _unused(name: str, used: Any) -> str:
    while name in used:
        name += "_"
    return name


#: Handlers by method and address.
HANDLERS: Mapping[tuple[str, str], Any] = {
    ("GET", "/api/state"): Session.state,
    ("GET", "/api/columns/{index}"): column,
    ("GET", "/api/rows/{row}"): row_values,
    ("GET", "/api/images"): images,
    ("GET", "/api/search"): search,
    ("GET", "/api/distances/{row}"): distances,
    ("POST", "/api/fits"): fit,
    ("DELETE", "/api/fits/{job}"): Session.cancel,
    ("DELETE", "/api/maps/{map_id}"): Session.remove_map,
    ("GET", "/api/maps/{map_id}/coordinates"): coordinates,
    ("GET", "/api/maps/{map_id}/clusters"): clusters,
    **{("GET", f"/api/maps/{{map_id}}/{name}"): partial(measured, name) for name in _MEASURED},
    ("GET", "/api/maps/{map_id}/missing/{row}"): analysis.missing_neighbors,
    ("GET", "/api/maps/{map_id}/spectrum"): analysis.describe_spectrum,
    ("GET", "/api/maps/{map_id}/eigenfunction/{component}"): analysis.eigenfunction_grid,
    ("GET", "/api/maps/{map_id}/compare/{other}"): analysis.compare_maps,
    ("POST", "/api/maps/{map_id}/inverse"): analysis.invert,
    ("POST", "/api/maps/{map_id}/place"): place,
    ("POST", "/api/explain"): analysis.explain_selection,
    ("POST", "/api/annotations"): annotate,
    ("GET", "/api/annotations/{name:path}"): annotation,
    ("DELETE", "/api/annotations/{name:path}"): remove_annotation,
    ("POST", "/api/export"): export,
}
