"""Answers to the requests of a page: plain functions of the session and the fields of a request.

A handler receives the parts of the address and of the query as keyword arguments, and the body, parsed as its
annotation says, as ``body``. It returns an object for JSON, an array or bytes, a :class:`Job` that computes
the answer, or a :class:`Download`; it raises an error for input that is not valid.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from msgspec.json import decode

from eigenscape.app.errors import CommandError
from eigenscape.app.explore import analysis
from eigenscape.app.explore.annotations import MAX_LENGTH
from eigenscape.app.explore.inversion import invert
from eigenscape.app.explore.jobs import Job
from eigenscape.app.explore.placing import place_file, place_text
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


class Download(NamedTuple):
    """A temporary file and the name under which it is saved; its folder is removed afterwards."""

    path: Path
    name: str


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
    return session.data.column_values(parse_index(index, len(session.data.columns), "column"))


def row(session: Session, row: str) -> dict[str, Any]:
    """Return the values of a row as text."""
    return session.data.describe_row(parse_index(row, session.data.n))


def images(session: Session, rows: str = "") -> bytes:
    """Return the images of some rows."""
    data = session.data
    if data.image_shape is None:
        raise CommandError("the rows are not images; name their size with --images HEIGHTxWIDTH")
    return data.to_pixels(data.rows(np.array(parse_rows(rows, data.n, _MAX_IMAGES)))).tobytes()


def search(session: Session, q: str = "") -> dict[str, Any]:
    """Return the rows whose id contains a text."""
    rows, total = session.data.search(q[:200], _MAX_FOUND)
    return {"rows": rows, "total": total}


def distances(session: Session, row: str, map: str | None = None) -> np.ndarray:  # noqa: A002
    """Return the distances from a row, in the scaled units of a map if one is named."""
    scaler = None if map is None else session.find_map(map).scaler
    return session.distances.from_row(parse_index(row, session.data.n), scaler)


# --- maps -----------------------------------------------------------------------------------------------


def fit(session: Session, body: FitBody) -> dict[str, str]:
    """Start a fit."""
    return {"job": session.fit(body.method, body.parameters, body.standardize).id}


def cancel(session: Session, job: str) -> dict[str, str]:
    """Cancel a job."""
    session.cancel(job)
    return {"cancelled": job}


def remove_map(session: Session, map_id: str) -> dict[str, str]:
    """Remove a map from the history."""
    session.remove_map(map_id)
    return {"removed": map_id}


def coordinates(session: Session, map_id: str, components: str | None = None) -> np.ndarray:
    """Return all coordinates of a map, or some of them."""
    found = session.find_map(map_id).coordinates
    return found if components is None else found[:, parse_rows(components, found.shape[1], found.shape[1])]


def clusters(session: Session, map_id: str) -> np.ndarray:
    """Return the cluster of each row."""
    found = session.find_map(map_id).array("clusters")
    if found is None:
        raise MissingError("the map has no clusters; fit spectral-clustering or mixture-ppca")
    return found


def measured(name: str, session: Session, map_id: str) -> np.ndarray | Job:
    """Return a measure of each row, or the job that computes it."""
    entry = session.find_map(map_id)
    found = entry.array(name)
    if found is not None:
        return found
    if name == "predicted" and session.data.labels is None:
        raise CommandError("the rows have no labels, from which classes could be learnt")
    if name == "kept" and entry.measures.get("reason"):
        raise CommandError(f"neighbours kept cannot be measured: {entry.measures['reason']}")
    return session.measure(entry, _MEASURED[name], per_point=True)


def missing(session: Session, map_id: str, row: str) -> dict[str, list[int]]:
    """Return neighbours in the data that are far on the map, and the reverse."""
    entry = session.find_map(map_id)
    return analysis.missing_neighbors(entry, session.distances, parse_index(row, session.data.n))


def spectrum(session: Session, map_id: str) -> dict[str, Any]:
    """Return eigenvalues, residuals and losses."""
    return analysis.describe_spectrum(session.find_map(map_id))


def eigenfunction(session: Session, map_id: str, component: str) -> dict[str, Any]:
    """Return a coordinate as a function of the plane."""
    entry = session.find_map(map_id)
    index = parse_index(component, entry.n_components, "component")
    return analysis.eigenfunction_grid(entry, session.data, index)


def compare(session: Session, map_id: str, other: str, axes: str = "0,1") -> np.ndarray:
    """Return a map aligned to another one."""
    first = session.find_map(map_id)
    chosen = [0, 1] if axes == "0,1" else parse_rows(axes, first.n_components, 2)
    if len(chosen) != 2:
        raise CommandError(f"axes must be two coordinates, such as 0,1, got {axes!r}")
    return analysis.compare_maps(first, session.find_map(other), chosen)


def inverse(session: Session, map_id: str, body: PointBody) -> dict[str, Any]:
    """Return the row at a point of the map."""
    entry = session.find_map(map_id)
    components = body.components or list(range(min(2, entry.n_components)))
    return invert(entry, session.data, body.point, components)


def place(session: Session, map_id: str, filename: str | None, body: bytes) -> dict[str, Any]:
    """Place the rows of a file, or pasted rows if it has no name."""
    entry = session.find_map(map_id)
    if filename is not None:
        return place_file(session, entry, filename, body)
    return place_text(session, entry, decode(body, type=TextBody).text)


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


def export(session: Session, body: ExportBody) -> Download:
    """Write a CSV file of selected rows."""
    data = session.data
    rows = np.arange(data.n) if body.mask is None else np.flatnonzero(parse_mask(body.mask, data.n))
    numbers: Any = np.empty((len(rows), 0))
    names: list[str] = []
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
        if data.labels is not None and data.label is not None:
            further[data.columns[data.label].name] = data.labels
        further |= session.annotations.as_dict()
    extra: dict[str, Any] = {} if data.ids is not None else {_unused("row", names): rows}
    for name, values in further.items():
        extra[_unused(name, {*names, *extra, "id"})] = values[rows]
    path = Path(tempfile.mkdtemp(dir=session.folder)) / "export.csv"
    ids = None if data.ids is None else np.array([str(data.ids[row]) for row in rows], dtype=object)
    write_table(path, numbers, names=names, ids=ids, extra=extra, spreadsheet_safe=body.spreadsheet_safe)
    return Download(path, f"eigenscape-{body.what}.csv")


def _unused(name: str, used: Any) -> str:
    while name in used:
        name += "_"
    return name


#: Handlers by method and address.
HANDLERS: Mapping[tuple[str, str], Any] = {
    ("GET", "/api/state"): Session.state,
    ("GET", "/api/columns/{index}"): column,
    ("GET", "/api/rows/{row}"): row,
    ("GET", "/api/images"): images,
    ("GET", "/api/search"): search,
    ("GET", "/api/distances/{row}"): distances,
    ("POST", "/api/fits"): fit,
    ("DELETE", "/api/fits/{job}"): cancel,
    ("DELETE", "/api/maps/{map_id}"): remove_map,
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
