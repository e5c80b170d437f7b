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
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta, Struct
from msgspec.json import decode

from eigenscape.app.errors import CommandError
from eigenscape.app.explore import analysis
from eigenscape.app.explore.annotations import MAX_LENGTH
from eigenscape.app.explore.jobs import Job
from eigenscape.app.explore.maps import ExploredMap, invert
from eigenscape.app.explore.placing import place_rows, read_file, read_pasted
from eigenscape.app.explore.session import MissingError, Session
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.io.writing import write_table
from eigenscape.app.methods import class_name

#: Numbers of rows in answers.
_MAX_IMAGES, _MAX_FOUND = 256, 1000
#: Arrays that a job computes when they are requested first, with the kind of the job.
_MEASURED = {
    "kept": "measure",
    "movement": "movement",
    "density": "scores",
    "novelty": "scores",
    "predicted": "predicted",
}

FieldText = Annotated[str, Meta(max_length=TUNING.form_text)]
Name = Annotated[str, Meta(max_length=MAX_LENGTH)]


class FitBody(Struct):
    """A method to fit."""

    method: FieldText
    parameters: dict[FieldText, bool | int | float | FieldText | None] = {}
    standardize: bool = False


class PointBody(Struct):
    """A point of a map; other coordinates than the first are named by ``components``."""

    point: list[float]
    components: Annotated[list[int], Meta(min_length=1)] = []


class TextBody(Struct):
    """Pasted rows."""

    text: Annotated[str, Meta(max_length=TUNING.placed_text)]


class MaskBody(Struct):
    """Selected rows: bit ``i`` is bit ``i & 7`` of byte ``i >> 3``, in base64."""

    mask: bytes


class AnnotationBody(MaskBody):
    """A label of the selected rows."""

    name: Name
    label: Name


class ExportBody(Struct):
    """A table of selected rows, or of all rows without a mask."""

    what: Literal["ids", "rows", "coordinates", "annotations"]
    mask: bytes | None = None
    map: str | None = None
    format: Literal["csv"] = "csv"
    spreadsheet_safe: bool = False


def parse_index(text: str, n: int, name: str = "row") -> int:
    """Return the number of a row, or of what ``name`` says."""
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) < n):
        raise CommandError(f"{name} must be an integer from 0 to {n - 1}, got {text[:40]!r}")
    return int(text)


def parse_rows(text: str, n: int, limit: int) -> list[int]:
    """Return numbers of rows separated by commas."""
    parts = [part for part in text.split(",") if part]
    if not 1 <= len(parts) <= limit:
        raise CommandError(f"rows must be 1 to {limit} numbers separated by commas, got {len(parts)}")
    return [parse_index(part, n) for part in parts]


def parse_mask(mask: bytes, n: int) -> np.ndarray:
    """Return the selected rows of a bit mask, (n,)."""
    if len(mask) != (n + 7) // 8:
        raise CommandError(f"mask has {len(mask)} bytes, but {n} rows need {(n + 7) // 8}")
    bits = np.unpackbits(np.frombuffer(mask, dtype=np.uint8), bitorder="little")
    if bits[n:].any():
        raise CommandError(f"mask selects rows beyond the last of {n}")
    if not bits.any():
        raise CommandError("mask selects no row; select some points first")
    return bits[:n].astype(bool)


# --- data -----------------------------------------------------------------------------------------------


def column(session: Session, index: str) -> np.ndarray:
    """Return the values of a column."""
    data = session.data
    return data.column_values(parse_index(index, len(data.columns) + len(data.features), "column"))


def row_values(session: Session, row: int) -> dict[str, Any]:
    """Return the values of a row as text."""
    return session.data.describe_row(row)


def images(session: Session, rows: str = "") -> bytes:
    """Return the images of some rows."""
    data = session.data
    if data.image_shape is None:
        raise CommandError("the rows are not images; name their size with --images HEIGHTxWIDTH")
    return data.to_pixels(data.rows(np.array(parse_rows(rows, data.n, _MAX_IMAGES)))).tobytes()


def search(session: Session, q: str = "") -> dict[str, Any]:
    """Return the rows whose id contains a text."""
    rows = session.data.search(q[:200])
    return {"rows": rows[:_MAX_FOUND], "total": len(rows)}


def distances(session: Session, row: int, map: str | None = None) -> np.ndarray:  # noqa: A002
    """Return the distances from a row, in the scaled units of a map if one is named."""
    return session.distances.from_row(row, None if map is None else session.find_map(map).scaler)


# --- maps -----------------------------------------------------------------------------------------------


def fit(session: Session, body: FitBody) -> dict[str, str]:
    """Start a fit."""
    return {"job": session.fit(body.method, body.parameters, body.standardize).id}


def coordinates(_: Session, entry: ExploredMap, components: str | None = None) -> np.ndarray:
    """Return all coordinates of a map, or some of them."""
    found, n = entry.coordinates, entry.n_components
    return found if components is None else found[:, parse_rows(components, n, n)]


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
    return session.measure(entry, _MEASURED[name], per_point=True)


def missing(session: Session, entry: ExploredMap, row: int) -> dict[str, np.ndarray]:
    """Return neighbours in the data that are far on the map, and the reverse."""
    return analysis.missing_neighbors(entry, session.distances, row)


def spectrum(_: Session, entry: ExploredMap) -> dict[str, Any]:
    """Return eigenvalues, residuals and losses."""
    return analysis.describe_spectrum(entry)


def eigenfunction(session: Session, entry: ExploredMap, component: str) -> dict[str, Any]:
    """Return a coordinate as a function of the plane."""
    index = parse_index(component, entry.n_components, "component")
    return analysis.eigenfunction_grid(entry, session.data, index)


def compare(session: Session, entry: ExploredMap, other: str, axes: str = "0,1") -> np.ndarray:
    """Return a map aligned to another one."""
    chosen = [0, 1] if axes == "0,1" else parse_rows(axes, entry.n_components, 2)
    if len(chosen) != 2:
        raise CommandError(f"axes must be two coordinates, such as 0,1, got {axes!r}")
    return analysis.compare_maps(entry, session.find_map(other), chosen)


def inverse(session: Session, entry: ExploredMap, body: PointBody) -> dict[str, Any]:
    """Return the row at a point of the map."""
    components = body.components or list(range(min(2, entry.n_components)))
    return invert(entry, session.data, body.point, components)


def place(session: Session, entry: ExploredMap, filename: str | None, body: bytes) -> dict[str, Any]:
    """Place the rows of a file, or pasted rows if it has no name."""
    data, messages = session.data, list[str]()
    if filename is None:
        table = read_pasted(data, decode(body, type=TextBody).text, messages)
    else:
        table = read_file(data, session.folder, filename, body, messages)
    return place_rows(data, entry, session.distances, table, messages)


# --- selections -----------------------------------------------------------------------------------------


def explain(session: Session, body: MaskBody) -> dict[str, Any]:
    """Return what sets the selected rows apart."""
    return analysis.explain_selection(session.data, parse_mask(body.mask, session.data.n))


def annotate(session: Session, body: AnnotationBody) -> dict[str, Any]:
    """Give a label to the selected rows."""
    session.annotations.set(body.name, body.label, parse_mask(body.mask, session.data.n))
    return _changed_annotations(session)


def annotation(session: Session, name: str) -> np.ndarray:
    """Return the codes of an annotation."""
    codes = session.annotations.codes(name)
    if codes is None:
        raise MissingError("there is no annotation of this name")
    return codes


def remove_annotation(session: Session, name: str) -> dict[str, Any]:
    """Remove an annotation."""
    if not session.annotations.remove(name):
        raise MissingError("there is no annotation of this name")
    return _changed_annotations(session)


def _changed_annotations(session: Session) -> dict[str, Any]:
    described = session.annotations.describe()
    session.events.publish("annotations", described)
    return {"annotations": described, "missing": TUNING.missing}


def export(session: Session, body: ExportBody) -> Path:
    """Write a CSV file of selected rows."""
    data = session.data
    rows = np.arange(data.n) if body.mask is None else np.flatnonzero(parse_mask(body.mask, data.n))
    numbers, names = np.empty((len(rows), 0)), list[str]()
    if body.what == "rows":
        numbers, names = data.rows(rows), list(data.names)
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
    ("GET", "/api/maps/{map_id}/missing/{row}"): missing,
    ("GET", "/api/maps/{map_id}/spectrum"): spectrum,
    ("GET", "/api/maps/{map_id}/eigenfunction/{component}"): eigenfunction,
    ("GET", "/api/maps/{map_id}/compare/{other}"): compare,
    ("POST", "/api/maps/{map_id}/inverse"): inverse,
    ("POST", "/api/maps/{map_id}/place"): place,
    ("POST", "/api/explain"): explain,
    ("POST", "/api/annotations"): annotate,
    ("GET", "/api/annotations/{name:path}"): annotation,
    ("DELETE", "/api/annotations/{name:path}"): remove_annotation,
    ("POST", "/api/export"): export,
}
