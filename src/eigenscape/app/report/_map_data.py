"""Data of the maps for the script of the page: coordinates and columns of the points drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from eigenscape.app.report._columns import MANY, Column, encode, encoded_size, pack, shorten
from eigenscape.app.report._details import GraphDetails
from eigenscape.app.report._formatting import format_count
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points, given_columns, has_rows
from eigenscape.app.report._references import as_dense, sample_rows
from eigenscape.app.report._tuning import TUNING

#: Maximum number of points drawn, and of new points.
MAX_DRAWN, MAX_NEW = 50_000, 10_000
#: Maximum number of input columns, and of bytes of all columns.
_MAX_INPUTS, _MAX_BYTES = 40, 7_000_000


def drawn_remark(n: int, rows: np.ndarray) -> str:
    """Return a sentence on the points drawn."""
    if len(rows) == n:
        return f"All {format_count(n)} points are drawn."
    return (
        f"A random sample of {format_count(len(rows))} of the {format_count(n)} points is drawn (the limit is"
        " max_points, or --report-points on the command line); the measures refer to all points."
    )


def check_max_points(max_points: object, n: int) -> int:
    """Return the maximum number of points to draw."""
    if max_points is None:
        return n
    if not isinstance(max_points, (int, np.integer)) or isinstance(max_points, bool) or max_points < 1:
        raise ValueError(
            f"max_points={max_points!r} must be an integer of at least 1, or None for all points"
        )
    return int(max_points)


def omitted_remark(names: list[str]) -> str:
    """Return a sentence on the columns that were omitted for lack of space."""
    return f"Omitted to limit the size of the file: {', '.join(names)}." if names else ""


def model_columns(
    model: BaseEstimator, n: int, measures: Measures, graph: GraphDetails | str
) -> list[Column]:
    """Return clusters, components, degrees and movements as columns."""
    made = []
    labels = vars(model).get("labels_")
    if labels is not None and len(labels) == n:
        made.append(Column("cluster", np.asarray(labels).astype(str).astype(object), "model"))
    component = vars(model).get("component_labels_")
    if isinstance(graph, GraphDetails):
        if len(graph.sizes) > 1 and component is not None and len(component) == n:
            names = np.array([f"component {i + 1}" for i in range(len(graph.sizes))], dtype=object)
            made.append(Column("graph component", names[component], "model"))
        if graph.degrees is not None and len(graph.degrees) == n:
            made.append(Column("edges", graph.degrees.astype(np.float64), "model"))
    if measures.movement is not None:
        made.append(Column("movement (stability)", 100 * measures.movement.per_point, "model"))
    return made


def coordinate_columns(embedding: np.ndarray) -> list[Column]:
    """Return the first twelve coordinates as columns."""
    return [
        Column(f"coordinate {i + 1}", embedding[:, i], "coordinate")
        for i in range(min(12, embedding.shape[1]))
    ]


# --- columns of the input -----------------------------------------------------------------------------------


def input_columns(
    model: BaseEstimator, points: Points, rows: np.ndarray, embedding: np.ndarray
) -> tuple[list[Column], str]:
    """Return the input columns of the rows drawn, and a remark.

    If there are many, the columns are selected whose variance the coordinates explain best.
    """
    if not has_rows(model, points):
        return [], "There are no input columns to colour by: the data are pairwise values or objects."
    X = points.take(rows) if points.stream or len(rows) < points.n else points.X
    width = X.shape[1]
    names = _input_names(points, width)
    n_bytes = 3 if len(rows) > MANY else 6  # of a number, in base64
    max_columns = max(1, min(_MAX_INPUTS, _MAX_BYTES // (n_bytes * len(rows))))
    chosen = np.arange(width)
    remark = ""
    if width > max_columns:
        sample = sample_rows(len(rows), TUNING.selected_points, 0)
        share = _explained_share(X[sample], embedding[rows][sample])
        chosen = np.sort(np.argsort(-share, kind="stable")[:max_columns])
        remark = (
            f"Of {format_count(width)} input columns, the {max_columns} that the coordinates explain best are"
            " available as colours."
        )
    values = as_dense(X[:, chosen])
    return [Column(names[i], values[:, k], "input") for k, i in enumerate(chosen)], remark


def _explained_share(X: Any, coordinates: np.ndarray) -> np.ndarray:
    """Return for each column the share of its variance that is linear in the coordinates."""
    centred = np.nan_to_num(coordinates - coordinates.mean(axis=0))
    basis, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    basis = basis[:, sizes > 1e-10 * max(float(sizes[0]), 1e-300)]
    share = np.zeros(X.shape[1])
    for start in range(0, X.shape[1], 2048):
        part = as_dense(X[:, start : start + 2048])
        part = np.nan_to_num(part - np.nanmean(part, axis=0))
        size = np.square(part).sum(axis=0)
        explained = np.square(basis.T @ part).sum(axis=0)
        share[start : start + 2048] = np.divide(explained, size, out=np.zeros_like(size), where=size > 0)
    return share


# --- together -----------------------------------------------------------------------------------------------


def script_data(
    maps: list[dict[str, Any]],
    columns: list[Column],
    points: Points,
    rows: np.ndarray,
    held_out: Points | None,
    **further: Any,
) -> tuple[dict[str, Any], list[str]]:
    """Return the data of the script, and the names of columns omitted for lack of space.

    ``further`` entries are added as they are. Coordinates of the only map are columns without values of their
    own.
    """
    new = 0 if held_out is None else min(held_out.n, MAX_NEW)
    encoded: list[dict[str, Any]] = []
    omitted, space = [], max(_MAX_BYTES, 8 * len(rows))
    for column in columns:
        made = encode(column)
        if column.group == "coordinate":
            made = {"name": column.name, "group": "coordinate", "kind": "numbers", "missing": 0}
            made |= {"axis": int(column.name.split()[-1]) - 1}
        if encoded_size(made) > space:
            omitted.append(column.name)
            continue
        space -= encoded_size(made)
        encoded.append(made)
    return {
        "maps": maps,
        "n": len(rows) + new,
        "rows": None if len(rows) == points.n else pack(rows, "<i4"),
        "newPoints": new,
        "ids": _ids(points, rows, held_out, new),
        "columns": encoded,
        "firstColumn": _first_column(encoded),
        **further,
    }, omitted


def _ids(points: Points, rows: np.ndarray, held_out: Points | None, new: int) -> dict[str, Any] | None:
    if points.ids is None:
        return None
    texts = np.array([str(value) for value in points.ids[rows]], dtype=object)
    if new and held_out is not None:
        others = held_out.ids[:new] if held_out.ids is not None else [f"new row {i + 1}" for i in range(new)]
        texts = np.concatenate([texts, np.array([str(value) for value in others], dtype=object)])
    names = [shorten(text) for text in texts]
    if sum(len(name) + 3 for name in names) <= _MAX_BYTES:
        return {"names": names}
    made = encode(Column("id", texts, "id"))  # repeated ids are stored once
    return {key: made[key] for key in ("codes", "names")}


def _first_column(encoded: list[dict[str, Any]]) -> int:
    """Return the index of the initial colour column: labels, clusters, or the first further column."""
    for group, name in (
        ("label", None),
        ("model", "cluster"),
        ("extra", None),
        ("coordinate", None),
        ("model", "coordinate 1"),
    ):
        for index, column in enumerate(encoded):
            if column["group"] == group and (name is None or column["name"].endswith(name)):
                return index
    return -1


def all_columns(
    points: Points,
    derived_columns: list[Column],
    inputs: list[Column],
    rows: np.ndarray,
    held_out: Points | None,
    new_coordinates: np.ndarray | None = None,
) -> list[Column]:
    """Return the columns of the points drawn, each with the values of the new points appended."""
    new = 0 if held_out is None else min(held_out.n, MAX_NEW)
    made = []
    for column in [*given_columns(points), *derived_columns]:
        further = None
        if held_out is not None and column.group in ("label", "extra"):
            further = held_out.labels if column.group == "label" else held_out.extra.get(column.name)
        elif new_coordinates is not None and column.group == "coordinate":
            further = new_coordinates[:, int(column.name.split()[-1]) - 1]
        made.append(column.take(rows).append(None if further is None else further[:new], new))
    return made + [column.append(_new_input(held_out, column, points, new), new) for column in inputs]


def _new_input(held_out: Points | None, column: Column, points: Points, new: int) -> np.ndarray | None:
    """Return the values of the new points in an input column, or None if they have no such column."""
    if held_out is None or held_out.stream or sparse.issparse(held_out.X) or np.ndim(held_out.X) != 2:
        return None
    width = held_out.X.shape[1]
    names = _input_names(points, width)
    if column.name not in names:
        return None
    return np.asarray(held_out.X)[:new, names.index(column.name)].astype(np.float64)


def _input_names(points: Points, width: int) -> tuple[str, ...]:
    """Return the names of the input columns, or numbers if there are none."""
    return points.names if len(points.names) == width else tuple(f"column {i + 1}" for i in range(width))
