"""New rows on a map: read from a dropped file or a pasted text, placed by ``transform``."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.json import decode

from eigenscape.app.errors import CommandError
from eigenscape.app.explore.data import Dataset
from eigenscape.app.explore.maps import ExploredMap
from eigenscape.app.explore.requests import TextBody
from eigenscape.app.explore.session import Session
from eigenscape.app.io import images
from eigenscape.app.io.matching import encoded_columns, known_selection, match_columns
from eigenscape.app.io.missing import handle_missing
from eigenscape.app.io.reading import read_selection
from eigenscape.app.io.roles import read_columns
from eigenscape.app.io.table import ARRAYS, COLUMNAR, IMAGES, TEXT, Table
from eigenscape.app.io.text import TextSource
from eigenscape.app.report._columns import MISSING_CODE

#: Number of rows that are placed, of neighbours that are named, and of rows that are reconstructed.
MAX_PLACED, _N_NAMED, _MAX_INVERTED = 1000, 5, 50


def place(session: Session, entry: ExploredMap, filename: str | None, body: bytes) -> dict[str, Any]:
    """Return coordinates, novelty and neighbours of the rows of a file, or of pasted rows without a name."""
    if entry.transform_reason is not None:
        raise CommandError(f"new points cannot be placed on this map: {entry.transform_reason}")
    data, messages = session.data, list[str]()
    if filename is None:
        table = _read_pasted(data, decode(body, type=TextBody).text, messages)
    else:
        table = _read_file(data, session.folder, filename, body, messages)
    X = table.array
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if not len(rows):
        raise CommandError("there are no rows to place")
    if len(rows) > MAX_PLACED:
        messages.append(f"the first {MAX_PLACED} of {len(rows)} rows are placed")
        rows = rows[:MAX_PLACED]
    coordinates = np.asarray(entry.model.transform(rows), dtype=np.float64)
    errors = _projection_errors(entry, rows, coordinates)
    near, lengths, novelty = session.distances.nearest(rows, _N_NAMED, entry.scaler)
    points = [
        {
            "id": str(i) if table.ids is None else str(table.ids[i])[:120],
            "coordinates": coordinates[i],
            "projection_error": None if errors is None else errors[i],
            "nearest": near[i, 0],
            "nearest_distance": lengths[i, 0],
            "novelty": novelty[i],
            "neighbors": near[i],
            "label": _common_label(data, near[i]),
        }
        for i in range(len(rows))
    ]
    return {"points": points, "messages": messages}


def _read_file(data: Dataset, folder: Path, name: str, body: bytes, messages: list[str]) -> Table:
    """Return the rows of an uploaded file, which the readers of files read from a temporary folder."""
    shown = "".join(char for char in Path(name.replace("\\", "/")).name if char.isprintable())[:100]
    suffix = Path(shown).suffix.lower()
    allowed = (*TEXT, *COLUMNAR, *ARRAYS, *IMAGES)
    if suffix not in allowed or suffix == ".zarr":
        raise CommandError(
            f"{shown or 'the file'} has an unsupported extension; drop a csv, tsv, parquet, npy or image file"
        )
    if not body:
        raise CommandError(f"{shown} is empty")
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        path = Path(temporary) / f"upload{suffix}"
        path.write_bytes(body)
        try:
            if suffix in IMAGES:
                return _read_image(path, data, shown)
            table = read_selection(path, known_selection(data.notes, missing="keep"))
            return _matched(replace(table, source=shown), data, messages)
        except ValueError as error:
            raise CommandError(str(error).replace(str(path), shown)) from None


def _read_pasted(data: Dataset, text: str, messages: list[str]) -> Table:
    """Return pasted rows: values separated by commas, tabs or blanks, with or without names of columns."""
    if not text.strip():
        raise CommandError("text is empty; paste one or several rows of numbers")
    content = (text.strip() + "\n").encode()
    table = read_columns(TextSource(content, "the pasted text", known_selection(data.notes, missing="keep")))
    return _matched(table, data, messages)


def _matched(table: Table, data: Dataset, messages: list[str]) -> Table:
    """Return the columns of the data, with missing values filled in as in the training rows."""
    encoded, imputation = encoded_columns(dict(data.notes)), known_selection(data.notes).imputation
    table = match_columns(table, data.names, messages.append, encoded)
    return handle_missing(table, "error" if imputation is None else "mean", imputation)


def _read_image(path: Path, data: Dataset, shown: str) -> Table:
    """Read an image as a row of the data; it must have the size of the data's images."""
    if data.image_shape is None:
        raise CommandError(f"{shown} is an image, but the rows of the data are not images; drop a table")
    pixels = images.read_image(path, colour=len(data.image_shape) == 3)
    if pixels.shape != data.image_shape:
        found, wanted = ("x".join(map(str, shape)) for shape in (pixels.shape, data.image_shape))
        raise CommandError(f"{shown} has {found} pixels, but the images of the data have {wanted}; resize it")
    low, high = (0.0, 1.0) if data.kind == "images" else data.image_range
    return Table(low + (high - low) * pixels.reshape(1, -1), ids=np.array([shown], dtype=object))


def _projection_errors(entry: ExploredMap, rows: np.ndarray, coordinates: np.ndarray) -> np.ndarray | None:
    """Return the distances from the dictionary's span, or from the reconstructed rows; None if unknown."""
    scaled = rows if entry.scaler is None else entry.scaler.transform(rows)
    try:
        return np.asarray(entry.estimator.projection_error(scaled), dtype=np.float64)
    except AttributeError:  # there is no dictionary
        if entry.inverse_reason is not None or len(rows) > _MAX_INVERTED:
            return None
        again = np.asarray(entry.estimator.inverse_transform(coordinates), dtype=np.float64)
        return np.linalg.norm(again - scaled, axis=1)


def _common_label(data: Dataset, rows: np.ndarray) -> str | None:
    """Return the most frequent label of some rows."""
    if data.labels is None or data.columns[0].kind != "category":
        return None
    codes = data.columns[0].values[rows]
    codes = codes[codes != MISSING_CODE]
    return data.columns[0].categories[int(np.bincount(codes).argmax())] if len(codes) else None
