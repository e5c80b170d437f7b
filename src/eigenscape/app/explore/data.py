"""The rows that are explored: features, labels, ids and images, as arrays for the page."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, gen_batches

from eigenscape._numbers import checked_sparse
from eigenscape._typing import is_sparse
from eigenscape.app.errors import CommandError
from eigenscape.app.explore.origin import Origin
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.io.table import Table, default_names
from eigenscape.app.report._columns import DataColumn, data_column, number_text
from eigenscape.app.report._texts import shorten
from eigenscape.graph.neighbors import neighbor_index


class MissingError(LookupError):
    """Raised if a map, a row or an annotation does not exist."""


@dataclass(frozen=True, eq=False)
class Dataset(Table):
    """The table that is explored; :func:`dataset_of_table` has validated it.

    Attributes
    ----------
    origin : Origin
        How the rows are read again.
    columns : tuple of DataColumn
        Columns of the page: the label and further columns. Features follow them, except for images.
    notes : mapping
        Description of the columns, for new rows.
    """

    origin: Origin = field(default_factory=Origin)
    columns: tuple[DataColumn, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def X(self) -> Any:
        """The features, an array or csr_array of shape (n, d)."""
        return self.array

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def name(self) -> str:
        """Name of the file."""
        return shorten(Path(self.source).name or "data")

    @cached_property
    def features(self) -> list[str]:
        """Names of the features that are listed as columns: none of images."""
        return [] if self.image_shape else [shorten(name) for name in self.names[: TUNING.max_features]]

    def describe(self) -> dict[str, Any]:
        """Return the part of the state that describes the data, without values of rows."""
        listed = [(column.name, column.kind, column.categories) for column in self.columns]
        listed += [(name, "number", ()) for name in self.features]
        shown = ("n", "d", "name", "id_name", "image_shape")
        return {
            **{name: getattr(self, name) for name in shown},
            "warnings": self.remarks,
            "columns": [{"name": name, "kind": kind, "categories": known} for name, kind, known in listed],
            "label": None if self.labels is None else 0,
        }

    @cached_property
    def filled(self) -> Any:
        """The rows with missing values replaced by the mean of their column."""
        if is_sparse(self.X) or np.isfinite(np.sum(self.X)):
            return self.X
        return np.where(np.isfinite(self.X), self.X, self.moments[0])

    def take(self, which: np.ndarray | slice) -> np.ndarray:
        """Return some rows as a dense array."""
        found = self.X[which]
        return np.asarray(found.toarray() if is_sparse(found) else found, dtype=np.float64)

    def column_values(self, index: int) -> np.ndarray:
        """Return the numbers or the codes of a column."""
        if index < len(self.columns):
            return self.columns[index].values
        values = self.X[:, [index - len(self.columns)]]
        return np.asarray(values.toarray() if is_sparse(values) else values).ravel()

    def describe_row(self, row: int) -> dict[str, Any]:
        """Return the values of a row as text, labels and further columns first."""
        values = [[column.name, column.text(row)] for column in self.columns]
        numbers = self.take(np.array([row]))[0]
        values += [[name, number_text(value)] for name, value in zip(self.features, numbers, strict=False)]
        name = str(row) if self.ids is None else shorten(self.ids[row])
        return {"row": row, "id": name, "values": values[: TUNING.max_shown]}

    @cached_property
    def _search_texts(self) -> list[str]:
        return [] if self.ids is None else [str(value).casefold() for value in self.ids]

    def search(self, text: str) -> list[int]:
        """Return the rows whose id contains the text, or the row of this number if there are no ids."""
        wanted = text.strip().casefold()
        if self.ids is None:
            return [int(wanted)] if wanted.isdecimal() and len(wanted) < 19 and int(wanted) < self.n else []
        return [row for row, name in enumerate(self._search_texts) if wanted and wanted in name]

    @cached_property
    def image_range(self) -> tuple[float, float]:
        """Values that are shown black and white."""
        low, high = min(0.0, float(np.nanmin(self.X))), float(np.nanmax(self.X))
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


def moments(X: Any, which: np.ndarray) -> np.ndarray:
    """Return mean, variance and number of the known values of each column in some rows, (3, d)."""
    found = []
    for columns in gen_batches(X.shape[1], max(1, TUNING.block_values // len(which))):
        with np.errstate(invalid="ignore"):  # a column without known values
            scaler = StandardScaler(with_mean=False).fit(X[:, columns][which].astype(np.float64))
        counts = np.broadcast_to(scaler.n_samples_seen_, scaler.mean_.shape)
        found.append([scaler.mean_, scaler.var_, counts])
    return np.nan_to_num(np.concatenate(found, axis=1))


class Distances:
    """Euclidean distances to all rows of the data, after a scaler if one is given.

    Missing values of the data are replaced by the mean of their column.
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self._indices: dict[bytes, tuple[Any, Any, np.ndarray]] = {}
        self._lock = threading.Lock()

    def from_row(self, row: int, scaler: Any = None) -> np.ndarray:
        """Return the distances (n,) from a row of the data, exactly zero to itself."""
        rows, *_ = self._index(scaler)
        found = euclidean_distances(rows[[row]], rows)[0]
        found[row] = 0.0
        return found

    def nearest(self, rows: np.ndarray, k: int, scaler: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the nearest rows (n_new, k) of the data, their distances, and the novelty of the new rows.

        Novelty is the share of the rows that are nearer to their nearest other row.
        """
        _, index, usual = self._index(scaler)
        lengths, near = index.nearest(self._scaled(rows, scaler), min(k, self.data.n))
        return near, lengths, np.searchsorted(usual, lengths[:, 0], side="left") / len(usual)

    def _index(self, scaler: Any) -> tuple[Any, Any, np.ndarray]:
        """Return the rows, their index, and sorted distances of some of them to their nearest others."""
        key = b"" if scaler is None else np.asarray(scaler.scale_).tobytes()
        with self._lock:
            if key not in self._indices:
                rows = self._scaled(self.data.filled, scaler)
                index = neighbor_index(rows, search="exact")
                some = rows[spread_rows(self.data.n, TUNING.usual_points)]
                self._indices[key] = rows, index, np.sort(index.nearest(some, 2)[0][:, 1])
            return self._indices[key]

    def _scaled(self, rows: Any, scaler: Any) -> Any:
        rows = sparse.csr_array(rows) if is_sparse(self.data.X) else np.ascontiguousarray(rows, np.float64)
        return rows if scaler is None else scaler.transform(rows)


def spread_rows(n: int, limit: int) -> np.ndarray:
    """Return the numbers of at most ``limit`` rows at equal distances."""
    return np.linspace(0, n - 1, min(limit, n)).astype(np.intp)


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
    if table.array.dtype.kind not in "fiub":
        raise ValueError(f"X must be numbers of shape (n_samples, n_features), got {table.array.dtype}")
    X = check_array(
        checked_sparse(table.array),
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
        ensure_min_samples=2,
        input_name="X",
    )
    X = sparse.csr_array(X) if is_sparse(X) else X
    n, d = X.shape
    names = tuple(map(str, table.names or default_names(d)))
    if len(names) != d:
        raise ValueError(f"columns has {len(names)} names, but the data have {d} columns; pass one for each")
    labels, ids = (None if each is None else np.asarray(each) for each in (table.labels, table.ids))
    if ids is not None and ids.shape != (n,):
        raise ValueError(f"ids must have shape ({n},), one value per row, got {ids.shape}")
    columns = [] if labels is None else [data_column(table.label_name or "label", labels, "label", n)]
    columns += [data_column(key, values, "extra", n) for key, values in table.extra.items()]
    shape, remarks = table.image_shape if images is None else images, table.remarks
    if shape is None and d > TUNING.max_features:
        remarks = (*remarks, f"the first {TUNING.max_features} of {d} features are listed as columns")
    checked = replace(
        table,
        array=X,
        names=names,
        labels=labels,
        ids=ids,
        image_shape=None if shape is None else _check_image_shape(shape, d),
        remarks=remarks,
    )
    return Dataset(**vars(checked), origin=origin, columns=tuple(columns), notes=notes or {"columns": names})


def _check_image_shape(shape: Sequence[int], d: int) -> tuple[int, ...]:
    """Return the shape of images as integers; raise if it does not have one number for each feature."""
    found = tuple(int(size) for size in shape)
    valid = len(found) == 2 or (len(found) == 3 and found[2] == 3)
    if not valid or min(found) < 1 or int(np.prod(found)) != d:
        raise CommandError(
            f"images={'x'.join(map(str, found))} must be HEIGHTxWIDTH or HEIGHTxWIDTHx3 with {d} numbers, one"
            " for each column"
        )
    return found
