"""What the page's script needs to draw a map: coordinates and columns of the points that are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.app.report._columns import Column, encode, packed, size_of
from eigenscape.app.report._facts import GraphFacts, counted
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._spaces import sampled_rows
from eigenscape.app.report._subject import Points, given_columns, has_rows

#: Points drawn at most, and new points at most.
MOST_DRAWN, MOST_NEW = 50_000, 10_000
#: From here on the graphics card draws.
WEBGL_FROM = 3000
#: Input columns to colour by at most, and bytes for all columns together.
_MOST_INPUTS, _MOST_BYTES = 40, 7_000_000
#: Rows by which input columns are judged.
_JUDGED = 5000


def drawn_rows(n: int, seed: int) -> np.ndarray:
    """The points that are drawn: all, or a random sample."""
    return sampled_rows(n, MOST_DRAWN, seed)


def drawn_words(n: int, rows: np.ndarray) -> str:
    """What is said on the page about the points drawn."""
    if len(rows) == n:
        return f"All {counted(n)} points are drawn."
    return f"{counted(len(rows))} of the {counted(n)} points are drawn, taken at random; the measures are of all."


def model_columns(model: Any, n: int, measures: Measures | None, graph: GraphFacts | str) -> list[Column]:
    """What a model says of each point beside its coordinates."""
    made = []
    labels = vars(model).get("labels_")
    if labels is not None and len(labels) == n:
        made.append(Column("cluster", np.asarray(labels).astype(str).astype(object), "model"))
    component = vars(model).get("component_labels_")
    if (
        isinstance(graph, GraphFacts)
        and len(graph.sizes) > 1
        and component is not None
        and len(component) == n
    ):
        names = np.array([f"piece {number + 1}" for number in range(len(graph.sizes))], dtype=object)
        made.append(Column("graph component", names[component], "model"))
    if isinstance(graph, GraphFacts) and graph.degrees is not None and len(graph.degrees) == n:
        made.append(Column("edges", graph.degrees.astype(np.float64), "model"))
    if measures is not None and measures.movement is not None:
        made.append(Column("movement (stability)", 100 * measures.movement.per_point, "model"))
    return made


def coordinate_columns(embedding: np.ndarray) -> list[Column]:
    """Coordinates as columns, the first dozen."""
    return [
        Column(f"coordinate {i + 1}", embedding[:, i], "coordinate")
        for i in range(min(12, embedding.shape[1]))
    ]


# --- columns of the input -----------------------------------------------------------------------------------


def input_columns(
    model: Any, points: Points, rows: np.ndarray, embedding: np.ndarray
) -> tuple[list[Column], str]:
    """Columns of the rows drawn, and what is said where not all are taken: those that the map explains
    best."""
    if not has_rows(model, points):
        return (
            [],
            "There are no input columns to colour by: the data are values of pairs of points, or objects.",
        )
    X = points.take(rows) if points.stream or len(rows) < points.n else points.X
    width = X.shape[1]
    names = points.names if len(points.names) == width else tuple(f"column {i + 1}" for i in range(width))
    most = max(1, min(_MOST_INPUTS, _MOST_BYTES // (6 * len(rows))))
    chosen = np.arange(width)
    words = ""
    if width > most:
        judged = sampled_rows(len(rows), _JUDGED, 0)
        chosen = np.sort(np.argsort(-_explained(X[judged], embedding[rows][judged]), kind="stable")[:most])
        words = f"Of {counted(width)} input columns the {most} that the map's coordinates explain best can be chosen as colours."
    taken = X[:, chosen]
    taken = np.asarray(taken.todense()) if sparse.issparse(taken) else np.asarray(taken)
    return [
        Column(names[i], taken[:, place].astype(np.float64), "input") for place, i in enumerate(chosen)
    ], words


def _explained(X: Any, coordinates: np.ndarray) -> np.ndarray:
    """For each column the share of its variance that is linear in the coordinates."""
    centred = np.nan_to_num(coordinates - coordinates.mean(axis=0))
    basis, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    basis = basis[:, sizes > 1e-10 * max(float(sizes[0]), 1e-300)]
    share = np.zeros(X.shape[1])
    for start in range(0, X.shape[1], 2048):
        part = X[:, start : start + 2048]
        part = np.asarray(part.todense()) if sparse.issparse(part) else np.asarray(part, dtype=np.float64)
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
    charts: list[dict[str, Any]],
) -> tuple[dict[str, Any], list[str]]:
    """The data of the page's script, and the names of columns for which there was no room."""
    new = 0 if held_out is None else min(held_out.n, MOST_NEW)
    encoded: list[dict[str, Any]] = []
    crowded, room = [], _MOST_BYTES
    for column in columns:
        made = encode(column)
        if size_of(made) > room:
            crowded.append(column.name)
            continue
        room -= size_of(made)
        encoded.append(made)
    return {
        "maps": maps,
        "rows": packed(np.concatenate([rows, np.arange(new)]), "<i4"),
        "newPoints": new,
        "newName": "new points",
        "ids": _ids(points, rows, held_out, new),
        "columns": encoded,
        "firstColumn": _first_column(encoded),
        "webglFrom": WEBGL_FROM,
        "charts": charts,
    }, crowded


def _ids(points: Points, rows: np.ndarray, held_out: Points | None, new: int) -> dict[str, Any] | None:
    if points.ids is None:
        return None
    texts = np.array([str(value) for value in points.ids[rows]], dtype=object)
    if new and held_out is not None:
        others = held_out.ids[:new] if held_out.ids is not None else [f"new row {i + 1}" for i in range(new)]
        texts = np.concatenate([texts, np.array([str(value) for value in others], dtype=object)])
    made = encode(Column("id", texts, "id"))
    return {key: made[key] for key in ("kind", "codes", "names")}


def _first_column(encoded: list[dict[str, Any]]) -> int:
    """What the map is coloured by at first: labels, clusters, or the first column given."""
    for group, name in (
        ("label", None),
        ("model", "cluster"),
        ("extra", None),
        ("coordinate", None),
        ("model", "coordinate 1"),
    ):
        for place, column in enumerate(encoded):
            if column["group"] == group and (name is None or column["name"].endswith(name)):
                return place
    return -1


def all_columns(
    points: Points,
    own: list[Column],
    inputs: list[Column],
    rows: np.ndarray,
    held_out: Points | None,
    placed: np.ndarray | None = None,
) -> list[Column]:
    """Columns of the points drawn, those given first, each followed by the values of the new points."""
    new = 0 if held_out is None else min(held_out.n, MOST_NEW)
    made = []
    for column in [*given_columns(points), *own]:
        further = None
        if held_out is not None and column.group in ("label", "extra"):
            further = held_out.labels if column.group == "label" else held_out.extra.get(column.name)
        elif placed is not None and column.group == "coordinate":
            further = placed[:, int(column.name.split()[-1]) - 1]
        made.append(column.take(rows).followed_by(None if further is None else further[:new], new))
    return made + [column.followed_by(_input_of(held_out, column, points, new), new) for column in inputs]


def _input_of(held_out: Points | None, column: Column, points: Points, new: int) -> np.ndarray | None:
    if held_out is None or held_out.stream or sparse.issparse(held_out.X) or np.ndim(held_out.X) != 2:
        return None
    names = (
        points.names
        if len(points.names) == held_out.X.shape[1]
        else tuple(f"column {i + 1}" for i in range(held_out.X.shape[1]))
    )
    return (
        np.asarray(held_out.X)[:new, names.index(column.name)].astype(np.float64)
        if column.name in names
        else None
    )
