"""The rows that are explored: features, labels, ids and images, as arrays for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from eigenscape._numbers import checked_sparse
from eigenscape._typing import is_sparse
from eigenscape.app.errors import CommandError
from eigenscape.app.explore.origin import Origin
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.io.table import Table, default_names
from eigenscape.app.report._columns import Column, as_column, category_codes
from eigenscape.app.report._texts import shorten

_OTHER = "(other)"


@dataclass(frozen=True, eq=False)
class DataColumn:
    """A column by which points are coloured: numbers, or codes of categories."""

    name: str
    kind: str  # "number" or "category"
    categories: tuple[str, ...] = ()
    values: np.ndarray | None = None  # codes, or numbers; None for a feature
    feature: int | None = None  # index of the feature

    def describe(self) -> dict[str, Any]:
        """Return the description in the state of the page."""
        return {"name": self.name, "kind": self.kind, "categories": list(self.categories)}


def data_column(name: str, values: ArrayLike, group: str, n: int) -> DataColumn:
    """Return a column of given values; dates become seconds."""
    column = as_column(name, values, group, n, name)
    if not column.is_categorical():
        return DataColumn(shorten(name), "number", values=_numbers(column))
    codes, names, counts = category_codes(column.values)
    if len(names) > TUNING.max_categories:
        kept = np.sort(np.argsort(-np.array(counts), kind="stable")[: TUNING.max_categories - 1])
        index = np.full(len(names) + 1, TUNING.max_categories - 1)
        index[kept], index[-1] = np.arange(len(kept)), -1
        codes, names = index[codes], [*(names[i] for i in kept), _OTHER]
    stored = np.where(codes < 0, TUNING.missing, codes).astype("<u2")
    return DataColumn(shorten(name), "category", tuple(names), stored)


def _numbers(column: Column) -> np.ndarray:
    values = column.values
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[s]").astype(np.float64)
        return np.where(np.isnat(values), np.nan, seconds)
    numbers = np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with their columns.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, d)
        The features.
    names : tuple of str
        Names of the features.
    columns : tuple of DataColumn
        Columns of the page: the label, further columns, then features.
    label : int or None
        Index of the column that colours the points first.
    labels : ndarray of shape (n,) or None
        Labels as given, for methods that need them.
    ids : ndarray of shape (n,) or None
        Names of the rows.
    image_shape : tuple of int or None
        (height, width) or (height, width, 3) of the image in each row.
    origin : Origin
        How the rows are read again.
    """

    X: Any
    names: tuple[str, ...]
    origin: Origin
    name: str = "data"
    columns: tuple[DataColumn, ...] = ()
    label: int | None = None
    labels: np.ndarray | None = None
    ids: np.ndarray | None = None
    id_name: str | None = None
    image_shape: tuple[int, ...] | None = None
    is_images: bool = False  # grey levels between 0 and 1, as read from image files
    notes: Mapping[str, Any] = field(default_factory=dict)  # of the columns, for new rows
    warnings: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def describe(self) -> dict[str, Any]:
        """Return the part of the state that describes the data, without values of rows."""
        return {
            "n": self.n,
            "d": self.d,
            "name": self.name,
            "id_name": self.id_name,
            "columns": [column.describe() for column in self.columns],
            "label": self.label,
            "image_shape": None if self.image_shape is None else list(self.image_shape),
            "is_plane": self.d == 2,
            "warnings": list(self.warnings),
        }

    @cached_property
    def filled(self) -> Any:
        """The rows with missing values replaced by the mean of their column."""
        if is_sparse(self.X) or np.isfinite(np.sum(self.X)):
            return self.X
        return np.where(np.isfinite(self.X), self.X, self.moments[0])

    def rows(self, which: np.ndarray | slice, filled: bool = False) -> np.ndarray:
        """Return some rows as a dense array."""
        found = (self.filled if filled else self.X)[which]
        return np.asarray(found.toarray() if is_sparse(found) else found, dtype=np.float64)

    def column_values(self, index: int) -> np.ndarray:
        """Return the numbers or the codes of a column."""
        column = self.columns[index]
        if column.values is not None:
            return column.values
        values = self.X[:, [column.feature]]
        return np.asarray(values.toarray() if is_sparse(values) else values).ravel()

    def id_of(self, row: int) -> str:
        """Return the name of a row: its id, or its number counted from 0."""
        return str(row) if self.ids is None else shorten(self.ids[row])

    def describe_row(self, row: int) -> dict[str, Any]:
        """Return the values of a row as text, labels and further columns first."""
        features = self.rows(np.array([row]))[0]
        values = [
            [column.name, self._cell(column, row, features)] for column in self.columns[: TUNING.max_shown]
        ]
        return {"row": row, "id": self.id_of(row), "values": values}

    def _cell(self, column: DataColumn, row: int, features: np.ndarray) -> str:
        value = features[column.feature] if column.values is None else column.values[row]
        if column.kind == "category":
            return "" if value == TUNING.missing else column.categories[value]
        return "" if np.isnan(value) else f"{value:.6g}"

    @cached_property
    def _search_texts(self) -> list[str]:
        return [] if self.ids is None else [str(value).casefold() for value in self.ids]

    def search(self, text: str, limit: int) -> tuple[list[int], int]:
        """Return the rows whose id contains the text, at most ``limit``, and their number."""
        wanted = text.strip().casefold()
        if not wanted:
            return [], 0
        if self.ids is None:
            found = [int(wanted)] if wanted.isdecimal() and len(wanted) < 19 and int(wanted) < self.n else []
        else:
            found = [row for row, name in enumerate(self._search_texts) if wanted in name]
        return found[:limit], len(found)

    @cached_property
    def image_range(self) -> tuple[float, float]:
        """Values that are shown black and white."""
        low, high = (float(np.nanmin(self.X)), float(np.nanmax(self.X))) if self.n else (0.0, 1.0)
        low = 0.0 if low >= 0.0 else low
        return low, high if high > low else low + 1.0

    def to_pixels(self, rows: np.ndarray) -> np.ndarray:
        """Convert rows of features to grey levels or colours from 0 to 255."""
        low, high = self.image_range
        scaled = np.clip((np.nan_to_num(rows) - low) / (high - low), 0.0, 1.0)
        return np.rint(255 * scaled).astype(np.uint8)

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each feature."""
        mean, variance, _ = moments(self.X, np.arange(self.n))
        return mean, np.sqrt(variance)


def moments(X: Any, which: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, variance and number of the known values of each column in some rows."""
    if is_sparse(X):
        part = X[which].astype(np.float64)
        mean = np.asarray(part.mean(axis=0)).ravel()
        square = np.asarray(part.multiply(part).mean(axis=0)).ravel()
        return mean, np.maximum(square - mean**2, 0.0), np.full(X.shape[1], len(which))
    total, squares, count = np.zeros((3, X.shape[1]))
    size = max(1, TUNING.block_values // max(1, X.shape[1]))
    blocks = [which[start : start + size] for start in range(0, len(which), size)]
    for block in blocks:
        values = np.asarray(X[block], dtype=np.float64)
        total += np.nansum(values, axis=0)
        count += np.isfinite(values).sum(axis=0)
    mean = total / np.maximum(count, 1)
    for block in blocks:
        squares += np.nansum(np.square(np.asarray(X[block], dtype=np.float64) - mean), axis=0)
    return mean, squares / np.maximum(count, 1), count


def dataset_of_table(
    table: Table,
    origin: Origin,
    images: Sequence[int] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Dataset:
    """Validate the rows and columns of a table and return the data of the page."""
    if table.kind not in ("rows", "images"):
        raise CommandError(f"the explorer needs rows of numbers, but the input is {table.kind}; use embed")
    if not hasattr(table.array, "shape"):
        raise CommandError("the explorer needs all rows in memory; read them without stream=True")
    X = _check_rows(table.array if is_sparse(table.array) else np.asarray(table.array))
    n, d = X.shape
    names = tuple(map(str, table.names or default_names(d)))
    if len(names) != d:
        raise ValueError(f"columns has {len(names)} names, but the data have {d} columns; pass one for each")
    labels, ids = (None if each is None else np.asarray(each) for each in (table.labels, table.ids))
    if ids is not None and ids.shape != (n,):
        raise ValueError(f"ids must have shape ({n},), one value per row, got {ids.shape}")
    columns = [] if labels is None else [data_column(table.label_name or "label", labels, "label", n)]
    columns += [data_column(key, values, "extra", n) for key, values in table.extra.items()]
    remarks = list(table.remarks)
    shape = table.image_shape if images is None else images
    if shape is None:
        shown = names[: TUNING.max_features]
        columns += [DataColumn(shorten(name), "number", feature=j) for j, name in enumerate(shown)]
        if d > TUNING.max_features:
            remarks.append(f"the first {TUNING.max_features} of {d} features are listed as columns")
    return Dataset(
        X,
        names,
        origin,
        name=shorten(Path(table.source).name or "data"),
        columns=tuple(columns),
        label=None if labels is None else 0,
        labels=labels,
        ids=ids,
        id_name=table.id_name,
        image_shape=None if shape is None else check_image_shape(shape, d),
        is_images=table.kind == "images",
        notes={"columns": list(names)} if notes is None else notes,
        warnings=tuple(remarks),
    )


def _check_rows(rows: Any) -> Any:
    """Return rows as an array of floating-point numbers, dense or csr."""
    if is_sparse(rows):
        return sparse.csr_array(checked_sparse(rows)).astype(np.float64)
    if rows.ndim != 2 or rows.dtype.kind not in "fiub":
        raise ValueError(
            f"X must be numbers of shape (n_samples, n_features), got {rows.dtype} of shape {rows.shape}"
        )
    X = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    if len(X) < 2:
        raise ValueError(f"X has {len(X)} rows; at least 2 are needed")
    if np.isinf(X).any():
        raise ValueError("X has infinite values; remove them or mark them as missing (NaN)")
    return X


def check_image_shape(shape: Sequence[int], d: int) -> tuple[int, ...]:
    """Return the shape of images as integers; raise if it does not have one number for each feature."""
    found = tuple(int(size) for size in shape)
    valid = len(found) == 2 or (len(found) == 3 and found[2] == 3)
    if not valid or min(found) < 1 or int(np.prod(found)) != d:
        raise CommandError(
            f"images={'x'.join(map(str, found))} must be HEIGHTxWIDTH or HEIGHTxWIDTHx3 with {d} numbers, one"
            " for each column"
        )
    return found
