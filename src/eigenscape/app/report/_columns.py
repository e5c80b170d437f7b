"""Columns by which a map is coloured and images of its points, and their encoding for the page."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigenscape import _roles
from eigenscape.app.report._texts import LIMITS, shorten

#: Code of a missing value among codes of 16 bits.
MISSING_CODE = 65_535
#: Number of categories of a live map; rarer ones are joined.
_MAX_CATEGORIES = 200


@dataclass(frozen=True, eq=False)
class Column:
    """A named column of values. ``group`` is "label", "extra", "model", "coordinate", "input" or "id"."""

    name: str
    values: np.ndarray
    group: str

    def is_categorical(self) -> bool:
        """Return whether the values are categories: strings, booleans, or few different integers."""
        if self.group not in ("label", "extra") and self.values.dtype.kind in "iuf":
            return False
        return _roles.column_role(self.values) == "category"

    def append(self, others: np.ndarray | None, count: int) -> Column:
        """Append the values of ``count`` further points; missing values if ``others`` does not fit."""
        if count == 0:
            return self
        kind = _kind_with_missing(self.values)
        missing = {"O": None, "M": np.datetime64("NaT")}.get(kind, np.nan)
        fits = others is not None and _kind_with_missing(others) == kind
        further = others if fits else np.full(count, missing)
        return Column(self.name, np.concatenate([self.values, further]), self.group)


def _kind_with_missing(values: np.ndarray) -> str:
    """Return the kind of the type that has missing values: objects for text and booleans, else numbers."""
    kind = values.dtype.kind
    return kind if kind in "OM" else "O" if kind in "USb" else "f"


def as_column(name: str, values: ArrayLike, group: str, n: int, argument: str) -> Column:
    """Validate a column of one value per point."""
    values = np.asarray(values)
    if values.ndim != 1 or len(values) != n:
        raise ValueError(f"{argument} must have shape ({n},), one value per point, got {values.shape}")
    values = _roles.plain_values(values)
    if values.dtype.kind in "cV":
        values = values.astype(str).astype(object)
    elif values.dtype.kind == "m":
        values = values / np.timedelta64(1, "s")
    return Column(str(name), values, group)


# --- encoding -----------------------------------------------------------------------------------------------


def pack(values: ArrayLike, dtype: str = "<f4") -> dict[str, Any]:
    """Encode numbers as a base64 typed array."""
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(values, dtype=dtype)
    return {"type": dtype[1:], "base64": base64.b64encode(array.tobytes()).decode("ascii")}


def pack_quantized(values: np.ndarray, low: float, step: float, dtype: str = "<u2") -> dict[str, Any]:
    """Encode numbers as multiples of ``step`` above ``low``; the largest code is a missing value."""
    codes = np.full(len(values), np.iinfo(dtype).max, dtype=np.float64)
    known = np.isfinite(values)
    codes[known] = np.rint((values[known] - low) / step) if step > 0 else 0.0
    return {**pack(codes, dtype), "low": low, "step": step}


def pack_numbers(values: ArrayLike) -> dict[str, Any]:
    """Encode numbers: small integers exactly in 8 or 16 bits, others of many points rounded to 16 bits.

    Many points are more than 50 000. Their numbers are rounded to 1/65 534 of the range, which is less than a
    pixel of a map and less than a step of a colour scale. Others have single precision, or double precision
    where single precision would lose digits of differences.
    """
    numbers = np.asarray(values, dtype=np.float64)
    known = numbers[np.isfinite(numbers)]
    if len(known) == 0:
        return pack(numbers)
    low, span = float(known.min()), float(known.max() - known.min())
    if span < MISSING_CODE and bool((known == np.floor(known)).all()) and abs(low) < 2**53:
        return pack_quantized(numbers, low, 1.0, "<u1" if span < 255 else "<u2")
    if len(numbers) > LIMITS.many and np.isfinite(span):
        return pack_quantized(numbers, low, span / (MISSING_CODE - 1))
    return pack(numbers, "<f4" if _fits_single(known) else "<f8")


def encode(column: Column) -> dict[str, Any]:
    """Encode a column for the script of the page."""
    head = {"name": shorten(column.name), "group": column.group}
    if column.is_categorical():
        return {**head, "kind": "names", **_encode_categories(column.values)}
    values, kind = column.values, "dates" if column.values.dtype.kind == "M" else "numbers"
    if kind == "dates":
        values = np.where(np.isnat(values), np.nan, values.astype("datetime64[ms]").astype(np.float64))
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    # The colour scale ends at the percentiles, so that outliers do not compress it.
    shown = np.quantile(known, [0.01, 0.99]).tolist() if len(known) else [0.0, 0.0]
    if shown[1] <= shown[0] and len(known):
        shown = [float(known.min()), float(known.max())]
    packed = pack(values, "<f8") if kind == "dates" else pack_numbers(values)
    return {**head, "kind": kind, "values": packed, "shown": shown, "missing": len(values) - len(known)}


def _fits_single(known: np.ndarray) -> bool:
    """Return whether single precision keeps six digits of the values and of their differences."""
    span, size = float(known.max() - known.min()), float(np.abs(known).max())
    small_integers = size < 2**24 and bool((known == np.floor(known)).all())
    return size < 1e37 and (span == 0 or size <= 1e3 * span or small_integers)


def _encode_categories(values: np.ndarray) -> dict[str, Any]:
    """Encode categories by codes in the order of the legend; the largest code is a missing value."""
    codes, names, _ = category_codes(values)
    dtype = next(kind for kind in ("<u1", "<u2", "<u4") if len(names) <= np.iinfo(kind).max)
    codes = np.where(codes < 0, np.iinfo(dtype).max, codes.astype(np.int64))
    return {"codes": pack(codes, dtype), "names": names, "missing": int((codes == np.iinfo(dtype).max).sum())}


def category_codes(values: np.ndarray) -> tuple[np.ndarray, list[str], list[int]]:
    """Return the code of each value (-1 if it is missing), and short names and counts of the categories."""
    codes, names, counts = _roles.category_codes(values)
    return codes, [shorten(name) for name in names], counts


def encoded_size(encoded: Mapping[str, Any]) -> int:
    """Return the approximate number of bytes of an encoded column."""
    arrays = sum(len(encoded[key]["base64"]) for key in ("values", "codes") if key in encoded)
    return arrays + sum(len(name) + 4 for name in encoded.get("names", ()))


# --- columns of live maps (explorer and notebook) -----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DataColumn:
    """A given column by which points are coloured: numbers, or codes of categories."""

    name: str
    kind: str  # "number" or "category"
    values: np.ndarray
    categories: Sequence[str] = ()

    def text(self, row: int) -> str:
        """Return the value of a row as text, "" if it is missing."""
        value = self.values[row]
        if self.kind == "number":
            return number_text(value)
        return "" if value == MISSING_CODE else self.categories[value]


def number_text(value: float) -> str:
    """Return a number with six digits, "" if it is missing."""
    return "" if np.isnan(value) else f"{value:.6g}"


def data_column(name: str, values: ArrayLike, group: str, n: int, argument: str | None = None) -> DataColumn:
    """Return a column of given values; dates become days since 1970."""
    column = as_column(name, values, group, n, argument or name)
    if not column.is_categorical():
        values = column.values
        if values.dtype.kind == "M":
            values = (values - np.datetime64(0, "D")) / np.timedelta64(1, "D")
        numbers = np.asarray(values, dtype=np.float64)
        return DataColumn(shorten(name), "number", np.where(np.isfinite(numbers), numbers, np.nan))
    codes, names, counts = category_codes(column.values)
    if len(names) > _MAX_CATEGORIES:
        kept = np.sort(np.argsort(-np.array(counts), kind="stable")[: _MAX_CATEGORIES - 1])
        index = np.full(len(names) + 1, _MAX_CATEGORIES - 1)
        index[kept], index[-1] = np.arange(len(kept)), -1
        codes, names = index[codes], [*(names[i] for i in kept), "(other)"]
    stored = np.where(codes < 0, MISSING_CODE, codes).astype("<u2")
    return DataColumn(shorten(name), "category", stored, names)


# --- images -------------------------------------------------------------------------------------------------


def as_pixels(images: np.ndarray) -> np.ndarray:
    """Return images as bytes: the smallest number is black and the largest white, of all images together."""
    if images.dtype == np.uint8:
        return np.ascontiguousarray(images)
    numbers = np.nan_to_num(np.asarray(images, dtype=np.float64))
    low, high = float(numbers.min()), float(numbers.max())
    return np.rint(255 * (numbers - low) / (high - low) if high > low else 0 * numbers).astype(np.uint8)
