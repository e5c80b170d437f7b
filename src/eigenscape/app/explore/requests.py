"""Fields of requests, checked: JSON, numbers of rows, masks."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

import numpy as np
from starlette.requests import Request

from eigenscape.app.errors import CommandError


async def read_json(request: Request) -> dict[str, Any]:
    """Return the object in the body of a request; raise CommandError if it is not one."""
    return parse_json(await request.body())


def parse_json(body: bytes) -> dict[str, Any]:
    """Return the object in a text of JSON, in which NaN is not a number."""
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"the body is not JSON: {str(error)[:100]}") from None
    if not isinstance(value, dict):
        raise CommandError("the body must be a JSON object")
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def parse_index(text: str, n: int, name: str = "row") -> int:
    """Return the number of a row, or of what ``name`` says."""
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) < n):
        raise CommandError(f"{name} must be an integer from 0 to {n - 1}, got {text[:40]!r}")
    return int(text)


def parse_rows(text: str, n: int, limit: int) -> np.ndarray:
    """Return numbers of rows separated by commas."""
    parts = [part for part in text.split(",") if part]
    if not 1 <= len(parts) <= limit:
        raise CommandError(f"rows must be 1 to {limit} numbers separated by commas, got {len(parts)}")
    return np.array([parse_index(part, n) for part in parts], dtype=np.intp)


def parse_mask(value: Any, n: int) -> np.ndarray:
    """Return the rows of a bit mask (bit ``i`` is bit ``i & 7`` of byte ``i >> 3``) in base64."""
    if not isinstance(value, str):
        raise CommandError(f"mask must be a bit mask of {n} rows in base64")
    try:
        raw = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise CommandError("mask is not base64") from None
    if len(raw) != (n + 7) // 8:
        raise CommandError(f"mask has {len(raw)} bytes, but {n} rows need {(n + 7) // 8}")
    bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), bitorder="little")
    if bits[n:].any():
        raise CommandError(f"mask selects rows beyond the last of {n}")
    if not bits.any():
        raise CommandError("mask selects no row; select some points first")
    return bits[:n].astype(bool)
