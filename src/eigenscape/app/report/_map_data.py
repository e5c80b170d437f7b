"""The points that a page draws, and the data of its script: coordinates and columns of these points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression

from eigenscape._parameters import check_count
from eigenscape.app.report._columns import Column, as_pixels, encode, encoded_size, pack
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points, as_dense, as_points, has_rows, sample_rows
from eigenscape.app.report._texts import LIMITS, format_count, shorten
from eigenscape.plot.thumbnails import check_images


@dataclass(frozen=True, eq=False)
class Drawing:
    """The points of a page: training points, of which ``rows`` are drawn, and new points."""

    points: Points
    new: Points | None
    rows: np.ndarray
    images: dict[str, Any] | None
    image_remark: str

    @classmethod
    def from_points(
        cls, points: Points, held_out: Any, images: ArrayLike | None, max_points: int | None, seed: int
    ) -> Drawing:
        """Validate the arguments that reports and comparisons share."""
        new = None if held_out is None else as_points(held_out, argument="held_out", min_points=1)
        limit = points.n if max_points is None else check_count("max_points", max_points)
        rows = sample_rows(points.n, limit, seed)
        return cls(points, new, rows, *thumbnails(points, images, rows))

    @property
    def n_new(self) -> int:
        """Number of new points that are drawn."""
        return 0 if self.new is None else min(self.new.n, LIMITS.drawn_new)

    @property
    def remark(self) -> str:
        """A sentence on the points drawn."""
        n, drawn = format_count(self.points.n), len(self.rows)
        if drawn == self.points.n:
            return f"All {n} points are drawn."
        return (
            f"A random sample of {format_count(drawn)} of the {n} points is drawn (the limit is"
            " max_points, or --report-points on the command line); the measures refer to all points."
        )

    def column(self, name: str, values: np.ndarray, group: str, new: np.ndarray | None = None) -> Column:
        """Return a column of the points drawn, from the values of all training points and of new points."""
        further = None if new is None else new[: self.n_new]
        return Column(name, values[self.rows], group).append(further, self.n_new)

    def given_columns(self) -> list[Column]:
        """Return the labels and the further columns."""
        points, new = self.points, self.new or Points(None)
        name = points.label_name or "label"
        found = [] if points.labels is None else [self.column(name, points.labels, "label", new.labels)]
        further = points.extra.items()
        return found + [self.column(name, values, "extra", new.extra.get(name)) for name, values in further]

    def model_columns(self, model: BaseEstimator, measures: Measures, prefix: str = "") -> list[Column]:
        """Return clusters, components, degrees and movements as columns."""
        found, fitted, graph = {}, vars(model), measures.graph
        if fitted.get("labels_") is not None:
            found["cluster"] = np.asarray(fitted["labels_"]).astype(str).astype(object)
        if graph is not None and len(graph.sizes) > 1:
            names = np.array([f"component {i + 1}" for i in range(len(graph.sizes))], dtype=object)
            found["graph component"] = names[fitted["component_labels_"]]
        if graph is not None and graph.degrees is not None:
            found["edges"] = graph.degrees.astype(np.float64)
        if measures.movement is not None:
            found["movement (stability)"] = 100 * measures.movement.per_point
        known = {name: values for name, values in found.items() if len(values) == self.points.n}
        return [self.column(f"{prefix}{name}", values, "model") for name, values in known.items()]

    def input_columns(self, model: BaseEstimator, embedding: np.ndarray) -> tuple[list[Column], str]:
        """Return the input columns of the points drawn, and a remark.

        If there are many, the columns are selected whose variance the coordinates explain best.
        """
        points, new, rows = self.points, self.new, self.rows
        if not has_rows(model, points):
            return [], "There are no input columns to colour by: the data are pairwise values or objects."
        X = points.take(rows) if points.stream else points.measured
        X = X if X.shape[0] == len(rows) else X[rows]
        width = X.shape[1]
        names = points.names if len(points.names) == width else [f"column {i + 1}" for i in range(width)]
        n_bytes = 3 if len(rows) > LIMITS.many else 6  # of a number, in base64
        max_columns = max(1, min(LIMITS.input_columns, LIMITS.column_bytes // (n_bytes * len(rows))))
        chosen, remark = np.arange(width), ""
        if width > max_columns:
            sample = sample_rows(len(rows), max(100, LIMITS.input_sample // width), 0)
            share = _explained_share(X[sample], embedding[rows][sample])
            chosen = np.sort(np.argsort(-share, kind="stable")[:max_columns])
            remark = (
                f"Of {format_count(width)} input columns, the {max_columns} that the coordinates explain best"
                " are available as colours."
            )
        values = as_dense(X[:, chosen]).T
        others: Any = [None] * len(chosen)
        if new is not None and not new.stream and not sparse.issparse(new.X) and np.ndim(new.X) == 2:
            others = np.asarray(new.measured)[: self.n_new, chosen].astype(np.float64).T
        columns = zip(chosen, values, others, strict=True)
        return [Column(names[i], old, "input").append(more, self.n_new) for i, old, more in columns], remark

    def script_data(
        self, maps: list[dict[str, Any]], columns: Sequence[Column | dict[str, Any]], placing: Any = None
    ) -> tuple[dict[str, Any], str]:
        """Return the data of the script, and a sentence on columns omitted for lack of space."""
        encoded: list[dict[str, Any]] = []
        omitted, space = [], max(LIMITS.column_bytes, 8 * len(self.rows))
        for made in (encode(column) if isinstance(column, Column) else column for column in columns):
            if encoded_size(made) <= space:
                space -= encoded_size(made)
                encoded.append(made)
            else:
                omitted.append(made["name"])
        n = len(self.rows)
        return {
            "maps": maps,
            "n": n + self.n_new,
            "rows": None if n == self.points.n else pack(self.rows, "<i4"),
            "newPoints": self.n_new,
            "ids": self._ids(),
            "columns": encoded,
            "firstColumn": _first_column(encoded),
            "images": self.images,
            "placing": placing,
        }, f"Omitted to limit the size of the file: {', '.join(omitted)}." if omitted else ""

    def _ids(self) -> dict[str, Any] | None:
        if self.points.ids is None:
            return None
        new = [f"new row {i + 1}" for i in range(self.n_new)]
        if self.new is not None and self.new.ids is not None:
            new = self.new.ids[: self.n_new].tolist()
        texts = np.array([str(value) for value in [*self.points.ids[self.rows], *new]], dtype=object)
        names = [shorten(text) for text in texts]
        if sum(len(name) + 3 for name in names) <= LIMITS.column_bytes:
            return {"names": names}
        made = encode(Column("id", texts, "id"))  # repeated ids are stored once
        return {key: made[key] for key in ("codes", "names")}


def coordinate_axes(count: int) -> list[dict[str, Any]]:
    """Return the coordinates of the only map as columns, whose values are the axes of the map."""
    head = {"group": "coordinate", "kind": "numbers", "missing": 0}
    return [{"name": f"coordinate {i + 1}", **head, "axis": i} for i in range(count)]


def _explained_share(X: Any, coordinates: np.ndarray) -> np.ndarray:
    """Return for each column the share of its variance that is linear in the coordinates."""
    known, values = np.nan_to_num(coordinates), as_dense(X)
    values = np.nan_to_num(values - np.nanmean(values, axis=0))
    fitted = LinearRegression().fit(known, values).predict(known)
    size = np.square(values).sum(axis=0)
    return np.square(fitted).sum(axis=0) / np.where(size > 0, size, 1.0)


def _first_column(encoded: list[dict[str, Any]]) -> int:
    """Return the index of the initial colour column: labels, clusters, or the first further column."""
    for group, name in ("label", ""), ("model", "cluster"), ("extra", ""):
        for index, column in enumerate(encoded):
            if column["group"] == group and column["name"].endswith(name):
                return index
    return -1


# --- images -------------------------------------------------------------------------------------------------


def thumbnails(
    points: Points, images: ArrayLike | None, rows: np.ndarray
) -> tuple[dict[str, Any] | None, str]:
    """Return the images of the points drawn, reduced until they fit, and a sentence if they are left out.

    Parameters
    ----------
    points : Points
        Rows of pixels, as those read from image files, are used unless ``images`` are given.
    images : array-like of shape (n_samples, height, width[, channels]) or None
        Images of the samples: numbers of any range, or bytes.
    rows : ndarray
        The points drawn.
    """
    found = _find_images(points, images)
    if found is None:
        return None, ""
    side = max(found.shape[1:3])
    factor = max(1, -(-side // LIMITS.image_side))
    while len(rows) * _reduce(found[:1], factor).size > LIMITS.image_bytes:
        factor += 1
        if side // factor < min(LIMITS.least_image_side, side):
            remark = f"Thumbnails of {format_count(len(rows))} points would be too large and are left out."
            return None, remark
    # in parts, so that not all are copied in double precision at once
    step = max(1, 50_000_000 // max(1, 8 * int(np.prod(found.shape[1:]))))
    parts = [_reduce(np.asarray(found[rows[i : i + step]]), factor) for i in range(0, len(rows), step)]
    reduced = np.concatenate(parts)
    made = as_pixels(np.rint(reduced).astype(np.uint8) if found.dtype == np.uint8 else reduced)
    shape = [*made.shape[1:3], 1 if made.ndim == 3 else made.shape[3]]
    return {"shape": shape, "pixels": pack(made.ravel(), "<u1")}, ""


def _find_images(points: Points, images: ArrayLike | None) -> np.ndarray | None:
    """Return the images (n, height, width[, channels]) of all points, or None if there are none."""
    if images is None:
        if points.image_shape is None or points.stream:
            return None
        return np.asarray(points.measured).reshape(-1, *points.image_shape)
    return check_images(images, points.n, (1, 3))


def _reduce(images: np.ndarray, factor: int) -> np.ndarray:
    """Return means over squares of ``factor`` x ``factor`` pixels; the rest at the edges is cut off."""
    if factor == 1:
        return images
    height, width = (max(1, side // factor) for side in images.shape[1:3])
    cut = images[:, : height * factor, : width * factor].astype(np.float32)
    blocks = cut.reshape(len(images), height, min(factor, cut.shape[1]), width, -1, *images.shape[3:])
    return blocks.mean(axis=(2, 4))
