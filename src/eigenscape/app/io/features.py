"""Features made of the columns of a file: numbers as they are, or an indicator of each category."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eigenscape._warnings import warn
from eigenscape.app.io.arrow import compute, pa
from eigenscape.app.io.conversion import exact_floats
from eigenscape.exceptions import InputFileError

#: A column with more categories is not encoded.
_MAX_CATEGORIES = 200
#: Cells of text that are missing values, not categories; "none" is a category.
_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "?")


@dataclass(frozen=True)
class FeatureColumn:
    """A column of a file and the features made of it.

    Attributes
    ----------
    column : str
        Name of the column.
    kind : str
        Kind of its values: "float", "int", "bool" or "text".
    categories : tuple of str or None
        Values that have an indicator, 1 or 0, each; None for numbers.
    known : bool
        Whether the categories come from a model, so that the file may have others.
    """

    column: str
    kind: str = "float"
    categories: tuple[str, ...] | None = None
    known: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features: ``color``, or ``color_blue``, ``color_red``, ..."""
        if self.categories is None:
            return (self.column,)
        return tuple(f"{self.column}_{category}" for category in self.categories)

    def values(self, cells: pa.ChunkedArray, source: str) -> np.ndarray:
        """Return the features of a block of rows, (n, len(names)); NaN where the cell is missing."""
        if self.categories is None:
            return exact_floats(cells, self.column, source)[:, None]
        text = cells.cast(pa.string())
        missing = np.asarray(_is_missing(text))
        place = compute.index_in(text, value_set=pa.array(self.categories, pa.string()))
        place = np.asarray(compute.fill_null(place, -1))
        found = np.zeros((len(text), len(self.categories)))
        rows = np.flatnonzero(place >= 0)
        found[rows, place[rows]] = 1.0
        found[missing] = np.nan
        unknown = np.flatnonzero((place < 0) & ~missing)
        if len(unknown):
            warn(
                f"column {self.column!r} of {source} has values that are not among the categories of the"
                f" model, such as {text[int(unknown[0])].as_py()!r}; their encoded columns are 0",
                UserWarning,
            )
        return found


def feature_names(features: Sequence[FeatureColumn], source: str) -> tuple[str, ...]:
    """Return the names of all features; raise if one occurs twice."""
    names = tuple(name for feature in features for name in feature.names)
    if len(set(names)) < len(names):
        name = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputFileError(f"{source}: two features are named {name!r} after encoding; rename a column")
    return names


def fill_features(
    out: np.ndarray, block: Mapping[str, pa.ChunkedArray], features: Sequence[FeatureColumn], source: str
) -> None:
    """Write the features of a block of rows to ``out``, (n, number of features)."""
    start = 0
    for feature in features:
        stop = start + len(feature.names)
        out[:, start:stop] = feature.values(block[feature.column], source)
        start = stop


def find_categories(
    blocks: Iterator[dict[str, pa.ChunkedArray]], names: Sequence[str], source: str
) -> dict[str, tuple[str, ...]]:
    """Return the distinct values of text columns in all rows, sorted; raise if a column has too many."""
    if not names:
        return {}
    found: dict[str, set[str]] = {name: set() for name in names}
    for block in blocks:
        for name in names:
            if len(found[name]) <= _MAX_CATEGORIES:
                cells = block[name].cast(pa.string()).unique().to_pylist()
                found[name].update(cell for cell in cells if cell not in (None, *_MISSING))
        if len(found[names[0]]) > _MAX_CATEGORIES:
            break  # of several columns the first one is named, however the rows are divided into blocks
    for name, values in found.items():
        if len(values) > _MAX_CATEGORIES:
            raise InputFileError(
                f"column {name!r} of {source} has more than {_MAX_CATEGORIES} different values, too many to"
                f" encode; exclude it with exclude=[{name!r}] (--exclude {name})"
            )
    return {name: tuple(sorted(values)) for name, values in found.items()}


def _is_missing(text: pa.ChunkedArray) -> pa.ChunkedArray:
    return compute.or_(compute.is_null(text), compute.is_in(text, value_set=pa.array(_MISSING)))
