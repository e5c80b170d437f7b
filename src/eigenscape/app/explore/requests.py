"""Bodies of requests, which msgspec validates, and the values of their fields."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from msgspec import Meta, Struct

from eigenscape.app.errors import CommandError
from eigenscape.app.explore.annotations import MAX_LENGTH
from eigenscape.app.explore.tuning import TUNING

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
    """Return an index from 0 to ``n - 1``; ``name`` stands in the error."""
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
