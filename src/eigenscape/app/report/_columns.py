"""Columns to colour a map by and to read when pointing at it: any values, made small enough for a page."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape.quality._validation import is_missing

#: A number column with at most so many different whole numbers is a name, not a quantity.
_FEW = 12
#: Categories with a colour of their own; rarer ones share one.
CATEGORIES = 20
#: Characters of a text that are kept.
_LONGEST = 120


@dataclass(frozen=True, eq=False)
class Column:
    """Values of all points under a name. ``group`` says where they come from: "label", "extra", "model",
    "input"."""

    name: str
    values: np.ndarray
    group: str

    def is_categorical(self) -> bool:
        """Whether the values are names: text, truth values, and few whole numbers."""
        values = self.values
        if values.dtype.kind in "OUSb":
            return True
        if values.dtype.kind == "M":
            return False
        known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        if self.group not in ("label", "extra") or len(known) == 0:
            return False
        most = 3 * _FEW if self.group == "label" else _FEW
        few = np.unique(known[:: max(1, len(known) // 5000)])
        return (
            len(few) <= most
            and len(few) < len(known)
            and bool((few == np.floor(few)).all())
            and len(np.unique(known)) <= most
        )

    def take(self, rows: np.ndarray) -> Column:
        return Column(self.name, self.values[rows], self.group)

    def followed_by(self, others: np.ndarray | None, count: int) -> Column:
        """The column with the values of ``count`` further points, missing where there are none."""
        if count == 0:
            return self
        if others is None or not _alike(self.values, np.asarray(others)):
            others = _missing(self.values, count)
        return Column(
            self.name, np.concatenate([_with_gaps(self.values), _with_gaps(np.asarray(others))]), self.group
        )


def as_column(name: str, values: Any, group: str, n: int, argument: str) -> Column:
    """A column, checked: one value for each point."""
    values = np.asarray(values)
    if values.ndim != 1 or len(values) != n:
        raise ValueError(
            f"{argument} must have one value for each of the {n} points, got shape {values.shape}"
        )
    if values.dtype.kind == "O":
        values = _settled(values)
    elif values.dtype.kind in "cV":
        values = values.astype(str).astype(object)
    elif values.dtype.kind == "m":
        values = values / np.timedelta64(1, "s")
    return Column(str(name), values, group)


def _settled(values: np.ndarray) -> np.ndarray:
    """Objects as numbers where all that are there are numbers."""
    gaps = np.array([is_missing(value) for value in values], dtype=bool)
    known = values[~gaps]
    if len(known) and all(
        isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in known
    ):
        numbers = np.full(len(values), np.nan)
        numbers[~gaps] = known.astype(np.float64)
        return numbers
    values = values.copy()
    values[gaps] = None
    return values


def _alike(first: np.ndarray, second: np.ndarray) -> bool:
    text = "OUS"
    return (first.dtype.kind in text) == (second.dtype.kind in text) and (first.dtype.kind == "M") == (
        second.dtype.kind == "M"
    )


def _with_gaps(values: np.ndarray) -> np.ndarray:
    """The values in a type that has a missing one."""
    if values.dtype.kind in "OM":
        return values
    return values.astype(object) if values.dtype.kind in "USb" else values.astype(np.float64)


def _missing(values: np.ndarray, count: int) -> np.ndarray:
    if values.dtype.kind in "OUSb":
        return np.full(count, None, dtype=object)
    return np.full(count, "NaT", dtype=values.dtype) if values.dtype.kind == "M" else np.full(count, np.nan)


# --- for the page -------------------------------------------------------------------------------------------


def packed(values: Any, dtype: str = "<f4") -> dict[str, str]:
    """Numbers as a base64 typed array."""
    kind = {"<f4": "f4", "<i4": "i4", "<f8": "f8"}[dtype]
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(values, dtype=dtype)
    return {"type": kind, "base64": base64.b64encode(array.tobytes()).decode("ascii")}


def encode(column: Column) -> dict[str, Any]:
    """What the page needs to colour by a column and to show its values."""
    head = {"name": shortened(column.name), "group": column.group}
    if column.is_categorical():
        return {**head, "kind": "names", **_encode_names(column.values)}
    values = column.values
    kind, dtype = "numbers", "<f4"
    if values.dtype.kind == "M":
        kind, dtype = "dates", "<f8"
        seconds = values.astype("datetime64[ms]").astype(np.float64)
        values = np.where(np.isnat(values), np.nan, seconds)
    known = np.asarray(values, dtype=np.float64)
    if dtype == "<f4" and not _fits_single(known):
        dtype = "<f8"
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    # A few extreme values must not leave the others one colour.
    inner = np.quantile(known, [0.01, 0.99]) if len(known) else (low, high)
    if float(inner[1]) > float(inner[0]):
        shown = [float(inner[0]), float(inner[1])]
    else:
        shown = [low, high]
    return {
        **head,
        "kind": kind,
        "values": packed(values, dtype),
        "range": [low, high],
        "shown": shown,
        "missing": len(values) - len(known),
    }


def _fits_single(values: np.ndarray) -> bool:
    """Whether single precision shows the values to six figures, differences included."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return True
    span, size = float(known.max() - known.min()), float(np.abs(known).max())
    return size < 1e37 and (
        span == 0 or size <= 1e3 * span or (size < 2**24 and bool((known == np.floor(known)).all()))
    )


def _encode_names(values: np.ndarray) -> dict[str, Any]:
    """Codes, the most frequent names first (numbers in their order), -1 for missing ones."""
    gaps = np.array([is_missing(value) for value in values], dtype=bool)
    known = values[~gaps]
    numbers = values.dtype.kind in "iuf"
    texts = known if numbers else np.array([str(value) for value in known], dtype=object)
    names, inverse, counts = np.unique(texts, return_inverse=True, return_counts=True)
    if (
        not numbers and len(names) <= CATEGORIES and all(name.isdecimal() for name in names)
    ):  # numbers of clusters, say
        order = np.array(sorted(range(len(names)), key=lambda i: int(names[i])), dtype=np.intp)
    else:
        order = (
            np.arange(len(names))
            if numbers and len(names) <= CATEGORIES
            else np.argsort(-counts, kind="stable")
        )
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names))
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[~gaps] = rank[inverse]
    written = [shortened(_plain(names[i]) if numbers else names[i]) for i in order]
    return {
        "codes": packed(codes, "<i4"),
        "names": written,
        "counts": [int(counts[i]) for i in order],
        "coloured": min(len(written), CATEGORIES),
        "missing": int(gaps.sum()),
    }


def _plain(value: float) -> str:
    return f"{int(value)}"


def shortened(text: Any) -> str:
    """The text, or its beginning where it is very long; without characters that no page can hold."""
    text = "".join(
        character for character in str(text)[: _LONGEST + 1] if character.isprintable() or character == " "
    )
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def size_of(encoded: Mapping[str, Any]) -> int:
    """About how many bytes an encoded column takes on the page."""
    packs = sum(len(encoded[key]["base64"]) for key in ("values", "codes") if key in encoded)
    return packs + sum(len(name) + 4 for name in encoded.get("names", ()))
